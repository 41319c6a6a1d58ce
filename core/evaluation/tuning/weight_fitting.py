"""Looks for the weights of a few factors on several judged collections, and measures them on each collection left out.

Every mix of the factors in steps of a tenth is tried: few enough to try all, and fine enough where the optimum is flat.
A collection counts as one however many questions it has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from core.domain.errors import BadRequest
from core.domain.evaluation import Level
from core.domain.queries import ScoreProfile
from core.evaluation.metrics.measures import ranking_measures
from core.evaluation.tuning.replay import Replay

__all__ = ["FittedWeights", "LeftOutFolder", "WeightCase", "fit_weights", "mixes"]

FLAT = 0.01
"""nDCG@10 below the best that counts as equal to it: less than any of the collections can tell apart."""
_STEPS = 10
_METRIC = "nDCG@10"


@dataclass(frozen=True, slots=True)
class WeightCase:
    """One judged question with its candidates. grades: SHA-256 of a document → grade above 0."""

    folder: str
    replay: Replay
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LeftOutFolder:
    """Mean nDCG@10 of a folder, by the weights in use, by equal weights, and by `weights`, chosen on the others."""

    folder: str
    questions: int
    in_use: float
    equal: float
    chosen: float
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """left_out: one per folder. best: weights with the highest mean over all folders, and that mean. ranges: factor →
    lowest and highest weight among all mixes whose mean is within FLAT of the best."""

    left_out: tuple[LeftOutFolder, ...]
    best: Mapping[str, float]
    best_mean: float
    ranges: Mapping[str, tuple[float, float]]


def mixes(factors: Sequence[str]) -> Iterator[dict[str, float]]:
    """All weights of these factors in tenths that add up to 1.

    >>> [list(mix.values()) for mix in mixes(["a", "b"])][:2], len(list(mixes("abcd")))
    ([[0.0, 1.0], [0.1, 0.9]], 286)
    """

    def shares(left: int, number: int) -> Iterator[tuple[int, ...]]:
        if number == 1:
            yield (left,)
            return
        for first in range(left + 1):
            yield from ((first, *rest) for rest in shares(left - first, number - 1))

    for found in shares(_STEPS, len(factors)):
        yield {name: share / _STEPS for name, share in zip(factors, found, strict=True)}


def fit_weights(cases: Sequence[WeightCase], profile: ScoreProfile) -> FittedWeights:
    """Weights for the factors of a profile, whose multipliers and limits stay.

    Raises BadRequest for fewer than two folders with answerable questions, and for a profile of one factor.
    """
    folders = list(dict.fromkeys(case.folder for case in cases))
    factors = list(profile.weights)
    if len(folders) < 2:
        raise BadRequest("One folder cannot be judged by others.", "Name two folders or more with judged questions.")
    if len(factors) < 2:
        raise BadRequest(f"The profile '{profile.ref}' weighs one factor.", "Choose one that weighs several.")
    equal = dict.fromkeys(factors, 1 / len(factors))
    tried = [dict(profile.weights), equal, *mixes(factors)]
    values = np.array([_means(cases, folders, replace(profile, weights=mix)) for mix in tried])
    grid = values[2:]
    left_out = []
    for index, folder in enumerate(folders):
        chosen = int(np.delete(grid, index, axis=1).mean(axis=1).argmax())
        questions = sum(case.folder == folder for case in cases)
        measured = (float(values[0, index]), float(values[1, index]), float(grid[chosen, index]))
        left_out.append(LeftOutFolder(folder, questions, *measured, tried[2 + chosen]))
    means = grid.mean(axis=1)
    best = int(means.argmax())
    flat = [tried[2 + index] for index in np.flatnonzero(means >= means[best] - FLAT)]
    ranges = {name: (min(mix[name] for mix in flat), max(mix[name] for mix in flat)) for name in factors}
    return FittedWeights(tuple(left_out), tried[2 + best], float(means[best]), ranges)


def _means(cases: Sequence[WeightCase], folders: Sequence[str], profile: ScoreProfile) -> NDArray[np.float64]:
    """Mean nDCG@10 of each folder."""
    rankings = {str(n): case.replay.ranking(profile, Level.DOCUMENT) for n, case in enumerate(cases)}
    found = ranking_measures({str(n): case.grades for n, case in enumerate(cases)}, rankings, [_METRIC])
    by_folder: dict[str, list[float]] = {folder: [] for folder in folders}
    for number, case in enumerate(cases):
        by_folder[case.folder].append(found[str(number)][_METRIC])
    return np.array([np.mean(by_folder[folder]) for folder in folders])
