"""How alike two rankings are."""

from collections.abc import Sequence

from core.errors import BadRequest

__all__ = ["jaccard", "rank_biased_overlap"]


def jaccard(a: Sequence[str], b: Sequence[str]) -> float:
    """Shared items ÷ all items, in [0, 1], whatever their order; two empty lists are the same: 1.

    >>> jaccard(["a", "b", "c"], ["c", "b", "d"])
    0.5
    """
    first, second = set(a), set(b)
    return len(first & second) / len(first | second) if first | second else 1.0


def rank_biased_overlap(a: Sequence[str], b: Sequence[str], p: float = 0.9) -> float:
    """Extrapolated rank-biased overlap of two rankings, in [0, 1]: 1 when alike; the top counts most.

    p in (0, 1) is the chance that a reader goes on to the next rank; with 0.9 the first ten hold 86 % of the weight.
    Webber, Moffat & Zobel 2010, equation 32, for lists of lengths s ≤ l; X_d: items shared by the first d of each:

        (1-p)/p · (Σ_{d=1..l} X_d/d · p^d + Σ_{d=s+1..l} X_s·(d-s)/(s·d) · p^d) + ((X_l-X_s)/l + X_s/s) · p^l

    An item that is named again counts where it stands first. Two empty lists are alike, an empty and a filled one are
    not. It is our own because the `rbo` package (0.1.3) asks for a NumPy below 2. Raises BadRequest for another p.

    >>> round(rank_biased_overlap(["a", "b", "c"], ["a", "c", "b"]), 3)
    0.955
    """
    if not 0 < p < 1:
        raise BadRequest(f"p is {p:g}, which is not between 0 and 1.", "Take 0.9 to weigh the first ten ranks most.")
    short, long = sorted((list(dict.fromkeys(a)), list(dict.fromkeys(b))), key=len)
    if not short:
        return 0.0 if long else 1.0
    shared = _shared(short, long)
    least, most = len(short), len(long)
    early, late = shared[least - 1], shared[-1]
    seen = sum(count / depth * p**depth for depth, count in enumerate(shared, 1))
    beyond = sum(early * (depth - least) / (least * depth) * p**depth for depth in range(least + 1, most + 1))
    return min((1 - p) / p * (seen + beyond) + ((late - early) / most + early / least) * p**most, 1.0)


def _shared(short: Sequence[str], long: Sequence[str]) -> list[int]:
    """X_d for d = 1 … the longer length: how many items the first d of both lists share."""
    counts, count = [], 0
    in_short: set[str] = set()
    in_long: set[str] = set()
    for depth, item in enumerate(long):
        in_long.add(item)
        count += item in in_short
        if depth < len(short):
            in_short.add(short[depth])
            count += short[depth] in in_long
        counts.append(count)
    return counts
