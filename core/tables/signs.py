"""Tables of signs: what in a text or a name speaks for a value, with which weight, and why in words."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import BadTable
from core.tables.loading import check_keys
from core.tables.phrases import PhraseFinder
from core.tables.starts import PatternFinder

__all__ = ["Sign", "SignFinder", "SignHit", "signs_of"]

_KEYS = ("phrases", "pattern", "words", "weight", "rule", "own_voice")


@dataclass(frozen=True, slots=True)
class Sign:
    """One row: its phrases (by stems) or its regular expression speak for `value`; weight > 0 in log-odds.

    own_voice: it tells that the rule-giver itself speaks, not somebody about the rules.
    """

    value: str
    weight: float
    rule: str
    phrases: tuple[str, ...] = ()
    pattern: re.Pattern[str] | None = None
    own_voice: bool = False


@dataclass(frozen=True, slots=True)
class SignHit:
    """A sign found: `spans` are its places in reading order."""

    sign: Sign
    spans: tuple[tuple[int, int], ...]


class SignFinder:
    """Finds every sign of a table in one text; cost grows linearly with the text."""

    def __init__(self, signs: Iterable[Sign]) -> None:
        self._signs = tuple(signs)
        self._finder = PhraseFinder({str(i): sign.phrases for i, sign in enumerate(self._signs)})
        self._shaped = [i for i, sign in enumerate(self._signs) if sign.pattern is not None]
        self._shapes = PatternFinder(sign.pattern for sign in self._signs if sign.pattern is not None)

    def find(self, text: str) -> tuple[SignHit, ...]:
        """The signs that stand in the text, in table order."""
        spans: dict[int, list[tuple[int, int]]] = {}
        for found in self._finder.find(text):
            spans.setdefault(int(found.key), []).append((found.start, found.end))
        for i, matches in zip(self._shaped, self._shapes.find(text), strict=True):
            spans.setdefault(i, []).extend(match.span() for match in matches)
        return tuple(SignHit(sign, tuple(spans[i])) for i, sign in enumerate(self._signs) if spans.get(i))


def signs_of(table: str, value: str, rows: Any, allowed: Iterable[str] = _KEYS) -> tuple[Sign, ...]:
    """The signs of one value's rows. Raises BadTable naming file and key."""
    if not isinstance(rows, list):
        raise BadTable(f"core/tables/{table}.toml: '{value}' must hold a list of rows.", f"Write [[{value}.signs]].")
    return tuple(_sign(table, value, row, allowed) for row in rows)


def _sign(table: str, value: str, row: Mapping[str, Any], allowed: Iterable[str]) -> Sign:
    check_keys(table, value, row, allowed)
    weight = row.get("weight")
    if not isinstance(weight, int | float) or weight <= 0:
        raise BadTable(
            f"core/tables/{table}.toml: [{value}] weight must be a number above 0, not {weight!r}.", "Correct it."
        )
    phrases = tuple(row.get("phrases", row.get("words", ())))
    if not phrases and "pattern" not in row:
        raise BadTable(
            f"core/tables/{table}.toml: [{value}] a row needs phrases, words or a pattern.", "Add one of them."
        )
    try:
        pattern = re.compile(row["pattern"]) if "pattern" in row else None
    except re.error as error:
        raise BadTable(f"core/tables/{table}.toml: [{value}] pattern: {error}.", "Correct the expression.") from error
    return Sign(value, float(weight), str(row.get("rule", "")), phrases, pattern, bool(row.get("own_voice")))
