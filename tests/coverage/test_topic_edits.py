"""Topics as a table, merged, split; and requirement names that survive months and conditions."""

from datetime import UTC, datetime

import pytest

from core.coverage.detection.risks import RiskReader
from core.coverage.requirements import modality_of, requirement_name
from core.coverage.topics import (
    as_before,
    edit_topic,
    merge_topics,
    split_topic,
    topics_csv,
    topics_from_table,
    with_needs,
)
from core.domain.coverage import Cell, CellState, Modality, Topic
from core.domain.documents import Document, DocumentState, Truth
from core.domain.errors import BadRequest
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.coverage.boards import NOW, citation
from tests.fakes import FakeCoverageBoardStore


def test_a_table_reads_places_needs_and_owners_as_people_write_them() -> None:
    data = b"Topic;Needs;Owner;Jurisdiction\nfire drills;regulatory and compliance;Ada;California\nkeys;all;;\n"
    one, two = topics_from_table(data, project="north", terms=BUILT_IN_TERMS)
    assert (one.needs, one.owner, one.jurisdiction) == ((Truth.REGULATORY, Truth.COMPLIANCE), "Ada", "state:CA")
    assert (two.needs, two.owner, two.jurisdiction, two.project) == (tuple(Truth), "", None, "north")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"topic,needs\nfire drills,all\n???,all\n", "Line 3 of 'wanted.csv'"),
        (b"topic,needs\nfire drills,gossip\n", "Line 2 of 'wanted.csv' needs 'gossip'"),
        (b"topic\n" + b"x" * 301 + b"\n", "Line 2 of 'wanted.csv'"),
        (b"needs,topic\nall,\n", "names no topic"),
        (b"", "contains no rows"),
    ],
)
def test_a_bad_row_is_named_with_its_line(data: bytes, expected: str) -> None:
    with pytest.raises(BadRequest, match=expected.replace("?", r"\?")):
        topics_from_table(data, BUILT_IN_TERMS, "wanted.csv")


def test_a_table_written_is_read_back_and_runs_no_formula() -> None:
    topics = (
        Topic("=SUM of parts", needs=(Truth.INTENT,), owner="@ada"),
        Topic("fire, smoke", domain="safety", jurisdiction="state:CA"),
    )
    text = topics_csv(topics)
    assert "\n=SUM" not in text and ",@ada" not in text
    back = topics_from_table(text.encode(), terms=BUILT_IN_TERMS)
    assert [(t.name, t.needs, t.owner, t.domain, t.jurisdiction) for t in back] == [
        (t.name, t.needs, t.owner, t.domain, t.jurisdiction) for t in topics
    ]


def test_merging_keeps_what_agrees_and_splitting_retires_the_whole() -> None:
    one = Topic("a b", id=1, needs=(Truth.REALITY,), owner="Ada", domain="x")
    two = Topic("c d", id=2, needs=(Truth.INTENT,), domain="y")
    stored, removed = merge_topics([one, two], "all of it")
    assert (stored.id, stored.name, stored.needs) == (1, "all of it", (Truth.INTENT, Truth.REALITY))
    assert (stored.owner, stored.domain, removed.id, removed.retired) == ("Ada", None, 2, True)
    old, parts = split_topic(stored, ["first part", "second part"], terms=BUILT_IN_TERMS)
    assert old.retired and [(p.id, p.owner, p.needs) for p in parts] == [(0, "Ada", stored.needs)] * 2
    for wrong in (
        lambda: merge_topics([one], "x"),
        lambda: split_topic(one, ["one", "ONE"], terms=BUILT_IN_TERMS),
        lambda: with_needs([one], []),
    ):
        with pytest.raises(BadRequest):
            wrong()


def test_an_edited_row_keeps_what_it_leaves_out() -> None:
    topic = Topic("a b", id=1, owner="Ada", domain="x", jurisdiction="federal")
    assert edit_topic(topic, {}, terms=BUILT_IN_TERMS) == topic
    changed = edit_topic(
        topic, {"name": "  ", "owner": None, "jurisdiction": "Texas", "needs": []}, terms=BUILT_IN_TERMS
    )
    assert (changed.name, changed.owner, changed.jurisdiction, changed.needs) == ("a b", "", "state:TX", topic.needs)


@pytest.mark.parametrize(
    ("sentence", "modality", "name"),
    [
        ("In May the vendor shall deliver the report.", Modality.SHALL, "In May the vendor shall deliver the report."),
        (
            "Nurses should wash their hands before contact.",
            Modality.SHOULD,
            "Nurses should wash their hands before contact.",
        ),
        (
            "Data must be encrypted at rest and in transit.",
            Modality.MUST,
            "Data must be encrypted at rest and in transit.",
        ),
        (
            "Should the buyer default, the seller may withdraw the offer.",
            Modality.MAY,
            "Should the buyer default, the seller may withdraw the offer.",
        ),
        ("May 5 is the deadline for comments.", None, ""),
        ("Invoices are due in May.", None, ""),
        ("The museum opened in 1903 and has two wings.", None, ""),
    ],
)
def test_a_month_or_a_condition_requires_nothing(sentence: str, modality: Modality | None, name: str) -> None:
    assert (modality_of(sentence), requirement_name(sentence)) == (modality, name)


def doubts(jurisdiction: str, query: str, *documents: Document) -> list[str]:
    cell = Cell(
        "a b", Truth.REGULATORY, CellState.COVERED, 0.9, 0.5, (citation(jurisdiction=jurisdiction),), topic_id=1
    )
    topic = Topic("a b", id=1, jurisdiction=query)
    found = documents or [Document(1, "policy.pdf", "a", 1, DocumentState.READY, NOW)]
    [reported] = RiskReader(found, NOW, terms=BUILT_IN_TERMS).with_risks([cell], {1: topic})
    return [risk.kind.value for risk in reported.risks]


def test_a_document_uploaded_on_a_leap_day_without_a_date_is_no_problem() -> None:
    leap = datetime(2024, 2, 29, tzinfo=UTC)
    assert doubts("federal", "federal", Document(1, "undated.pdf", "a", 1, DocumentState.READY, leap)) == []


def test_national_evidence_speaks_for_the_nation_and_its_states() -> None:
    assert doubts("federal", "country:US") == doubts("federal", "state:CA") == doubts("country:US", "federal") == []
    assert doubts("state:TX", "state:CA") == doubts("state:TX", "federal") == ["wrong jurisdiction"]


def test_what_was_before_is_restored_after_needs_merge_and_split() -> None:
    store = FakeCoverageBoardStore()
    before = store.add_topics([Topic("fire drills", owner="Zoe"), Topic("key handover", needs=(Truth.INTENT,))])

    def seen() -> list[tuple[object, ...]]:
        return [(topic.name, topic.needs, topic.owner, topic.retired) for topic in store.topics(None)]

    then = seen()
    store.change_topics(as_before(before, store.change_topics(with_needs(before, [Truth.REALITY]))))
    assert seen() == then
    now = store.topics(None)
    store.change_topics(as_before(now, store.change_topics(merge_topics(now, "key handover"))))
    assert seen() == then
    now = store.topics(None)
    removed, parts = split_topic(now[0], ["alarms", "exits"], BUILT_IN_TERMS)
    added = store.add_topics(parts)
    store.change_topics(as_before(now, [*store.change_topics([removed]), *added]))
    assert seen() == then
