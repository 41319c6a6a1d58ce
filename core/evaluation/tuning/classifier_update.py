"""Adds what further documents teach to a fitted classifier, without the documents it was fitted on.

The weights of truth, authority and places are fitted again on the further documents. A ridge penalty keeps each near
its old value, which thereby counts as what the earlier documents taught: the old weights are the mean of a Gaussian
prior. Words that the classifier does not know are not added, and biases and thresholds stay, because how common a label
is among a few documents says little; for the same reason every class of truth and authority counts the same. The kind
of place, dates, passages and domains stay, too: kinds and dates fitted again in this way were no better on other
documents.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize, minimize_scalar

from core.domain.errors import BadRequest
from core.evaluation.tuning.candidate_fitting import PlaceChoice, fitted_places, places_found_left_out
from core.evaluation.tuning.classifier_fitting import as_label, authority_prior, fitting_problem
from core.evaluation.tuning.training_documents import STEPS, FittingProblem, Matrix, TrainingDocument
from core.ingestion.classification.jurisdiction import kind_scores
from core.ingestion.classification.linear_model import ClassifierModel, Head, softmax

__all__ = ["ADDED_LABELS", "add_documents"]

ADDED_LABELS = ("truth", "authority", "jurisdiction")
"""The labels that further documents can teach."""

_PENALTY = {"words": 1.0, "opening": 10.0, "form": 10.0, "mean": 10.0}
"""Of the squared distance from the old weights per block: 100 × that of the first fit, the best of 3, 10, 30 and 100 ×
on sources left out."""
_DISTANCE = {"truth": 1.0, "authority": 3.0}
"""How many times that penalty a label has. Authorities are as right with 1 as with 3 on sources left out; with 3, fewer
short texts change."""
_BLOCKS = tuple(_PENALTY)
_LEAST_FOLDS = 2  # one to learn from, one to judge by


# Over 40 lines: the order in which one label uses what the one before left out.
def add_documents(
    base: ClassifierModel,
    documents: Sequence[TrainingDocument],
    known: Sequence[TrainingDocument] = (),
    on_step: Callable[[str], None] = lambda step: None,
    labels: Collection[str] = ADDED_LABELS,
) -> ClassifierModel:
    """`base` with what these documents teach as well. It must not have learned from them before.

    known: documents that it has learned from and should stay right on; their truths and authorities are learned again
    beside the others, but judge nothing, and are left out with their owners. on_step: is told, for each label, the
    share of new documents that were right before, and that are right afterwards with their sources left out. labels:
    which of `ADDED_LABELS` learn. Raises BadRequest when the new documents come from too few owners to leave some out.
    """
    too_few = BadRequest(
        "There are too few new documents to learn from.", "Give documents of more owners, as OWNER/NAME in labels.csv."
    )
    if not documents:
        raise too_few
    problem, sizes = fitting_problem([*documents, *known], _BLOCKS, base)
    new = sizes.origin < len(documents)
    if len(set(problem.folds[new].tolist())) < _LEAST_FOLDS:
        raise too_few
    whole = slice(len(documents))
    values = {
        "truth": [each.truth for each in problem.documents],
        "authority": [each.authority for each in problem.documents],
    }
    heads, numbers = dict(base.heads), {group: dict(row) for group, row in base.numbers.items()}
    before: dict[str, Matrix] = {}
    left: dict[str, Matrix] = {}
    for name, found in values.items():
        update = _HeadUpdate(base.heads[name], problem, found, _DISTANCE[name])
        before[name] = left[name] = update.before(_prior(base, name, before))
        if name not in labels:
            continue
        heads[name], left[name] = update.fitted(_prior(base, name, left), np.flatnonzero(new[: sizes.met]))
        right = update.right[whole]
        was, now = (float((shares[whole].argmax(axis=1) == right).mean()) for shares in (before[name], left[name]))
        _tell(on_step, name, was, now)
    if "jurisdiction" not in labels:
        return replace(base, heads=heads)
    problem = problem.first(len(documents))  # of known ones truth and authority would be too certain
    places = base.numbers["place_features"]
    old, choices = (_place_choices(base, problem, shares) for shares in (before, left))
    was = sum(each.found(places) for each in old) / len(old)
    _tell(on_step, "jurisdiction", was, places_found_left_out(problem, choices, places))
    numbers["place_features"] = fitted_places(choices, problem.weights, places)
    return replace(base, heads=heads, numbers=numbers)


def _place_choices(base: ClassifierModel, problem: FittingProblem, shares: Mapping[str, Matrix]) -> list[PlaceChoice]:
    """The candidate places of whole documents. shares: probabilities of truth and authority."""
    choices = []
    for number, each in enumerate(problem.documents):
        truth, authority = (as_label(base.heads[name].classes, shares[name][number]) for name in shares)
        kinds = kind_scores(base.blocks(each.features, each.vectors), base)
        choices.append(PlaceChoice.of(each, truth, authority, kinds))
    return choices


def _tell(on_step: Callable[[str], None], name: str, before: float, after: float) -> None:
    on_step(f"{name}: {before:.3f} right before, {after:.3f} after, on sources left out")


def _prior(base: ClassifierModel, name: str, shares: Mapping[str, Matrix]) -> Matrix | float:
    """What another label adds to the log-odds of this one. shares: probabilities of the labels before it."""
    if name != "authority":
        return 0.0
    given, classes = base.numbers["authority_given_truth"], base.heads[name].classes
    return base.numbers[name]["from_truth"] * authority_prior(shares["truth"], classes, given)


class _HeadUpdate:
    """One head, fitted again on documents, without their file names, as these are often missing.

    values: the right class of each document. distance: how many times the penalties count.
    """

    def __init__(self, head: Head, problem: FittingProblem, values: Sequence[str], distance: float) -> None:
        self._head, self._problem = head, problem
        self.right = np.array([head.classes.index(value) for value in values], dtype=np.intp)
        counts = Counter(values)  # a class with many documents would draw others to it
        self._counts = problem.weights * [len(values) / len(counts) / counts[value] for value in values]
        self._scale = {name: (distance * penalty) ** -0.5 for name, penalty in _PENALTY.items()}
        self._matrix = sparse.hstack([problem.blocks[name] * self._scale[name] for name in _BLOCKS]).tocsr()
        weights = {**head.words, "form": head.form, "mean": head.mean}
        self._old = head.bias + sum(problem.blocks[name] @ weights[name] for name in _BLOCKS)
        first, by_unknown = head.temperature
        self._heat = np.exp(first + by_unknown * np.array(problem.unknown))[:, None]

    def before(self, prior: Matrix | float) -> Matrix:
        """The probabilities that the head gives as it is, shape (documents, classes)."""
        return softmax((self._old + prior) / self._heat)

    def fitted(self, prior: Matrix | float, met: NDArray[np.intp]) -> tuple[Head, Matrix]:
        """The new head, and its probabilities of every row without the rows of its fold.

        prior: log-odds from another label. met: rows of whole new documents and their first lines, which choose the
        temperature; equal parts do not.
        """
        problem, old = self._problem, self._old + prior
        scores = old.copy()
        for fold in sorted(set(problem.folds.tolist())):
            out = problem.folds == fold
            scores[out] += self._matrix[out] @ self._differences(old, ~out)
        scores /= self._heat
        growth = _log_temperature(scores[met], self.right[met], problem.weights[met])
        ends = np.cumsum([problem.blocks[name].shape[1] for name in _BLOCKS])[:-1]
        found = np.split(self._differences(old, np.full(len(old), True)), ends)
        added = {name: part * self._scale[name] for name, part in zip(_BLOCKS, found, strict=True)}
        first, by_unknown = self._head.temperature
        head = replace(
            self._head,
            words={name: weights + added.get(name, 0.0) for name, weights in self._head.words.items()},
            form=self._head.form + added["form"],
            mean=self._head.mean + added["mean"],
            temperature=(first + growth, by_unknown),
        )
        return head, softmax(scores / np.exp(growth))

    def _differences(self, old: Matrix, inside: NDArray[np.bool_]) -> Matrix:
        """What to add to the weights, divided by their scales, shape (features, classes): by maximum likelihood."""
        matrix, begun, heat = self._matrix[inside], old[inside], self._heat[inside]
        right, counts = self.right[inside], self._counts[inside]
        rows, shape = np.arange(len(right)), (matrix.shape[1], old.shape[1])

        def loss(flat: Matrix) -> tuple[float, Matrix]:
            added = flat.reshape(shape)
            shares = softmax((begun + matrix @ added) / heat)
            value = -float(counts @ np.log(shares[rows, right] + 1e-12)) + float((added**2).sum()) / 2
            shares[rows, right] -= 1.0
            return value, (matrix.T @ (shares * counts[:, None] / heat) + added).ravel()

        found = minimize(loss, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
        return np.asarray(found.x).reshape(shape)


def _log_temperature(scores: Matrix, right: NDArray[np.intp], counts: Matrix) -> float:
    """The log of the temperature at which the probabilities fit best (Guo et al. 2017); never below 0: the
    thresholds were chosen at the old temperature."""

    def loss(growth: float) -> float:
        shares = softmax(scores / np.exp(growth))
        return -float(counts @ np.log(shares[np.arange(len(right)), right] + 1e-12))

    return float(minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded").x)
