"""The thesaurus: alternative terms that a text may use for the terms of a question."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table
from core.knowledge.multi_pattern import PhraseFinder
from core.text.tokenize import stem

__all__ = ["SynonymTable", "other_wordings", "read_synonyms"]

# Word separator, the same as in PhraseFinder.
_PART = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class SynonymTable:
    """Terms as written in the table ("=word" matches only as written).

    same: term → other terms of its groups. wider: term → broader or more official terms, direct ones first, then their
    equivalents. finder: matches all terms; a term is its own key.
    """

    same: Mapping[str, tuple[str, ...]]
    wider: Mapping[str, tuple[str, ...]]
    finder: PhraseFinder

    def others(self, words: str) -> Mapping[tuple[int, int], tuple[str, ...]]:
        """Same as `other_wordings`, for this thesaurus."""
        spans: dict[tuple[int, int], list[str]] = {}
        for found in self.finder.find(words):
            spans.setdefault((found.start, found.end), []).append(found.key)
        alternatives = {span: tuple(self._alternatives(wordings)) for span, wordings in spans.items()}
        return MappingProxyType({span: others for span, others in alternatives.items() if others})

    def _alternatives(self, wordings: Sequence[str]) -> Iterator[str]:
        """Alternatives to the terms of one span: each stem once, none equal to the span's own."""
        seen = {_stems(wording) for wording in wordings}
        for kind in (self.same, self.wider):
            for other in (each for wording in wordings for each in kind.get(wording, ())):
                if _stems(other) not in seen:
                    seen.add(_stems(other))
                    yield other.removeprefix("=")


@lru_cache(maxsize=1024)
def other_wordings(words: str) -> Mapping[tuple[int, int], tuple[str, ...]]:
    """Span [start, end) of each thesaurus term in a question → its alternatives, closest first.

    Matches stems on word boundaries and ignores case; the longest match wins, spans never overlap. Synonyms come first,
    then broader and more official terms. Raises BadTable.

    >>> question = "Does PTO carry over?"
    >>> {question[start:end]: others[-2:] for (start, end), others in other_wordings(question).items()}
    {'PTO': ('leave', 'paid leave'), 'carry over': ('carry forward', 'roll forward')}
    """
    return _thesaurus().others(words)


@cache
def _thesaurus() -> SynonymTable:
    return read_synonyms(table("synonyms"))


def read_synonyms(rows: Mapping[str, Any]) -> SynonymTable:
    """Parses and checks the thesaurus. Raises BadTable naming the file and the problem."""
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
    # The stemmer does not strip the plural "s" of most acronyms.
    finder = PhraseFinder({each: [each, f"{each}s"] if each.isupper() else [each] for each in wider})
    return SynonymTable({wording: tuple(others) for wording, others in same.items()}, wider, finder)


def _checked(row: str, listed: Any, *key: str) -> tuple[str, ...]:
    """The checked terms of a row, with its key if given. Raises BadTable."""
    where = f"core/knowledge/synonyms.toml: [{row}] {[*key, listed]}"
    wordings = (*key, *listed) if isinstance(listed, list) else ()
    if not wordings or not all(isinstance(each, str) and _PART.search(each) for each in wordings):
        raise BadTable(f"{where} is not a list of wordings with words.", "Write a list of wordings.")
    if len(wordings) < 2:
        raise BadTable(f"{where} has no other wording.", "Add what else may be said for it, or remove it.")
    if len({_matched(each) for each in wordings}) < len(wordings):
        raise BadTable(f"{where} holds a wording twice.", "Keep one.")
    return wordings


def _matched(wording: str) -> str | tuple[str, ...]:
    """The matching key of a term: equal for terms that match alike."""
    return wording.lower() if wording.startswith("=") else _stems(wording)


@lru_cache(maxsize=16_384)  # the built-in wordings alone are four thousand
def _stems(wording: str) -> tuple[str, ...]:
    return tuple(stem(word) for word in _PART.findall(wording.lower()))
