"""The thesaurus of the trade: what a text may say for the wording of a question."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from core.errors import BadTable
from core.matching import stem
from core.tables.loading import check_keys, table
from core.tables.phrases import PhraseFinder

__all__ = ["Thesaurus", "other_wordings", "read_synonyms"]

# Where a wording comes apart, as PhraseFinder takes it.
_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Thesaurus:
    """Wordings as the table writes them ("=word" is matched only as written).

    same: wording → the others of its groups. wider: wording → what is more general or more official, first its own,
    then what those others have. finder: finds every wording, which is its key.
    """

    same: Mapping[str, tuple[str, ...]]
    wider: Mapping[str, tuple[str, ...]]
    finder: PhraseFinder

    def others(self, words: str) -> Mapping[tuple[int, int], tuple[str, ...]]:
        """What `other_wordings` tells, by this thesaurus."""
        places: dict[tuple[int, int], list[str]] = {}
        for found in self.finder.find(words):
            places.setdefault((found.start, found.end), []).append(found.key)
        told = {place: tuple(self._told(wordings)) for place, wordings in places.items()}
        return MappingProxyType({place: others for place, others in told.items() if others})

    def _told(self, wordings: Sequence[str]) -> Iterator[str]:
        """What may stand for the wordings of one place: each once by its stems, none with those of the place."""
        seen = {_stems(wording) for wording in wordings}
        for kind in (self.same, self.wider):
            for other in (each for wording in wordings for each in kind.get(wording, ())):
                if _stems(other) not in seen:
                    seen.add(_stems(other))
                    yield other.removeprefix("=")


@lru_cache(maxsize=4096)
def other_wordings(words: str) -> Mapping[tuple[int, int], tuple[str, ...]]:
    """Each wording of the table in a question, as its span [start, end) → the others, nearest kind first.

    Wordings are found by their stems on word borders, in any capitals; the longest at a place wins, and spans never
    overlap. First come those that say the same, then the more general and more official ones. Raises BadTable.

    >>> question = "Does PTO carry over?"
    >>> {question[start:end]: others[-2:] for (start, end), others in other_wordings(question).items()}
    {'PTO': ('leave', 'paid leave'), 'carry over': ('carry forward', 'roll forward')}
    """
    return _thesaurus().others(words)


@cache
def _thesaurus() -> Thesaurus:
    return read_synonyms(table("synonyms"))


def read_synonyms(rows: Mapping[str, Any]) -> Thesaurus:
    """The thesaurus from its parsed TOML. Raises BadTable naming the file and what is wrong in it."""
    check_keys("synonyms", "top level", rows, ("same", "wider"))
    same: dict[str, list[str]] = {}
    for group in rows.get("same", ()):
        wordings = _checked("same", group)
        for wording in wordings:
            same.setdefault(wording, []).extend(other for other in wordings if other != wording)
    general: dict[str | tuple[str, ...], list[str]] = {}
    for key, values in rows.get("wider", {}).items():
        general.setdefault(_matched(key), []).extend(_checked("wider", values, key)[1:])
    wider = {
        wording: tuple(other for each in (wording, *same.get(wording, ())) for other in general.get(_matched(each), ()))
        for wording in [*same, *rows.get("wider", {})]
    }
    # The stemmer leaves the plural of most acronyms alone.
    finder = PhraseFinder({each: [each, f"{each}s"] if each.isupper() else [each] for each in wider})
    return Thesaurus({wording: tuple(others) for wording, others in same.items()}, wider, finder)


def _checked(row: str, listed: Any, *key: str) -> tuple[str, ...]:
    """The wordings of a row with its key, if it has one. Raises BadTable."""
    where = f"core/tables/synonyms.toml: [{row}] {[*key, listed]}"
    wordings = (*key, *listed) if isinstance(listed, list) else ()
    if not wordings or not all(isinstance(each, str) and _PART.search(each) for each in wordings):
        raise BadTable(f"{where} is no list of wordings that hold words.", "Write a list of wordings.")
    if len(wordings) < 2:
        raise BadTable(f"{where} stands alone.", "Add what else may be said for it, or remove it.")
    if len({_matched(each) for each in wordings}) < len(wordings):
        raise BadTable(f"{where} holds a wording twice.", "Keep one.")
    return wordings


def _matched(wording: str) -> str | tuple[str, ...]:
    """What wordings that are matched alike have in common."""
    return wording.lower() if wording.startswith("=") else _stems(wording)


@cache
def _stems(wording: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _PART.findall(wording.lower()))
