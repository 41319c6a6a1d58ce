"""A page of a PDF as a picture, with a cited sentence marked on it – exactly, or not at all."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from core.places import Box, opened_page, places

__all__ = ["PagePicture", "page_picture"]

_MARK = (255, 205, 60, 90)
_EDGE = (200, 120, 0, 255)


@dataclass(frozen=True, slots=True)
class PagePicture:
    """`png`: the picture. `marked`: how many of the sentences are marked. `note`: in words, why one is not.

    boxes: per sentence, what is marked, in points from the upper left corner of the page as shown.
    """

    png: bytes
    marked: int
    note: str = ""
    boxes: tuple[tuple[Box, ...], ...] = ()


def page_picture(
    data: bytes, number: int, *, text: str = "", spans: Sequence[tuple[int, int]] = (), scale: float = 1.6
) -> PagePicture:
    """Draw page `number` (1-based) of a PDF at `scale` × 72 dots per inch and mark these spans of its extracted `text`.

    Raises UnreadableFile when the page cannot be drawn, NotFound when there is no such page.
    """
    with opened_page(data, number) as page:
        picture = page.render(scale=scale).to_pil().convert("RGB")
        boxes = places(page, text, spans) if spans else []
        width = page.get_width()
    found = sum(1 for each in boxes if each)
    drawn = _marked(picture, [box for each in boxes for box in each], picture.width / width)
    return PagePicture(_png(drawn), found, _note(found, len(spans)), tuple(boxes))


def _note(found: int, wanted: int) -> str:
    """What is not marked, in words; "" when everything is."""
    if found == wanted:
        return ""
    said = "The cited sentence" if wanted == 1 else f"{wanted - found} of {wanted} cited sentences"
    return (
        f"{said} could not be located exactly on this page, so nothing is marked for {'it' if wanted == 1 else 'them'}."
    )


def _marked(picture: Any, boxes: Sequence[Box], dots: float) -> Any:
    """The picture with the boxes on it; dots: of the picture per point."""
    from PIL import Image, ImageDraw

    if not boxes:
        return picture
    layer = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    brush = ImageDraw.Draw(layer)
    for each in boxes:
        left, top, right, bottom = (
            each.left * dots - 2,
            each.top * dots - 1,
            each.right * dots + 2,
            each.bottom * dots + 1,
        )
        brush.rectangle((left, top, right, bottom), fill=_MARK)
        brush.line([(left, bottom), (right, bottom)], fill=_EDGE, width=2)
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


def _png(picture: Any) -> bytes:
    out = BytesIO()
    picture.save(out, "PNG", optimize=False, compress_level=3)
    return out.getvalue()
