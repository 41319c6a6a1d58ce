"""A correction moves what followed the document, and nothing else."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from core.domain.documents import Document, DocumentState, Label, Labels, Passage, Span, Truth
from core.domain.errors import BadRequest
from core.ingestion.classification.relabel import possible_labels, relabel
from core.knowledge.workspace_terms import BUILT_IN_TERMS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
OLD = datetime(2020, 1, 1, tzinfo=UTC)
DOCUMENT = Document(
    1, "a.md", "00", 1, DocumentState.READY, NOW,
    labels=Labels(truth=Label("intent", 0.7), domain=Label("time"), jurisdiction=Label("federal")), date=OLD,
)  # fmt: skip
FOLLOWS = Passage(
    "Text.", 1, 0, 5, (Span(0, 5),), id=1, truth=Truth.INTENT, domain="time", jurisdiction="federal", date=OLD
)
OWN = replace(
    FOLLOWS, id=2, truth=Truth.REALITY, truth_probability=0.9, domain="taxes", jurisdiction="state:CA", date=NOW
)


@pytest.mark.parametrize(
    ("field", "value", "attribute", "expected"),
    [
        ("truth", "regulatory", "truth", Truth.REGULATORY),
        ("domain", "benefits", "domain", "benefits"),
        ("jurisdiction", "state:AK", "jurisdiction", "state:AK"),
        ("effective_date", "2023", "date", datetime(2023, 1, 1, tzinfo=UTC)),
        ("effective_date", "2023-06", "date", datetime(2023, 6, 1, tzinfo=UTC)),
        ("effective_date", "2023-06-17", "date", datetime(2023, 6, 17, tzinfo=UTC)),
    ],
)
def test_passages_that_followed_move_and_those_with_their_own_stay(
    field: str, value: str, attribute: str, expected: object
) -> None:
    document, (follows, own) = relabel(
        DOCUMENT, [FOLLOWS, OWN], {field: Label(value, 1.0, confirmed=True)}, terms=BUILT_IN_TERMS
    )
    assert getattr(document.labels, field).confirmed
    assert getattr(follows, attribute) == expected
    assert own == OWN
    if attribute == "date":
        assert document.date == expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("colour", "red"),
        ("truth", "law"),
        ("authority", "nobody"),
        ("temporal_class", "old"),
        ("jurisdiction", "California"),
        ("effective_date", "2023-13"),
        ("effective_date", "yesterday"),
        ("domain", " "),
    ],
)
def test_a_value_outside_its_set_is_refused(field: str, value: str) -> None:
    with pytest.raises(BadRequest):
        relabel(DOCUMENT, [FOLLOWS], {field: Label(value)}, terms=BUILT_IN_TERMS)


def test_a_passage_records_the_labels_it_may_have() -> None:
    close = Label("intent", 0.6, "compliance", 0.3)
    labels = replace(DOCUMENT.labels, truth=close, domain=replace(close, confirmed=True))
    follows = replace(FOLLOWS, truth=Truth.INTENT, domain="intent", jurisdiction=None)
    assert possible_labels(labels, follows) == ("truth:compliance",)
    assert possible_labels(labels, replace(follows, truth=Truth.REGULATORY, truth_probability=0.7)) == ("truth:intent",)
    assert possible_labels(labels, replace(follows, truth=Truth.REGULATORY, truth_probability=0.9)) == ()
