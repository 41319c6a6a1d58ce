"""One retrieval, ranked under many profiles: what scoring reads is measured once, mixing it is a sum of columns."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import fsum

import numpy as np
from numpy.typing import NDArray

from core.judged import Level
from core.queries import ScoreProfile
from core.results import Candidate, SearchResult
from core.search.collapse import alike
from core.search.factors import FACTORS, Asked
from core.search.pipeline import fused_under
from core.search.score import DIGITS
from core.tuning.units import unit_of

__all__ = ["DEPTH", "Replay"]

DEPTH = 50
"""Results asked for: ten documents can be ranked although several results come from one."""

_PARAMETERS = {"half_life": "half_life_days", "routing": "routing_outside", "fusion": "fusion_k"}
"""Factors whose value depends on the profile, and on what of it; fusion on its leg weights as well."""


class Replay:
    """A result that can be ranked again and again. It agrees with `Searcher.rescore`, without reasons or citations: for
    the thousands of profiles an optimiser tries."""

    def __init__(self, result: SearchResult, now: datetime) -> None:
        self.result, self._now = result, now
        self.candidates: tuple[Candidate, ...] = tuple(sorted(result.candidates, key=lambda c: c.passage.id))
        self._complete = not any(leg.error for leg in result.legs)
        self._similarity = np.array([candidate.signals.similarity for candidate in self.candidates])
        self._bm25 = np.array([candidate.signals.bm25 for candidate in self.candidates])
        near = alike([candidate.passage.text for candidate in self.candidates])
        self._near = [set(group) for group in near]
        for place, group in enumerate(near):
            for other in group:
                self._near[other].add(place)
        self._values: dict[tuple[object, ...], NDArray[np.float64]] = {}
        self._units: dict[Level, dict[int, str]] = {}

    def ranking(self, profile: ScoreProfile, level: Level) -> tuple[str, ...]:
        """The units of the first DEPTH results, each once, as core.tuning.units.ranking gives those of a search."""
        if level not in self._units:
            self._units[level] = {c.passage.id: unit_of(self.result, c, level) for c in self.candidates}
        units = self._units[level]
        return tuple(dict.fromkeys(units[shown.passage.id] for shown, _ in self.ranked(profile, DEPTH)))

    def ranked(self, profile: ScoreProfile, most: int) -> tuple[tuple[Candidate, float], ...]:
        """The first `most` results and their totals; none where the library refuses to answer."""
        if self.result.refusal or not self.candidates:
            return ()
        totals = self.totals(profile)
        shown: list[int] = []
        hidden: set[int] = set()
        for place in self._order(totals, profile):
            if len(shown) == most:
                break
            if place not in hidden:
                shown.append(place)
                hidden |= self._near[place]
        return tuple((self.candidates[place], totals[place]) for place in shown)

    def totals(self, profile: ScoreProfile) -> list[float]:
        """Σ weight · value × Π multipliers of every candidate, in their order.

        Summed exactly, as a search sums: to the last bit, because a total can equal the threshold.
        """
        if not self.candidates:
            return []
        parts = np.stack([weight * self._valued(name, profile) for name, weight in profile.weights.items()], axis=1)
        times = np.ones(len(self.candidates))
        for name, strength in profile.multipliers.items():
            times *= 1 - strength * (1 - self._valued(name, profile))
        return [fsum(row) * factor for row, factor in zip(parts.tolist(), times.tolist(), strict=True)]

    def evident(self, profile: ScoreProfile) -> list[int]:
        """Places of the candidates that carry evidence of their own; all where a leg failed."""
        if not self._complete:
            return list(range(len(self.candidates)))
        places: list[int] = np.flatnonzero((self._similarity >= profile.floor) | (self._bm25 > 0)).tolist()
        return places

    def least(self, profile: ScoreProfile) -> float:
        """The total below which nothing is shown; nothing is held back where a leg failed."""
        return profile.threshold if self._complete else 0.0

    def _order(self, totals: Sequence[float], profile: ScoreProfile) -> list[int]:
        """Places of the candidates that may be shown, best first; equal totals by passage id, which is their order."""
        least = self.least(profile)
        places = [place for place in self.evident(profile) if totals[place] >= least]
        return sorted(places, key=lambda place: -round(totals[place], DIGITS))

    def _valued(self, name: str, profile: ScoreProfile) -> NDArray[np.float64]:
        """One factor's value of every candidate, worked out once per value of what it depends on."""
        on = (name, getattr(profile, _PARAMETERS[name]) if name in _PARAMETERS else None)
        key = (*on, profile.legs, profile.relational_legs) if name == "fusion" else on
        if key not in self._values:
            held: Mapping[int, Candidate] = {c.passage.id: c for c in self.candidates}
            if name == "fusion":
                held = {c.passage.id: c for c in fused_under(self.result, profile)}
            asked = Asked.of(self.result.route, profile, self._now)
            self._values[key] = np.array([FACTORS[name](held[c.passage.id], asked).value for c in self.candidates])
        return self._values[key]
