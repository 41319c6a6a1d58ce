"""The sparse leg: BM25 of the question's words over every admissible passage."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.ports import PassageIds, SparseIndex
from core.results import LegHits, TermScore

__all__ = ["covered_share", "search_sparse", "with_more"]


def search_sparse(index: SparseIndex, terms: Sequence[str], admissible: PassageIds | None, top_k: int) -> LegHits:
    """The admissible passages with the highest BM25 > 0, best first; none without terms. Raises StoreFailed."""
    if not terms:
        rows = index.count()
        return LegHits((), rows, rows if admissible is None else len(admissible))
    return index.search(terms, admissible, top_k)


def with_more(own: LegHits, wider: LegHits, most: int) -> LegHits:
    """What the question's own words found, and behind it what only other wordings found, of the `most` best of them."""
    known = {hit.passage_id for hit in own.hits}
    return replace(own, hits=(*own.hits, *(hit for hit in wider.hits[:most] if hit.passage_id not in known)))


def covered_share(terms: Sequence[TermScore], rarity: Mapping[str, float]) -> float:
    """Share of the question's words a passage holds, each weighed by its rarity; in [0, 1], 0 without terms.

    >>> covered_share([TermScore("fsbid", "fsbid", 2.0)], {"fsbid": 6.0, "form": 2.0})
    0.75
    """
    total = sum(rarity.values())
    held = sum(rarity.get(term.term, 0.0) for term in terms if term.score > 0)
    return min(held / total, 1.0) if total > 0 else 0.0
