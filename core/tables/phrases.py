"""Finds the stemmed phrases of a table in a text, in one pass."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.matching import stem

__all__ = ["Found", "PhraseFinder"]

_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase of row `key` at text[start:end]. `parts`: of how many words it is."""

    key: str
    start: int
    end: int
    parts: int


class PhraseFinder:
    """Phrases of several rows, matched by stems on word borders; "=word" only as written; the longest at a place wins.

    Phrases under the key "" are swallowed: they look like another phrase but are not one.

    >>> finder = PhraseFinder({"taxes": ["tax"], "": ["tax haven"]})
    >>> [found.key for found in finder.find("Taxes, syntax, and a tax haven")]
    ['taxes']
    """

    def __init__(self, rows: Mapping[str, Sequence[str]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for key, phrases in rows.items():
            for phrase in phrases:
                parts = _table_parts(phrase)
                self._by_first.setdefault(parts[0], []).append((parts, key))
        for candidates in self._by_first.values():
            candidates.sort(key=lambda item: -len(item[0]))

    def find(self, text: str) -> Iterator[Found]:
        """Every phrase in reading order; a word belongs to one phrase, but a phrase may stand in several rows."""
        spans = [(match.group().lower(), match.start(), match.end()) for match in _PART.finditer(text)]
        stems = [stem(word) for word, _, _ in spans]
        at = 0
        while at < len(spans):
            length = 1
            for parts, key in self._at(spans, stems, at):
                length = len(parts)
                if key:
                    yield Found(key, spans[at][1], spans[at + length - 1][2], length)
            at += length

    def _at(
        self, spans: Sequence[tuple[str, int, int]], stems: Sequence[str], at: int
    ) -> list[tuple[tuple[str, ...], str]]:
        candidates = [*self._by_first.get(stems[at], ()), *self._by_first.get("=" + spans[at][0], ())]
        matched = [
            (parts, key)
            for parts, key in candidates
            if all(_same(part, spans, stems, at + i) for i, part in enumerate(parts))
        ]
        longest = max((len(parts) for parts, _ in matched), default=0)
        best = [(parts, key) for parts, key in matched if len(parts) == longest]
        return [item for item in best if not item[1]] or best


def _same(part: str, spans: Sequence[tuple[str, int, int]], stems: Sequence[str], at: int) -> bool:
    if at >= len(spans):
        return False
    return spans[at][0] == part[1:] if part.startswith("=") else stems[at] == part


def _table_parts(phrase: str) -> tuple[str, ...]:
    exact = phrase.startswith("=")
    return tuple(("=" + word) if exact else stem(word) for word in _PART.findall(phrase.lower()))
