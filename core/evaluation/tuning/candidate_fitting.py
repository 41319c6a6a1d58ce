"""Fits the models that choose among candidates: which place, date or domain. Conditional logits (McFadden 1974).

Places and dates are fitted on truths and authorities predicted for sources left out, as they will be met later.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from scipy import sparse
from scipy.optimize import minimize

from core.domain.documents import Label
from core.evaluation.tuning.training_documents import (
    COPY_WEIGHT,
    SHORT_CHARACTERS,
    STEPS,
    UNSURE_DATE,
    FittingProblem,
    Matrix,
    TrainingDocument,
    part_of,
    short_lengths,
)
from core.ingestion.classification.date_candidates import DATE_WORD, ORDER_CHARACTERS, DateCandidate, date_candidates
from core.ingestion.classification.date_reading import dates_in, writes_day_first
from core.ingestion.classification.dates import date_shares
from core.ingestion.classification.jurisdiction import ELSEWHERE, place_candidates
from core.ingestion.classification.linear_model import softmax
from core.ingestion.classification.sample import DocumentSample, sentence_starts
from core.knowledge.domains import GENERAL

__all__ = ["PlaceChoice", "fitted_dates", "fitted_domains", "fitted_places", "places_found_left_out"]

_DOMAIN_RIDGE = 1.0  # little: three weights have documents enough; chosen by hand
_LEARNED_RIDGE = 60.0  # of the distance from weights of other documents; the best of 20 to 600 on sources left out
_LEAST_SCALE = 0.3  # of a feature beside weights of other documents; chosen by hand
_PLACE_RIDGE, _DATE_RIDGE, _WORD_RIDGE = 20.0, 1.0, 2.0  # the best of some on sources left out
_INVENTED_SHARE = 0.03  # of undated documents that may be given a date, on sources left out
_OVERLOOKED = 0.1  # of the documents labelled undated that state a date after all; some were read again
_PARTS = 4  # of a document that name a day further down; chosen by hand
_PARTS_FROM = 2_000  # characters from the start; a date after them is rarely the document's own; chosen by hand
_DAY_LENGTH = len("2024-05-31")
_SOURCES_OF_WORD = 3  # that use a word before a date; keeps single texts out of the model


@dataclass(frozen=True, slots=True)
class PlaceChoice:
    """The features of a document's candidate places, ELSEWHERE last, and the number of the right one."""

    features: Sequence[Mapping[str, float]]
    right: int

    @classmethod
    def of(
        cls, document: TrainingDocument, truth: Label, authority: Label, kinds: Mapping[str, float]
    ) -> "PlaceChoice":
        values, features = place_candidates(
            document.sample, document.mentions, document.language, truth, authority, kinds
        )
        place = "federal" if document.jurisdiction == "country:US" else document.jurisdiction
        place = place if place in values else ELSEWHERE
        return cls(features, values.index(place))

    def found(self, weights: Mapping[str, float]) -> bool:
        """Whether the best candidate is the right one; a place that is no candidate is never found."""
        scores = [sum(weights.get(name, 0.0) * value for name, value in row.items()) for row in self.features[:-1]]
        return int(np.argmax(scores)) == self.right


def fitted_places(
    choices: Sequence[PlaceChoice], counts: Matrix, base: Mapping[str, float] = MappingProxyType({})
) -> dict[str, float]:
    """Weights of the conditional logit over candidate places.

    counts: how much each document counts. base: weights learned from other documents, near which the new ones stay.
    """
    rows = [row for each in choices for row in each.features]
    starts = np.cumsum([0, *(len(each.features) for each in choices[:-1])])
    names, matrix, scale = _matrix(rows)
    if base:  # the weight of what hardly varies among these documents could become anything
        matrix, scale = matrix * np.minimum(1.0, scale / _LEAST_SCALE), np.maximum(scale, _LEAST_SCALE)
    credit = np.zeros(len(rows))
    credit[starts + [each.right for each in choices]] = 1.0
    begun = np.array([base.get(name, 0.0) for name in names]) * scale
    penalty = np.array([_LEARNED_RIDGE if name in base else _PLACE_RIDGE for name in names])
    found = begun + _fitted_choice(matrix, starts.tolist(), credit, counts, penalty, matrix @ begun)
    return {**base, **{name: float(weight) for name, weight in zip(names, found / scale, strict=True)}}


def places_found_left_out(problem: FittingProblem, choices: Sequence[PlaceChoice], base: Mapping[str, float]) -> float:
    """The share of documents whose place is found by weights fitted near `base` without their fold."""
    found = 0
    for fold in sorted(set(problem.folds.tolist())):
        inside = np.flatnonzero(problem.folds != fold).tolist()
        weights = fitted_places([choices[at] for at in inside], problem.weights[inside], base)
        found += sum(choices[at].found(weights) for at in np.flatnonzero(problem.folds == fold).tolist())
    return found / len(choices)


def fitted_domains(
    documents: Sequence[TrainingDocument], weights: Matrix, learned: Matrix | None = None
) -> dict[str, float]:
    """The weights of keywords and of meaning, and the lead of "general"; {} where no document gives such evidence.

    learned: log-odds of the domains of each document's evidence, in its order, on sources left out; its weight is
    "learned".
    """
    usable = [at for at, each in enumerate(documents) if each.domain in each.domain_evidence]
    if not usable:
        return {}
    chosen = [documents[at] for at in usable]
    matrix = np.array(
        [
            (keywords, meaning, float(value == GENERAL))
            for each in chosen
            for value, (keywords, meaning) in each.domain_evidence.items()
        ]
    )
    names = ["keyword", "meaning", "general_lead"]
    if learned is not None:
        matrix, names = np.column_stack([matrix, learned[usable].ravel()]), [*names, "learned"]
    credit = np.array([float(value == each.domain) for each in chosen for value in each.domain_evidence])
    starts = np.cumsum([0, *(len(each.domain_evidence) for each in chosen[:-1])]).tolist()
    found = _fitted_choice(matrix, starts, credit, weights[usable], np.full(len(names), _DOMAIN_RIDGE))
    return dict(zip(names, found.tolist(), strict=True))


def _fitted_choice(
    matrix: Matrix | sparse.csr_matrix,
    starts: Sequence[int],
    credit: Matrix,
    counts: Matrix,
    penalty: Matrix,
    begun: Matrix | float = 0.0,
) -> Matrix:
    """Weights that maximise Σ counts · ln Σ share · credit over the choices that begin at the rows `starts`.

    matrix: shape (rows, features). credit: of a row if it is chosen, in [0, 1]. penalty: of the squares of weights.
    begun: scores of the rows to which those by the weights are added.
    """
    first = np.array(starts)
    segment = np.repeat(np.arange(len(first)), np.diff([*starts, matrix.shape[0]]))

    def loss(flat: Matrix) -> tuple[float, Matrix]:
        scores = matrix @ flat + begun
        highest = np.maximum.reduceat(scores, first)
        grown = np.exp(scores - highest[segment])
        sums, earned = np.add.reduceat(grown, first), np.add.reduceat(grown * credit, first)
        slope = (grown / sums[segment] - grown * credit / earned[segment]) * counts[segment]
        value = -float(counts @ (np.log(earned) - np.log(sums))) + float(penalty @ flat**2) / 2
        return value, matrix.T @ slope + penalty * flat

    start = np.zeros(matrix.shape[1])
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x)


def _matrix(rows: Sequence[Mapping[str, float]]) -> tuple[list[str], Matrix, Matrix]:
    """Feature names in order, the features scaled to unit deviation, and the scales."""
    names = sorted({name for row in rows for name in row})
    matrix = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    scale = matrix.std(axis=0)
    scale[scale < 1e-9] = 1.0
    return names, matrix / scale, scale


@dataclass(frozen=True, slots=True)
class _DateChoice:
    """The dates of a document or of a part, the features of none, and its judged date or "".

    count: its weight. whole: whether it is a whole document, on which the threshold is chosen.
    """

    candidates: Sequence[DateCandidate]
    none: Mapping[str, float]
    date: str
    source: str
    fold: int
    count: float
    whole: bool

    def right(self, value: str) -> bool:
        return bool(self.date) and value.startswith(self.date)

    @property
    def tells(self) -> bool:
        """Whether it can be learned from: not if its date is none of the candidates."""
        return bool(self.candidates) and (not self.date or any(self.right(each.value) for each in self.candidates))


def fitted_dates(problem: FittingProblem, truths: Sequence[Label]) -> tuple[dict[str, float], dict[str, float]]:
    """Weights of the date features, and the threshold that invents few dates on sources left out.

    Short texts are learned from, too; the threshold is chosen on whole documents.
    """
    choices = [
        choice
        for each, truth, fold, weight in zip(
            problem.documents, truths, problem.folds.tolist(), problem.weights.tolist(), strict=True
        )
        if each.date != UNSURE_DATE
        for choice in _date_choices(each, truth, fold, weight)
    ]
    shares: list[float] = []
    for fold in sorted(set(problem.folds.tolist())):
        weights = _date_weights([each for each in choices if each.fold != fold])
        left_out = (each for each in choices if each.fold == fold and each.whole and not each.date)
        shares += [_best_share(each, weights) for each in left_out]
    undated = np.array(shares)
    tried = np.arange(0.3, 0.96, 0.01)
    allowed = [float(each) for each in tried if (undated >= each).mean() <= _INVENTED_SHARE] if len(undated) else []
    return _date_weights(choices), {"threshold": round(min(allowed, default=0.95), 2)}


def _date_choices(document: TrainingDocument, truth: Label, fold: int, weight: float) -> Iterator[_DateChoice]:
    """A document, its first lines alone, and parts from further down, whose dates are not the document's own.

    truth: of the whole document, for all of them.
    """

    def choice(sample: DocumentSample, date: str, whole: bool = False) -> _DateChoice:
        candidates, none = date_candidates(sample, truth, document.language)
        count = weight if whole else weight * COPY_WEIGHT
        return _DateChoice(candidates, none, date, document.source, fold, count, whole)

    yield choice(document.sample, document.date, whole=True)
    for characters in short_lengths(document.sample):
        yield choice(part_of(document.sample, 0, characters), document.date)
    for sample in _dated_parts(document):
        yield choice(sample, "")


def _dated_parts(document: TrainingDocument) -> Iterator[DocumentSample]:
    """Short parts that begin with a sentence that names a day, evenly spread below the first lines.

    Parts that name the document's own date are left out.
    """
    body, starts = document.sample.body, sentence_starts(document.sample.body)
    day_first = writes_day_first(body[:ORDER_CHARACTERS], document.language)
    begun: dict[int, None] = {}
    own: list[int] = []
    for found in dates_in(body[_PARTS_FROM:], day_first, document.language):
        if document.date and found.iso.startswith(document.date):
            own.append(_PARTS_FROM + found.start)
        elif len(found.iso) == _DAY_LENGTH:
            start = starts[bisect_right(starts, _PARTS_FROM + found.start) - 1]
            if start >= _PARTS_FROM and found.start + _PARTS_FROM - start < SHORT_CHARACTERS[-1]:
                begun[start] = None
    spread = {int(at) for at in np.linspace(0, len(begun) - 1, _PARTS)} if begun else set()
    for number, start in enumerate([*begun][at] for at in sorted(spread)):
        characters = SHORT_CHARACTERS[number % len(SHORT_CHARACTERS)]
        if not any(start <= at < start + characters for at in own):
            yield replace(part_of(document.sample, start, characters), title="", metadata={})


def _date_weights(choices: Sequence[_DateChoice]) -> dict[str, float]:
    """Weights by feature name; words only if enough sources use them."""
    informative = [each for each in choices if each.tells]
    if not any(each.date for each in informative) or all(each.date for each in informative):
        return {}
    sources: dict[str, set[str]] = defaultdict(set)
    for each in informative:
        for name in {name for candidate in each.candidates for name in candidate.features}:
            sources[name].add(each.source)
    stable = {
        name for name, found in sources.items() if not name.startswith(DATE_WORD) or len(found) >= _SOURCES_OF_WORD
    }
    names = sorted(stable | {name for each in informative for name in each.none})
    column = {name: at for at, name in enumerate(names)}
    rows = [row for each in informative for row in (each.none, *(candidate.features for candidate in each.candidates))]
    credit = [
        value
        for each in informative
        for value in (
            (0.0, *(float(each.right(candidate.value)) for candidate in each.candidates))
            if each.date
            else (1.0, *([_OVERLOOKED] * len(each.candidates)))
        )
    ]
    cells = [(at, column[name], value) for at, row in enumerate(rows) for name, value in row.items() if name in column]
    at, columns, values = zip(*cells, strict=True)
    matrix = sparse.csr_matrix((values, (at, columns)), shape=(len(rows), len(names)))
    sizes = [1 + len(each.candidates) for each in informative]
    starts = np.cumsum([0, *sizes[:-1]])
    penalty = np.array([_WORD_RIDGE if name.startswith(DATE_WORD) else _DATE_RIDGE for name in names])
    counts = np.array([each.count for each in informative])
    found = _fitted_choice(matrix, starts.tolist(), np.array(credit), counts / counts.mean(), penalty)
    return dict(zip(names, found.tolist(), strict=True))


def _best_share(choice: _DateChoice, weights: Mapping[str, float]) -> float:
    """The probability of the likeliest date, 0 without any."""
    if not choice.candidates:
        return 0.0
    rows = (choice.none, *(each.features for each in choice.candidates))
    scores = np.array([sum(weights.get(name, 0.0) * value for name, value in row.items()) for row in rows])
    return max(date_shares(choice.candidates, softmax(scores)[1:]).values())
