"""How a score is shown as a sum: its parts in thousandths that add up exactly, and the sum in words."""

from collections.abc import Sequence
from math import fsum

from core.results import Factor, Score
from core.tables.factors import factor_table

__all__ = ["factor_label", "shown_parts", "shrink", "strip_words"]

_STEPS = 1000  # three places


def factor_label(name: str) -> str:
    """The words a page shows for a factor."""
    rows = factor_table().rows
    return rows[name].label if name in rows else name.replace("_", " ").capitalize()


def shrink(score: Score) -> float:
    """What the multipliers leave of the sum, in [0, 1]."""
    product = 1.0
    for multiplier in score.multipliers:
        product *= multiplier.value
    return product


def shown_parts(score: Score) -> Sequence[tuple[Factor, float]]:
    """Factors, largest first, with their contributions in thousandths that add up to the sum in thousandths.

    Largest remainders: each part is cut to thousandths, and what is missing goes to the parts that lost most.

    >>> third = [Factor(name, 1.0, 1 / 3, 1 / 3, "") for name in "abc"]
    >>> [shown for _, shown in shown_parts(Score(1.0, tuple(third)))]
    [0.334, 0.333, 0.333]
    """
    factors = sorted(score.factors, key=lambda factor: -factor.contribution)
    exact = [factor.contribution * _STEPS for factor in factors]
    steps = [int(part + 1e-6) for part in exact]
    shown_sum = float(f"{fsum(factor.contribution for factor in factors):.3f}")  # as the total is added
    missing = round(shown_sum * _STEPS) - sum(steps)
    for index in sorted(range(len(exact)), key=lambda i: steps[i] - exact[i])[: max(0, missing)]:
        steps[index] += 1
    return [(factor, step / _STEPS) for factor, step in zip(factors, steps, strict=True)]


def strip_words(score: Score) -> str:
    """The sum in words, largest part first: "Similarity 0.310 + Keywords 0.120 = 0.430"; a multiplier of 1 goes without
    saying."""
    parts = [(factor, shown) for factor, shown in shown_parts(score) if shown > 0]
    total = " + ".join(f"{factor_label(factor.name)} {shown:.3f}" for factor, shown in parts) or "0"
    times = "".join(f" × {factor_label(each.name)} {each.value:.2f}" for each in score.multipliers if each.value != 1)
    return f"({total}){times} = {score.total:.3f}" if times else f"{total} = {score.total:.3f}"
