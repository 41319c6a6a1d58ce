"""Computes the automatic numbers of paragraphs in Word documents ("4.2", "(a)", "•"), and numbers in letters."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from core.ingestion.parsers.text_cleaning import clean

__all__ = ["BULLET", "Numbering", "letters", "roman"]

BULLET = "•"
_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
          (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST_ROMAN = 3999
_MOST_LETTERS = 30  # Word repeats a letter after "z"; its own limit


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of a list. text: its label, with "%1" for the number of the first level. restart: the number of levels
    that restart it; None: all above. legal: all numbers in digits. style: the paragraph style on this level."""

    start: int
    form: str
    text: str
    restart: int | None
    legal: bool
    style: str


@dataclass(frozen=True, slots=True)
class _List:
    """A list. sequence: lists of the same sequence count on. starts: by level, where this list begins anew."""

    sequence: str
    levels: dict[int, _Level]
    starts: dict[int, int]


class Numbering:
    """Numbers the paragraphs of a document; expects them in order. numbering: root of numbering.xml, or None. styles:
    root of styles.xml."""

    def __init__(self, numbering: Any, styles: Any) -> None:
        self._lists = {} if numbering is None else _lists(numbering)
        self._styles = {style.get(f"{_W}styleId", ""): style for style in styles.iter(f"{_W}style")}
        self._of_style: dict[str, tuple[str, int | None]] = {}
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[tuple[str, int]] = set()

    def label(self, paragraph: Any) -> str | None:
        """The label that Word shows before a paragraph, "" for an invisible one; None outside lists. Numbers of an
        unknown kind are a bullet."""
        list_id, depth = self._place(paragraph)
        if not list_id:
            return None
        found = self._lists.get(list_id)
        if found is None or depth not in found.levels:
            return BULLET
        counts = self._counts.setdefault(found.sequence, {})
        self._count(counts, list_id, found, depth)
        level = found.levels[depth]
        if level.form == "bullet":
            return BULLET
        numbers = {int(number) - 1 for number in re.findall("%([1-9])", level.text)}
        shown = {at: _shown(found, counts, at, level.legal) for at in numbers}
        if None in shown.values():
            return BULLET
        return clean(re.sub("%([1-9])", lambda number: shown[int(number[1]) - 1] or "", level.text)).strip()

    def _count(self, counts: dict[int, int], list_id: str, found: _List, depth: int) -> None:
        anew = depth in found.starts and (list_id, depth) not in self._begun
        self._begun.add((list_id, depth))
        start = found.starts.get(depth, found.levels[depth].start)
        counts[depth] = start if anew or depth not in counts else counts[depth] + 1
        for deeper in [each for each in counts if each > depth]:
            restart = found.levels[deeper].restart if deeper in found.levels else None
            if restart is None or depth < restart:
                del counts[deeper]

    def _place(self, paragraph: Any) -> tuple[str, int]:
        """The list and level of a paragraph, its own or its style's; "" outside lists."""
        properties = paragraph.find(f"{_W}pPr")
        if properties is None:
            return "", 0
        list_id, depth = _numbered(properties)
        if list_id is None or depth is None:
            style_list, style_depth = self._place_of_style(_value(properties, "pStyle") or "")
            list_id = style_list if list_id is None else list_id
            depth = style_depth if depth is None else depth
        return "" if list_id == "0" else list_id, depth or 0

    def _place_of_style(self, style_id: str) -> tuple[str, int | None]:
        if style_id not in self._of_style:
            list_id, depth, styles = None, None, []
            for style in self._ancestry(style_id):
                styles.append(style.get(f"{_W}styleId", ""))
                properties = style.find(f"{_W}pPr")
                its_list, its_depth = (None, None) if properties is None else _numbered(properties)
                list_id, depth = its_list if list_id is None else list_id, its_depth if depth is None else depth
                if list_id is not None:
                    break
            levels = self._lists[list_id].levels if list_id in self._lists else {}
            depth = next((at for each in styles for at, level in levels.items() if level.style == each), depth)
            self._of_style[style_id] = (list_id or "", depth)
        return self._of_style[style_id]

    def _ancestry(self, style_id: str) -> Iterator[Any]:
        """A style and those that it is based on."""
        passed: set[str] = set()
        while style_id in self._styles and style_id not in passed:
            passed.add(style_id)
            yield self._styles[style_id]
            style_id = _value(self._styles[style_id], "basedOn") or ""


def _lists(root: Any) -> dict[str, _List]:
    sequences = {each.get(f"{_W}abstractNumId", ""): each for each in root.iter(f"{_W}abstractNum")}
    linked = {style: each for each in sequences.values() if (style := _value(each, "styleLink"))}
    found = {}
    for number in root.iter(f"{_W}num"):
        sequence = sequences.get(_value(number, "abstractNumId") or "")
        if sequence is None:
            continue
        sequence = linked.get(_value(sequence, "numStyleLink") or "", sequence)
        levels = {_whole(each.get(f"{_W}ilvl"), 0): _level(each) for each in sequence.findall(f"{_W}lvl")}
        starts = {}
        for change in number.findall(f"{_W}lvlOverride"):
            depth = _whole(change.get(f"{_W}ilvl"), 0)
            if (level := change.find(f"{_W}lvl")) is not None:
                levels[depth] = _level(level)
            if (start := _value(change, "startOverride")) is not None:
                starts[depth] = _whole(start, 1)
        found[number.get(f"{_W}numId", "")] = _List(sequence.get(f"{_W}abstractNumId", ""), levels, starts)
    return found


def _level(node: Any) -> _Level:
    form = node.find(f".//{_W}numFmt")
    restart, legal = _value(node, "lvlRestart"), node.find(f"{_W}isLgl")
    return _Level(
        start=_whole(_value(node, "start"), 0),
        form="decimal" if form is None else form.get(f"{_W}val", ""),
        text=_value(node, "lvlText") or "",
        restart=None if restart is None else _whole(restart, 0),
        legal=legal is not None and legal.get(f"{_W}val", "1") not in {"0", "false", "off"},
        style=_value(node, "pStyle") or "",
    )


def _numbered(properties: Any) -> tuple[str | None, int | None]:
    """The list and the level that paragraph properties name."""
    node = properties.find(f"{_W}numPr")
    if node is None:
        return None, None
    depth = _value(node, "ilvl")
    return _value(node, "numId"), None if depth is None else _whole(depth, 0)


def _value(node: Any, name: str) -> str | None:
    found = node.find(f"{_W}{name}")
    return None if found is None else str(found.get(f"{_W}val", ""))


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text and re.fullmatch("[0-9]{1,9}", text) else otherwise


def _shown(found: _List, counts: dict[int, int], depth: int, legal: bool) -> str | None:
    """The number of a level as Word writes it; None for an unknown kind."""
    if depth not in found.levels:
        return None
    level = found.levels[depth]
    number = counts.get(depth, level.start)
    match "decimal" if legal and level.form != "none" else level.form:
        case "decimal":
            return str(number)
        case "decimalZero":
            return f"{number:02}"
        case "lowerRoman" | "upperRoman" if 0 < number <= _MOST_ROMAN:
            return roman(number) if level.form == "lowerRoman" else roman(number).upper()
        case "lowerLetter" | "upperLetter" if 0 < number <= 26 * _MOST_LETTERS:
            text = chr(ord("a") + (number - 1) % 26) * ((number + 25) // 26)
            return text if level.form == "lowerLetter" else text.upper()
        case "none":
            return ""
    return None


def roman(number: int) -> str:
    """A number from 1 to 3999 in Roman numerals.

    >>> roman(4), roman(1998)
    ('iv', 'mcmxcviii')
    """
    text = ""
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        text += sign * count
    return text


def letters(number: int) -> str:
    """A number from 1 in letters, as browsers write it.

    >>> letters(2), letters(28)
    ('b', 'ab')
    """
    text = ""
    while number:
        number, letter = divmod(number - 1, 26)
        text = chr(ord("a") + letter) + text
    return text
