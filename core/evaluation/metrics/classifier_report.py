"""Accuracy, calibration and abstention of the classifier on documents whose truth a person confirmed."""
# Longer than 300 lines: every figure of the report comes from the same list of opinions.

from bisect import bisect_left
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan, sqrt
from pathlib import PurePath
from statistics import NormalDist, fmean

from core.domain.documents import Document, DocumentState, Label, Labels, SourceType, Truth
from core.evaluation.metrics.measures import calibration_error
from core.ingestion.classification.classifier import Classifier
from core.ingestion.classification.sample import StoredReading
from core.ingestion.classification.weighting import threshold_of
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue

__all__ = [
    "ABSTAINED",
    "BINDING_SURE",
    "Abstention",
    "CalibrationBin",
    "ClassifierEvaluation",
    "ClassifierOpinion",
    "ClassifierReport",
    "Confusion",
    "EvidenceShare",
    "LabelCache",
    "LabelRate",
    "OnDocument",
    "opinions",
    "reported",
]

ABSTAINED = "abstained"
"""The column of a confusion matrix for documents the classifier gave no truth."""

BINDING_SURE = 0.8
"""Probability from which a wrong law or policy label is reported separately. Chosen by hand, not fitted."""

_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class ClassifierOpinion:
    """The classifier's own labels of one document, beside the truth a person confirmed.

    given: its truth, None when it abstained; probability: of `given`, 0 when it abstained. runner_up: the next likely
    truth, or the likeliest when it abstained. project: None = shared by all. fields: of domain, authority and
    jurisdiction those a person confirmed, and whether it says the same.
    """

    document_id: int
    name: str
    confirmed: str
    given: str | None
    probability: float
    runner_up: str | None = None
    runner_up_probability: float = 0.0
    source_type: SourceType = SourceType.UPLOAD
    project: str | None = None
    fields: Mapping[str, bool] = field(default_factory=dict)

    @property
    def right(self) -> bool:
        """Whether it says what the person said; an abstention is not right."""
        return self.given == self.confirmed

    @property
    def likeliest(self) -> tuple[str | None, float]:
        """The truth it holds most likely, given or not, with its probability; (None, 0.0) when nothing speaks."""
        if self.given is None:
            return self.runner_up, self.runner_up_probability
        return self.given, self.probability

    @property
    def format(self) -> str:
        """The ending of the file name in lower case, "" without one.

        >>> ClassifierOpinion(1, "Handbook.v2.PDF", "compliance", None, 0.0).format
        'pdf'
        """
        return PurePath(self.name).suffix.lower().lstrip(".")


@dataclass(frozen=True, slots=True)
class LabelRate:
    """`right` of `n`, as a share with its 95 % interval by Wilson's score method (Wilson 1927), all in [0, 1].

    Without anything judged the share is NaN and the interval the whole range.

    >>> rate = LabelRate(8, 10)
    >>> rate.share, round(rate.low, 3), round(rate.high, 3)
    (0.8, 0.49, 0.943)
    """

    right: int
    n: int

    @property
    def share(self) -> float:
        """right ÷ n."""
        return self.right / self.n if self.n else nan

    @property
    def low(self) -> float:
        """Least share that is still plausible."""
        return min(self.share, max(0.0, self._middle - self._half)) if self.n else 0.0

    @property
    def high(self) -> float:
        """Greatest share that is still plausible."""
        return max(self.share, min(1.0, self._middle + self._half)) if self.n else 1.0

    @property
    def _middle(self) -> float:
        return (self.right + _Z**2 / 2) / (self.n + _Z**2)

    @property
    def _half(self) -> float:
        return _Z / (self.n + _Z**2) * sqrt(self.right * (self.n - self.right) / self.n + _Z**2 / 4)


@dataclass(frozen=True, slots=True)
class Confusion:
    """counts[i][j]: documents confirmed as rows[i] and given columns[j]; the last column is ABSTAINED."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def found(self, truth: str) -> LabelRate:
        """Of the documents of a truth, those that were given it (recall)."""
        row = self.counts[self.rows.index(truth)]
        return LabelRate(row[self.columns.index(truth)], sum(row))

    def borne_out(self, truth: str) -> LabelRate:
        """Of the documents given a truth, those that are of it (precision)."""
        column = self.columns.index(truth)
        return LabelRate(self.counts[self.rows.index(truth)][column], sum(row[column] for row in self.counts))


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Documents of similar probability. said: mean probability; low, high: minimum and maximum."""

    confidence: float
    low: float
    high: float
    right: LabelRate


@dataclass(frozen=True, slots=True)
class Abstention:
    """Effect of abstaining below a probability: `decided` of all documents, and `right` of the decided."""

    threshold: float
    decided: LabelRate
    right: LabelRate


@dataclass(frozen=True, slots=True)
class EvidenceShare:
    """The documents of one source type, project or format. value: "" for none. right: an abstention is not."""

    by: str
    value: str
    right: LabelRate
    abstained: int


@dataclass(frozen=True, slots=True)
class ClassifierReport:
    """Report on documents with a confirmed truth, classified without their confirmed labels.

    library: ready documents, confirmed or not. accuracy: an abstention is wrong; decided: of those given a truth.
    ece: calibration error of the decided, NaN without any. threshold: below it the product abstains. bins: of the
    decided, by rising probability; none below five. curve: by rising threshold; below `threshold` the likeliest truth.
    fields: domain, authority, jurisdiction where confirmed. wrong: the most confident first, abstentions last.
    binding_wrong: regulatory or compliance at 0.8 or more, and wrong. warnings: why not to trust the numbers, in words.
    """

    library: int
    accuracy: LabelRate
    decided: LabelRate
    ece: float
    threshold: float
    confusion: Confusion
    bins: tuple[CalibrationBin, ...]
    curve: tuple[Abstention, ...]
    shares: tuple[EvidenceShare, ...]
    fields: Mapping[str, LabelRate]
    wrong: tuple[ClassifierOpinion, ...]
    binding_wrong: int
    warnings: tuple[str, ...]

    @property
    def documents(self) -> int:
        """Documents judged."""
        return self.accuracy.n

    @property
    def abstained(self) -> int:
        """Documents on which the classifier abstained."""
        return self.accuracy.n - self.decided.n

    @property
    def agreed(self) -> int:
        """Documents whose truth was confirmed as the classifier has it; the others were corrected.

        What was shown to the person who confirmed is not kept. The classifier always says the same of the same text,
        so this is what it says now: a release that changed it since may have turned some around.
        """
        return self.accuracy.right


LabelCache = MutableMapping[tuple[int, str], Labels]
"""Cache: (document id, SHA-256) → the classifier's own labels, without evidence. Valid for one classifier version: the
same text always gets the same labels."""

OnDocument = Callable[[int, int, str], None]
"""Progress callback before each document: (documents done, documents in all, name of the next)."""

_FIELDS = ("domain", "authority", "jurisdiction")

_BINDING = (Truth.REGULATORY, Truth.COMPLIANCE)

_ENOUGH = 30  # documents below which shares carry a warning. Chosen by hand, not fitted.

_BIN_LEAST, _BINS_MOST, _BINS_APART = 5, 10, 0.03  # documents, bins, probability. Chosen by hand, not fitted.

_FEW_AGREED = 0.25  # accuracy below which the report warns. Chosen by hand, not fitted.

_LESS_SURE = 0.1  # difference of mean probabilities that triggers a warning. Chosen by hand, not fitted.

_EVEN_CHANCE = round(100 / len(Truth))  # per cent: the likeliest of all truths is never less likely than this


class ClassifierEvaluation:
    """Evaluates the classifier of one tenant against the labels people confirmed."""

    def __init__(
        self,
        catalogue: Catalogue,
        classifier: Classifier,
        reading: StoredReading,
        terms: Callable[[], WorkspaceTerms],
    ) -> None:
        self._catalogue, self._classifier, self._reading, self._terms = catalogue, classifier, reading, terms

    def report(
        self,
        cache: LabelCache,
        on_document: OnDocument = lambda done, total, name: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> ClassifierReport:
        """The report on every document with a confirmed truth that is in `cache`, or could be asked before `stop`.

        Asking takes 0.1–1 s per document; answers are put into `cache` one by one. With a `stop` that is true from the
        beginning nothing is asked. Raises StoreFailed, ModelUnavailable.
        """
        ready = self._ready()
        known = opinions(ready, self._classifier, self._reading, self._terms(), cache, on_document, stop)
        others = [_sureness(each.labels.truth) for each in ready if not _is_confirmed(each)]
        return reported(known, library=len(ready), others_sure=others)

    def waiting(self, cache: LabelCache) -> int:
        """Documents with a confirmed truth that the classifier has not been asked about yet."""
        return sum(_is_confirmed(each) and _key(each) not in cache for each in self._ready())

    def _ready(self) -> Sequence[Document]:
        return [each for each in self._catalogue.documents() if each.state is DocumentState.READY]


def opinions(
    documents: Sequence[Document],
    classifier: Classifier,
    reading: StoredReading,
    terms: WorkspaceTerms,
    cache: LabelCache,
    on_document: OnDocument = lambda done, total, name: None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[ClassifierOpinion, ...]:
    """The classifier's labels of each document with a confirmed truth, without using any confirmed label.

    It reads the stored pages, with the vectors that their sentences had. What the file says of itself (its metadata) is
    not stored: the effective date alone is read from it, so truth, domain, authority and jurisdiction are what they
    were when the file was read. Authority and jurisdiction follow from its own truth, not from the confirmed one. A
    document whose pages are gone is left out; the same file in two projects counts twice. Raises StoreFailed,
    ModelUnavailable.
    """
    judged = [each for each in documents if _is_confirmed(each)]
    waiting = [each for each in judged if _key(each) not in cache]
    for done, document in enumerate(waiting):
        if stop():
            break
        on_document(done, len(waiting), document.name)
        read = reading(document)
        if read is not None:
            cache[_key(document)] = _bare(classifier.labels(*read, {}, terms))
    return tuple(_opinion(each, cache[_key(each)]) for each in judged if _key(each) in cache)


def _is_confirmed(document: Document) -> bool:
    return document.labels.truth.confirmed and document.labels.truth.value is not None


def _key(document: Document) -> tuple[int, str]:
    return document.id, document.sha256


def _bare(labels: Labels) -> Labels:
    return Labels(**{name: replace(label, evidence=()) for name, label in labels.items()})


def _opinion(document: Document, own: Labels) -> ClassifierOpinion:
    labels = {name: getattr(document.labels, name) for name in _FIELDS}
    return ClassifierOpinion(
        document_id=document.id,
        name=document.name,
        confirmed=document.labels.truth.value or "",
        given=own.truth.value,
        probability=own.truth.probability,
        runner_up=own.truth.runner_up,
        runner_up_probability=own.truth.runner_up_probability,
        source_type=document.source_type,
        project=document.project,
        fields={name: getattr(own, name).value == label.value for name, label in labels.items() if label.confirmed},
    )


def _sureness(label: Label) -> float:
    """How likely the classifier holds the likeliest value of a label nobody confirmed, given or not."""
    return label.runner_up_probability if label.value is None else label.probability


def reported(
    opinions: Sequence[ClassifierOpinion], *, library: int, others_sure: Sequence[float] = ()
) -> ClassifierReport:
    """The report on some opinions. library: ready documents in all.

    others_sure: how sure the classifier is of the likeliest truth of each document nobody confirmed, to tell whether
    people looked at the doubtful ones only.
    """
    threshold = threshold_of("truth")
    decided = [each for each in opinions if each.given is not None]
    wrong = [each for each in opinions if not each.right]
    return ClassifierReport(
        library=library,
        accuracy=_rate(opinions),
        decided=_rate(decided),
        ece=calibration_error([(each.probability, each.right) for each in decided]),
        threshold=threshold,
        confusion=_confusion(opinions),
        bins=_bins(decided),
        curve=_curve(opinions, threshold),
        shares=_shares(opinions),
        fields=_fields(opinions),
        wrong=tuple(sorted(wrong, key=lambda each: (each.given is None, -each.likeliest[1], each.name))),
        binding_wrong=sum(each.given in _BINDING and each.probability >= BINDING_SURE for each in wrong),
        warnings=tuple(_warnings(opinions, others_sure)),
    )


def _rate(opinions: Sequence[ClassifierOpinion]) -> LabelRate:
    return LabelRate(sum(each.right for each in opinions), len(opinions))


def _confusion(opinions: Sequence[ClassifierOpinion]) -> Confusion:
    """All truths stand in rows and columns, also those nobody confirmed."""
    truths = tuple(truth.value for truth in Truth)
    columns = (*truths, ABSTAINED)
    if not opinions:
        return Confusion(truths, columns, tuple((0,) * len(columns) for _ in truths))
    from sklearn.metrics import confusion_matrix

    given = [each.given or ABSTAINED for each in opinions]
    counts = confusion_matrix([each.confirmed for each in opinions], given, labels=columns)
    return Confusion(truths, columns, tuple(tuple(int(number) for number in row) for row in counts[:-1]))


def _bins(decided: Sequence[ClassifierOpinion]) -> tuple[CalibrationBin, ...]:
    """At most ten bins of about equal count, each of five or more, beginning 0.03 or more apart: a sure classifier says
    nearly the same of most documents, and what a picture cannot tell apart is one bin.
    """
    if len(decided) < _BIN_LEAST:
        return ()
    ordered = sorted(decided, key=lambda each: each.probability)
    probabilities = [each.probability for each in ordered]
    number = min(_BINS_MOST, len(probabilities) // _BIN_LEAST)
    cuts = [0]
    for upper in range(1, number):
        # Equal probabilities stay together: the cut goes where their run begins, or is left out.
        cut = bisect_left(probabilities, probabilities[upper * len(probabilities) // number])
        if cut - cuts[-1] >= _BIN_LEAST and probabilities[cut] - probabilities[cuts[-1]] >= _BINS_APART:
            cuts.append(cut)
    if len(cuts) > 1 and len(probabilities) - cuts[-1] < _BIN_LEAST:
        cuts.pop()
    parts = [ordered[start:end] for start, end in zip(cuts, [*cuts[1:], len(probabilities)], strict=True)]
    return tuple(
        CalibrationBin(fmean(each.probability for each in part), part[0].probability, part[-1].probability, _rate(part))
        for part in parts
    )


def _curve(opinions: Sequence[ClassifierOpinion], threshold: float) -> tuple[Abstention, ...]:
    """Thresholds in steps of 0.01, and the product's own among them."""
    steps = {step / 100 for step in range(_EVEN_CHANCE, 101)} | {threshold}
    points = []
    for step in sorted(steps):
        decided = [each for each in opinions if each.likeliest[0] is not None and each.likeliest[1] >= step]
        right = sum(each.likeliest[0] == each.confirmed for each in decided)
        points.append(Abstention(step, LabelRate(len(decided), len(opinions)), LabelRate(right, len(decided))))
    return tuple(points)


_BY: Mapping[str, Callable[[ClassifierOpinion], str]] = {
    "source type": lambda each: each.source_type.value,
    "project": lambda each: each.project or "",
    "format": lambda each: each.format,
}


def _shares(opinions: Sequence[ClassifierOpinion]) -> tuple[EvidenceShare, ...]:
    """Per source type, project and format, those with most documents first."""
    shares = []
    for by, value_of in _BY.items():
        groups: dict[str, list[ClassifierOpinion]] = {}
        for each in opinions:
            groups.setdefault(value_of(each), []).append(each)
        for value, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
            shares.append(EvidenceShare(by, value, _rate(group), sum(each.given is None for each in group)))
    return tuple(shares)


def _fields(opinions: Sequence[ClassifierOpinion]) -> Mapping[str, LabelRate]:
    answers: dict[str, list[bool]] = {}
    for each in opinions:
        for name, right in each.fields.items():
            answers.setdefault(name, []).append(right)
    return {name: LabelRate(sum(rights), len(rights)) for name, rights in answers.items()}


def _warnings(opinions: Sequence[ClassifierOpinion], others_sure: Sequence[float]) -> list[str]:
    """Why the numbers may say more, or something else, than they seem to."""
    if not opinions:
        return []
    accuracy, warnings = _rate(opinions), []
    if accuracy.n < _ENOUGH:
        warnings.append(
            f"Few documents are confirmed ({accuracy.n}): the accuracy may be anything from {accuracy.low:.0%} to"
            f" {accuracy.high:.0%}. Below {_ENOUGH}, read every share as a hint."
        )
    if accuracy.share < _FEW_AGREED:
        warnings.append(
            f"{accuracy.n - accuracy.right} of {accuracy.n} confirmed labels are corrections. People confirm what was"
            " wrong first, so the classifier looks worse than it is: confirm some that are right, too."
        )
    sure = fmean(each.likeliest[1] for each in opinions)
    if others_sure and fmean(others_sure) - sure >= _LESS_SURE:
        warnings.append(
            f"It is {sure:.2f} sure of the confirmed documents on average, and {fmean(others_sure):.2f} of the others:"
            " the doubtful ones were confirmed first, and the whole library is easier."
        )
    return warnings
