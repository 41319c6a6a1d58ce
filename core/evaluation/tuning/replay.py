"""Re-ranks one retrieval under other profiles, and finds the weights that would rank a passage first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil, floor, fsum

import numpy as np
from numpy.typing import NDArray

from core.domain.evaluation import Level
from core.domain.queries import ScoreProfile
from core.domain.results import Candidate, SearchResult
from core.evaluation.judgments.units import unit_of
from core.search.pipeline import fused_under
from core.search.ranking.factors import FACTORS, ScoringContext
from core.search.ranking.score import DIGITS, near_duplicates

__all__ = ["DEPTH", "RankFirstWeight", "Replay", "first_if", "moves", "reweighted"]

DEPTH = 50
"""Results asked for: ten documents can be ranked although several results come from one."""

_PARAMETERS = {"half_life": "half_life_days", "routing": "routing_outside", "fusion": "fusion_k"}
"""Factors whose value depends on the profile, and on what of it; fusion on its leg weights as well."""


class Replay:
    """A result that can be re-ranked quickly, for the thousands of profiles an optimiser tries. Same order and totals
    as `Searcher.rescore`, without reasons and citations."""

    def __init__(self, result: SearchResult, now: datetime) -> None:
        self.result, self._now = result, now
        self.candidates: tuple[Candidate, ...] = tuple(sorted(result.candidates, key=lambda c: c.passage.id))
        self._complete = not any(leg.error for leg in result.legs)
        self._similarity = np.array([candidate.signals.similarity for candidate in self.candidates])
        self._by_word = np.array([c.signals.keyword_share + c.signals.wordings for c in self.candidates])
        near = near_duplicates([candidate.passage.text for candidate in self.candidates])
        self._near = [set(group) for group in near]
        for index, group in enumerate(near):
            for other in group:
                self._near[other].add(index)
        self._values: dict[tuple[object, ...], NDArray[np.float64]] = {}
        self._units: dict[Level, dict[int, str]] = {}

    def ranking(self, profile: ScoreProfile, level: Level) -> tuple[str, ...]:
        """The units of the first DEPTH results, each once, as core.evaluation.judgments.units.ranking gives those of
        a search."""
        if level not in self._units:
            self._units[level] = {c.passage.id: unit_of(self.result, c, level) for c in self.candidates}
        units = self._units[level]
        return tuple(dict.fromkeys(units[shown.passage.id] for shown, _ in self.ranked(profile, DEPTH)))

    def ranked(self, profile: ScoreProfile, most: int) -> tuple[tuple[Candidate, float], ...]:
        """The first `most` results and their totals."""
        if not self.candidates:
            return ()
        totals = self.totals(profile)
        shown: list[int] = []
        hidden: set[int] = set()
        for index in self._order(totals, profile):
            if len(shown) == most:
                break
            if index not in hidden:
                shown.append(index)
                hidden |= self._near[index]
        return tuple((self.candidates[index], totals[index]) for index in shown)

    def totals(self, profile: ScoreProfile) -> list[float]:
        """Σ weight · value × Π multipliers of every candidate, in their order.

        Summed exactly, as a search sums: to the last bit, because a total can equal the threshold.
        """
        if not self.candidates:
            return []
        parts = np.stack([weight * self._valued(name, profile) for name, weight in profile.weights.items()], axis=1)
        times = np.ones(len(self.candidates))
        for name, strength in ScoringContext.of_result(self.result, profile, self._now).multipliers.items():
            times *= 1 - strength * (1 - self._valued(name, profile))
        return [fsum(row) * factor for row, factor in zip(parts.tolist(), times.tolist(), strict=True)]

    def evident(self, profile: ScoreProfile) -> list[int]:
        """Places of the candidates that carry evidence of their own; all where a leg failed."""
        if not self._complete:
            return list(range(len(self.candidates)))
        indices: list[int] = np.flatnonzero((self._similarity >= profile.floor) | (self._by_word > 0)).tolist()
        return indices

    def least(self, profile: ScoreProfile) -> float:
        """The total below which results are hidden; none are hidden when a leg failed."""
        return profile.threshold if self._complete else 0.0

    def _order(self, totals: Sequence[float], profile: ScoreProfile) -> list[int]:
        """Places of the candidates that may be shown, best first in each band; equal totals by passage id, which is
        their order."""
        least = self.least(profile)
        indices = [index for index in self.evident(profile) if totals[index] >= least]
        bands = [candidate.signals.band for candidate in self.candidates]
        return sorted(indices, key=lambda index: (bands[index], -round(totals[index], DIGITS)))

    def _valued(self, name: str, profile: ScoreProfile) -> NDArray[np.float64]:
        """One factor's value of every candidate, worked out once per value of what it depends on."""
        on = (name, getattr(profile, _PARAMETERS[name]) if name in _PARAMETERS else None)
        key = (*on, profile.legs, profile.relational_legs) if name == "fusion" else on
        if key not in self._values:
            candidates: Mapping[int, Candidate] = {c.passage.id: c for c in self.candidates}
            if name == "fusion":
                candidates = {c.passage.id: c for c in fused_under(self.result, profile)}
            context = ScoringContext.of_result(self.result, profile, self._now)
            self._values[key] = np.array(
                [FACTORS[name](candidates[c.passage.id], context).value for c in self.candidates]
            )
        return self._values[key]


_ENOUGH = 1e-9
"""Totals that differ by less are equal, and then the lower passage id is first."""

_STEPS = 1000
"""Weights are written in thousandths."""

_SAME = 1e-6
"""Thousandths that differ by less are equal."""


@dataclass(frozen=True, slots=True)
class RankFirstWeight:
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

        >>> RankFirstWeight("keyword", 0.1, 0.3004, 0.4006).shown, RankFirstWeight("keyword", 0.1, 0.3004, 0.3008).shown
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
        >>> RankFirstWeight("authority", 0.25, 0.0, 0.12).words, RankFirstWeight("keyword", 0.1, 0.3, 0.4).words
        ('at most 0.120', 'from 0.300 to 0.400')
        >>> RankFirstWeight("keyword", 0.1, 0.3004, 0.3014).words, RankFirstWeight("keyword", 0.1, 0.3004, 0.3008).words
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


def first_if(result: SearchResult, passage_id: int, now: datetime) -> tuple[RankFirstWeight, ...]:
    """Per factor the weights that make the passage first, the smallest change first; empty when it is first already,
    when no single weight can do it, when it may not be shown at all, for lack of evidence, or was found only deeper.
    """
    replay, profile = Replay(result, now), result.profile
    ids = [candidate.passage.id for candidate in replay.candidates]
    ranked = replay.ranked(profile, 1)
    if passage_id not in ids or (ranked and ranked[0][0].passage.id == passage_id):
        return ()
    index = ids.index(passage_id)
    evident = [each for each in replay.evident(profile) if not replay.candidates[each].signals.band]
    if index not in evident:
        return ()
    found = []
    for factor in FACTORS:
        weight = profile.weights.get(factor, 0.0)
        if weight >= 1:
            continue
        base, top = (replay.totals(reweighted(profile, factor, end)) for end in (0.0, 1.0))
        lines = [(base[other], top[other] - base[other]) for other in evident]
        span = _first_span(lines, evident.index(index), replay.least(profile))
        if span is not None:
            found.append(RankFirstWeight(factor, weight, *span))
    return tuple(sorted(found, key=lambda each: (abs(each.nearest - each.now), each.factor)))


def reweighted(profile: ScoreProfile, factor: str, weight: float) -> ScoreProfile:
    """The profile with one factor weighing `weight` and the others what is left, in their proportions."""
    rest = 1 - profile.weights.get(factor, 0.0)
    others = {name: own * (1 - weight) / rest for name, own in profile.weights.items() if name != factor}
    return replace(profile, weights={**others, factor: weight})


def moves(profile: ScoreProfile, change: RankFirstWeight) -> Mapping[str, float]:
    """Slider key → where to move it (core.evaluation.tuning.sliders), so that the factor weighs what it must: the
    factor's own slider when it reaches so far, else those of all weights.

    >>> moves(ScoreProfile("a", {"similarity": 0.5, "authority": 0.5}), RankFirstWeight("authority", 0.5, 0.0, 0.2))
    {'w.authority': 0.125}
    """
    own, target = profile.weights.get(change.factor, 0.0), change.aim
    if target * (1 - own) <= 1 - target:
        return {f"w.{change.factor}": target * (1 - own) / (1 - target)}
    return {f"w.{name}": weight for name, weight in reweighted(profile, change.factor, target).weights.items()}


def _first_span(lines: Sequence[tuple[float, float]], index: int, least: float) -> tuple[float, float] | None:
    """Where in [0, 1] the line of `index` lies above the others and `least`; None where it never does.

    lines: (total at 0, slope). Equal totals go to the earlier line, so those before it must be beaten by a little; and
    `least` is reached in all digits.
    """
    start, slope = lines[index]
    gaps = [(start - least - _ENOUGH, slope)] if least > 0 else []
    for other, (theirs, rise) in enumerate(lines):
        if other != index:
            lead = 2 * _ENOUGH if other < index else 0.0
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
