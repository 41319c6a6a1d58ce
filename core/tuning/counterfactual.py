"""What would have to change for a passage to be first: one weight at a time, worked out exactly.

With the other weights keeping their proportions, every total is a straight line in the weight of one factor:
total(w) = (w · value + (1 - w) · rest) × multipliers. A passage is first where its line lies above all others and the
threshold: an interval, whose nearer end is the smallest change that does it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil, floor

from core.queries import ScoreProfile
from core.results import SearchResult
from core.search.factors import FACTORS
from core.tuning.replay import Replay

__all__ = ["FirstIf", "first_if", "moves", "reweighted"]

_ENOUGH = 1e-9
"""Totals that differ by less are equal, and then the lower passage id is first."""

_STEPS = 1000
"""Weights are written in thousandths."""
_SAME = 1e-6
"""Thousandths that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class FirstIf:
    """The passage is first for every weight of `factor` from `low` to `high`, both in [0, 1]; the other weights keep
    their proportions. now: the factor's weight, outside of the interval."""

    factor: str
    now: float
    low: float
    high: float

    @property
    def nearest(self) -> float:
        """The weight of the interval nearest to the present one."""
        return self.low if self.now < self.low else self.high

    @property
    def shown(self) -> tuple[float, float] | None:
        """The first and the last thousandth inside, so that each number written does what is said of it; None when
        the interval is narrower than that, and can be found but not set by hand.

        >>> FirstIf("keyword", 0.1, 0.3004, 0.4006).shown, FirstIf("keyword", 0.1, 0.3004, 0.3008).shown
        ((0.301, 0.4), None)
        """
        if (self.high - self.low) * _STEPS < 1 - _SAME:
            return None
        return ceil(self.low * _STEPS - _SAME) / _STEPS, floor(self.high * _STEPS + _SAME) / _STEPS

    @property
    def aim(self) -> float:
        """The weight to set: the nearest thousandth that does it, else the middle."""
        low, high = self.shown or ((self.low + self.high) / 2,) * 2
        return low if self.now < low else high

    @property
    def words(self) -> str:
        """
        >>> FirstIf("authority", 0.25, 0.0, 0.12).words, FirstIf("keyword", 0.1, 0.3, 0.4).words
        ('at most 0.120', 'from 0.300 to 0.400')
        >>> FirstIf("keyword", 0.1, 0.3004, 0.3014).words, FirstIf("keyword", 0.1, 0.3004, 0.3008).words
        ('0.301', 'between 0.3004 and 0.3008')
        """
        if self.shown is None:
            return f"between {self.low:.6g} and {self.high:.6g}"
        low, high = self.shown
        if low == high:
            return f"{low:.3f}"
        if high == 1:
            return f"at least {low:.3f}"
        return f"at most {high:.3f}" if low == 0 else f"from {low:.3f} to {high:.3f}"


def first_if(result: SearchResult, passage_id: int, now: datetime) -> tuple[FirstIf, ...]:
    """Per factor the weights that make the passage first, the smallest change first; empty when it is first already,
    when no single weight can do it, or when it may not be shown at all (no evidence, or the library does not answer).
    """
    replay, profile = Replay(result, now), result.profile
    ids = [candidate.passage.id for candidate in replay.candidates]
    ranked = replay.ranked(profile, 1)
    if result.refusal or passage_id not in ids or (ranked and ranked[0][0].passage.id == passage_id):
        return ()
    place, evident = ids.index(passage_id), replay.evident(profile)
    if place not in evident:
        return ()
    found = []
    for factor in FACTORS:
        weight = profile.weights.get(factor, 0.0)
        if weight >= 1:
            continue
        base, top = (replay.totals(reweighted(profile, factor, end)) for end in (0.0, 1.0))
        lines = [(base[other], top[other] - base[other]) for other in evident]
        span = _first_span(lines, evident.index(place), replay.least(profile))
        if span is not None:
            found.append(FirstIf(factor, weight, *span))
    return tuple(sorted(found, key=lambda each: (abs(each.nearest - each.now), each.factor)))


def reweighted(profile: ScoreProfile, factor: str, weight: float) -> ScoreProfile:
    """The profile with one factor weighing `weight` and the others what is left, in their proportions."""
    rest = 1 - profile.weights.get(factor, 0.0)
    others = {name: own * (1 - weight) / rest for name, own in profile.weights.items() if name != factor}
    return replace(profile, weights={**others, factor: weight})


def moves(profile: ScoreProfile, change: FirstIf) -> Mapping[str, float]:
    """Slider key → where to move it (core.tuning.trials), so that the factor weighs what it must: the factor's own
    slider when it reaches so far, else those of all weights.

    >>> moves(ScoreProfile("a", {"similarity": 0.5, "authority": 0.5}), FirstIf("authority", 0.5, 0.0, 0.2))
    {'w.authority': 0.125}
    """
    own, wanted = profile.weights.get(change.factor, 0.0), change.aim
    if wanted * (1 - own) <= 1 - wanted:
        return {f"w.{change.factor}": wanted * (1 - own) / (1 - wanted)}
    return {f"w.{name}": weight for name, weight in reweighted(profile, change.factor, wanted).weights.items()}


def _first_span(lines: Sequence[tuple[float, float]], place: int, least: float) -> tuple[float, float] | None:
    """Where in [0, 1] the line of `place` lies above the others and `least`; None where it never does.

    lines: (total at 0, slope). Equal totals go to the earlier line, so those before it must be beaten by a little; and
    `least` is reached in all digits.
    """
    start, slope = lines[place]
    gaps = [(start - least - _ENOUGH, slope)] if least > 0 else []
    for other, (theirs, rise) in enumerate(lines):
        if other != place:
            lead = 2 * _ENOUGH if other < place else 0.0
            gaps.append((start - theirs - lead, slope - rise))
    return _above(gaps)


def _above(gaps: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """Where in [0, 1] every gap + slope · w is at least 0."""
    low, high = 0.0, 1.0
    for gap, slope in gaps:
        if abs(slope) < 1e-15:
            if gap < 0:
                return None
        elif slope > 0:
            low = max(low, -gap / slope)
        else:
            high = min(high, -gap / slope)
    return (float(low), float(high)) if low <= high else None
