"""Fits the classifier's weights per clue and truth on labelled documents, and evaluates them on left-out sources.

Multinomial logistic regression: scores are sums of strength · weight per clue, a softmax over score / temperature gives
probabilities. Maximum likelihood with ridge regularisation towards the given weights (a Gaussian prior; Hoerl & Kennard
1970), so that a rare clue keeps its given weight. Deterministic.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Truth
from core.evaluation.metrics.measures import calibration_bins, calibration_error, mean
from core.formats.terminal import aligned
from core.ingestion.classification.truth import Clue
from core.knowledge.classifier_weights import decision_weights, given_weights

__all__ = ["FittedWeights", "LabelledDocument", "best_temperature", "figures_text", "fit", "fitted_text", "left_out"]

_HELD = {"name": 1.0, "sign": 5.0, "manner:": 3.0, "meaning:": 1.0, "foreign": 1.0}
"""Ridge strength per kind of clue; chosen by leaving sources out."""

_HELD_LEAN = 3.0

_LEAST_KEPT = 0.01  # smaller weights would round to 0 in the file

_STEPS = 300  # most L-BFGS iterations. Chosen by hand, not fitted.

_TRUTHS = tuple(truth.value for truth in Truth)

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class LabelledDocument:
    """A labelled document as the classifier reads it. source: documents of one source are left out together."""

    name: str
    source: str
    truth: str
    clues: tuple[Clue, ...]


@dataclass(frozen=True, slots=True)
class FittedWeights:
    """weights: clue key → truth → log-odds; intercepts: truth → log-odds before a word is read. The least of a row
    is 0."""

    intercepts: Mapping[str, float]
    weights: Mapping[str, Mapping[str, float]]


def fit(judged: Sequence[LabelledDocument]) -> FittedWeights:
    """Fit the weights to all documents; a source counts by the square root of its documents, so that none dominates.

    A clue that occurs in no document keeps its given weights.
    """
    keys = tuple(given_weights())
    found = _minimised(_FittingProblem.of(judged, keys), None)
    seen = {clue.key for one in judged for clue in one.clues}
    rows = {
        key: _rounded(row) if key in seen else dict(given_weights()[key]) for key, row in zip(keys, found, strict=False)
    }
    return FittedWeights(_rounded(found[-1]), rows)


def left_out(
    judged: Sequence[LabelledDocument], on_source: Callable[[int, int], None] = lambda done, total: None
) -> tuple[Mapping[str, float], ...]:
    """For each document truth → probability, with weights fitted without the documents of its source."""
    keys = tuple(given_weights())
    problem = _FittingProblem.of(judged, keys)
    start = _minimised(problem, None)
    sources = sorted({one.source for one in judged})
    shares_by_document: list[Mapping[str, float]] = [{} for _ in judged]
    for done, source in enumerate(sources, start=1):
        inside = np.array([one.source != source for one in judged])
        weights = _minimised(problem.only(inside), start)
        for i in np.flatnonzero(~inside):
            shares = _softmax(problem.strengths[i : i + 1] @ weights / problem.temperature)[0]
            shares_by_document[i] = dict(zip(_TRUTHS, shares.tolist(), strict=True))
        on_source(done, len(sources))
    return tuple(shares_by_document)


def best_temperature(judged: Sequence[LabelledDocument], predicted: Sequence[Mapping[str, float]]) -> float:
    """By how much the logarithms of the odds should be divided for the likeliest outcome, in steps of 0.05.

    Temperature scaling (Guo et al. 2017) on predictions for sources left out: 1 is well calibrated, above 1 too sure.
    """
    logs = np.log(np.array([[row[truth] for truth in _TRUTHS] for row in predicted]) + 1e-12)
    right = np.array([_TRUTHS.index(one.truth) for one in judged])
    tried = [round(0.5 + 0.05 * step, 2) for step in range(41)]
    likely = {t: float(np.log(_softmax(logs / t)[np.arange(len(right)), right] + 1e-12).sum()) for t in tried}
    return max(likely, key=lambda t: likely[t])


def fitted_text(found: FittedWeights, documents: int, sources: int) -> str:
    """The text of core/knowledge/classifier_weights.toml."""
    return "\n".join([*_lines(found, documents, sources), ""])


def _lines(found: FittedWeights, documents: int, sources: int) -> Iterator[str]:
    yield "# Written by `cli evaluate fit-classifier`: what each clue tells of every truth, in log-odds from 0."
    yield f"# Fitted on {documents} readings of documents of {sources} sources."
    yield ""
    yield "[intercepts]"
    yield from (f"{truth} = {weight:.2f}" for truth, weight in found.intercepts.items())
    yield ""
    yield "[weights]"
    for key, row in found.weights.items():
        weights = ", ".join(f"{truth} = {weight:.2f}" for truth, weight in row.items())
        yield f'"{key}" = {{ {weights} }}' if weights else f'"{key}" = {{}}'


@dataclass(frozen=True, slots=True)
class _FittingProblem:
    """strengths: (documents, clues + 1), the last column ones. right: (documents, truths), one-hot. counts: one each.
    given, ridge: (clues + 1, truths) and (clues + 1, 1): prior weights, and ridge strength.
    """

    strengths: Matrix
    right: Matrix
    counts: Matrix
    given: Matrix
    ridge: Matrix
    temperature: float

    @classmethod
    def of(cls, judged: Sequence[LabelledDocument], keys: Sequence[str]) -> "_FittingProblem":
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
        ridge = np.array([[_HELD[key.split()[0]]] for key in keys] + [[_HELD_LEAN]])
        return cls(strengths, right, counts / counts.mean(), given, ridge, decision_weights()["truth"].temperature)

    def only(self, inside: NDArray[np.bool_]) -> "_FittingProblem":
        counts = self.counts[inside]
        return _FittingProblem(
            self.strengths[inside], self.right[inside], counts / counts.mean(), self.given, self.ridge, self.temperature
        )


def _minimised(problem: _FittingProblem, start: Matrix | None) -> Matrix:
    """The weights of least loss: -log likelihood + ½ · ridge · (weight - given)², in units of the temperature."""
    from scipy.optimize import minimize

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights = flat.reshape(problem.given.shape)
        shares = _softmax(problem.strengths @ weights / problem.temperature)
        away = (weights - problem.given) / problem.temperature
        likelihood = problem.counts @ np.log((shares * problem.right).sum(axis=1) + 1e-12)
        slope = problem.strengths.T @ (problem.counts[:, None] * (shares - problem.right)) + problem.ridge * away
        value = 0.5 * float((problem.ridge * away**2).sum()) - float(likelihood)
        return value, (slope / problem.temperature).ravel()

    begin = problem.given if start is None else start
    found = minimize(loss, begin.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    weights: Matrix = found.x.reshape(problem.given.shape)
    return weights


def _softmax(scores: Matrix) -> Matrix:
    grown = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Matrix = grown / grown.sum(axis=1, keepdims=True)
    return shares


def _rounded(row: Matrix) -> dict[str, float]:
    """A row with its least at 0, which changes no probability, and without what would not be seen."""
    above = row - row.min()
    return {truth: round(float(w), 2) for truth, w in zip(_TRUTHS, above, strict=True) if w >= _LEAST_KEPT}


@dataclass(frozen=True, slots=True)
class _HeldOutLabel:
    """truth, probability: the likeliest. right: it is the judged one, and sure enough to be said."""

    one: LabelledDocument
    truth: str
    probability: float

    @property
    def decided(self) -> bool:
        return self.probability >= decision_weights()["truth"].threshold

    @property
    def right(self) -> bool:
        return self.decided and self.truth == self.one.truth


def figures_text(names: str, judged: Sequence[LabelledDocument], predicted: Sequence[Mapping[str, float]]) -> str:
    """Tables of what was said of documents whose source was left out. names: "names shown" or "names hidden".

    Not capped as the classifier caps law and policy labels without the rule-giver's own voice.
    """
    labels = [
        _HeldOutLabel(one, *max(row.items(), key=lambda item: item[1]))
        for one, row in zip(judged, predicted, strict=True)
    ]
    decided = [(each.probability, each.right) for each in labels if each.decided]
    overall = [
        ("documents", len(labels)),
        ("truth accuracy", mean([each.right for each in labels])),
        ("abstained", mean([not each.decided for each in labels])),
        ("calibration error", calibration_error(decided)),
    ]
    parts = [
        aligned((names, "value"), overall),
        _grouped("truth", labels, lambda each: each.one.truth),
        _grouped("source", labels, lambda each: each.one.source),
        aligned(("documents", "said", "right"), calibration_bins(decided)),
        *(
            f"wrong: {each.one.name} is {each.one.truth}, not {each.truth} ({each.probability:.2f})"
            for each in labels
            if not each.right
        ),
    ]
    return "\n\n".join(parts[:4]) + "\n\n" + "\n".join(parts[4:])


def _grouped(header: str, labels: Sequence[_HeldOutLabel], key: Callable[[_HeldOutLabel], str]) -> str:
    groups: dict[str, list[_HeldOutLabel]] = {}
    for each in labels:
        groups.setdefault(key(each), []).append(each)
    rows = [(name, len(group), mean([each.right for each in group])) for name, group in sorted(groups.items())]
    return aligned((header, "documents", "right"), rows)
