"""Computes the automatic numbers of list items and headings in OpenDocument texts ("4.2", "(a)", "•")."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from core.ingestion.parsers.numbering import BULLET, letters, roman

__all__ = ["ListNumbering"]

_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_TEXT, _STYLE = f"{{{_OASIS}:text:1.0}}", f"{{{_OASIS}:style:1.0}}"
_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_OUTLINE = "\x00"  # the name under which the style of headings is kept
_MOST_ROMAN = 3999
_MOST_LEVELS = 10  # OpenDocument 1.3, 19.881


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of a list. form: "1", "a", "A", "i", "I", "" for no number, "•" for a bullet. levels: how many numbers it
    shows."""

    form: str
    prefix: str
    suffix: str
    start: int
    levels: int


@dataclass(slots=True)
class ListNumbering:
    """Numbers lists and headings; expects them in order."""

    styles: dict[str, dict[int, _Level]] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)  # by list style, or id of a list
    _outline: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, roots: Iterable[Any]) -> "ListNumbering":
        """The numbering of a document. roots: of its parts with styles."""
        found: dict[str, dict[int, _Level]] = {}
        for root in roots:
            for style in root.iter(f"{_TEXT}list-style", f"{_TEXT}outline-style"):
                name = style.get(f"{_STYLE}name", "") if style.tag == f"{_TEXT}list-style" else _OUTLINE
                found[name] = {_number(level, "level", 1): _level(level) for level in style}
        return cls(found)

    def begin(self, node: Any) -> dict[int, int]:
        """The counts of a new `text:list` that is in no other: none yet, or those of the list that it continues."""
        style, earlier = node.get(f"{_TEXT}style-name", ""), node.get(f"{_TEXT}continue-list")
        goes_on = node.get(f"{_TEXT}continue-numbering") == "true"
        counts = self._counts.get(earlier or style, {}) if earlier or goes_on else {}
        self._counts[style] = self._counts[node.get(_XML_ID, style)] = counts
        return counts

    def item(self, node: Any, style: str, counts: dict[int, int], depth: int) -> str:
        """The label of a `text:list-item`. style: of its list. depth: from 0."""
        return self._label(style, counts, depth + 1, node.get(f"{_TEXT}start-value"))

    def heading(self, node: Any, level: int) -> str:
        """The number of a heading that is in no list, "" for none."""
        if node.get(f"{_TEXT}is-list-header") == "true" or level not in self.styles.get(_OUTLINE, {}):
            return ""
        label = self._label(_OUTLINE, self._outline, level, node.get(f"{_TEXT}start-value"))
        return "" if label == BULLET else label

    def _label(self, style: str, counts: dict[int, int], level: int, start: str | None) -> str:
        levels = self.styles.get(style, {})
        own = levels.get(level)
        first = own.start if own else 1
        counts[level] = int(start) if start and start.isdecimal() else counts.get(level, first - 1) + 1
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        if own is None or own.form == BULLET:
            return BULLET
        shown = range(max(1, level - own.levels + 1), level + 1)
        numbers = [_written(counts.get(at, levels[at].start), levels[at].form) for at in shown if at in levels]
        number = ".".join(filter(None, numbers)) if own.form else ""
        return f"{own.prefix}{number}{own.suffix}".strip() if number else ""


def _level(node: Any) -> _Level:
    is_bullet = not node.tag.endswith(("list-level-style-number", "outline-level-style"))
    form = BULLET if is_bullet else node.get(f"{_STYLE}num-format", "")
    prefix, suffix = node.get(f"{_STYLE}num-prefix", ""), node.get(f"{_STYLE}num-suffix", "")
    return _Level(form, prefix, suffix, _number(node, "start-value", 1), _number(node, "display-levels", 1))


def _number(node: Any, name: str, otherwise: int) -> int:
    value = node.get(f"{_TEXT}{name}", "")
    return int(value) if value.isdecimal() and len(value) < _MOST_LEVELS else otherwise


def _written(number: int, form: str) -> str:
    """
    >>> _written(4, "i"), _written(28, "A"), _written(3, "1"), _written(3, "")
    ('iv', 'AB', '3', '')
    """
    if form.lower() == "i" and 0 < number <= _MOST_ROMAN:
        return roman(number) if form == "i" else roman(number).upper()
    if form.lower() == "a" and number > 0:
        return letters(number) if form == "a" else letters(number).upper()
    return str(number) if form else ""
