"""Which passages a search may use: exact phrases before retrieval; current labels and usage after it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.domain.documents import Document
from core.domain.filters import SearchFilters
from core.domain.results import Candidate, Dropped, DropReason
from core.ports.catalogue import Catalogue
from core.ports.stores import PassageIds, SparseIndex
from core.search.query.syntax import ParsedQuery
from core.search.store import DocumentUsage
from core.text.phrase_match import phrase_words

__all__ = ["admitted", "text_admissible", "with_uses"]

_MOST_READ = 100_000  # passages whose text is read per condition: some ten microseconds each


def text_admissible(
    query: ParsedQuery, filters: SearchFilters, catalogue: Catalogue, sparse: SparseIndex
) -> PassageIds | None:
    """The admissible passages whose text contains every phrase and no excluded word, ascending; None when the question
    has neither. filters: resolved.

    The keyword index finds the passages with all words of a phrase; the catalogue checks that they are consecutive.
    Passages that are not indexed yet are always read. At most 100,000 passages are read per condition; if there are
    more, those with the highest BM25 for the phrase, and an excluded word then excludes by its stem. Raises
    StoreFailed."""
    if not query.phrases and not query.without:
        return None
    ids = catalogue.admissible(filters)
    unindexed = np.setdiff1d(ids, sparse.passages_containing(()), assume_unique=True)

    def passages_with(phrases: Sequence[str]) -> PassageIds:
        containing = sparse.passages_containing([word for phrase in phrases for word in phrase_words(phrase)])
        return np.intersect1d(ids, np.union1d(containing, unindexed), assume_unique=True)

    if query.phrases:
        ids = catalogue.with_phrases(_weightiest(query.phrases, passages_with(query.phrases), sparse), query.phrases)
    for phrase in query.without:
        containing = passages_with([phrase])
        matching = containing if len(containing) > _MOST_READ else catalogue.with_phrases(containing, [phrase])
        ids = np.setdiff1d(ids, matching, assume_unique=True)
    return ids


def _weightiest(phrases: Sequence[str], containing: PassageIds, sparse: SparseIndex) -> PassageIds:
    """As many of the passages as may be read, ascending: chosen by BM25, then the newest."""
    if len(containing) <= _MOST_READ:
        return containing
    words = [word.lower() for phrase in phrases for word in phrase_words(phrase)]
    best = np.array([hit.passage_id for hit in sparse.search(words, containing, _MOST_READ).hits], dtype=np.int64)
    latest = np.setdiff1d(containing, best)[::-1]
    return np.sort(np.concatenate([best, latest[: _MOST_READ - len(best)]]))


def admitted(
    candidates: Sequence[Candidate], filters: SearchFilters, documents: Mapping[int, Document]
) -> tuple[tuple[Candidate, ...], tuple[Dropped, ...]]:
    """Candidates with their current catalogue data, because an index may lag behind a label change."""
    admissible: list[Candidate] = []
    changed: list[Candidate] = []
    for candidate in candidates:
        if candidate.passage.document_id in documents:
            (admissible if filters.admits(candidate.passage) else changed).append(candidate)
    reason = "its labels changed while it was searched"
    return tuple(admissible), tuple(Dropped(candidate, DropReason.FILTERED, reason) for candidate in changed)


def with_uses(candidates: Sequence[Candidate], uses: Mapping[int, DocumentUsage]) -> tuple[Candidate, ...]:
    """The candidates, each with the usage of its document."""
    return tuple(
        replace(each, signals=replace(each.signals, uses=known.uses, distinct_questions=len(known.questions)))
        if (known := uses.get(each.passage.document_id)) is not None
        else each
        for each in candidates
    )
