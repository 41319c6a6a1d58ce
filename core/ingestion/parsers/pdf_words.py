"""Extracts the words of a PDF page with positions, line by line in file order, and the ruling lines drawn on it.

Coordinates: points, on the page rotated so that most of its text is upright; x to the right, y upwards.
"""

import re
from collections import Counter
from collections.abc import Iterator
from ctypes import byref, c_double, c_float, c_ushort
from dataclasses import dataclass
from math import pi
from typing import Any

from core.domain.extraction import LayoutLine

__all__ = ["PdfWord", "PrintedLine", "RuledLine", "printed_lines", "rules"]

_MOST_PAGE_LETTERS = 500_000  # Chosen by hand, not fitted.
_LINE = re.compile("[^\\r\\n\x02\ufffe]*[\x02\ufffe]|[^\\r\\n\x02\ufffe]+")
_WORD = re.compile(r"\S+")
_HALVES = re.compile("[\ud800-\udfff]")
_MOST_RULES = 4_000  # Chosen by hand, not fitted.
_MOST_SEGMENTS = 400  # Chosen by hand, not fitted.
_LEAST_RULE = 4.0  # Points. Chosen by hand, not fitted.
_STRAIGHT = 1.0  # Points. Chosen by hand, not fitted.
_SAME = 2.0  # Points. Chosen by hand, not fitted.
_BOLD = 600  # OpenType weight: 600 is semi-bold.
_ENDING = re.compile(r"(?<=\S)\d[\d,+−-]*(?<=\d)(?=[^\w\s]{0,3}$)")
"""Digits at the end of a word, before punctuation."""
_LONGEST_ENDING = 12  # letters
_UNIT = re.compile(r"(?<![^\W_])[^\W\d_]{1,2}$")
_POWER_BASE = re.compile(r"(?<![\w.,])(?:10|2)$")
_SMALL = 0.85  # of the size of a word's first letter; this and the next were chosen by hand, not fitted
_LEAST_LINE = 1.0  # points; some files hide letters of a hundredth of a point. Chosen by hand, not fitted.
_RAISED = 0.2  # of this size, above its baseline
_SUPERSCRIPT = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")


@dataclass(frozen=True, slots=True)
class PdfWord:
    """A word and the bounding box of its ink."""

    text: str
    left: float
    right: float
    bottom: float
    top: float

    @property
    def middle(self) -> tuple[float, float]:
        """Centre (x, y) of its box."""
        return (self.left + self.right) / 2, (self.bottom + self.top) / 2


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A line as stored in the file, with its words; it may cross columns."""

    line: LayoutLine
    words: tuple[PdfWord, ...]


@dataclass(frozen=True, slots=True)
class RuledLine:
    """A horizontal or vertical line from `begin` to `end` along its axis, at `at` on the other axis."""

    across: bool
    at: float
    begin: float
    end: float


def printed_lines(text_page: Any) -> tuple[list[PrintedLine], int]:
    """The lines of a page, and the rotation of its text in counter-clockwise quarter turns."""
    reader = _PageReader(text_page)
    found = [(each.group(), each.start()) for each in _LINE.finditer(reader.letters())]
    reader.turns = reader.turned(found)
    return [reader.printed(text, offset) for text, offset in found], reader.turns


class _PageReader:
    """Reads one text page; caches pdfium functions and their output buffers, because they are called for every word."""

    def __init__(self, text_page: Any) -> None:
        import pypdfium2.raw as raw

        self._raw, self._page, self._char_box = raw, text_page.raw, raw.FPDFText_GetCharBox
        self._sides = [c_double() for _ in range(4)]
        self._filled = [byref(side) for side in self._sides]
        self.turns = 0

    def letters(self) -> str:
        """The page's UTF-16 units, one character each, so that string indexes equal pdfium's.

        Read in one call, or one by one if pdfium skips some.
        """
        count = min(self._raw.FPDFText_CountChars(self._page), _MOST_PAGE_LETTERS)
        buffer = (c_ushort * (count + 1))()
        if self._raw.FPDFText_GetText(self._page, 0, count, buffer) == count + 1:
            return "".join(map(chr, buffer[:count]))
        units = (self._raw.FPDFText_GetUnicode(self._page, position) for position in range(count))
        return "".join(chr(unit) if unit <= 0xFFFF else "\ufffd" for unit in units)

    def turned(self, lines: list[tuple[str, int]]) -> int:
        """Quarter turns of most letters."""
        count: Counter[int] = Counter()
        for text, offset in lines:
            if text.strip():
                angle = self._raw.FPDFText_GetCharAngle(self._page, offset + len(text) - len(text.lstrip()))
                count[-round(angle / (pi / 2)) % 4 if angle >= 0 else 0] += len(text)
        return count.most_common(1)[0][0] if count else 0

    def printed(self, letters: str, offset: int) -> PrintedLine:
        """A line with its words, font size, weight and position."""
        words = [self._word(found.group(), offset + found.start()) for found in _WORD.finditer(letters)]
        if not words:
            return PrintedLine(LayoutLine(_plain(letters)), ())
        texts = iter(words)
        first = offset + len(letters) - len(letters.lstrip())
        last = offset + len(letters.rstrip("\x02\ufffe \t")) - 1
        weight = self._raw.FPDFText_GetFontWeight
        line = LayoutLine(
            _plain(_WORD.sub(lambda _: next(texts).text, letters)),
            size=round(self._raw.FPDFText_GetFontSize(self._page, first), 1),
            bold=all(weight(self._page, position) >= _BOLD for position in (first, (first + last) // 2, last)),
            left=words[0].left,
            base=self._box(first)[1],
        )
        return PrintedLine(line, tuple(words))

    def _word(self, letters: str, first: int) -> PdfWord:
        last = first + max(len(letters.rstrip("\x02\ufffe")), 1) - 1
        left, bottom, right, top = self._box(first)
        if last > first:
            begin, low, end, high = self._box(last)
            is_higher = low > bottom if letters[-1].isdecimal() else not letters[-1].isalpha()
            if is_higher and _ENDING.search(letters, max(len(letters) - _LONGEST_ENDING, 1)):
                letters = self._with_raised(letters, first)
            left, bottom = begin if begin < left else left, low if low < bottom else bottom
            right, top = end if end > right else right, high if high > top else top
        return PdfWord(_plain(letters), left, right, bottom, top)

    def _with_raised(self, letters: str, first: int) -> str:
        """A word with a raised number at its end as one: behind a blank, as it marks a note, or as an exponent of 10 or
        2. Units such as "m2" stay as they are."""
        found = _ENDING.search(letters, max(len(letters) - _LONGEST_ENDING, 1))
        bottom, height = self._line_of(first)
        begin = end = found.end() if found else 0
        while found and begin > found.start():
            low, size = self._line_of(first + begin - 1)
            if height < _LEAST_LINE or size > _SMALL * height or low < bottom + _RAISED * height:
                break
            begin -= 1
        base, number = letters[:begin], letters[begin:end].lstrip(",")
        if not number or _UNIT.search(base):
            return letters
        gap = "" if _POWER_BASE.search(base) else " "
        return f"{letters[: end - len(number)]}{gap}{number.translate(_SUPERSCRIPT)}{letters[end:]}"

    def _line_of(self, position: int) -> tuple[float, float]:
        """The baseline of one character and the height of its line in its size."""
        rect = self._raw.FS_RECTF()
        self._raw.FPDFText_GetLooseCharBox(self._page, position, byref(rect))
        box = rect.left, rect.bottom, rect.right, rect.top
        _, low, _, high = _turned(box, self.turns) if self.turns else box
        return low, high - low

    def _box(self, position: int) -> tuple[float, float, float, float]:
        """Left, bottom, right, top of one character's ink, on the rotated page."""
        self._char_box(self._page, position, *self._filled)
        left, right, bottom, top = self._sides
        box = left.value, bottom.value, right.value, top.value
        return _turned(box, self.turns) if self.turns else box


def _plain(letters: str) -> str:
    if _HALVES.search(letters):
        letters = letters.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return letters.replace("\x02", "\ufffe")


def _turned(box: tuple[float, float, float, float], turns: int) -> tuple[float, float, float, float]:
    """A box after rotating the page clockwise by quarter turns.

    >>> _turned((1, 2, 3, 5), 1), _turned((1, 2, 3, 5), 2)
    ((2, -3, 5, -1), (-3, -5, -1, -2))
    """
    left, bottom, right, top = box
    for _ in range(turns):
        left, bottom, right, top = bottom, -right, top, -left
    return left, bottom, right, top


def rules(page: Any, turns: int) -> list[RuledLine]:
    """Straight ruling lines of a page, including box edges; none if the page is a drawing rather than a table."""
    import pypdfium2.raw as raw

    found: list[RuledLine] = []
    for path in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1):
        if 2 <= raw.FPDFPath_CountSegments(path) <= _MOST_SEGMENTS:
            for begin, end in _strokes(path):
                (x, y), (z, w) = begin, end
                left, bottom, right, top = _turned((min(x, z), min(y, w), max(x, z), max(y, w)), turns)
                if top - bottom <= _STRAIGHT and right - left >= _LEAST_RULE:
                    found.append(RuledLine(True, (top + bottom) / 2, left, right))
                elif right - left <= _STRAIGHT and top - bottom >= _LEAST_RULE:
                    found.append(RuledLine(False, (left + right) / 2, bottom, top))
        if len(found) > _MOST_RULES:
            return []
    return _joined(found)


def _joined(found: list[RuledLine]) -> list[RuledLine]:
    """Merges collinear rules: tables are often drawn cell by cell, each edge twice."""
    joined: list[RuledLine] = []
    for rule in sorted(found, key=lambda each: (each.across, each.at, each.begin)):
        last = joined[-1] if joined else None
        if last and last.across is rule.across and rule.at - last.at <= _SAME and rule.begin <= last.end + _SAME:
            joined[-1] = RuledLine(last.across, last.at, last.begin, max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined


def _strokes(path: Any) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The straight segments of a path, as pairs of points on the page."""
    import pypdfium2.raw as raw

    matrix = path.get_matrix()
    start = before = (0.0, 0.0)
    x, y = c_float(), c_float()
    for position in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, position)
        raw.FPDFPathSegment_GetPoint(segment, byref(x), byref(y))
        point = matrix.on_point(x.value, y.value)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield before, point
        before = point
        if raw.FPDFPathSegment_GetClose(segment):
            yield point, start
            before = start
