"""Finds the stemmed phrases of a table in a text, in one pass."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

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


class _Words:
    """The words of a text: each behind "=" as it is written, their stems, and all of these once."""

    def __init__(self, text: str) -> None:
        self._text = text
        words = [word.lower() for word in _PART.findall(text)]
        self.stems = [stem(word) for word in words]
        self.written = ["=" + word for word in words]
        self.forms = {*self.stems, *self.written}

    @cached_property
    def spans(self) -> Sequence[tuple[int, int]]:
        """Where they stand."""
        return [match.span() for match in _PART.finditer(self._text)]

    def places(self, forms: Collection[str]) -> Iterator[int]:
        """Which of them have one of some forms, ascending."""
        return (
            at
            for at, (stemmed, written) in enumerate(zip(self.stems, self.written, strict=True))
            if stemmed in forms or written in forms
        )


# A document's text is read by every table, one after the other.
_read = lru_cache(8)(_Words)


class PhraseFinder:
    """Phrases of several rows, matched by stems on word borders; "=word" only as written; the longest at a place wins.

    Phrases under the key "" are swallowed: they look like another phrase but are not one.

    >>> finder = PhraseFinder({"taxes": ["tax"], "": ["tax haven"]})
    >>> [found.key for found in finder.find("Taxes, syntax, and a tax haven")]
    ['taxes']
    """

    def __init__(self, rows: Mapping[str, Sequence[str]]) -> None:
        phrases: dict[str, dict[int, dict[tuple[str, ...], list[str]]]] = {}
        for key, spoken in rows.items():
            for phrase in spoken:
                parts = _table_parts(phrase)
                by_length = phrases.setdefault(parts[0], {}).setdefault(len(parts), {})
                by_length.setdefault(parts, []).append(key)
        self._by_first = {first: sorted(found.items(), reverse=True) for first, found in phrases.items()}

    def find(self, text: str) -> Iterator[Found]:
        """Every phrase in reading order; a word belongs to one phrase, but a phrase may stand in several rows."""
        words = _read(text)
        firsts = self._by_first.keys() & words.forms
        free = 0
        for at in words.places(firsts) if firsts else ():
            if at < free:
                continue
            length, keys = self._at(words, at)
            free = at + length
            for key in keys:
                if key:
                    yield Found(key, words.spans[at][0], words.spans[free - 1][1], length)

    def _at(self, words: _Words, at: int) -> tuple[int, Sequence[str]]:
        """Of how many words the longest phrase is that begins with a word, and the keys of its rows; 0 without any."""
        longest, keys = 0, list[str]()
        for as_spoken in (words.stems, words.written):
            for length, phrases in self._by_first.get(as_spoken[at], ()):
                if length < longest:
                    break  # the others are shorter still
                found = phrases.get(tuple(as_spoken[at : at + length]))
                if found:
                    keys = found if length > longest else keys + found
                    longest = length
        return longest, [""] if "" in keys else keys


def _table_parts(phrase: str) -> tuple[str, ...]:
    exact = phrase.startswith("=")
    return tuple(("=" + word) if exact else stem(word) for word in _PART.findall(phrase.lower()))
