"""Two candidates of one result side by side: which factor puts one ahead of the other, and by how much.

A total is a sum of contributions times a product of multipliers. The difference of two such totals is shared out
exactly: a factor gets the difference of its contributions times the mean of both products, a multiplier the difference
of its values times the mean of what stands around it. Swapping the two turns every sign, and nothing else.
"""

from dataclasses import dataclass
from math import fsum, prod

from core.errors import NotFound
from core.results import Candidate, Score, SearchResult
from core.tables.factors import factor_table

__all__ = ["Side", "Versus", "VersusPart", "compare", "compare_scores", "decided", "shown_differences"]

_STEPS = 1000  # three places
_NAMED = 3
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class VersusPart:
    """One factor or multiplier of both. value: in [0, 1]; weight: None for a multiplier, None in a value: one of the
    two has no such part. contribution: weight · value before multipliers, 0 for a multiplier. difference: its share of
    left total − right total. reason: in words, of each."""

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
        """The words a page shows for it; multipliers have a cross before them."""
        rows = factor_table().rows
        label = rows[self.name].label if self.name in rows else self.name.replace("_", " ").capitalize()
        return label if self.weight is not None else f"× {label}"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two. rank: among the hits, None when it is not shown; why: what kept it from being shown."""

    candidate: Candidate
    score: Score
    rank: int | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Versus:
    """Both with their parts, greatest |difference| first; the differences sum to left total − right total (< 1e-9)."""

    left: Side
    right: Side
    parts: tuple[VersusPart, ...]

    @property
    def difference(self) -> float:
        """Left total − right total, in [-1, 1]."""
        return self.left.score.total - self.right.score.total


def compare(result: SearchResult, left_id: int, right_id: int) -> Versus:
    """Two candidates of a result, shown or not. Raises NotFound for one that is none of it, or that was left out before
    it was scored."""
    left, right = _side(result, left_id), _side(result, right_id)
    return Versus(left, right, compare_scores(left.score, right.score))


def _side(result: SearchResult, passage_id: int) -> Side:
    for hit in result.hits:
        if hit.candidate.passage.id == passage_id:
            return Side(hit.candidate, hit.score, hit.rank)
    for each in result.dropped:
        if each.candidate.passage.id == passage_id and each.score is not None:
            return Side(each.candidate, each.score, None, f"{each.reason.value}: {each.detail}")
    raise NotFound(f"Passage {passage_id} has no score in this result.", "Choose another one to compare with.")


def compare_scores(left: Score, right: Score) -> tuple[VersusPart, ...]:
    """Every factor and multiplier of two scores, greatest |difference| first, ties in the order of the scores."""
    ours, theirs = ({factor.name: factor for factor in score.factors} for score in (left, right))
    mean_product = (_product(left) + _product(right)) / 2
    parts = []
    for name in dict.fromkeys((*ours, *theirs)):
        one, other = ours.get(name), theirs.get(name)
        adds = (one.contribution if one else 0.0, other.contribution if other else 0.0)
        weight = next(each.weight for each in (one, other) if each is not None)
        values = (one.value if one else None, other.value if other else None)
        reasons = (one.reason if one else "", other.reason if other else "")
        parts.append(VersusPart(name, *values, weight, *adds, (adds[0] - adds[1]) * mean_product, *reasons))
    parts += _multipliers(left, right)
    return tuple(sorted(parts, key=lambda part: -abs(part.difference)))


def _product(score: Score) -> float:
    return prod(each.value for each in score.multipliers)


def _multipliers(left: Score, right: Score) -> list[VersusPart]:
    """The product's difference, shared out by telescoping in both orders, so that neither side comes first:
    Π a − Π b = Σ (aᵢ − bᵢ) · ½(Π a before i · Π b after i + Π b before i · Π a after i)."""
    ours, theirs = ({each.name: each for each in score.multipliers} for score in (left, right))
    names = tuple(dict.fromkeys((*ours, *theirs)))
    a = [ours[name].value if name in ours else 1.0 for name in names]
    b = [theirs[name].value if name in theirs else 1.0 for name in names]
    mean_sum = fsum(fsum(factor.contribution for factor in score.factors) for score in (left, right)) / 2
    parts = []
    for place, name in enumerate(names):
        around = (prod(a[:place]) * prod(b[place + 1 :]) + prod(b[:place]) * prod(a[place + 1 :])) / 2
        values = (ours[name].value if name in ours else None, theirs[name].value if name in theirs else None)
        reasons = (ours[name].reason if name in ours else "", theirs[name].reason if name in theirs else "")
        parts.append(VersusPart(name, *values, None, 0.0, 0.0, (a[place] - b[place]) * around * mean_sum, *reasons))
    return parts


def decided(versus: Versus, names: tuple[str, str]) -> str:
    """The sentence that decides, whose numbers add up as they are written.

    "A is ahead by 0.120: Similarity +0.090, Authority +0.050, Domain −0.020."
    """
    lead = versus.difference
    if abs(lead) < _EQUAL:
        first = min(versus.left, versus.right, key=lambda side: side.candidate.passage.id)
        name = names[0] if first is versus.left else names[1]
        return f"Both score {versus.left.score.total:.3f}; of equals, the one stored first comes first: {name}."
    sign = 1 if lead > 0 else -1
    shown = [sign * step for step in _steps(versus)]
    told = [(part.label, step) for part, step in zip(versus.parts, shown, strict=True) if step]
    rest = sum(step for _, step in told[_NAMED:])
    if len(told) == _NAMED + 1:
        named, others = told, ""
    else:
        named, others = told[:_NAMED], f", all others {_signed(rest)}" if len(told) > _NAMED else ""
    ahead, total = names[0] if lead > 0 else names[1], sum(shown)
    listed = ", ".join(f"{label} {_signed(step)}" for label, step in named)
    if not total:
        return f"{ahead} is ahead by less than 0.001{f': {listed}{others}' if listed else ''}."
    return f"{ahead} is ahead by {total / _STEPS:.3f}: {listed}{others}."


def shown_differences(versus: Versus) -> tuple[float, ...]:
    """The difference of each part in thousandths; they add up to the difference of the totals as those are written."""
    return tuple(step / _STEPS for step in _steps(versus))


def _steps(versus: Versus) -> list[int]:
    """What rounding loses goes to the parts that lost most, first of all to those that are not nothing."""
    exact = [part.difference * _STEPS for part in versus.parts]
    steps = [round(value) for value in exact]
    left, right = (round(float(f"{side.score.total:.3f}") * _STEPS) for side in (versus.left, versus.right))
    missing = left - right - sum(steps)
    turn = 1 if missing > 0 else -1
    places = sorted(range(len(exact)), key=lambda i: (abs(exact[i]) < 0.5, turn * (steps[i] - exact[i])))
    for place in places[: abs(missing)]:
        steps[place] += turn
    return steps


def _signed(steps: int) -> str:
    return f"{'+' if steps >= 0 else '−'}{abs(steps) / _STEPS:.3f}"
