"""Score breakdown: displayed parts that add up to the total, and the comparison of two scores."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, prod

from core.domain.errors import NotFound
from core.domain.results import Candidate, Factor, Score, SearchResult
from core.knowledge.factors import factor_table

__all__ = [
    "ComparedResult",
    "ResultComparison",
    "ScoreDifference",
    "compare",
    "compare_scores",
    "decided",
    "factor_label",
    "shown_differences",
    "shown_parts",
    "shrink",
    "strip_words",
]

_STEPS = 1000  # three decimals


def factor_label(name: str) -> str:
    """The label of a factor on pages."""
    rows = factor_table().rows
    return rows[name].label if name in rows else name.replace("_", " ").capitalize()


def shrink(score: Score) -> float:
    """The product of all multipliers, in [0, 1]."""
    product = 1.0
    for multiplier in score.multipliers:
        product *= multiplier.value
    return product


def shown_parts(score: Score) -> Sequence[tuple[Factor, float]]:
    """Factors, largest first, with contributions rounded to thousandths so that they add up to the rounded sum.

    Largest remainder method: each part is rounded down, and the rest goes to the parts with the largest remainders.

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
    """The sum as text, largest part first: "Similarity 0.310 + Keywords 0.120 = 0.430"; multipliers of 1 are left
    out."""
    parts = [(factor, points) for factor, points in shown_parts(score) if points > 0]
    total = " + ".join(f"{factor_label(factor.name)} {points:.3f}" for factor, points in parts) or "0"
    times = "".join(f" × {factor_label(each.name)} {each.value:.2f}" for each in score.multipliers if each.value != 1)
    return f"({total}){times} = {score.total:.3f}" if times else f"{total} = {score.total:.3f}"


_THOUSANDTHS = 1000  # three decimals

_NAMED = 3

_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class ScoreDifference:
    """One factor or multiplier of two scores. value: in [0, 1], None where a score has no such part; weight: None for a
    multiplier. contribution: weight · value before multipliers, 0 for a multiplier. difference: its share of left total
    − right total. reason: per score, as text."""

    name: str
    left: float | None
    right: float | None
    weight: float | None
    left_contribution: float
    right_contribution: float
    difference: float
    left_reason: str = ""
    right_reason: str = ""

    @property
    def label(self) -> str:
        """The label shown on pages; multipliers start with a cross."""
        rows = factor_table().rows
        label = rows[self.name].label if self.name in rows else self.name.replace("_", " ").capitalize()
        return label if self.weight is not None else f"× {label}"


@dataclass(frozen=True, slots=True)
class ComparedResult:
    """One of two compared results. rank: among the hits, None when it is not shown; why: the reason it is not shown."""

    candidate: Candidate
    score: Score
    rank: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class ResultComparison:
    """Two results and their parts, largest |difference| first; differences sum to left total − right total (< 1e-9)."""

    left: ComparedResult
    right: ComparedResult
    parts: tuple[ScoreDifference, ...]

    @property
    def difference(self) -> float:
        """Left total − right total, in [-1, 1]."""
        return self.left.score.total - self.right.score.total


def compare(result: SearchResult, left_id: int, right_id: int) -> ResultComparison:
    """Compare two candidates of a result, shown or not. Raises NotFound for a passage that is no candidate, or that was
    dropped before scoring."""
    left, right = _side(result, left_id), _side(result, right_id)
    return ResultComparison(left, right, compare_scores(left.score, right.score))


def _side(result: SearchResult, passage_id: int) -> ComparedResult:
    for hit in result.hits:
        if hit.candidate.passage.id == passage_id:
            return ComparedResult(hit.candidate, hit.score, hit.rank)
    for each in result.dropped:
        if each.candidate.passage.id == passage_id and each.score is not None:
            return ComparedResult(each.candidate, each.score, None, f"{each.reason.value}: {each.detail}")
    raise NotFound(f"Passage {passage_id} has no score in this result.", "Choose another one to compare with.")


def compare_scores(left: Score, right: Score) -> tuple[ScoreDifference, ...]:
    """Every factor and multiplier of two scores, largest |difference| first, ties in the order of the scores."""
    left_factors, right_factors = ({factor.name: factor for factor in score.factors} for score in (left, right))
    mean_product = (_product(left) + _product(right)) / 2
    parts = []
    for name in dict.fromkeys((*left_factors, *right_factors)):
        one, other = left_factors.get(name), right_factors.get(name)
        adds = (one.contribution if one else 0.0, other.contribution if other else 0.0)
        weight = next(each.weight for each in (one, other) if each is not None)
        values = (one.value if one else None, other.value if other else None)
        reasons = (one.reason if one else "", other.reason if other else "")
        parts.append(ScoreDifference(name, *values, weight, *adds, (adds[0] - adds[1]) * mean_product, *reasons))
    parts += _multipliers(left, right)
    return tuple(sorted(parts, key=lambda part: -abs(part.difference)))


def _product(score: Score) -> float:
    return prod(each.value for each in score.multipliers)


def _multipliers(left: Score, right: Score) -> list[ScoreDifference]:
    """The difference of the products, split by telescoping in both orders, so that it is symmetric:
    Π a − Π b = Σ (aᵢ − bᵢ) · ½(Π a before i · Π b after i + Π b before i · Π a after i)."""
    left_by_name, right_by_name = ({each.name: each for each in score.multipliers} for score in (left, right))
    names = tuple(dict.fromkeys((*left_by_name, *right_by_name)))
    a = [left_by_name[name].value if name in left_by_name else 1.0 for name in names]
    b = [right_by_name[name].value if name in right_by_name else 1.0 for name in names]
    mean_sum = fsum(fsum(factor.contribution for factor in score.factors) for score in (left, right)) / 2
    parts = []
    for place, name in enumerate(names):
        around = (prod(a[:place]) * prod(b[place + 1 :]) + prod(b[:place]) * prod(a[place + 1 :])) / 2
        values = (
            left_by_name[name].value if name in left_by_name else None,
            right_by_name[name].value if name in right_by_name else None,
        )
        reasons = (
            left_by_name[name].reason if name in left_by_name else "",
            right_by_name[name].reason if name in right_by_name else "",
        )
        parts.append(
            ScoreDifference(name, *values, None, 0.0, 0.0, (a[place] - b[place]) * around * mean_sum, *reasons)
        )
    return parts


def decided(versus: ResultComparison, names: tuple[str, str]) -> str:
    """One sentence on which result is ahead and why, with rounded numbers that add up.

    "A is ahead by 0.120: Similarity +0.090, Authority +0.050, Domain −0.020."
    """
    lead = versus.difference
    if abs(lead) < _EQUAL:
        first = min(versus.left, versus.right, key=lambda side: side.candidate.passage.id)
        name = names[0] if first is versus.left else names[1]
        return f"Both score {versus.left.score.total:.3f}; of equals, the one stored first comes first: {name}."
    sign = 1 if lead > 0 else -1
    rounded = [sign * step for step in _steps(versus)]
    steps = [(part.label, step) for part, step in zip(versus.parts, rounded, strict=True) if step]
    rest = sum(step for _, step in steps[_NAMED:])
    if len(steps) == _NAMED + 1:
        named, others = steps, ""
    else:
        named, others = steps[:_NAMED], f", all others {_signed(rest)}" if len(steps) > _NAMED else ""
    ahead, total = names[0] if lead > 0 else names[1], sum(rounded)
    listed = ", ".join(f"{label} {_signed(step)}" for label, step in named)
    if not total:
        return f"{ahead} is ahead by less than 0.001{f': {listed}{others}' if listed else ''}."
    return f"{ahead} is ahead by {total / _THOUSANDTHS:.3f}: {listed}{others}."


def shown_differences(versus: ResultComparison) -> tuple[float, ...]:
    """The difference of each part in thousandths; they add up to the difference of the displayed totals."""
    return tuple(step / _THOUSANDTHS for step in _steps(versus))


def _steps(versus: ResultComparison) -> list[int]:
    """Rounding losses go to the parts that lost most, non-zero parts first."""
    exact = [part.difference * _THOUSANDTHS for part in versus.parts]
    steps = [round(value) for value in exact]
    left, right = (round(float(f"{side.score.total:.3f}") * _THOUSANDTHS) for side in (versus.left, versus.right))
    missing = left - right - sum(steps)
    turn = 1 if missing > 0 else -1
    places = sorted(range(len(exact)), key=lambda i: (abs(exact[i]) < 0.5, turn * (steps[i] - exact[i])))
    for place in places[: abs(missing)]:
        steps[place] += turn
    return steps


def _signed(steps: int) -> str:
    return f"{'+' if steps >= 0 else '−'}{abs(steps) / _THOUSANDTHS:.3f}"
