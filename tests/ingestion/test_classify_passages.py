"""A law quoted in a contract or handbook stays a law; everything else keeps its document's truth."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from core.domain.documents import Label, Labels, Passage, Span, Truth
from core.ingestion.classification.linear_model import PASSAGE_HEAD, ClassifierModel, Head, built_in_model
from core.ingestion.classification.passages import labelled_passages as by_model

OWN = [
    ("intent", "Section 12 of the Clean Water Act requires that dischargers obtain a permit.", "regulatory"),
    ("intent", "29 CFR 1630.2 defines a major life activity as breathing, walking and working.", "regulatory"),
    ("compliance", "Cal. Labor Code § 226 requires itemized statements.", "regulatory"),
    ("compliance", "Whoever falsifies a time card is guilty of a misdemeanor.", "regulatory"),
    ("reference", "Under the sample, the contractor shall fix defects within ten days.", "intent"),
]
SHARED = [
    ("intent", "The contractor shall comply with 29 CFR 1910 and all applicable laws."),
    ("intent", "Section 4 describes the evaluation of proposals."),
    ("compliance", "Employees must report accidents to their supervisor within one day."),
    ("compliance", "See the Act for details, or ask human resources."),
    ("reference", "We recommend reading the Privacy Act before you start."),
    ("regulatory", "The contractor shall keep payroll records for three years."),
]


HEADS = built_in_model().heads
SIGNS_ONLY = replace(built_in_model(), heads={name: head for name, head in HEADS.items() if name != PASSAGE_HEAD})
NO_VECTORS = np.zeros((0, built_in_model().dimensions), dtype=np.float32)


def labelled_passages(labels: Labels, passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """As the signs alone tell it."""
    return by_model(labels, passages, NO_VECTORS, SIGNS_ONLY)


def passage(text: str, section: str = "") -> Passage:
    return Passage(text, 1, 0, len(text), (Span(0, len(text)),), section=section)


def labels(truth: str, **fields: Label) -> Labels:
    return Labels(truth=Label(truth, 0.9), **fields)


@pytest.mark.parametrize(("document", "text", "own"), OWN)
def test_clear_words_give_a_passage_its_own_truth(document: str, text: str, own: str) -> None:
    (labelled,) = labelled_passages(labels(document), [passage(text)])
    assert labelled.truth == own
    assert 0.5 < labelled.truth_probability < 1.0
    assert all(item.quote in text for item in labelled.truth_evidence)


@pytest.mark.parametrize(("document", "text"), SHARED)
def test_other_passages_keep_their_documents_truth(document: str, text: str) -> None:
    (labelled,) = labelled_passages(labels(document), [passage(text)])
    assert (labelled.truth, labelled.truth_probability) == (Truth(document), 0.9)


def test_a_numbered_paragraph_goes_on_with_the_law_quoted_before_it() -> None:
    texts = [
        "42 U.S.C. 12112 provides as follows.",
        "(a) No covered entity shall discriminate.",
        "Bids are due on Friday.",
    ]
    labelled = labelled_passages(labels("intent"), [passage(text, "Clauses") for text in texts])
    assert [item.truth for item in labelled] == ["regulatory", "regulatory", "intent"]


@pytest.mark.parametrize(("document", "text", "own"), OWN)
def test_a_passage_has_the_same_truth_of_its_own_in_a_document_that_somebody_confirmed(
    document: str, text: str, own: str
) -> None:
    confirmed = Labels(truth=Label(document, 1.0, confirmed=True))
    assert labelled_passages(confirmed, [passage(text)])[0].truth == own


def test_the_documents_other_labels_are_told_to_every_passage() -> None:
    described = labels(
        "compliance",
        domain=Label("time"),
        authority=Label("internal"),
        jurisdiction=Label("state:OR"),
        effective_date=Label("2023-06"),
        temporal_class=Label("current"),
    )
    (labelled,) = labelled_passages(described, [passage("Ask your manager.")])
    assert (labelled.domain, labelled.authority, labelled.jurisdiction, labelled.temporal_class) == (
        "time",
        "internal",
        "state:OR",
        "current",
    )
    assert labelled.date is not None
    assert labelled.date.isoformat() == "2023-06-01T00:00:00+00:00"


ADVICE = "Slow cooling keeps clay whole, so experienced potters open their kilns late and write down every firing"


def with_advice() -> list[Passage]:
    """A document with advice beside another passage."""
    return [passage(ADVICE), passage("The studio is open on Mondays.")]


def model_that_reads(truth: Truth, lead: float, by_vector: float = 0.0) -> ClassifierModel:
    """A model to which every known word says `truth` with `lead` log-odds, and a vector of ones with `by_vector`."""
    model = built_in_model()
    weights, mean = np.zeros((len(model.vocabularies["words"].idf), len(Truth))), np.zeros((model.dimensions, 5))
    weights[:, list(Truth).index(truth)] = lead
    mean[:, list(Truth).index(truth)] = by_vector / model.dimensions
    classes = tuple(truth.value for truth in Truth)
    head = Head(classes, {"words": weights}, np.zeros((0, 5)), mean, np.zeros(5))
    return replace(model, heads={PASSAGE_HEAD: head}, numbers={**model.numbers, "passage": {"lead": 1.0}})


@pytest.mark.parametrize("truth", ["compliance", "intent", "regulatory", "reality"])
def test_advice_in_other_documents_is_found_by_its_words_and_quoted(truth: str) -> None:
    labelled, _ = by_model(labels(truth), with_advice(), NO_VECTORS, model_that_reads(Truth.REFERENCE, 5.0))
    assert labelled.truth == "reference"
    assert 0.5 <= labelled.truth_probability < 1.0
    assert [item.quote for item in labelled.truth_evidence] == [ADVICE]


def test_advice_is_found_by_its_vector_too() -> None:
    model = model_that_reads(Truth.REFERENCE, 0.01, by_vector=2.0)
    ones = np.ones((2, model.dimensions), dtype=np.float32)
    found = [by_model(labels("intent"), with_advice(), each, model)[0].truth for each in (NO_VECTORS, ones)]
    assert found == ["intent", "reference"]


@pytest.mark.parametrize("truth", [Truth.COMPLIANCE, Truth.INTENT, Truth.REALITY])
def test_words_alone_never_make_a_passage_a_rule_or_wish_of_somebody_else(truth: Truth) -> None:
    labelled, _ = by_model(labels("reference"), with_advice(), NO_VECTORS, model_that_reads(truth, 5.0))
    assert labelled.truth == "reference"


def test_a_passage_follows_its_document_unless_another_truth_leads_clearly() -> None:
    labelled, _ = by_model(labels("compliance"), with_advice(), NO_VECTORS, model_that_reads(Truth.REFERENCE, 0.1))
    assert (labelled.truth, labelled.truth_probability) == (Truth.COMPLIANCE, 0.9)


def test_what_all_passages_say_alike_is_what_their_document_says() -> None:
    model = model_that_reads(Truth.REFERENCE, 0.35)
    alone = by_model(labels("intent"), with_advice(), NO_VECTORS, model)[0]
    alike = by_model(labels("intent"), [passage(ADVICE) for _ in range(5)], NO_VECTORS, model)
    assert (alone.truth, {each.truth for each in alike}) == ("reference", {"intent"})


def test_rows_of_a_table_have_the_truth_of_their_document() -> None:
    rows = [replace(each, rows=(2, 9)) for each in with_advice()]
    labelled = by_model(labels("reality"), rows, NO_VECTORS, model_that_reads(Truth.REFERENCE, 5.0))
    assert {each.truth for each in labelled} == {"reality"}


def test_a_few_words_are_left_alone() -> None:
    model = model_that_reads(Truth.REFERENCE, 5.0)
    few = [passage("Cool kilns slowly."), passage("Write down every firing.")]
    assert by_model(labels("compliance"), few, NO_VECTORS, model)[0].truth == "compliance"


def test_an_only_passage_says_what_its_document_says() -> None:
    model = model_that_reads(Truth.REFERENCE, 5.0)
    assert by_model(labels("intent"), [passage(ADVICE)], NO_VECTORS, model)[0].truth == "intent"
