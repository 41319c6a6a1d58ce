"""The classifier measured by the labels people confirmed: asked again without them, and reckoned honestly."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise
from math import isnan, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from adapters.sandboxed_reader import SandboxedReader
from core.domain.documents import Document, DocumentState, Label, Labels, Page, Passage, SourceType, Truth
from core.domain.errors import ModelUnavailable
from core.evaluation.metrics.classifier_report import (
    ABSTAINED,
    ClassifierEvaluation,
    ClassifierOpinion,
    LabelRate,
    reported,
)
from core.evaluation.metrics.measures import calibration_error
from core.ingestion.classification.classifier import TruthClassifier
from core.ingestion.classification.relabel import relabel
from core.ingestion.classification.sample import DocumentSample, read_for_classifying
from core.ingestion.classification.weighting import threshold_of
from core.ingestion.pipeline import IngestionPipeline
from core.knowledge.workspace_terms import BUILT_IN_TERMS, WorkspaceTerms
from core.ports.stores import Vectors
from tests.fakes import FakeCatalogue
from tests.label_edits import store_labels
from tests.search.library import WordEmbedder

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
THRESHOLD = threshold_of("truth")
LAW = "An employer shall pay overtime at one and one-half times the regular rate. Whoever violates this is liable."
POLICY = "All overtime must be approved in writing by a manager. This policy is reviewed by internal audit every year."


class FirstWord:
    """Takes a document for what its first word says, as sure as the second says; "unsure" makes it abstain."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken, self.read = broken, list[str]()

    def document(
        self,
        name: str,
        title: str,
        pages: Sequence[Page],
        corrections: Mapping[str, Label],
        metadata: Mapping[str, str] | None = None,
        *,
        terms: WorkspaceTerms,
    ) -> Labels:
        if self.broken:
            raise ModelUnavailable("The weights are gone.")
        self.read.append(name)
        truth, sure, *others = " ".join(page.text for page in pages).split()
        label = Label(truth, float(sure), "reference", 1 - float(sure))
        if "unsure" in others:
            label = Label(None, 0.0, truth, float(sure), reason="too close")
        domain = Label(others[-1], 0.6) if others else Label()
        return replace(Labels(truth=label, domain=domain), **corrections)

    def segment_vectors(self, reading: DocumentSample, in_context: Mapping[str, NDArray[np.float32]]) -> Vectors:
        return np.zeros((0, 1), dtype=np.float32)

    def labels(
        self, reading: DocumentSample, vectors: Vectors, corrections: Mapping[str, Label], terms: WorkspaceTerms
    ) -> Labels:
        return self.document(reading.name, reading.title, [Page(1, reading.body)], corrections, terms=terms)

    def uncorrected(self, reading: DocumentSample, vectors: Vectors, terms: WorkspaceTerms) -> Labels:
        return self.labels(reading, vectors, {}, terms)

    def passages(self, labels: Labels, passages: Sequence[Passage], vectors: Vectors) -> Sequence[Passage]:
        return passages


class LabelledCatalogue:
    """Documents in a real in-memory catalogue, and the desk that measures their classifier."""

    def __init__(self, classifier: FirstWord | TruthClassifier | None = None) -> None:
        self.catalogue, self.classifier = FakeCatalogue(), classifier or FirstWord()
        self.desk = ClassifierEvaluation(self.catalogue, self.classifier, self.reading, terms=lambda: BUILT_IN_TERMS)

    def reading(self, document: Document) -> tuple[DocumentSample, Vectors] | None:
        """Reads the stored pages again."""
        keys = [(document.id, number) for number in range(1, document.pages + 1)]
        texts = self.catalogue.page_texts(keys)
        if not all(key in texts for key in keys):
            return None
        sample = read_for_classifying(document.name, document.title, [Page(k[1], texts[k]) for k in keys], {})
        return sample, self.classifier.segment_vectors(sample, {})

    def add(self, name: str, *texts: str, labels: Labels | None = None, **where: object) -> Document:
        """A ready document of one page per text."""
        digest = sha256("\n".join([name, *texts]).encode()).hexdigest()
        pending = Document(0, name, digest, 1, DocumentState.PENDING, NOW, **where)  # type: ignore[arg-type]
        stored = self.catalogue.add_document(pending)
        ready = replace(stored, state=DocumentState.READY, labels=labels or Labels(), pages=len(texts))
        pages = [Page(number, text) for number, text in enumerate(texts, start=1)]
        self.catalogue.save_ingested(ready, pages, [], np.zeros((0, 1), dtype=np.float32))
        return self.catalogue.document(stored.id)

    def judged(self, name: str, *texts: str, truth: str, domain: str = "", **where: object) -> Document:
        """A document whose truth, and perhaps domain, a person confirmed."""
        statement = Labels(truth=Label(truth, 1.0, confirmed=True))
        statement = replace(statement, domain=Label(domain, 1.0, confirmed=True)) if domain else statement
        return self.add(name, *texts, labels=statement, **where)


def test_the_classifier_is_asked_without_what_people_said() -> None:
    shelf = LabelledCatalogue()
    shelf.judged("one.md", "intent 0.9", truth="compliance")
    [wrong] = shelf.desk.report({}).wrong
    assert (wrong.given, wrong.probability, wrong.confirmed) == ("intent", 0.9, "compliance")


def test_all_pages_are_read_in_their_order() -> None:
    shelf = LabelledCatalogue()
    shelf.judged("one.md", "intent", "0.9", "time", truth="intent", domain="time")
    report = shelf.desk.report({})
    assert report.accuracy == LabelRate(1, 1) and report.fields == {"domain": LabelRate(1, 1)}


def test_only_ready_documents_with_a_confirmed_truth_are_judged() -> None:
    shelf = LabelledCatalogue()
    shelf.add("guessed.md", "intent 0.9", labels=Labels(truth=Label("intent", 0.9)))
    shelf.add("other.md", "intent 0.9", labels=Labels(domain=Label("time", 1.0, confirmed=True)))
    again = shelf.judged("again.md", "intent 0.9", truth="intent")
    shelf.catalogue.mark(again.id, step="read")
    report = shelf.desk.report({})
    assert (report.documents, report.library) == (0, 2)
    assert shelf.classifier.read == []


def test_looking_again_asks_nothing_and_follows_what_was_confirmed_since() -> None:
    shelf, library = LabelledCatalogue(), {}
    one = shelf.judged("one.md", "intent 0.9 time", truth="compliance")
    assert shelf.desk.waiting(library) == 1
    assert shelf.desk.report(library).accuracy == LabelRate(0, 1) and shelf.desk.waiting(library) == 0
    statement = replace(
        one.labels, truth=Label("intent", 1.0, confirmed=True), domain=Label("time", 1.0, confirmed=True)
    )
    store_labels(shelf.catalogue, replace(one, labels=statement, project="Tallgrass"), [])
    report = shelf.desk.report(library)
    assert report.accuracy == LabelRate(1, 1) and report.fields == {"domain": LabelRate(1, 1)}
    assert [each.value for each in report.shares if each.by == "project"] == ["Tallgrass"]
    assert shelf.classifier.read == ["one.md"]


def test_asking_can_be_stopped_and_gone_on_with() -> None:
    shelf, library, catalogue_library = LabelledCatalogue(), {}, list[tuple[int, int, str]]()
    for number in range(4):
        shelf.judged(f"{number}.md", "intent 0.9", truth="intent")
    report = shelf.desk.report(
        library, lambda *each: catalogue_library.append(each), stop=lambda: len(catalogue_library) == 3
    )
    assert [values for values, _, _ in catalogue_library] == [0, 1, 2] and {
        whole for _, whole, _ in catalogue_library
    } == {4}
    assert report.documents == 3 and shelf.desk.waiting(library) == 1
    assert shelf.desk.report(library, stop=lambda: True).documents == 3
    assert shelf.desk.report(library).documents == 4
    assert len(shelf.classifier.read) == 4


def test_what_was_asked_stays_when_the_model_fails() -> None:
    shelf, library = LabelledCatalogue(), {}
    shelf.judged("one.md", "intent 0.9", truth="intent")
    shelf.desk.report(library)
    shelf.judged("two.md", "intent 0.9", truth="intent")
    with pytest.raises(ModelUnavailable):
        ClassifierEvaluation(
            shelf.catalogue, FirstWord(broken=True), shelf.reading, terms=lambda: BUILT_IN_TERMS
        ).report(library)
    assert shelf.desk.report(library, stop=lambda: True).documents == 1


def test_a_document_whose_pages_are_gone_is_left_out() -> None:
    shelf = LabelledCatalogue()
    removed = shelf.judged("gone.md", "intent 0.9", truth="intent")
    shelf.catalogue.put(replace(removed, pages=2))
    assert shelf.desk.report({}).documents == 0


def test_what_the_file_says_of_itself_moves_nothing_but_dates() -> None:
    """Metadata is not stored, so what is asked again must not depend on it."""
    classifier = TruthClassifier(WordEmbedder())
    values = {"published": "1999-01-01", "title": "Statute", "author": "IRS", "subject": "law", "created": "2001-02-03"}
    for text in (LAW, POLICY):
        bare = classifier.document("file.pdf", "A title", [Page(1, text)], {}, terms=BUILT_IN_TERMS)
        with_told = classifier.document("file.pdf", "A title", [Page(1, text)], {}, values, terms=BUILT_IN_TERMS)
        assert bare.effective_date != with_told.effective_date
        assert replace(bare, effective_date=Label()) == replace(with_told, effective_date=Label())


def test_the_real_classifier_says_of_stored_pages_what_it_said_of_the_file() -> None:
    shelf = LabelledCatalogue(TruthClassifier(WordEmbedder()))
    reader = SandboxedReader(60, 4096)
    ingestor = IngestionPipeline(WordEmbedder(), shelf.classifier, reader)
    values = dict[str, Label]()
    for name, text in (("overtime_policy.md", POLICY), ("flsa_207.md", LAW), ("notes.md", "Nothing much is here.")):
        data = f"---\ntitle: About overtime\npublished: 2019-02-03\n---\n# {name}\n{text}".encode()
        pending = Document(0, name, sha256(data).hexdigest(), len(data), DocumentState.PENDING, NOW)
        read = ingestor.run(shelf.catalogue.add_document(pending), data, {}, lambda step: None, terms=BUILT_IN_TERMS)
        shelf.catalogue.save_ingested(read.document, read.pages, read.passages, read.vectors)
        changed, passages = relabel(
            read.document, [], {"truth": Label("intent", 1.0, confirmed=True)}, terms=BUILT_IN_TERMS
        )
        store_labels(shelf.catalogue, changed, passages)
        values[name] = read.document.labels.truth
    reader.close()
    found = {each.name: (each.given, each.probability, each.runner_up) for each in shelf.desk.report({}).wrong}
    assert found == {name: (each.value, each.probability, each.runner_up) for name, each in values.items()}


def test_the_matrix_counts_abstentions_beside_the_truths() -> None:
    given = [
        opinion("regulatory", "regulatory", 0.9),
        opinion("regulatory", "compliance", 0.9),
        opinion("intent", None, runner_up="intent", second=0.4),
    ]
    confusion = reported(given, library=3).confusion
    assert confusion.columns == (*(truth.value for truth in Truth), ABSTAINED)
    assert confusion.counts == ((1, 1, 0, 0, 0, 0), (0,) * 6, (0, 0, 0, 0, 0, 1), (0,) * 6, (0,) * 6)
    assert (confusion.found("regulatory"), confusion.borne_out("regulatory")) == (LabelRate(1, 2), LabelRate(1, 1))
    assert (confusion.found("intent"), confusion.borne_out("compliance")) == (LabelRate(0, 1), LabelRate(0, 1))


def test_wrong_ones_stand_most_confident_first_and_abstentions_last() -> None:
    given = [
        opinion("intent", None, runner_up="reality", second=0.44),
        opinion("intent", "reference", 0.6),
        opinion("intent", "regulatory", 0.85),
        opinion("intent", "intent", 0.99),
    ]
    report = reported(given, library=4)
    assert [each.given for each in report.wrong] == ["regulatory", "reference", None]
    assert (report.binding_wrong, report.abstained, report.agreed) == (1, 1, 1)


def test_documents_are_counted_by_where_they_come_from() -> None:
    given = [
        replace(opinion("intent", "intent", 0.9), name="a.PDF", project="Tallgrass"),
        replace(opinion("intent", None), name="b.pdf", source_type=SourceType.EMAIL),
        replace(opinion("intent", "reality", 0.5), name="README"),
    ]
    shares = {(each.by, each.value): (each.right, each.abstained) for each in reported(given, library=3).shares}
    assert shares == {
        ("source type", "upload"): (LabelRate(1, 2), 0),
        ("source type", "email"): (LabelRate(0, 1), 1),
        ("project", ""): (LabelRate(0, 2), 1),
        ("project", "Tallgrass"): (LabelRate(1, 1), 0),
        ("format", "pdf"): (LabelRate(1, 2), 1),
        ("format", ""): (LabelRate(0, 1), 0),
    }


def test_nothing_confirmed_gives_an_empty_report_without_numbers() -> None:
    report = reported([], library=5)
    assert isnan(report.accuracy.share) and isnan(report.ece)
    assert report.bins == report.wrong == report.shares == report.warnings == ()


def test_a_small_sample_is_warned_of() -> None:
    [warning] = reported([opinion("intent", "intent", 0.9)] * 29, library=29).warnings
    assert "(29)" in warning and "from 88% to 100%" in warning
    assert reported([opinion("intent", "intent", 0.9)] * 30, library=30).warnings == ()


def test_a_sample_of_corrections_is_warned_of() -> None:
    given = [opinion("intent", "reality", 0.9)] * 36 + [opinion("intent", "intent", 0.9)] * 4
    [warning] = reported(given, library=40).warnings
    assert "36 of 40 confirmed labels are corrections" in warning


def test_a_sample_of_doubtful_documents_is_warned_of() -> None:
    given = [opinion("intent", "intent", 0.55)] * 40
    [warning] = reported(given, library=80, others_sure=[0.9] * 40).warnings
    assert "0.55 sure" in warning and "0.90 of the others" in warning
    assert reported(given, library=80, others_sure=[0.6] * 40).warnings == ()


def test_the_desk_compares_with_the_documents_nobody_confirmed() -> None:
    shelf = LabelledCatalogue()
    for number in range(30):
        shelf.judged(f"{number}.md", "intent 0.5", truth="intent")
    shelf.add("sure.md", "intent 0.9", labels=Labels(truth=Label("intent", 0.9)))
    shelf.add("abstained.md", "intent 0.7", labels=Labels(truth=Label(None, 0.0, "intent", 0.7)))
    [warning] = shelf.desk.report({}).warnings
    assert "0.80 of the others" in warning


def opinion(
    confirmed: str, given: str | None, sure: float = 0.0, *, runner_up: str | None = None, second: float = 0.0
) -> ClassifierOpinion:
    """One opinion, everything else as usual."""
    return ClassifierOpinion(1, "one.md", confirmed, given, sure if given else 0.0, runner_up, second)


truths = st.sampled_from([truth.value for truth in Truth])
shares = st.floats(0.2, 1.0)


@st.composite
def labelled(draw: st.DrawFn) -> ClassifierOpinion:
    """What the product's classifier can say: a truth from its threshold on, below it the likeliest as runner-up."""
    confirmed, likeliest, sure = draw(truths), draw(truths), draw(shares)
    if draw(st.integers(0, 20)) == 0:
        return opinion(confirmed, None)
    if sure < THRESHOLD:
        return opinion(confirmed, None, runner_up=likeliest, second=sure)
    return opinion(confirmed, likeliest, sure)


@given(st.lists(labelled(), min_size=1, max_size=120))
def test_bins_part_the_decided_and_hold_five_or_more(given: list[ClassifierOpinion]) -> None:
    report = reported(given, library=len(given))
    sizes = [each.right.n for each in report.bins]
    assert sum(sizes) == (report.decided.n if report.decided.n >= 5 else 0)
    assert sum(each.right.right for each in report.bins) == (report.decided.right if sizes else 0)
    assert all(size >= 5 for size in sizes) and len(sizes) <= 10
    assert all(each.low <= each.confidence + 1e-12 and each.confidence <= each.high + 1e-12 for each in report.bins)
    for one, other in pairwise(report.bins):
        assert one.high < other.low and one.low + 0.03 <= other.low


def test_bins_of_different_probabilities_are_of_equal_count() -> None:
    given = [opinion("intent", "intent", 0.45 + number / 200) for number in range(100)]
    assert [each.right.n for each in reported(given, library=100).bins] == [10] * 10


def test_documents_it_is_nearly_equally_sure_of_are_one_bin() -> None:
    given = [opinion("intent", "intent", 0.6)] * 10 + [opinion("intent", "intent", 0.98 + n / 5_000) for n in range(90)]
    assert [each.right.n for each in reported(given, library=100).bins] == [10, 90]


@given(st.lists(labelled(), min_size=1, max_size=80))
def test_the_curve_at_the_products_threshold_is_what_the_product_does(given: list[ClassifierOpinion]) -> None:
    report = reported(given, library=len(given))
    [own] = [each for each in report.curve if each.threshold == report.threshold]
    assert (own.decided.right, own.right) == (report.decided.n, report.decided)
    decided = [each.decided.right for each in report.curve]
    assert decided == sorted(decided, reverse=True)
    assert all(each.decided.n == len(given) and each.right.n == each.decided.right for each in report.curve)


@given(st.lists(labelled(), max_size=80))
def test_every_part_of_a_report_counts_the_same_documents(given: list[ClassifierOpinion]) -> None:
    report = reported(given, library=len(given))
    counts = np.array(report.confusion.counts)
    assert counts.sum() == report.documents == len(given)
    assert counts[:, :-1].trace() == report.accuracy.right == report.agreed == report.decided.right
    assert counts[:, -1].sum() == report.abstained
    assert len(report.wrong) == report.documents - report.agreed
    for by in ("source type", "project", "format"):
        assert sum(each.right.n for each in report.shares if each.by == by) == len(given)


@given(st.lists(labelled(), min_size=1, max_size=80))
def test_the_calibration_error_is_that_of_the_decided(given: list[ClassifierOpinion]) -> None:
    pairs = [(each.probability, each.right) for each in given if each.given is not None]
    assert reported(given, library=9).ece == pytest.approx(calibration_error(pairs), nan_ok=True)


@given(st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_ends_of_an_interval_are_where_the_share_is_just_plausible(pair: tuple[int, int]) -> None:
    """Wilson's interval holds every p with |share - p| ≤ z·√(p(1 - p) / n), so its ends solve the equation."""
    rate, z = LabelRate(*pair), NormalDist().inv_cdf(0.975)
    assert 0 <= rate.low <= rate.share <= rate.high <= 1
    for end in {rate.low, rate.high} - {0.0, 1.0}:
        assert abs(rate.share - end) == pytest.approx(z * sqrt(end * (1 - end) / rate.n), abs=1e-7)
