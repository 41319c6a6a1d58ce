"""A page of a PDF as a picture, with a cited sentence marked on it – exactly, or not at all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from threading import Lock
from typing import Any

from core.errors import NotFound, UnreadableFile

__all__ = ["PagePicture", "page_picture"]

_PDFIUM = Lock()  # pdfium may be entered by one thread at a time
_DROPPED = "\u00ad\u200b\u2060\ufeff\ufffe\uffff-\u2010\u2011\x02"
_MARK = (255, 205, 60, 90)
_EDGE = (200, 120, 0, 255)


@dataclass(frozen=True, slots=True)
class PagePicture:
    """`png`: the picture. `marked`: how many of the sentences are marked. `note`: in words, why one is not."""

    png: bytes
    marked: int
    note: str = ""


def page_picture(
    data: bytes, number: int, *, text: str = "", spans: Sequence[tuple[int, int]] = (), scale: float = 1.6
) -> PagePicture:
    """Draw page `number` (1-based) of a PDF at `scale` × 72 dots per inch and mark these spans of its extracted `text`.

    A sentence is marked where the page holds its letters in a row, spaces and line-end hyphens aside. When the page
    holds them more often than the text does, it is not known which place is meant, and none is marked.

    Raises UnreadableFile when the page cannot be drawn, NotFound when there is no such page.
    """
    import pypdfium2

    with _PDFIUM:
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            raise UnreadableFile("The original cannot be drawn as pages.", "Download it to look at it.") from error
        try:
            if not 1 <= number <= len(document):
                raise NotFound(f"The original has no page {number}.", "It may have been replaced; search again.")
            page = document[number - 1]
            picture = page.render(scale=scale).to_pil().convert("RGB")
            letters = _letters(page)
            places = [_place(letters, text, start, end) for start, end in spans]
            lines = [box for place in places if place for box in _lines(page, place)]
            size = page.get_size()
        finally:
            document.close()
    found = sum(1 for place in places if place)
    note = (
        ""
        if found == len(spans)
        else "The cited sentence could not be located exactly on this page, so nothing is marked for it."
    )
    return PagePicture(_png(_marked(picture, lines, size)), found, note)


def _letters(page: Any) -> list[tuple[str, int]]:
    """(letter, character index) of everything visible on a page, in the order the file holds it."""
    import pypdfium2.raw as raw

    text_page = page.get_textpage()
    units = [raw.FPDFText_GetUnicode(text_page, index) for index in range(text_page.count_chars())]
    return [(chr(unit), index) for index, unit in enumerate(units) if 0 < unit < 0x110000 and _counts(chr(unit))]


def _counts(character: str) -> bool:
    return not character.isspace() and character not in _DROPPED and character.isprintable()


def _bare(text: str) -> str:
    return "".join(character for character in text if _counts(character))


def _place(letters: Sequence[tuple[str, int]], text: str, start: int, end: int) -> Sequence[int]:
    """Character indexes of the sentence on the page; empty when they are not exactly known."""
    wanted, on_page = _bare(text[start:end]), "".join(letter for letter, _ in letters)
    if not wanted:
        return ()
    places, meant = list(_each(on_page, wanted)), list(_each(_bare(text), wanted))
    if not places or len(places) != len(meant):
        return ()
    ordinal = meant.index(len(_bare(text[:start]))) if len(meant) > 1 else 0
    first = places[ordinal]
    return [index for _, index in letters[first : first + len(wanted)]]


def _each(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + 1)


def _lines(page: Any, indexes: Sequence[int]) -> list[tuple[float, float, float, float]]:
    """One box per line of text: left, bottom, right, top, in points from the lower left corner."""
    text_page = page.get_textpage()
    boxes: list[tuple[float, float, float, float]] = []
    for index in indexes:
        left, bottom, right, top = text_page.get_charbox(index, loose=True)
        if boxes:
            l0, b0, r0, t0 = boxes[-1]
            if min(top, t0) - max(bottom, b0) > 0.5 * min(top - bottom, t0 - b0) and left >= l0:
                boxes[-1] = (min(l0, left), min(b0, bottom), max(r0, right), max(t0, top))
                continue
        boxes.append((left, bottom, right, top))
    return boxes


def _marked(picture: Any, boxes: Sequence[tuple[float, float, float, float]], size: tuple[float, float]) -> Any:
    from PIL import Image, ImageDraw

    if not boxes:
        return picture
    across, down = picture.width / size[0], picture.height / size[1]
    layer = Image.new("RGBA", picture.size, (0, 0, 0, 0))
    brush = ImageDraw.Draw(layer)
    for left, bottom, right, top in boxes:
        box = (
            left * across - 2,
            picture.height - top * down - 1,
            right * across + 2,
            picture.height - bottom * down + 1,
        )
        brush.rectangle(box, fill=_MARK)
        brush.line([(box[0], box[3]), (box[2], box[3])], fill=_EDGE, width=2)
    return Image.alpha_composite(picture.convert("RGBA"), layer).convert("RGB")


def _png(picture: Any) -> bytes:
    out = BytesIO()
    picture.save(out, "PNG", optimize=False, compress_level=3)
    return out.getvalue()
