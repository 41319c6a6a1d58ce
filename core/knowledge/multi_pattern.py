"""Matches many regular expressions, or the stemmed phrases of a table, against one text in one pass.

`PatternFinder` gives the results of `finditer`, faster than one by one: a pattern that must start with one of a few
literals is tried only where such a literal occurs. The parsed pattern gives its literals; one Aho-Corasick pass finds
all of them.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

from core.text.tokenize import stem

__all__ = ["PatternFinder", "PhraseFinder", "PhraseHit", "starts_of"]

_MOST_STARTS = 2_000  # More literals than this count as unbounded. Chosen by hand, not fitted.
_LONGEST_START = 12  # Characters; longer literals are cut. Chosen by hand, not fitted.
_MOST_OF_A_SET = 8  # Character sets larger than this count as any character. Chosen by hand, not fitted.
_LETTERS_PER_PLACE = 8  # Chosen by hand, not fitted.
"""If a literal occurs more often than once per this many characters, the pattern's own search is faster."""

_ANY = frozenset({("", False)})
_NOTHING = frozenset({("", True)})
_Begun = frozenset[tuple[str, bool]]
"""Possible beginnings of what a part of a pattern matches; True: the literal is complete, the next part extends it."""


class PatternFinder:
    """Finds all matches of each pattern in `patterns`."""

    def __init__(self, patterns: Iterable[re.Pattern[str]]) -> None:
        self.patterns = tuple(patterns)

    def find(self, text: str) -> Iterator[Sequence[re.Match[str]]]:
        """The matches of each pattern, in pattern order; equal to `list(pattern.finditer(text))`.

        >>> finder = PatternFinder([re.compile(r"(?i)\\b(?:shall|must) be"), re.compile(r"\\d+")])
        >>> [[match.group() for match in found] for found in finder.find("Pay SHALL be 12.")]
        [['SHALL be'], ['12']]
        """
        positions: dict[int, list[int]] = {}
        for folded, automaton in self._automata:
            for last, starting in automaton.iter(_plain(text, folded)):
                for number, length in starting:
                    positions.setdefault(number, []).append(last - length + 1)
        for number, pattern in enumerate(self.patterns):
            found = positions.get(number, ())
            if number in self._unknown or len(found) * _LETTERS_PER_PLACE > len(text):
                yield list(pattern.finditer(text))
            else:
                yield _matches(pattern, text, sorted(found))

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """Indexes of patterns without known first literals."""
        return frozenset(i for i, pattern in enumerate(self.patterns) if starts_of(pattern) is None)

    @cached_property
    def _automata(self) -> Sequence[tuple[bool, Any]]:
        """(ignores case, automaton) pairs; the automaton finds the first literals of the patterns with that flag."""
        import ahocorasick

        made = []
        for folded in (False, True):
            owners: dict[str, list[tuple[int, int]]] = {}
            for number, pattern in enumerate(self.patterns):
                if bool(pattern.flags & re.IGNORECASE) == folded:
                    for start in starts_of(pattern) or ():
                        owners.setdefault(start, []).append((number, len(start)))
            if owners:
                automaton = ahocorasick.Automaton()
                for start, starting in owners.items():
                    automaton.add_word(start, tuple(starting))
                automaton.make_automaton()
                made.append((folded, automaton))
        return made


def _matches(pattern: re.Pattern[str], text: str, positions: Iterable[int]) -> Sequence[re.Match[str]]:
    """Like `finditer`, for a pattern that only matches at the given ascending positions and never matches ""."""
    found = []
    end = 0
    for position in positions:
        if position >= end:
            match = pattern.match(text, position)
            if match is not None:
                found.append(match)
                end = match.end()
    return found


@lru_cache(4096)
def starts_of(pattern: re.Pattern[str]) -> frozenset[str] | None:
    """The literals a match can start with, normalised by `_plain`; None if unbounded or if it can match "".

    >>> sorted(starts_of(re.compile(r"(?i)\\b(?:Acts? of|Sec\\.|§)\\s?\\d")) or ())
    ['act of 0', 'act of0', 'acts of 0', 'acts of0', 'sec. 0', 'sec.0', '§ 0', '§0']
    >>> starts_of(re.compile(r"\\w+ Act")) is None, starts_of(re.compile("(?:shall)?")) is None
    (True, True)
    """
    begun = _sequence(parser.parse(pattern.pattern, pattern.flags), bool(pattern.flags & re.IGNORECASE))
    starts = {start for start, _ in begun}
    if any(len(start) < 2 and (not start or start.isalpha()) for start in starts):
        return None
    return frozenset(starts)


def _sequence(parts: Iterable[Any], folded: bool) -> _Begun:
    begun = _NOTHING
    for part in parts:
        complete_starts = [start for start, complete in begun if complete]
        if not complete_starts:
            break
        following = _part(part, folded)
        longer = {(start + rest, complete) for start in complete_starts for rest, complete in following}
        grown = frozenset({each for each in begun if not each[1]} | longer)
        if len(grown) > _MOST_STARTS:
            return _ended(begun)
        begun = frozenset((start, complete and len(start) < _LONGEST_START) for start, complete in grown)
    return begun


def _ended(begun: _Begun) -> _Begun:
    return frozenset((start, False) for start, _ in begun)


# The literals one part of a parsed pattern can start with; one branch per kind of part.
def _part(part: Any, folded: bool) -> _Begun:
    kind, value = part
    if kind is codes.LITERAL:
        return _letter(chr(value), folded)
    if kind is codes.IN:
        return _set(value, folded)
    if kind is codes.BRANCH:
        return frozenset(each for way in value[1] for each in _sequence(way, folded))
    if kind is codes.SUBPATTERN:
        return _ANY if (value[1] | value[2]) & re.IGNORECASE else _sequence(value[3], folded)
    if kind is codes.ATOMIC_GROUP:
        return _sequence(value, folded)
    if kind in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        least, most, inner = value
        once = _sequence(inner, folded)
        once = once if most == 1 else _ended(once)
        return once if least else once | _NOTHING
    if kind is codes.AT and value in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
        return _ANY  # anchored to line starts: the pattern's own search is already fast
    if kind in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
        return _NOTHING
    return _ANY


def _set(members: Sequence[Any], folded: bool) -> _Begun:
    """One of a set of characters, if the set is small."""
    found: set[tuple[str, bool]] = set()
    for kind, value in members:
        if kind is codes.LITERAL:
            found |= _letter(chr(value), folded)
        elif kind is codes.RANGE and value[1] - value[0] < 2 * _MOST_OF_A_SET:
            for code in range(value[0], value[1] + 1):
                found |= _letter(chr(code), folded)
        elif kind is codes.CATEGORY and value in (codes.CATEGORY_SPACE, codes.CATEGORY_DIGIT):
            found.add((" " if value is codes.CATEGORY_SPACE else "0", True))
        else:
            return _ANY
    return frozenset(found) if len(found) <= _MOST_OF_A_SET else _ANY


def _letter(char: str, folded: bool) -> _Begun:
    """A single character; non-ASCII letters have too many case variants to follow when case is ignored."""
    if folded and not char.isascii() and not char.lower() == char == char.upper():
        return _ANY
    return frozenset({(_plain(char, folded), True)})


@lru_cache(8)
def _plain(text: str, folded: bool) -> str:
    """The text with blanks and digits each mapped to one character, length unchanged; folded: lower-cased like patterns
    that ignore case see it."""
    return text.translate(_FOLDED if folded else _KEPT)


class _LiteralPattern(dict[int, str]):
    """Translation table for `str.translate`, filled lazily."""

    def __init__(self, folded: bool) -> None:
        self._folded = folded

    def __missing__(self, code: int) -> str:
        char = chr(code)
        if char.isspace():
            plain = " "
        elif char.isdecimal():
            plain = "0"
        elif self._folded:
            plain = char.lower() if char.isascii() else _ALSO_ASCII.get(char, char)
        else:
            plain = char
        self[code] = plain
        return plain


_ALSO_ASCII = {"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"}
"""Non-ASCII characters that match an ASCII letter when case is ignored."""

_KEPT, _FOLDED = _LiteralPattern(False), _LiteralPattern(True)


_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class PhraseHit:
    """A phrase of row `key` at text[start:end]. parts: its number of words."""

    key: str
    start: int
    end: int
    parts: int


class _StemmedText:
    """The words of a text in lower case, each with its two forms: the stem, and as written (prefixed "=")."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.words = [word.lower() for word in _PART.findall(text)]
        self.forms = {word: (stem(word), "=" + word) for word in set(self.words)}

    @cached_property
    def spans(self) -> Sequence[tuple[int, int]]:
        """(start, end) of each word."""
        return [match.span() for match in _PART.finditer(self._text)]

    def positions(self, forms: Container[str]) -> Sequence[int]:
        """Indexes of the words that have one of the forms, ascending."""
        present = {word for word, (stemmed, written) in self.forms.items() if stemmed in forms or written in forms}
        return [at for at, word in enumerate(self.words) if word in present] if present else ()


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
        for key, wordings in rows.items():
            for phrase in wordings:
                parts = _table_parts(phrase)
                by_length = phrases.setdefault(parts[0], {}).setdefault(len(parts), {})
                by_length.setdefault(parts, []).append(key)
        self._by_first = {first: sorted(found.items(), reverse=True) for first, found in phrases.items()}

    def find(self, text: str) -> Iterator[PhraseHit]:
        """All matches in reading order; a word belongs to one phrase, but a phrase may belong to several rows."""
        words = _read(text)
        free = 0
        for at in words.positions(self._by_first):
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
        for kind, first in enumerate(words.forms[words.words[at]]):
            for length, phrases in self._by_first.get(first, ()):
                if length < longest:
                    break  # phrases are sorted by length, so the rest is shorter
                found = phrases.get(tuple([words.forms[word][kind] for word in words.words[at : at + length]]))
                if found:
                    keys = found if length > longest else keys + found
                    longest = length
        return longest, [""] if "" in keys else keys


def _table_parts(phrase: str) -> tuple[str, ...]:
    exact = phrase.startswith("=")
    return tuple(("=" + word) if exact else stem(word) for word in _PART.findall(phrase.lower()))
