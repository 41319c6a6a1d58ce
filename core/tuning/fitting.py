"""Fits what each clue tells of every truth, on labelled documents, and measures it on sources it was not fitted to.

A multinomial logistic model: scores are sums of strength · weight per clue, a softmax over score / temperature gives
probabilities. The weights are those of greatest likelihood, held towards the tables' own by a ridge (a Gaussian prior
around the given weights; Hoerl & Kennard 1970), so that a clue seldom seen keeps what was given. Deterministic.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.documents import Truth
from core.ingest.classify_clues import Clue
from core.tables.decisions import weighings
from core.tables.fitted import given_weights

__all__ = ["Fitted", "Judged", "best_temperature", "fit", "fitted_text", "left_out"]

_HELD = {"name": 1.0, "sign": 5.0, "manner:": 3.0, "meaning:": 1.0, "foreign": 1.0}
"""How firmly the weights of each kind of clue are held to the given ones; chosen by leaving sources out."""
_HELD_LEAN = 3.0
_LEAST_KEPT = 0.01
_STEPS = 300
_TRUTHS = tuple(truth.value for truth in Truth)

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled document as the classifier reads it. source: documents of one source are left out together."""

    name: str
    source: str
    truth: str
    clues: tuple[Clue, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """weights: clue key → truth → log-odds; lean: truth → log-odds before a word is read. The least of a row is 0."""

    lean: Mapping[str, float]
    weights: Mapping[str, Mapping[str, float]]


def fit(judged: Sequence[Judged]) -> Fitted:
    """The weights fitted to all of them; a source counts by the root of its documents, so that none rules.

    A clue that no document holds keeps the weights given.
    """
    keys = tuple(given_weights())
    found = _minimised(_Problem.of(judged, keys), None)
    seen = {clue.key for one in judged for clue in one.clues}
    rows = {
        key: _kept(row) if key in seen else dict(given_weights()[key]) for key, row in zip(keys, found, strict=False)
    }
    return Fitted(_kept(found[-1]), rows)


def left_out(
    judged: Sequence[Judged], on_source: Callable[[int, int], None] = lambda done, total: None
) -> tuple[Mapping[str, float], ...]:
    """For each document the probability of every truth, by weights fitted without any document of its source."""
    keys = tuple(given_weights())
    problem = _Problem.of(judged, keys)
    start = _minimised(problem, None)
    sources = sorted({one.source for one in judged})
    told: list[Mapping[str, float]] = [{} for _ in judged]
    for done, source in enumerate(sources, start=1):
        inside = np.array([one.source != source for one in judged])
        weights = _minimised(problem.only(inside), start)
        for i in np.flatnonzero(~inside):
            shares = _softmax(problem.strengths[i : i + 1] @ weights / problem.temperature)[0]
            told[i] = dict(zip(_TRUTHS, shares.tolist(), strict=True))
        on_source(done, len(sources))
    return tuple(told)


def best_temperature(judged: Sequence[Judged], told: Sequence[Mapping[str, float]]) -> float:
    """By how much the logarithms of the odds should be divided for the likeliest outcome, in steps of 0.05.

    Temperature scaling (Guo et al. 2017) on predictions for sources left out: 1 is well calibrated, above 1 too sure.
    """
    logs = np.log(np.array([[row[truth] for truth in _TRUTHS] for row in told]) + 1e-12)
    right = np.array([_TRUTHS.index(one.truth) for one in judged])
    tried = [round(0.5 + 0.05 * step, 2) for step in range(41)]
    likely = {t: float(np.log(_softmax(logs / t)[np.arange(len(right)), right] + 1e-12).sum()) for t in tried}
    return max(likely, key=lambda t: likely[t])


def fitted_text(found: Fitted, documents: int, sources: int) -> str:
    """The text of core/tables/fitted.toml."""
    return "\n".join([*_lines(found, documents, sources), ""])


def _lines(found: Fitted, documents: int, sources: int) -> Iterator[str]:
    yield "# Written by `cli.py evaluate fit-classifier`: what each clue tells of every truth, in log-odds from 0."
    yield f"# Fitted on {documents} readings of documents of {sources} sources."
    yield ""
    yield "[lean]"
    yield from (f"{truth} = {weight:.2f}" for truth, weight in found.lean.items())
    yield ""
    yield "[weights]"
    for key, row in found.weights.items():
        told = ", ".join(f"{truth} = {weight:.2f}" for truth, weight in row.items())
        yield f'"{key}" = {{ {told} }}' if told else f'"{key}" = {{}}'


@dataclass(frozen=True, slots=True)
class _Problem:
    """strengths: (documents, clues + 1), the last column ones. right: (documents, truths), one-hot. counts: one each.
    given, held: (clues + 1, truths) and (clues + 1, 1): weights to stay near, and how firmly.
    """

    strengths: Matrix
    right: Matrix
    counts: Matrix
    given: Matrix
    held: Matrix
    temperature: float

    @classmethod
    def of(cls, judged: Sequence[Judged], keys: Sequence[str]) -> "_Problem":
        at = {key: i for i, key in enumerate(keys)}
        strengths = np.zeros((len(judged), len(keys) + 1))
        strengths[:, -1] = 1.0
        for row, one in zip(strengths, judged, strict=True):
            for clue in one.clues:
                row[at[clue.key]] += clue.strength
        right = np.array([[float(truth == one.truth) for truth in _TRUTHS] for one in judged])
        per_source = Counter(one.source for one in judged)
        counts = np.array([per_source[one.source] ** -0.5 for one in judged])
        given = np.array([[given_weights()[key].get(truth, 0.0) for truth in _TRUTHS] for key in keys] + [[0.0] * 5])
        held = np.array([[_HELD[key.split()[0]]] for key in keys] + [[_HELD_LEAN]])
        return cls(strengths, right, counts / counts.mean(), given, held, weighings()["truth"].temperature)

    def only(self, inside: NDArray[np.bool_]) -> "_Problem":
        kept = self.counts[inside]
        return _Problem(
            self.strengths[inside], self.right[inside], kept / kept.mean(), self.given, self.held, self.temperature
        )


def _minimised(problem: _Problem, start: Matrix | None) -> Matrix:
    """The weights of least loss: -log likelihood + ½ · held · (weight - given)², in units of the temperature."""
    from scipy.optimize import minimize

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights = flat.reshape(problem.given.shape)
        shares = _softmax(problem.strengths @ weights / problem.temperature)
        away = (weights - problem.given) / problem.temperature
        likelihood = problem.counts @ np.log((shares * problem.right).sum(axis=1) + 1e-12)
        slope = problem.strengths.T @ (problem.counts[:, None] * (shares - problem.right)) + problem.held * away
        value = 0.5 * float((problem.held * away**2).sum()) - float(likelihood)
        return value, (slope / problem.temperature).ravel()

    begin = problem.given if start is None else start
    found = minimize(loss, begin.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    weights: Matrix = found.x.reshape(problem.given.shape)
    return weights


def _softmax(scores: Matrix) -> Matrix:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Matrix = grown / grown.sum(axis=1, keepdims=True)
    return shares


def _kept(row: Matrix) -> dict[str, float]:
    """A row with its least at 0, which changes no probability, and without what would not be seen."""
    above = row - row.min()
    return {truth: round(float(w), 2) for truth, w in zip(_TRUTHS, above, strict=True) if w >= _LEAST_KEPT}
