"""The passages whose text says what a question demands word for word, among those its filters admit."""

from collections.abc import Sequence

import numpy as np

from core.filters import SearchFilters
from core.ports import Catalogue, PassageIds, SparseIndex
from core.said import said_words
from core.search.syntax import Query

__all__ = ["text_admissible"]

_MOST_READ = 100_000  # passages whose text is looked at for one condition: some ten microseconds each


def text_admissible(
    query: Query, filters: SearchFilters, catalogue: Catalogue, sparse: SparseIndex
) -> PassageIds | None:
    """The passages the filters admit whose text says every phrase and none of the excluded words, ascending; None when
    the question has neither. filters: resolved.

    The keyword index finds the passages that hold all words of a phrase, the catalogue those that say them in a row.
    Passages not indexed yet are read in any case. At most 100,000 passages are read per condition: of more, those in
    which the words of a phrase weigh most; and an excluded word is then excluded by its stem. Raises StoreFailed.
    """
    if not query.phrases and not query.without:
        return None
    ids = catalogue.admissible(filters)
    unindexed = np.setdiff1d(ids, sparse.holding(()), assume_unique=True)

    def holding(phrases: Sequence[str]) -> PassageIds:
        held = sparse.holding([word for phrase in phrases for word in said_words(phrase)])
        return np.intersect1d(ids, np.union1d(held, unindexed), assume_unique=True)

    if query.phrases:
        ids = catalogue.saying(_weightiest(query.phrases, holding(query.phrases), sparse), query.phrases)
    for phrase in query.without:
        held = holding([phrase])
        said = held if len(held) > _MOST_READ else catalogue.saying(held, [phrase])
        ids = np.setdiff1d(ids, said, assume_unique=True)
    return ids


def _weightiest(phrases: Sequence[str], held: PassageIds, sparse: SparseIndex) -> PassageIds:
    """As many of the passages as may be read, ascending: by BM25, then the latest."""
    if len(held) <= _MOST_READ:
        return held
    words = [word.lower() for phrase in phrases for word in said_words(phrase)]
    best = np.array([hit.passage_id for hit in sparse.search(words, held, _MOST_READ).hits], dtype=np.int64)
    latest = np.setdiff1d(held, best)[::-1]
    return np.sort(np.concatenate([best, latest[: _MOST_READ - len(best)]]))
