"""Near-identical passages → one, with the others counted beside it."""

from collections.abc import Sequence
from functools import lru_cache

from core.matching import words
from core.results import Dropped, DropReason
from core.search.score import Scored

__all__ = ["NEAR_IDENTICAL", "collapse", "resemblance"]

NEAR_IDENTICAL = 0.85
"""Least resemblance of two passages shown as one: the same text with a few words changed."""
_SHINGLE_WORDS = 4


def collapse(ranked: Sequence[Scored]) -> tuple[tuple[tuple[Scored, tuple[int, ...]], ...], tuple[Dropped, ...]]:
    """(passage, ids of the passages like it) in ranked order, and the collapsed ones with their reason.

    Greedy from the best down, so the outcome depends on the order only.
    """
    shown: list[tuple[Scored, frozenset[tuple[str, ...]], list[int]]] = []
    dropped: list[Dropped] = []
    for scored in ranked:
        own = _shingles(scored.candidate.passage.text)
        twin = next((item for item in shown if resemblance(own, item[1]) >= NEAR_IDENTICAL), None)
        if twin is None:
            shown.append((scored, own, []))
            continue
        passage = twin[0].candidate.passage
        twin[2].append(scored.candidate.passage.id)
        detail = f"near-identical to passage {passage.id} of {passage.document_name}, which is shown"
        dropped.append(Dropped(scored.candidate, DropReason.COLLAPSED, detail, scored.score))
    return tuple((scored, tuple(similar)) for scored, _, similar in shown), tuple(dropped)


def resemblance(left: frozenset[tuple[str, ...]], right: frozenset[tuple[str, ...]]) -> float:
    """Jaccard share of common shingles, in [0, 1]; 0 where the lengths alone rule out NEAR_IDENTICAL. Broder 1997."""
    if not left or not right:
        return float(left == right)
    least, most = sorted((len(left), len(right)))
    if least < NEAR_IDENTICAL * most:
        return 0.0
    common = len(left & right)
    return common / (len(left) + len(right) - common)


@lru_cache(maxsize=4096)
def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    said = words(text)
    width = min(_SHINGLE_WORDS, len(said))
    return frozenset(tuple(said[at : at + width]) for at in range(len(said) - width + 1)) if width else frozenset()
