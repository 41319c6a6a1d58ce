"""Fits the classifier's linear models on labelled documents of many sources.

Each block of features (words, opening, name, form, mean vector) gets a ridge-penalised multinomial logistic regression
(scikit-learn); a few non-negative weights, one per block, add their log-odds together (stacking, Wolpert 1992). Stack
weights, temperatures, thresholds and the small models of places and dates are fitted on predictions for
sources left out of the block models. Deterministic: folds come from a hash of the name of the source's owner.
"""
# Longer than 300 lines: every head uses the same regression, folds and predictions of the one before.

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize

from core.domain.documents import Authority, Label, Truth
from core.evaluation.tuning.candidate_fitting import PlaceChoice, fitted_dates, fitted_domains, fitted_places
from core.evaluation.tuning.context_fitting import fitted_context
from core.evaluation.tuning.training_documents import (
    BLOCKS,
    STEPS,
    FittingProblem,
    Matrix,
    TrainingDocument,
    equal_parts,
    first_lines,
    stacked_terms,
)
from core.ingestion.classification.document_features import word_places
from core.ingestion.classification.jurisdiction import PLACE_KINDS, place_kind
from core.ingestion.classification.linear_model import (
    DOMAIN_HEAD,
    PASSAGE_HEAD,
    ClassifierModel,
    Head,
    TermWeights,
    softmax,
)
from core.ingestion.classification.passages import LEAST_WORDS, QUOTED, beside_document
from core.ingestion.classification.subject import truth_shares
from core.ingestion.classification.weighting import BESIDE_HEAD, FEW_WORDS
from core.knowledge.domains import GENERAL
from core.knowledge.languages import NATIVE

__all__ = [
    "PARTS",
    "Sizes",
    "as_label",
    "authority_prior",
    "fit_classifier",
    "fit_parts",
    "fitting_problem",
]

PARTS = ("passages", "dates", "domains", "context")
"""What can be fitted again on fewer documents."""

_PENALTY = {
    "words": 100.0,
    "opening": 10.0,
    "name": 5.0,
    "form": 10.0,
    "mean": 10.0,
    PASSAGE_HEAD: 3.0,
    DOMAIN_HEAD: 3.0,
}
"""Inverse ridge strength (scikit-learn's C) per block; the best of 3, 10, 30, 100 on sources left out."""
_STACK_RIDGE, _STACK_START = 0.01, 0.3  # keeps stack weights near equal shares of some three blocks; chosen by hand
_ACCURACY_GIVEN_UP = 0.01  # share of right answers that abstaining may cost
_WRONG_SHARE = 0.01  # of all documents that may carry a law or policy label with 0.8 or more wrongly
_LEAST_GIVEN = 0.02  # added to every share of P(authority | truth); chosen by hand
_DIFFERING = 0.06  # share of passages that may differ from their document, on sources left out; chosen by hand
_NO_LEAD = 99.0  # log-odds that nothing reaches, where no model was fitted
_BINDING = (Truth.REGULATORY.value, Truth.COMPLIANCE.value)


# Over 40 lines: the order in which one fit uses what the one before left out.
def fit_classifier(
    documents: Sequence[TrainingDocument],
    embedder: str,
    blocks: Sequence[str] = BLOCKS,
    on_step: Callable[[str], None] = lambda step: None,
) -> ClassifierModel:
    """Fits every head and small model. embedder: name of the model of the vectors.

    blocks: the blocks that count, for measuring what each adds.
    """
    problem, sizes = fitting_problem(documents, blocks)
    count = len(documents)
    heads: dict[str, Head] = {}
    left: dict[str, Matrix] = {}
    numbers: dict[str, dict[str, float]] = {}
    rows = problem.documents
    labels = {
        "truth": (tuple(truth.value for truth in Truth), [each.truth for each in rows]),
        "authority": (tuple(a.value for a in Authority), [each.authority for each in rows]),
        "place": (PLACE_KINDS, [place_kind(each.jurisdiction) for each in rows]),
    }
    for name, (classes, values) in labels.items():
        on_step(name)
        prior = None
        if name == "authority":
            given = _authority_given_truth(documents)
            numbers["authority_given_truth"] = given
            prior = authority_prior(left["truth"], classes, given)
        heads[name], left[name], numbers[name] = _fitted_head(problem, classes, values, prior, sizes)
    problem = problem.first(count)
    truths = [as_label(heads["truth"].classes, row) for row in left["truth"][:count]]
    authorities = [as_label(heads["authority"].classes, row) for row in left["authority"][:count]]
    kinds = [
        {kind: log(float(share) + 1e-6) for kind, share in zip(PLACE_KINDS, row, strict=True)}
        for row in left["place"][:count]
    ]
    on_step("passages")
    heads[PASSAGE_HEAD], numbers["passage"] = _passage_head(problem, problem.vocabularies["words"], truths)
    on_step("domains")
    _fit_domains(problem, heads, numbers)
    on_step("places")
    choices = [PlaceChoice.of(*each) for each in zip(problem.documents, truths, authorities, kinds, strict=True)]
    numbers["place_features"] = fitted_places(choices, problem.weights)
    on_step("dates")
    numbers["date_features"], numbers["date"] = fitted_dates(problem, truths)
    on_step("context")
    name, context = embedder.partition("@")[0], fitted_context(documents)
    return ClassifierModel(problem.vocabularies, problem.form_mean, problem.form_scale, heads, numbers, name, context)


def fit_parts(
    base: ClassifierModel,
    documents: Sequence[TrainingDocument],
    parts: Collection[str] = PARTS,
    on_step: Callable[[str], None] = lambda step: None,
) -> ClassifierModel:
    """A model, perhaps fitted on more documents, with some of its `PARTS` fitted again on these."""
    if "context" in parts:
        on_step("context")
        base = replace(base, context=fitted_context(documents))
    if set(parts) <= {"context"}:
        return base
    problem, sizes = fitting_problem(documents, BLOCKS)
    classes = tuple(truth.value for truth in Truth)
    on_step("truth")
    _, left, _ = _fitted_head(problem, classes, [each.truth for each in problem.documents], None, sizes)
    problem = problem.first(len(documents))
    truths = [as_label(classes, row) for row in left[: len(documents)]]
    heads = dict(base.heads)
    numbers = {group: dict(row) for group, row in base.numbers.items()}
    if "passages" in parts:
        on_step("passages")
        heads[PASSAGE_HEAD], numbers["passage"] = _passage_head(problem, base.vocabularies["words"], truths)
    if "dates" in parts:
        on_step("dates")
        numbers["date_features"], numbers["date"] = fitted_dates(problem, truths)
    if "domains" in parts:
        on_step("domains")
        _fit_domains(problem, heads, numbers)
    return replace(base, heads=heads, numbers=numbers)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many whole documents a problem begins with, and how many rows with their first lines; equal parts follow.

    origin: of every row the number of its document.
    """

    whole: int
    met: int
    origin: NDArray[np.intp]


def fitting_problem(
    documents: Sequence[TrainingDocument], blocks: Sequence[str], base: ClassifierModel | None = None
) -> tuple[FittingProblem, Sizes]:
    """Documents, their first lines and their equal parts as features. base: a model whose words count, not theirs."""
    rows, origin = list(documents), list(range(len(documents)))
    for copies in (first_lines, equal_parts):
        met = len(rows)
        for number, each in enumerate(documents):
            made = list(copies(each))
            rows += made
            origin += [number] * len(made)
    return FittingProblem.of(rows, blocks, base), Sizes(len(documents), met, np.array(origin, dtype=np.intp))


# Over 40 lines: one head from its blocks to its thresholds; each step uses the one before.
def _fitted_head(
    problem: FittingProblem, classes: Sequence[str], values: Sequence[str], prior: Matrix | None, sizes: Sizes
) -> tuple[Head, Matrix, dict[str, float]]:
    """One head, its probabilities for every document with its source left out, and its numbers.

    prior: log-odds from another label, shape (documents, classes), stacked like a block. Equal parts
    teach the blocks only, as no document is met as one; whole documents alone choose the thresholds.
    """
    right = np.array([classes.index(value) for value in values])
    outside = {
        name: _out_of_fold(problem, matrix, name, right, len(classes)) for name, matrix in problem.blocks.items()
    }
    parts = {name: part for name, part in outside.items() if name != "name"}
    if prior is not None:
        parts["prior"] = prior
    unknown = np.array(problem.unknown)
    scores = np.stack([*parts.values()], axis=2)
    met = slice(sizes.met)
    stacked, bias, temperature = _stack(scores[met], right[met], problem.weights[met], unknown[met])
    weights = dict(zip(parts, stacked.tolist(), strict=True))
    heat = np.exp(temperature[0] + temperature[1] * unknown)[:, None]
    hidden = scores @ stacked + bias
    left = softmax(hidden / heat)
    if "name" in outside:
        names = outside["name"] / heat
        weights["name"] = _name_weight((hidden / heat)[met], names[met], right[met], problem.weights[met])
    fitted = {
        name: (weights[name] * part[0], weights[name] * part[1] * (name != "name"))
        for name, matrix in problem.blocks.items()
        for part in [_regression(matrix, name, right, problem.weights, len(classes))]
    }
    all_left, known = left[: sizes.whole], right[: sizes.whole]
    numbers = {"threshold": _threshold(all_left, known), "sure": _sure(all_left, known, classes)}
    numbers |= {f"block {name}": weight for name, weight in weights.items()}
    if prior is not None:
        numbers["from_truth"] = weights["prior"]
    size = len(classes)

    def block(name: str, width: int) -> Matrix:
        return fitted[name][0] if name in fitted else np.zeros((width, size))

    head = Head(
        tuple(classes),
        {name: block(name, len(problem.vocabularies[name].idf)) for name in problem.vocabularies},
        block("form", len(problem.form_mean)),
        block("mean", problem.documents[0].vectors.shape[1]),
        bias + sum(part[1] for part in fitted.values()),
        temperature,
    )
    return head, left, numbers


# Over 40 lines: two blocks, each fitted on all passages and without each fold, then the limit.
def _passage_head(
    problem: FittingProblem, vocabulary: TermWeights, truths: Sequence[Label]
) -> tuple[Head, dict[str, float]]:
    """Which truth a passage states, by its words and vector: every passage counts as its document's truth.

    The passages of a document share its weight by the root of their number. "lead": the log-odds by which law or advice
    must lead the truth predicted for the document (`truths`), so that few passages differ from it, on sources left out.
    """
    classes = [truth.value for truth in Truth]
    owner = np.repeat(np.arange(len(problem.documents)), [len(each.passages) for each in problem.documents])
    dimensions = problem.documents[0].vectors.shape[1]
    form, words, mean = (np.zeros((n, len(classes))) for n in (len(problem.form_mean), len(vocabulary.idf), dimensions))
    right = np.array([classes.index(problem.documents[int(at)].truth) for at in owner], dtype=np.intp)
    if len(set(right.tolist())) < len(classes):
        return Head(tuple(classes), {"words": words}, form, mean, np.zeros(len(classes))), {"lead": _NO_LEAD}
    terms = [vocabulary.vector(word_places(text).counts) for each in problem.documents for text in each.passages]
    blocks = (
        stacked_terms(terms, len(vocabulary.idf)),
        sparse.csr_matrix(np.concatenate([each.passage_vectors for each in problem.documents]).astype(np.float64)),
    )
    weights = problem.weights[owner] * np.bincount(owner)[owner] ** -0.5
    weights /= weights.mean()
    (words, first), (mean, second) = (
        _regression(matrix, PASSAGE_HEAD, right, weights, len(classes)) for matrix in blocks
    )
    folds = problem.folds[owner]
    scores = np.zeros((len(right), len(classes)))
    for fold in sorted(set(folds.tolist())):
        out = folds == fold
        for matrix in blocks:
            fitted, bias = _regression(matrix[~out], PASSAGE_HEAD, right[~out], weights[~out], len(classes))
            scores[out] += matrix[out] @ fitted + bias
    enough = np.array([len(rows) >= LEAST_WORDS for rows, _ in terms])
    for document in sorted(set(owner[enough].tolist())):
        own = enough & (owner == document)
        scores[own] = beside_document(scores[own])
    given = np.array([classes.index(str(label.value)) for label in truths])[owner]
    quoted = [classes.index(each) for each in QUOTED]
    leads = np.stack([np.where(given == at, -np.inf, scores[:, at]) for at in quoted]).max(axis=0)
    leads -= scores[np.arange(len(right)), given]
    leads[~enough] = -np.inf
    leads = leads[[problem.documents[int(at)].language == NATIVE for at in owner]]
    lead = max(0.0, float(np.quantile(leads, 1.0 - _DIFFERING, method="higher"))) if len(leads) else _NO_LEAD
    return Head(tuple(classes), {"words": words}, form, mean, first + second), {"lead": lead}


def _fit_domains(problem: FittingProblem, heads: dict[str, Head], numbers: dict[str, dict[str, float]]) -> None:
    """Fits the head for domains, and the weights of keywords and meaning: without the head, beside it, in few words.

    The head reads the mean sentence vector; without vectors, or without two domains in every fold, there is none;
    nor where it says nothing of sources left out.
    """
    documents = problem.documents
    numbers["domain"] = fitted_domains(documents, problem.weights)
    short = [replace(each, domain_evidence=each.first_evidence) for each in documents]
    numbers[FEW_WORDS] = fitted_domains(short, problem.weights)
    heads.pop(DOMAIN_HEAD, None)
    numbers.pop(BESIDE_HEAD, None)
    usable = [at for at, each in enumerate(documents) if each.domain in each.domain_evidence and len(each.vectors)]
    classes = tuple(documents[usable[0]].domain_evidence) if usable else ()
    right = np.array([classes.index(documents[at].domain) for at in usable], dtype=np.intp)
    own = replace(problem, folds=problem.folds[usable], weights=problem.weights[usable])
    enough = all(len(set(right[own.folds != fold].tolist())) > 1 for fold in set(own.folds.tolist()))
    if not usable or not enough or GENERAL not in classes or "mean" not in problem.blocks:
        return
    matrix = problem.blocks["mean"][usable]
    outside = np.zeros((len(documents), len(classes)))
    outside[usable] = _out_of_fold(own, matrix, DOMAIN_HEAD, right, len(classes))
    beside = fitted_domains(documents, problem.weights, outside)
    share = beside.pop("learned")
    if share <= 0.0:
        return
    mean, bias = _regression(matrix, DOMAIN_HEAD, right, own.weights, len(classes))
    heads[DOMAIN_HEAD] = Head(classes, {}, np.zeros((len(problem.form_mean), len(classes))), share * mean, share * bias)
    numbers[BESIDE_HEAD] = beside


def _name_weight(hidden: Matrix, names: Matrix, right: NDArray[np.intp], counts: Matrix) -> float:
    """How much a file name adds to what the text says: names are often missing, so the rest is fitted without them."""
    rows = np.arange(len(right))
    own = names - names.mean(axis=1, keepdims=True)
    tried = np.arange(0.0, 1.05, 0.05)
    gains = [float(counts @ np.log(softmax(hidden + each * own)[rows, right] + 1e-12)) for each in tried]
    return float(tried[int(np.argmax(gains))])


def _regression(
    matrix: sparse.csr_matrix, name: str, right: NDArray[np.intp], weights: Matrix, size: int
) -> tuple[Matrix, Matrix]:
    """Weights (features, classes) and biases of one block. Classes count equally; the stack adds their shares."""
    from sklearn.linear_model import LogisticRegression

    found = LogisticRegression(C=_PENALTY[name], max_iter=STEPS, tol=1e-3, class_weight="balanced")
    found.fit(matrix, right, sample_weight=weights)
    full, bias = np.zeros((matrix.shape[1], size)), np.full(size, -8.0)
    full[:, found.classes_] = (
        found.coef_.T if len(found.classes_) > 2 else np.concatenate([-found.coef_, found.coef_]).T
    )
    bias[found.classes_] = found.intercept_ if len(found.classes_) > 2 else [-found.intercept_[0], found.intercept_[0]]
    return full, bias


def _out_of_fold(
    problem: FittingProblem, matrix: sparse.csr_matrix, name: str, right: NDArray[np.intp], size: int
) -> Matrix:
    """Log-odds of every document by a model that did not see its source; shape (documents, classes)."""
    scores = np.zeros((len(right), size))
    for fold in sorted(set(problem.folds.tolist())):
        out = problem.folds == fold
        weights, bias = _regression(matrix[~out], name, right[~out], problem.weights[~out], size)
        scores[out] = matrix[out] @ weights + bias
    return scores


def _stack(
    scores: Matrix, right: NDArray[np.intp], counts: Matrix, unknown: Matrix
) -> tuple[Matrix, Matrix, tuple[float, float]]:
    """Non-negative weight per block, bias per class, and temperature; by maximum likelihood.

    scores: shape (documents, classes, blocks). The temperature's first part is 0: the weights hold it.
    """
    size, number = scores.shape[1], scores.shape[2]
    rows = np.arange(len(right))

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        weights, bias, growth = flat[:number], flat[number:-1], flat[-1]
        heat = np.exp(growth * unknown)[:, None]
        raw = scores @ weights + bias
        shares = softmax(raw / heat)
        away = weights - _STACK_START
        value = -float(counts @ np.log(shares[rows, right] + 1e-12)) / counts.sum()
        value += _STACK_RIDGE * float((away**2).sum() + (bias**2).sum() + growth**2)
        slope = shares
        slope[rows, right] -= 1.0
        slope *= (counts / counts.sum())[:, None] / heat
        gradient = np.concatenate(
            [
                np.einsum("nk,nkb->b", slope, scores) + 2 * _STACK_RIDGE * away,
                slope.sum(axis=0) + 2 * _STACK_RIDGE * bias,
                [-(slope * raw * unknown[:, None]).sum() + 2 * _STACK_RIDGE * growth],
            ]
        )
        return value, gradient

    begin = np.concatenate([np.full(number, _STACK_START), np.zeros(size + 1)])
    limits = [(0.0, None)] * number + [(None, None)] * size + [(0.0, 3.0)]
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", bounds=limits, options={"maxiter": STEPS}).x
    return found[:number], found[number:-1], (0.0, float(found[-1]))


def _threshold(shares: Matrix, right: NDArray[np.intp]) -> float:
    """The highest probability below which abstaining costs at most one right answer in a hundred."""
    best, hits = shares.max(axis=1), shares.argmax(axis=1) == right
    tried = np.arange(0.25, 0.56, 0.01)
    allowed = [float(each) for each in tried if hits[best < each].sum() <= _ACCURACY_GIVEN_UP * hits.sum()]
    return round(max(allowed, default=0.25), 2)


def _sure(shares: Matrix, right: NDArray[np.intp], classes: Sequence[str]) -> float:
    """The lowest probability, 0.8 or more, from which few law and policy labels are wrong; 0 for other heads."""
    if not set(_BINDING) <= set(classes):
        return 0.0
    best = shares.argmax(axis=1)
    binding = np.isin(best, [classes.index(each) for each in _BINDING])
    wrong = binding & (best != right)
    tried = np.arange(0.8, 1.0, 0.01)
    allowed = [float(each) for each in tried if (wrong & (shares.max(axis=1) >= each)).mean() <= _WRONG_SHARE / 2]
    return round(min(allowed, default=1.0), 2)


def as_label(classes: Sequence[str], shares: Matrix) -> Label:
    """The two likeliest classes; shares: probabilities, shape (classes,)."""
    order = np.argsort(-shares, kind="stable")
    return Label(classes[order[0]], float(shares[order[0]]), classes[order[1]], float(shares[order[1]]))


def _authority_given_truth(documents: Sequence[TrainingDocument]) -> dict[str, float]:
    """ "truth/authority" → P(authority | truth), smoothed; every document counts alike."""
    counts = Counter((each.truth, each.authority) for each in documents)
    given: dict[str, float] = {}
    for truth in Truth:
        row = {a: counts[truth.value, a.value] for a in Authority}
        total = max(1, sum(row.values()))
        shares = {a: count / total + _LEAST_GIVEN for a, count in row.items()}
        given |= {f"{truth}/{a}": share / sum(shares.values()) for a, share in shares.items()}
    return given


def authority_prior(truths: Matrix, classes: Sequence[str], given: Mapping[str, float]) -> Matrix:
    """Log-odds of authorities by truths, shape (documents, classes). given: "truth/authority" → its probability."""
    names = [truth.value for truth in Truth]
    rows = [truth_shares(as_label(names, row)) for row in truths]
    return np.array([[log(sum(row[t] * given[f"{t}/{a}"] for t in Truth)) for a in classes] for row in rows])
