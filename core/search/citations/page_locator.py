"""Locates cited sentences on a PDF page, and draws the page with them highlighted."""
# Over 300 lines: the image highlights exactly what the locator finds.

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_int
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from threading import Lock
from typing import Any, Self

from core.domain.errors import NotFound, UnreadableFile
from core.text.symbol_fonts import PLAIN_SYMBOLS

__all__ = ["Box", "PagePicture", "bare", "letters_shown", "located", "opened_page", "page_picture", "word_boxes"]

_PDFIUM = Lock()  # pdfium is not thread-safe

_HYPHENS = "-\u2010\u2011\u00ad\x02\ufffe"

_UNKNOWN = "\ufffd"

_REACHES = (0, 12, 40, 120, 400)  # letters of context on each side, until the place is unique. Chosen by hand.

_FINE = 64  # pdfium rounds positions to whole pixels

_LEAST_SEEN = 0.2  # points

_WORD_GAP = 1.2  # of a letter's height: wider gaps begin a new box


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in points from the upper left corner of the page as shown, after rotation and cropping."""

    left: float
    top: float
    right: float
    bottom: float

    def holds(self, other: Self) -> bool:
        """Whether the centre of another box lies inside."""
        across, down = (other.left + other.right) / 2, (other.top + other.bottom) / 2
        return self.left <= across <= self.right and self.top <= down <= self.bottom


@contextmanager
def opened_page(data: bytes, number: int) -> Iterator[Any]:
    """Page `number` (1-based) of a PDF, closed on exit; one page at a time.

    Raises UnreadableFile when the file cannot be drawn, NotFound when it has no such page.
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
            yield document[number - 1]
        except pypdfium2.PdfiumError as error:
            raise UnreadableFile(f"Page {number} of the original cannot be drawn.", "Download it.") from error
        finally:
            document.close()


def located(data: bytes, number: int, text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[Box, ...]]:
    """`places` on page `number` (1-based) of a PDF. Raises what `opened_page` raises."""
    with opened_page(data, number) as page:
        return word_boxes(page, text, spans)


def word_boxes(page: Any, text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[Box, ...]]:
    """The boxes of each span of a page's extracted text, one per printed line; none for a span that is not found
    exactly."""
    text_page = page.get_textpage()
    try:
        printed, read = _Letters.of(_characters(text_page)), _Letters.of(text)
        show = _PageText.of(page)
        return [
            tuple(
                box for start, end in _runs(printed, read, text, *span) for box in _lines(text_page, show, start, end)
            )
            for span in spans
        ]
    finally:
        text_page.close()


def letters_shown(page: Any) -> list[tuple[str, Box]]:
    """Every visible character of a page with its ink box, in file order."""
    text_page = page.get_textpage()
    try:
        show = _PageText.of(page)
        seen = ((at, letter) for at, letter in enumerate(_characters(text_page)) if _forms(letter))
        return [(letter, show.box(text_page.get_charbox(at))) for at, letter in seen]
    finally:
        text_page.close()


def bare(text: str) -> str:
    """Characters in normal form for comparison: without spaces, hyphens and accents.

    >>> bare("of\\ufb01ce co-\\noperate, caf\\u00e9")
    'officecooperate,cafe'
    """
    return _Letters.of(text).bare


@dataclass(frozen=True, slots=True)
class _Letters:
    """bare: the normalised text. origins: per letter of it, the index of the original character."""

    bare: str
    origins: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> Self:
        forms = [(form, at) for at, character in enumerate(text) for form in _forms(character)]
        return cls("".join(form for form, _ in forms), tuple(at for _, at in forms))

    def inside(self, start: int, end: int) -> tuple[int, int]:
        """The range of `bare` that comes from characters [start, end)."""
        return bisect_left(self.origins, start), bisect_left(self.origins, end)


@lru_cache(maxsize=16_384)
def _forms(character: str) -> str:
    """The normal form of a character: ligatures as their letters, bullets of symbol fonts as bullets; accents, spaces
    and hyphens as "".

    Characters beyond the first 65,536 become "" too: pdfium returns them as two halves or not at all.
    """
    if character.isspace() or character in _HYPHENS or character == _UNKNOWN or character > "\uffff":
        return ""
    parts = unicodedata.normalize("NFKD", character.translate(PLAIN_SYMBOLS))
    return "".join(
        part for part in parts if part.isprintable() and not part.isspace() and not unicodedata.combining(part)
    )


def _characters(text_page: Any) -> str:
    import pypdfium2.raw as raw

    units = (raw.FPDFText_GetUnicode(text_page, at) for at in range(text_page.count_chars()))
    return "".join(chr(unit) if unit < 0x110000 else _UNKNOWN for unit in units)


def _runs(printed: _Letters, read: _Letters, text: str, start: int, end: int) -> list[tuple[int, int]]:
    """First and last character index of each run on the page that covers the span; none unless all of it is found.

    Searched line by line where the text has another line order than the page.
    """
    first, last = read.inside(start, end)
    span = _at(printed.bare, read.bare, first, last) if first < last else None
    if span is not None:
        return [(printed.origins[span[0]], printed.origins[span[1] - 1])]
    breaks = [at for at in range(start, end) if text[at] == "\n"]
    lines = [read.inside(a, b) for a, b in zip([start, *breaks], [*breaks, end], strict=True)]
    found = [_at(printed.bare, read.bare, a, b) for a, b in lines if a < b]
    return [(printed.origins[at[0]], printed.origins[at[1] - 1]) for at in found if at] if None not in found else []


def _at(printed: str, read: str, first: int, last: int) -> tuple[int, int] | None:
    """Position of letters [first, last) of the extracted text among the printed ones."""
    if printed == read:
        return first, last
    for reach in _REACHES:
        for before, after in dict.fromkeys(((reach, reach), (reach, 0), (0, reach))):
            begin = max(0, first - before)
            around = read[begin : last + after]
            match = _only(printed, around)
            if match is not None and _only(read, around) is not None:
                return match + first - begin, match + last - begin
    return None


def _only(text: str, part: str) -> int | None:
    """Position of a part that occurs exactly once in a text."""
    at = text.find(part)
    return at if at >= 0 and text.find(part, at + 1) < 0 else None


@dataclass(frozen=True, slots=True)
class _PageText:
    """Converts page coordinates to points from the upper left corner of the page as shown."""

    origin: tuple[float, float]
    across: tuple[float, float]
    down: tuple[float, float]

    @classmethod
    def of(cls, page: Any) -> Self:
        (x0, y0), (x1, y1), (x2, y2) = (_drawn(page, *point) for point in ((0, 0), (1000, 0), (0, 1000)))
        return cls((x0, y0), ((x1 - x0) / 1000, (y1 - y0) / 1000), ((x2 - x0) / 1000, (y2 - y0) / 1000))

    def box(self, corners: tuple[float, float, float, float]) -> Box:
        """Convert a rectangle given as left, bottom, right, top."""
        left, bottom, right, top = corners
        points = [self._point(x, y) for x, y in ((left, bottom), (right, top))]
        (x0, x1), (y0, y1) = (sorted(axis) for axis in zip(*points, strict=True))
        return Box(x0, y0, x1, y1)

    def _point(self, x: float, y: float) -> tuple[float, float]:
        return (
            self.origin[0] + x * self.across[0] + y * self.down[0],
            self.origin[1] + x * self.across[1] + y * self.down[1],
        )


def _drawn(page: Any, x: float, y: float) -> tuple[float, float]:
    import pypdfium2.raw as raw

    width, height = page.get_size()
    size = (round(width * _FINE), round(height * _FINE))
    left, top = c_int(), c_int()
    raw.FPDF_PageToDevice(page, 0, 0, *size, 0, x, y, byref(left), byref(top))
    return left.value / _FINE, top.value / _FINE


def _lines(text_page: Any, show: _PageText, start: int, end: int) -> list[Box]:
    """Boxes around the ink of the visible characters start … end, adjacent letters merged.

    Loose boxes, which have the height of the line, decide whether letters are adjacent; the result covers their ink,
    because loose boxes reach into the lines above and below."""
    found: list[Box] = []
    before: Box | None = None
    across = None
    for loose, ink in _letter_boxes(text_page, show, start, end):
        beside = before is not None and _beside(before, loose)
        below = before is not None and not beside and _beside(_rotated(before), _rotated(loose))
        if (beside or below) and across in (None, beside):
            across, found[-1] = beside, _around(found[-1], ink)
        else:
            across = None
            found.append(ink)
        before = loose
    return found


def _letter_boxes(text_page: Any, show: _PageText, start: int, end: int) -> Iterator[tuple[Box, Box]]:
    """The loose box and the ink box of each visible character from start to end.

    Skips letters of a hundredth of a point, which some files hide beside visible text.
    """
    import pypdfium2.raw as raw

    for at in range(start, end + 1):
        if not chr(raw.FPDFText_GetUnicode(text_page, at)).isspace():
            loose, ink = (show.box(text_page.get_charbox(at, loose=each)) for each in (True, False))
            if min(loose.right - loose.left, loose.bottom - loose.top) >= _LEAST_SEEN:
                yield loose, ink if ink.left < ink.right and ink.top < ink.bottom else loose


def _around(one: Box, other: Box) -> Box:
    return Box(
        min(one.left, other.left),
        min(one.top, other.top),
        max(one.right, other.right),
        max(one.bottom, other.bottom),
    )


def _beside(box: Box, next_box: Box) -> bool:
    """Whether the next box continues this one, to the right or left, on the same line and within a word gap."""
    height = min(box.bottom - box.top, next_box.bottom - next_box.top)
    shared = min(box.bottom, next_box.bottom) - max(box.top, next_box.top)
    gap = max(next_box.left - box.right, box.left - next_box.right)
    return shared > height / 2 and gap < _WORD_GAP * height


def _rotated(box: Box) -> Box:
    """The box with x and y exchanged."""
    return Box(box.top, box.left, box.bottom, box.right)


_MARK = (255, 205, 60, 90)  # red, green, blue, opacity: amber under the text

_EDGE = (200, 120, 0, 255)  # a darker, opaque amber


@dataclass(frozen=True, slots=True)
class PagePicture:
    """`png`: the image. `marked`: number of highlighted sentences. `note`: why some are not, as text.

    boxes: per sentence, the highlighted boxes in points from the upper left corner of the page as shown.
    """

    png: bytes
    marked: int
    note: str = ""
    boxes: tuple[tuple[Box, ...], ...] = ()


def page_picture(
    data: bytes, number: int, *, text: str = "", spans: Sequence[tuple[int, int]] = (), scale: float = 1.6
) -> PagePicture:
    """Draw page `number` (1-based) of a PDF at `scale` × 72 dpi and highlight these spans of its extracted `text`.

    Raises UnreadableFile when the page cannot be drawn, NotFound when there is no such page.
    """
    with opened_page(data, number) as page:
        picture = page.render(scale=scale).to_pil().convert("RGB")
        boxes = word_boxes(page, text, spans) if spans else []
        width = page.get_width()
    found = sum(1 for each in boxes if each)
    drawn = _marked(picture, [box for each in boxes for box in each], picture.width / width)
    return PagePicture(_png(drawn), found, _note(found, len(spans)), tuple(boxes))


def _note(found: int, cited: int) -> str:
    """What is not highlighted, as text; "" when everything is."""
    if found == cited:
        return ""
    subject = "The cited sentence" if cited == 1 else f"{cited - found} of {cited} cited sentences"
    them = "it" if cited == 1 else "them"
    return f"{subject} could not be located exactly on this page, so nothing is marked for {them}."


def _marked(picture: Any, boxes: Sequence[Box], dots: float) -> Any:
    """The image with the boxes drawn on it; dots: pixels per point."""
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
