"""Finds the stemmed phrases of a table in a text, in one pass."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

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


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text: where they stand, each behind "=" as it is written, their stems, and which of them a stem or
    written word is."""

    spans: Sequence[tuple[int, int]]
    written: Sequence[str]
    stems: Sequence[str]
    places: Mapping[str, Sequence[int]]


# A document's text is read by every table, one after the other.
@lru_cache(8)
def _read(text: str) -> _Words:
    found = [(match.span(), match.group().lower()) for match in _PART.finditer(text)]
    written = ["=" + word for _, word in found]
    stems = [stem(word) for _, word in found]
    places: dict[str, list[int]] = {}
    for words in (stems, written):
        for at, word in enumerate(words):
            places.setdefault(word, []).append(at)
    return _Words([span for span, _ in found], written, stems, places)


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
        words = _read(text)
        firsts = self._by_first.keys() & words.places.keys()
        free = 0
        for at in sorted({place for first in firsts for place in words.places[first]}):
            if at < free:
                continue
            for parts, key in self._at(words.written, words.stems, at):
                free = at + len(parts)
                if key:
                    yield Found(key, words.spans[at][0], words.spans[free - 1][1], len(parts))

    def _at(self, written: Sequence[str], stems: Sequence[str], at: int) -> list[tuple[tuple[str, ...], str]]:
        """The longest phrases that begin with a word. written: each word behind "="."""
        best: list[tuple[tuple[str, ...], str]] = []
        for as_spoken in (stems, written):
            for parts, key in self._by_first.get(as_spoken[at], ()):
                if best and len(parts) < len(best[0][0]):
                    break  # the others are shorter still
                if tuple(as_spoken[at : at + len(parts)]) == parts:
                    if best and len(parts) > len(best[0][0]):
                        best.clear()
                    best.append((parts, key))
        return [item for item in best if not item[1]] or best


def _table_parts(phrase: str) -> tuple[str, ...]:
    exact = phrase.startswith("=")
    return tuple(("=" + word) if exact else stem(word) for word in _PART.findall(phrase.lower()))
