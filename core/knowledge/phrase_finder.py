"""Matches stemmed phrases of a table in a text, in one pass."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from core.text.tokenize import stem

__all__ = ["PhraseFinder", "PhraseHit"]

_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class PhraseHit:
    """A phrase of row `key` at text[start:end]. parts: its number of words."""

    key: str
    start: int
    end: int
    parts: int


class _StemmedText:
    """The words of a text: as written (prefixed "="), stemmed, and the set of all forms."""

    def __init__(self, text: str) -> None:
        self._text = text
        words = [word.lower() for word in _PART.findall(text)]
        self.stems = [stem(word) for word in words]
        self.written = ["=" + word for word in words]
        self.forms = {*self.stems, *self.written}

    @cached_property
    def spans(self) -> Sequence[tuple[int, int]]:
        """(start, end) of each word."""
        return [match.span() for match in _PART.finditer(self._text)]

    def places(self, forms: Collection[str]) -> Iterator[int]:
        """Indexes of the words that have one of the forms, ascending."""
        return (
            at
            for at, (stemmed, written) in enumerate(zip(self.stems, self.written, strict=True))
            if stemmed in forms or written in forms
        )


# Cached, because every table reads the same document text in turn.
_read = lru_cache(8)(_StemmedText)


class PhraseFinder:
    """Matches phrases of several rows by stem on word boundaries; "=word" only as written; the longest match wins.

    Phrases under the key "" are excluded: they contain another phrase but do not count as one.

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

    def find(self, text: str) -> Iterator[PhraseHit]:
        """All matches in reading order; a word belongs to one phrase, but a phrase may belong to several rows."""
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
                    yield PhraseHit(key, words.spans[at][0], words.spans[free - 1][1], length)

    def _at(self, words: _StemmedText, at: int) -> tuple[int, Sequence[str]]:
        """(number of words, row keys) of the longest phrase that starts at word `at`; 0 words if none."""
        longest, keys = 0, list[str]()
        for as_spoken in (words.stems, words.written):
            for length, phrases in self._by_first.get(as_spoken[at], ()):
                if length < longest:
                    break  # phrases are sorted by length, so the rest is shorter
                found = phrases.get(tuple(as_spoken[at : at + length]))
                if found:
                    keys = found if length > longest else keys + found
                    longest = length
        return longest, [""] if "" in keys else keys


def _table_parts(phrase: str) -> tuple[str, ...]:
    exact = phrase.startswith("=")
    return tuple(("=" + word) if exact else stem(word) for word in _PART.findall(phrase.lower()))
