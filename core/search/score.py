"""Candidates → scores that add up, and what is dropped and why. Pure: sliders call it without any store."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, prod

from core.queries import ScoreProfile
from core.results import Candidate, Dropped, DropReason, Factor, Multiplier, Score
from core.search.factors import FACTORS, Asked

__all__ = ["DIGITS", "Scored", "rank", "score", "shortfall"]

DIGITS = 9
"""Totals that differ by less are equal: the last bits of a cosine depend on the batch it was computed in."""


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score."""

    candidate: Candidate
    score: Score


def score(candidate: Candidate, asked: Asked) -> Score:
    """total = Σ weight · value × Π multipliers; the parts add up to the total within 1e-9."""
    factors = []
    for name, weight in asked.profile.weights.items():
        valued = FACTORS[name](candidate, asked)
        factors.append(Factor(name, valued.value, weight, weight * valued.value, valued.reason))
    multipliers = []
    for name, strength in asked.profile.multipliers.items():
        valued = FACTORS[name](candidate, asked)
        partly = f", counted by {strength:.0%}" if strength < 1 else ""
        multipliers.append(Multiplier(name, 1 - strength * (1 - valued.value), valued.reason + partly))
    total = fsum(factor.contribution for factor in factors) * prod(multiplier.value for multiplier in multipliers)
    return Score(total, tuple(factors), tuple(multipliers))


def rank(
    candidates: Sequence[Candidate], asked: Asked, *, thresholds: bool = True
) -> tuple[tuple[Scored, ...], tuple[Dropped, ...]]:
    """All candidates scored, best first (ties by passage id), and those without enough evidence or score.

    thresholds False keeps every candidate: a leg failed, so absolute limits would judge what was not measured.
    """
    kept: list[Scored] = []
    dropped: list[Dropped] = []
    for candidate in candidates:
        scored = score(candidate, asked)
        found = shortfall(candidate, scored, asked.profile) if thresholds else None
        if found is None:
            kept.append(Scored(candidate, scored))
        else:
            dropped.append(Dropped(candidate, *found, scored))
    kept.sort(key=lambda item: (-round(item.score.total, DIGITS), item.candidate.passage.id))
    dropped.sort(key=lambda item: (-round(item.score.total if item.score else 0.0, DIGITS), item.candidate.passage.id))
    return tuple(kept), tuple(dropped)


def shortfall(candidate: Candidate, scored: Score, profile: ScoreProfile) -> tuple[DropReason, str] | None:
    """Why a candidate may not be shown: no evidence of its own, or a total below the threshold; None when it may."""
    signals = candidate.signals
    if signals.similarity < profile.floor and signals.bm25 + signals.wordings <= 0:
        return DropReason.BELOW_FLOOR, f"similarity {_less(signals.similarity, profile.floor, 2)} and no keyword hit"
    if scored.total < profile.threshold:
        return DropReason.BELOW_THRESHOLD, f"score {_less(scored.total, profile.threshold, 3)}"
    return None


def _less(value: float, limit: float, digits: int) -> str:
    """A value below a limit, with as many digits as tell them apart: "0.2498 < 0.2500"."""
    while digits < DIGITS and f"{value:.{digits}f}" == f"{limit:.{digits}f}":
        digits += 1
    return f"{value:.{digits}f} < {limit:.{digits}f}"
