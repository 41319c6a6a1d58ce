"""Every match of many patterns in one text, exactly as each pattern's own `finditer` gives them, in less time.

A pattern that must begin with one of a few known words is tried only where such a word stands. The words are read off
the parsed pattern, and one Aho-Corasick pass finds all places of all words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

__all__ = ["PatternFinder", "starts_of"]

_MOST_STARTS = 2_000
_LONGEST_START = 12
_MOST_OF_A_SET = 8
_LETTERS_PER_PLACE = 8
"""Where a start stands more often than once in so many letters, the pattern's own search is the faster one."""

_ANY = frozenset({("", False)})
_NOTHING = frozenset({("", True)})
_Begun = frozenset[tuple[str, bool]]
"""How what a part of a pattern matches may begin; true: that is all of it, so what follows goes on from there."""


class PatternFinder:
    """Finds all matches of each of its `patterns`."""

    def __init__(self, patterns: Iterable[re.Pattern[str]]) -> None:
        self.patterns = tuple(patterns)

    def find(self, text: str) -> Iterator[Sequence[re.Match[str]]]:
        """The matches of each pattern, in the order of the patterns; equal to `list(pattern.finditer(text))`.

        >>> finder = PatternFinder([re.compile(r"(?i)\\b(?:shall|must) be"), re.compile(r"\\d+")])
        >>> [[match.group() for match in found] for found in finder.find("Pay SHALL be 12.")]
        [['SHALL be'], ['12']]
        """
        places: dict[int, list[int]] = {}
        for folded, automaton in self._automata:
            for last, starting in automaton.iter(_plain(text, folded)):
                for number, length in starting:
                    places.setdefault(number, []).append(last - length + 1)
        for number, pattern in enumerate(self.patterns):
            found = places.get(number, ())
            if number in self._unknown or len(found) * _LETTERS_PER_PLACE > len(text):
                yield list(pattern.finditer(text))
            else:
                yield _matches(pattern, text, sorted(found))

    @cached_property
    def _unknown(self) -> frozenset[int]:
        """The patterns that may begin with anything."""
        return frozenset(i for i, pattern in enumerate(self.patterns) if starts_of(pattern) is None)

    @cached_property
    def _automata(self) -> Sequence[tuple[bool, Any]]:
        """Whether capitals are made small, and what finds the starts of the patterns that see text that way."""
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


def _matches(pattern: re.Pattern[str], text: str, places: Iterable[int]) -> Sequence[re.Match[str]]:
    """As `finditer`, for a pattern that begins at one of the places, ascending, and never matches nothing."""
    found = []
    end = 0
    for place in places:
        if place >= end:
            match = pattern.match(text, place)
            if match is not None:
                found.append(match)
                end = match.end()
    return found


@lru_cache(4096)
def starts_of(pattern: re.Pattern[str]) -> frozenset[str] | None:
    """With what each match of a pattern begins, as `_plain` writes it; None when that may be anything, or nothing.

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
        whole = [start for start, complete in begun if complete]
        if not whole:
            break
        following = _part(part, folded)
        longer = {(start + rest, complete) for start in whole for rest, complete in following}
        grown = frozenset({each for each in begun if not each[1]} | longer)
        if len(grown) > _MOST_STARTS:
            return _ended(begun)
        begun = frozenset((start, complete and len(start) < _LONGEST_START) for start, complete in grown)
    return begun


def _ended(begun: _Begun) -> _Begun:
    return frozenset((start, False) for start, _ in begun)


# One line per kind of part.
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
        return _ANY  # tried at the beginnings of lines only, a pattern's own search is fast
    if kind in (codes.AT, codes.ASSERT, codes.ASSERT_NOT):
        return _NOTHING
    return _ANY


def _set(members: Sequence[Any], folded: bool) -> _Begun:
    """One of some characters, when they are few."""
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
    """A character; letters beyond ASCII have too many forms to be followed where capitals do not count."""
    if folded and not char.isascii() and not char.lower() == char == char.upper():
        return _ANY
    return frozenset({(_plain(char, folded), True)})


@lru_cache(8)
def _plain(text: str, folded: bool) -> str:
    """The text in the same length, with one kind of blank and one digit; folded: without capitals, as patterns that
    ignore case see it."""
    return text.translate(_FOLDED if folded else _KEPT)


class _Plain(dict[int, str]):
    """What each character becomes, found when first met."""

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
"""Characters beyond ASCII that match a letter of it where case is ignored."""

_KEPT, _FOLDED = _Plain(False), _Plain(True)
