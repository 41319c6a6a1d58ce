"""Label signals: weighted phrases and patterns that support a label value."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys
from core.knowledge.multi_pattern import PatternFinder, PhraseFinder

__all__ = ["LabelSignal", "LabelSignalFinder", "SignalMatch", "signals_of"]

_KEYS = ("phrases", "pattern", "words", "weight", "rule")


@dataclass(frozen=True, slots=True)
class LabelSignal:
    """One row: phrases (matched by stem) or a regular expression that support `value`; weight in log-odds, > 0."""

    value: str
    weight: float
    rule: str
    phrases: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class SignalMatch:
    """A signal found; `spans` are its positions in reading order."""

    sign: LabelSignal
    spans: tuple[tuple[int, int], ...]


class LabelSignalFinder:
    """Finds all signals of a table in a text; time is linear in the text's length."""

    def __init__(self, signs: Iterable[LabelSignal]) -> None:
        self._signs = tuple(signs)
        self._finder = PhraseFinder({str(i): sign.phrases for i, sign in enumerate(self._signs)})
        self._shaped = [i for i, sign in enumerate(self._signs) if sign.pattern is not None]
        self._shapes = PatternFinder(sign.pattern for sign in self._signs if sign.pattern is not None)

    def find(self, text: str) -> tuple[SignalMatch, ...]:
        """The signals that occur in the text, in table order."""
        spans: dict[int, list[tuple[int, int]]] = {}
        for found in self._finder.find(text):
            spans.setdefault(int(found.key), []).append((found.start, found.end))
        for i, matches in zip(self._shaped, self._shapes.find(text), strict=True):
            spans.setdefault(i, []).extend(match.span() for match in matches)
        return tuple(SignalMatch(sign, tuple(spans[i])) for i, sign in enumerate(self._signs) if spans.get(i))


def signals_of(table: str, value: str, rows: Any, allowed: Iterable[str] = _KEYS) -> tuple[LabelSignal, ...]:
    """Parses the signals of one value. Raises BadTable naming file and key."""
    if not isinstance(rows, list):
        raise BadTable(f"core/knowledge/{table}.toml: '{value}' must hold a list of rows.", f"Write [[{value}.signs]].")
    return tuple(_signal(table, value, row, allowed) for row in rows)


def _signal(table: str, value: str, row: Mapping[str, Any], allowed: Iterable[str]) -> LabelSignal:
    check_keys(table, value, row, allowed)
    weight = row.get("weight")
    if not isinstance(weight, int | float) or weight <= 0:
        raise BadTable(
            f"core/knowledge/{table}.toml: [{value}] weight must be a number above 0, not {weight!r}.", "Correct it."
        )
    phrases = tuple(row.get("phrases", row.get("words", ())))
    if not phrases and "pattern" not in row:
        raise BadTable(
            f"core/knowledge/{table}.toml: [{value}] a row needs phrases, words or a pattern.", "Add one of them."
        )
    try:
        pattern = re.compile(row["pattern"]) if "pattern" in row else None
    except re.error as error:
        raise BadTable(
            f"core/knowledge/{table}.toml: [{value}] pattern: {error}.", "Correct the expression."
        ) from error
    return LabelSignal(value, float(weight), str(row.get("rule", "")), phrases, pattern)
