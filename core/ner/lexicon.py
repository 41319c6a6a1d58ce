"""Word tokens for name recognition, and a lexicon that finds known names in one pass."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from core.domain.entities import Entity
from core.text.tokenize import STOP_WORDS

__all__ = ["NameLexicon", "NameMatch", "NameToken", "gap_joins", "in_capitals", "name_key", "read_words", "singular"]

_WORD = re.compile(r"\.?[^\W_]+(?:[-'’.&/][^\W_]+)*[#+]*")
_POSSESSIVE = re.compile(r"['’]s?$")
_SINGULAR_IN_S = frozenset("series species news means payroll sas aids".split())


class NameToken(NamedTuple):
    """A word at text[start:end]; `plain` without possessive, `key` in lower case with a straight apostrophe.

    A tuple, because reading a library creates millions of them.
    """

    plain: str
    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NameMatch:
    """An entity named at text[start:end]."""

    entity: Entity
    start: int
    end: int


@lru_cache(maxsize=8_192)
def _forms(written: str) -> tuple[str, str]:
    plain = _POSSESSIVE.sub("", written)
    return plain, plain.casefold().replace("’", "'")


def read_words(text: str) -> list[NameToken]:
    """The words of a text, in order.

    >>> [word.plain for word in read_words("The IRS's Form W-2, for C# and .NET")]
    ['The', 'IRS', 'Form', 'W-2', 'for', 'C#', 'and', '.NET']
    """
    return [NameToken(*_forms(found[0]), *found.span()) for found in _WORD.finditer(text)]


@lru_cache(maxsize=8_192)
def singular(word: str) -> str:
    """The singular of a lower-case noun.

    >>> [singular(word) for word in ("taxes", "wages", "beneficiaries", "status", "business", "leases", "401")]
    ['tax', 'wage', 'beneficiary', 'status', 'business', 'lease', '401']
    """
    if len(word) < 4 or not word.endswith("s") or word in _SINGULAR_IN_S or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("xes", "ches", "shes", "sses")) else word[:-1]


def name_key(words: Sequence[str]) -> tuple[str, ...]:
    """The key a name is looked up by: independent of case, and of number in the last word."""
    return (*words[:-1], singular(words[-1]))


def gap_joins(gap: str) -> bool:
    """Whether the gap between two words lets them belong to one name: blanks or a single line break."""
    return gap == " " or gap == "-" or (bool(gap) and gap.isspace() and gap.count("\n") < 2)


def in_capitals(text: str, at: int) -> bool:
    """Whether the line around a position has several words and no lower-case letter, like a heading."""
    start, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    line = text[start : end if end >= 0 else len(text)]
    return line.isupper() and len(line.split()) > 1


class NameLexicon:
    """Known names with several spellings each. Multi-word spellings match in any case, with the last word singular or
    plural; single words match only as written, acronyms also with a plural "s".

    guarded: lower-case single words that are also ordinary words: not matched in a line of capitals, and at the start
    of a sentence only when written in capitals.

    >>> from core.domain.entities import EntityType
    >>> act = Entity("Fair Labor Standards Act", EntityType.LAW)
    >>> lexicon = NameLexicon([(act, ["FLSA", "Fair Labor Standards Act"])])
    >>> text = "Under the fair labor standards act, or FLSA, not flsa"
    >>> [text[found.start : found.end] for found in lexicon.find(text, read_words(text))]
    ['fair labor standards act', 'FLSA']
    """

    def __init__(self, spelled: Iterable[tuple[Entity, Iterable[str]]], guarded: frozenset[str] = frozenset()) -> None:
        self._guarded = guarded
        self._single: dict[str, Entity] = {}
        self._several: dict[str, list[tuple[tuple[str, ...], Entity]]] = {}
        for entity, spellings in spelled:
            for spelling in spellings:
                self._add(entity, [word.key for word in read_words(spelling)], spelling)
        for rows in self._several.values():
            rows.sort(key=lambda row: -len(row[0]))

    def _add(self, entity: Entity, keys: list[str], spelling: str) -> None:
        if len(keys) == 1:
            self._single[spelling] = entity
        elif keys:
            self._several.setdefault(keys[0], []).append((name_key(keys), entity))

    def __bool__(self) -> bool:
        return bool(self._single or self._several)

    def named(self, spelling: str) -> Entity | None:
        """The entity with this spelling, or None."""
        keys = [word.key for word in read_words(spelling)]
        if len(keys) == 1:
            return self._single.get(spelling)
        words = name_key(keys) if keys else ()
        return next((entity for key, entity in self._several.get(keys[0] if keys else "", ()) if key == words), None)

    def find(self, text: str, words: Sequence[NameToken]) -> Iterator[NameMatch]:
        """All names in reading order; the longest wins where several start."""
        several, single = self._several, self._single
        for at, (plain, key, start, _) in enumerate(words):
            if key in several and (found := self._longest(text, words, at, several[key])) is not None:
                yield found
                continue
            one = single.get(plain)
            if one is None and plain[-1] == "s" and plain[:-1].isupper():
                one = single.get(plain[:-1])
            if one is not None and not self._doubtful(text, words, at):
                yield NameMatch(one, start, start + len(plain))

    def _longest(
        self, text: str, words: Sequence[NameToken], at: int, rows: Sequence[tuple[tuple[str, ...], Entity]]
    ) -> NameMatch | None:
        for key, entity in rows:
            last = at + len(key) - 1
            if last >= len(words) or singular(words[last].key) != key[-1]:
                continue
            if any(words[at + i].key != key[i] for i in range(1, len(key) - 1)):
                continue
            if all(gap_joins(text[words[i].end : words[i + 1].start]) for i in range(at, last)):
                return NameMatch(entity, words[at].start, words[last].start + len(words[last].plain))
        return None

    def _doubtful(self, text: str, words: Sequence[NameToken], at: int) -> bool:
        word = words[at]
        if word.key not in self._guarded and word.key not in STOP_WORDS and len(word.plain) > 2:
            return False
        if in_capitals(text, word.start):
            return True
        begins = at == 0 or not gap_joins(text[words[at - 1].end : word.start])
        return begins and not (word.plain.isupper() and len(word.plain) > 2)
