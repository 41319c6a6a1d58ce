"""Near-identical passages → one, with the others counted beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil

from core.results import Dropped, DropReason
from core.search.score import Scored

__all__ = ["NEAR_IDENTICAL", "alike", "collapse", "resemblance"]

NEAR_IDENTICAL = 0.85
"""Least resemblance of two passages shown as one: the same text with a few words changed."""
_SHINGLE_WORDS = 4


def collapse(ranked: Sequence[Scored]) -> tuple[tuple[tuple[Scored, tuple[int, ...]], ...], tuple[Dropped, ...]]:
    """(passage, ids of the passages like it) in ranked order, and the collapsed ones with their reason.

    Greedy from the best down, so the outcome depends on the order only. Two texts can only be near-identical when they
    share one of the first shingles of each, in any order of shingles that is the same for both (prefix filtering:
    Bayardo, Ma & Srikant 2007); so a text is compared with the few that do, not with all.
    """
    shown: list[tuple[Scored, _Shingles, list[int]]] = []
    holding: dict[int, list[int]] = {}
    dropped: list[Dropped] = []
    for scored in ranked:
        own = _shingles(scored.candidate.passage.text)
        near = sorted({place for shingle in own.first for place in holding.get(shingle, ())})
        twin = next((shown[n] for n in near if resemblance(own.all, shown[n][1].all) >= NEAR_IDENTICAL), None)
        if twin is None:
            for shingle in own.first:
                holding.setdefault(shingle, []).append(len(shown))
            shown.append((scored, own, []))
            continue
        passage = twin[0].candidate.passage
        twin[2].append(scored.candidate.passage.id)
        detail = f"near-identical to passage {passage.id} of {passage.document_name}, which is shown"
        dropped.append(Dropped(scored.candidate, DropReason.COLLAPSED, detail, scored.score))
    return tuple((scored, tuple(similar)) for scored, _, similar in shown), tuple(dropped)


def alike(texts: Sequence[str]) -> tuple[frozenset[int], ...]:
    """Per text the places of those before it that it is near-identical to: what collapsing needs, in any order."""
    owned = [_shingles(text) for text in texts]
    holding: dict[int, list[int]] = {}
    found = []
    for place, own in enumerate(owned):
        near = {other for shingle in own.first for other in holding.get(shingle, ())}
        found.append(frozenset(n for n in near if resemblance(own.all, owned[n].all) >= NEAR_IDENTICAL))
        for shingle in own.first:
            holding.setdefault(shingle, []).append(place)
    return tuple(found)


def resemblance(left: frozenset[int], right: frozenset[int]) -> float:
    """Jaccard share of common shingles, in [0, 1]; 0 where the lengths alone rule out NEAR_IDENTICAL. Broder 1997."""
    if not left or not right:
        return float(left == right)
    if len(left) < NEAR_IDENTICAL * len(right) or len(right) < NEAR_IDENTICAL * len(left):
        return 0.0
    common = len(left & right)
    return common / (len(left) + len(right) - common)


@dataclass(frozen=True, slots=True)
class _Shingles:
    """The shingles of a text as hashes, and the smallest of them: so many that a near-identical text shares one."""

    all: frozenset[int]
    first: tuple[int, ...]


@lru_cache(maxsize=4096)
def _shingles(text: str) -> _Shingles:
    """Words are what stands between blanks. Texts without any share one shingle, so that they are alike."""
    said = text.lower().split()
    width = max(1, min(_SHINGLE_WORDS, len(said)))
    found = frozenset(map(hash, zip(*(said[at:] for at in range(width)), strict=False))) or frozenset({0})
    alike = len(found) - ceil(NEAR_IDENTICAL * len(found)) + 1
    return _Shingles(found, tuple(sorted(found)[:alike]))
