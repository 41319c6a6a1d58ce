"""What the classifier says by itself of the documents whose truth a person has confirmed, and what that tells of it."""

from bisect import bisect_left
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import replace
from statistics import fmean

from core.documents import Document, DocumentState, Label, Labels, Page, Truth
from core.ports import Catalogue, Classifier
from core.tables.decisions import weighings
from core.tuning.classifier_report import (
    ABSTAINED,
    BINDING_SURE,
    Abstention,
    Bin,
    ClassifierReport,
    Confusion,
    Opinion,
    Rate,
    Share,
)
from core.tuning.metrics import calibration_error

__all__ = ["ClassifierDesk", "Kept", "OnDocument", "opinions", "reported"]

Kept = MutableMapping[tuple[int, str], Labels]
"""What was asked before: (document id, SHA-256) → the classifier's own labels, without their evidence. Good for as
long as one classifier runs: the same text always gets the same labels."""
OnDocument = Callable[[int, int, str], None]
"""Hears (documents asked, documents to ask, name of the next) before each is asked."""

_FIELDS = ("domain", "authority", "jurisdiction")
_BINDING = (Truth.REGULATORY, Truth.COMPLIANCE)
_ENOUGH = 30
_BIN_LEAST, _BINS_MOST, _BINS_APART = 5, 10, 0.03
_FEW_AGREED = 0.25
_LESS_SURE = 0.1
_EVEN_CHANCE = round(100 / len(Truth))  # per cent: the likeliest of all truths is never less likely than this


class ClassifierDesk:
    """Where the classifier of one tenant is measured by the labels people confirmed."""

    def __init__(self, catalogue: Catalogue, classifier: Classifier) -> None:
        self._catalogue, self._classifier = catalogue, classifier

    def report(
        self,
        kept: Kept,
        on_document: OnDocument = lambda asked, whole, name: None,
        stop: Callable[[], bool] = lambda: False,
    ) -> ClassifierReport:
        """The report on every document with a confirmed truth that is in `kept`, or could be asked before `stop`.

        Asking takes 0.1–1 s per document; answers are put into `kept` one by one. With a `stop` that is true from the
        beginning nothing is asked. Raises StoreFailed, ModelUnavailable.
        """
        ready = self._ready()
        known = opinions(ready, self._catalogue, self._classifier, kept, on_document, stop)
        others = [_sureness(each.labels.truth) for each in ready if not _is_confirmed(each)]
        return reported(known, library=len(ready), others_sure=others)

    def waiting(self, kept: Kept) -> int:
        """Documents with a confirmed truth that the classifier has not been asked about yet."""
        return sum(_is_confirmed(each) and _key(each) not in kept for each in self._ready())

    def _ready(self) -> Sequence[Document]:
        return [each for each in self._catalogue.documents() if each.state is DocumentState.READY]


def opinions(
    documents: Sequence[Document],
    catalogue: Catalogue,
    classifier: Classifier,
    kept: Kept,
    on_document: OnDocument = lambda asked, whole, name: None,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Opinion, ...]:
    """What the classifier says of each document with a confirmed truth, told none of the confirmed labels.

    It reads the stored pages. What the file says of itself (its metadata) is not stored: the effective date alone is
    read from it, so truth, domain, authority and jurisdiction are what they were when the file was read. Authority and
    jurisdiction follow from its own truth, not from the confirmed one. A document whose pages are gone is left out; the
    same file in two projects counts twice. Raises StoreFailed, ModelUnavailable.
    """
    judged = [each for each in documents if _is_confirmed(each)]
    waiting = [each for each in judged if _key(each) not in kept]
    for asked, document in enumerate(waiting):
        if stop():
            break
        on_document(asked, len(waiting), document.name)
        pages = _pages(catalogue, document)
        if pages:
            kept[_key(document)] = _bare(classifier.document(document.name, document.title, pages, {}))
    return tuple(_opinion(each, kept[_key(each)]) for each in judged if _key(each) in kept)


def _is_confirmed(document: Document) -> bool:
    return document.labels.truth.confirmed and document.labels.truth.value is not None


def _key(document: Document) -> tuple[int, str]:
    return document.id, document.sha256


def _pages(catalogue: Catalogue, document: Document) -> Sequence[Page]:
    """The pages as they were read; none when the document is deleted or read again meanwhile."""
    numbers = range(1, document.pages + 1)
    texts = catalogue.page_texts([(document.id, number) for number in numbers])
    return [Page(number, texts[document.id, number]) for number in numbers] if len(texts) == len(numbers) else []


def _bare(labels: Labels) -> Labels:
    return Labels(**{name: replace(label, evidence=()) for name, label in labels.items()})


def _opinion(document: Document, own: Labels) -> Opinion:
    said = {name: getattr(document.labels, name) for name in _FIELDS}
    return Opinion(
        document_id=document.id,
        name=document.name,
        confirmed=document.labels.truth.value or "",
        given=own.truth.value,
        probability=own.truth.probability,
        runner_up=own.truth.runner_up,
        runner_up_probability=own.truth.runner_up_probability,
        source_type=document.source_type,
        project=document.project,
        fields={name: getattr(own, name).value == label.value for name, label in said.items() if label.confirmed},
    )


def _sureness(label: Label) -> float:
    """How likely the classifier holds the likeliest value of a label nobody confirmed, given or not."""
    return label.runner_up_probability if label.value is None else label.probability


def reported(opinions: Sequence[Opinion], *, library: int, others_sure: Sequence[float] = ()) -> ClassifierReport:
    """The report on some opinions. library: ready documents in all.

    others_sure: how sure the classifier is of the likeliest truth of each document nobody confirmed, to tell whether
    people looked at the doubtful ones only.
    """
    threshold = weighings()["truth"].threshold
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


def _rate(opinions: Sequence[Opinion]) -> Rate:
    return Rate(sum(each.right for each in opinions), len(opinions))


def _confusion(opinions: Sequence[Opinion]) -> Confusion:
    """All truths stand in rows and columns, also those nobody confirmed."""
    truths = tuple(truth.value for truth in Truth)
    columns = (*truths, ABSTAINED)
    if not opinions:
        return Confusion(truths, columns, tuple((0,) * len(columns) for _ in truths))
    from sklearn.metrics import confusion_matrix

    given = [each.given or ABSTAINED for each in opinions]
    counts = confusion_matrix([each.confirmed for each in opinions], given, labels=columns)
    return Confusion(truths, columns, tuple(tuple(int(number) for number in row) for row in counts[:-1]))


def _bins(decided: Sequence[Opinion]) -> tuple[Bin, ...]:
    """At most ten bins of about equal count, each of five or more, beginning 0.03 or more apart: a sure classifier says
    nearly the same of most documents, and what a picture cannot tell apart is one bin.
    """
    if len(decided) < _BIN_LEAST:
        return ()
    ordered = sorted(decided, key=lambda each: each.probability)
    said = [each.probability for each in ordered]
    number = min(_BINS_MOST, len(said) // _BIN_LEAST)
    cuts = [0]
    for wanted in range(1, number):
        # Equal probabilities stay together: the cut goes where their run begins, or is left out.
        cut = bisect_left(said, said[wanted * len(said) // number])
        if cut - cuts[-1] >= _BIN_LEAST and said[cut] - said[cuts[-1]] >= _BINS_APART:
            cuts.append(cut)
    if len(cuts) > 1 and len(said) - cuts[-1] < _BIN_LEAST:
        cuts.pop()
    parts = [ordered[start:end] for start, end in zip(cuts, [*cuts[1:], len(said)], strict=True)]
    return tuple(
        Bin(fmean(each.probability for each in part), part[0].probability, part[-1].probability, _rate(part))
        for part in parts
    )


def _curve(opinions: Sequence[Opinion], threshold: float) -> tuple[Abstention, ...]:
    """Thresholds in steps of 0.01, and the product's own among them."""
    steps = {step / 100 for step in range(_EVEN_CHANCE, 101)} | {threshold}
    points = []
    for step in sorted(steps):
        decided = [each for each in opinions if each.likeliest[0] is not None and each.likeliest[1] >= step]
        right = sum(each.likeliest[0] == each.confirmed for each in decided)
        points.append(Abstention(step, Rate(len(decided), len(opinions)), Rate(right, len(decided))))
    return tuple(points)


_BY: Mapping[str, Callable[[Opinion], str]] = {
    "source type": lambda each: each.source_type.value,
    "project": lambda each: each.project or "",
    "format": lambda each: each.format,
}


def _shares(opinions: Sequence[Opinion]) -> tuple[Share, ...]:
    """Per source type, project and format, those with most documents first."""
    shares = []
    for by, value_of in _BY.items():
        groups: dict[str, list[Opinion]] = {}
        for each in opinions:
            groups.setdefault(value_of(each), []).append(each)
        for value, group in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
            shares.append(Share(by, value, _rate(group), sum(each.given is None for each in group)))
    return tuple(shares)


def _fields(opinions: Sequence[Opinion]) -> Mapping[str, Rate]:
    answers: dict[str, list[bool]] = {}
    for each in opinions:
        for name, right in each.fields.items():
            answers.setdefault(name, []).append(right)
    return {name: Rate(sum(rights), len(rights)) for name, rights in answers.items()}


def _warnings(opinions: Sequence[Opinion], others_sure: Sequence[float]) -> list[str]:
    """Why the numbers may say more, or something else, than they seem to."""
    if not opinions:
        return []
    accuracy, told = _rate(opinions), []
    if accuracy.n < _ENOUGH:
        told.append(
            f"Few documents are confirmed ({accuracy.n}): the accuracy may be anything from {accuracy.low:.0%} to"
            f" {accuracy.high:.0%}. Below {_ENOUGH}, read every share as a hint."
        )
    if accuracy.share < _FEW_AGREED:
        told.append(
            f"{accuracy.n - accuracy.right} of {accuracy.n} confirmed labels are corrections. People confirm what was"
            " wrong first, so the classifier looks worse than it is: confirm some that are right, too."
        )
    sure = fmean(each.likeliest[1] for each in opinions)
    if others_sure and fmean(others_sure) - sure >= _LESS_SURE:
        told.append(
            f"It is {sure:.2f} sure of the confirmed documents on average, and {fmean(others_sure):.2f} of the others:"
            " the doubtful ones were confirmed first, and the whole library is easier."
        )
    return told
