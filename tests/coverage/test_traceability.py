"""Requirements with what stands behind them, themes, topics as tables, and doubts."""

from dataclasses import replace
from datetime import UTC, datetime
from time import perf_counter

import pytest

from core.coverage.detection.detector import Detector, assess
from core.coverage.detection.risks import RiskReader, series_of
from core.coverage.requirements import requirements
from core.coverage.topics import (
    edit_topic,
    merge_topics,
    propose_topics,
    split_topic,
    topics_csv,
    topics_from_table,
    with_detected_labels,
    with_needs,
)
from core.coverage.traceability import orphans, orphans_csv, trace, trace_csv
from core.domain.coverage import GapKind, RiskKind, Topic, TopicOrigin
from core.domain.documents import Document, DocumentState, Label, Labels, Truth
from core.domain.errors import BadRequest
from core.ingestion.parsers.file_kinds import READABLE
from core.knowledge.profiles import profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.coverage.boards import NOW as BOARD_NOW
from tests.coverage.boards import board_of
from tests.search.library import NOW, Library

PROFILE = profiles()["balanced"]


@pytest.fixture
def library() -> Library:
    library = Library()
    library.add("sow.md", "The vendor shall store helium bottles upright.", truth=Truth.INTENT)
    library.add("law.md", "Helium bottles must be stored upright by law.", truth=Truth.REGULATORY)
    library.add("policy.md", "Zebras must be fed at noon by the keeper.", truth=Truth.COMPLIANCE)
    return library


def test_a_requirement_is_traced_to_what_stands_behind_it_and_to_its_holes(library: Library) -> None:
    topics = requirements(library.catalogue, None, terms=BUILT_IN_TERMS)
    detector = Detector(library.catalogue, library.vectors, library.sparse, library.embedder)
    (row,) = trace(
        assess(detector, [*topics, Topic("zebras")], now=NOW, profile=PROFILE, terms=BUILT_IN_TERMS, timer=perf_counter)
    )
    assert row.topic.name == "The vendor shall store helium bottles upright."
    assert row.holes == (GapKind.COMPLIANCE, GapKind.REFERENCE, GapKind.REALITY)
    text = trace_csv([row, replace(row, topic=replace(row.topic, name="=1+1"))])
    assert "Helium bottles must be stored upright by law. (law.md)" in text and "'=1+1" in text


def test_a_policy_no_requirement_asks_for_is_an_orphan(library: Library) -> None:
    topics = requirements(library.catalogue, None, terms=BUILT_IN_TERMS)
    detector = Detector(library.catalogue, library.vectors, library.sparse, library.embedder)
    (found,) = orphans(detector, library.catalogue, topics, None, now=NOW, profile=PROFILE)
    assert found.citation.quote == "Zebras must be fed at noon by the keeper."
    assert found.score < 0.3 and found.nearest == topics[0]
    assert "Zebras must be fed" in orphans_csv([found])
    assert orphans(detector, library.catalogue, [], None, now=NOW, profile=PROFILE) == ()


def test_themes_are_the_same_for_the_same_library_and_named_by_their_words() -> None:
    library = Library()
    for number in range(6):
        library.add(f"h{number}.md", f"Helium bottles meadow storage rule number{number}.", truth=Truth.COMPLIANCE)
        library.add(f"z{number}.md", f"Zebra feeding keeper schedule item{number}.", truth=Truth.INTENT)
    found = propose_topics(library.catalogue, library.vectors, None, terms=BUILT_IN_TERMS)
    assert found == propose_topics(library.catalogue, library.vectors, None, terms=BUILT_IN_TERMS)
    names = " ".join(topic.name for topic in found)
    assert "helium" in names and "zebra" in names
    assert all(topic.origin is TopicOrigin.CLUSTER and topic.keywords for topic in found)
    assert propose_topics(Library().catalogue, Library().vectors, None, terms=BUILT_IN_TERMS) == ()


def test_topics_are_read_from_a_table_and_written_back() -> None:
    data = b"topic,needs,owner,domain\nSick leave,regulatory; compliance,Ann,time\n=1+1 pay,all,,\n"
    found = topics_from_table(data, BUILT_IN_TERMS, "t.csv", "north")
    assert [topic.name for topic in found] == ["Sick leave", "=1+1 pay"]
    assert found[0].needs == (Truth.REGULATORY, Truth.COMPLIANCE) and found[1].needs == tuple(Truth)
    assert (found[0].owner, found[0].domain, found[0].project) == ("Ann", "time", "north")
    assert topics_from_table(topics_csv(found).encode(), BUILT_IN_TERMS, "again.csv", "north") == found
    assert [topic.name for topic in topics_from_table(b"a pay\nb pay\n", terms=BUILT_IN_TERMS)] == ["a pay", "b pay"]
    with pytest.raises(BadRequest, match=r"Line 2 of 't.csv' needs 'law'"):
        topics_from_table(b"topic,needs\npay,law\n", BUILT_IN_TERMS, "t.csv")


def test_topics_are_merged_split_and_edited() -> None:
    one, two = Topic("a pay", id=1, needs=(Truth.INTENT,), owner="Ann"), Topic("b pay", id=2, needs=(Truth.REALITY,))
    stored, removed = merge_topics([one, two], "all pay")
    assert (stored.id, stored.name, stored.owner) == (1, "all pay", "Ann")
    assert stored.needs == (Truth.INTENT, Truth.REALITY)
    assert removed.retired and removed.id == 2
    retired, parts = split_topic(one, ["first", "second", ""], terms=BUILT_IN_TERMS)
    assert retired.retired and [part.name for part in parts] == ["first", "second"]
    assert {(part.id, part.owner, part.needs) for part in parts} == {(0, "Ann", (Truth.INTENT,))}
    assert with_needs([two], [Truth.REFERENCE])[0].needs == (Truth.REFERENCE,)
    assert (
        edit_topic(one, {"name": " ", "owner": None, "jurisdiction": "California"}, terms=BUILT_IN_TERMS).jurisdiction
        == "state:CA"
    )
    assert with_detected_labels(Topic("meal breaks in California"), terms=BUILT_IN_TERMS).jurisdiction == "state:CA"
    for wrong in (
        lambda: merge_topics([one], "x"),
        lambda: split_topic(one, ["x"], terms=BUILT_IN_TERMS),
        lambda: with_needs([one], []),
    ):
        with pytest.raises(BadRequest):
            wrong()


def document(number: int, name: str, **values: object) -> Document:
    return replace(Document(number, name, "0" * 64, 1, DocumentState.READY, BOARD_NOW), **values)


def risks_of(*documents: Document, states: str = "ccccc", **topic: object) -> dict[str, set[RiskKind]]:
    subject = Topic("sick leave", id=1, **topic)  # type: ignore[arg-type]
    board = board_of({subject: states})
    cells = RiskReader(documents, BOARD_NOW, terms=BUILT_IN_TERMS).with_risks(board.cells, {1: subject})
    return {cell.truth.value: {risk.kind for risk in cell.risks} for cell in cells}


def test_old_and_superseded_evidence_is_doubted() -> None:
    old = document(1, "policy_2009.pdf", date=datetime(2009, 1, 1, tzinfo=UTC))
    assert risks_of(old)["compliance"] == {RiskKind.OUT_OF_DATE}
    assert risks_of(old)["reality"] == set()
    recent = document(1, "policy_2024.pdf", date=datetime(2024, 1, 1, tzinfo=UTC))
    newer = document(2, "policy 2025.pdf", date=datetime(2025, 1, 1, tzinfo=UTC))
    assert risks_of(recent)["compliance"] == set()
    assert risks_of(recent, newer)["compliance"] == {RiskKind.SUPERSEDED}
    assert series_of(recent) == series_of(newer)


def test_evidence_that_takes_effect_later_is_doubted_and_supersedes_nothing_yet() -> None:
    now = document(1, "policy_2024.pdf", date=datetime(2024, 1, 1, tzinfo=UTC))
    later = document(2, "policy 2027.pdf", date=datetime(2027, 1, 1, tzinfo=UTC))
    assert risks_of(replace(later, id=1))["compliance"] == {RiskKind.NOT_IN_FORCE}
    assert risks_of(replace(later, id=1))["intent"] == set()  # a plan speaks of what is to come
    assert risks_of(now, later)["compliance"] == set()


def test_evidence_that_has_left_the_library_is_doubted_and_named() -> None:
    subject = Topic("sick leave", id=1)
    cells = RiskReader([], BOARD_NOW, terms=BUILT_IN_TERMS).with_risks(board_of({subject: "cpccc"}).cells, {1: subject})
    assert [cell.risks[0].words if cell.risks else "" for cell in cells[:2]] == [
        "policy.pdf was deleted, archived or moved; assess again.",
        "",
    ]


def test_what_calls_itself_historical_is_told_in_a_sentence() -> None:
    old = document(1, "rules.md", labels=Labels(temporal_class=Label("historical")))
    subject = Topic("sick leave", id=1)
    first, *_ = RiskReader([old], BOARD_NOW, terms=BUILT_IN_TERMS).with_risks(board_of({subject: "ccccc"}).cells, {})
    assert [risk.words for risk in first.risks] == ["Its newest evidence, rules.md, calls itself historical."]


def test_unread_documents_are_named_once_and_only_those_that_may_hold_what_a_gap_misses() -> None:
    failed = document(3, "scan.pdf", state=DocumentState.FAILED, remedy="Export it again.")
    policy = document(
        4, "policy.pdf", warnings=("3 of 4 pages have no text",), labels=Labels(truth=Label("compliance"))
    )
    program = document(5, "setup.exe", state=DocumentState.FAILED, remedy=READABLE)
    subject = Topic("sick leave", id=1)
    for states, unread in (("gcccc", ("scan.pdf",)), ("cgccc", ("scan.pdf", "policy.pdf")), ("ccccc", ())):
        reader = RiskReader([document(1, "policy.md"), failed, policy, program], BOARD_NOW, terms=BUILT_IN_TERMS)
        cells = reader.with_risks(board_of({subject: states}).cells, {1: subject})
        assert reader.unread(cells) == unread
        assert not any(cell.risks for cell in cells)


def test_evidence_of_another_state_is_doubted_and_federal_evidence_is_not() -> None:
    subject = Topic("sick leave", id=1, jurisdiction="state:CA")
    board = board_of({subject: "ccccc"})
    reader = RiskReader([document(1, "policy.pdf")], BOARD_NOW, terms=BUILT_IN_TERMS)
    for place, kinds in (
        ("state:TX", {RiskKind.WRONG_JURISDICTION}),
        ("federal", set()),
        (None, set()),
        ("state:CA", set()),
    ):
        cells = [
            replace(cell, evidence=tuple(replace(each, jurisdiction=place) for each in cell.evidence))
            for cell in board.cells
        ]
        assert {risk.kind for cell in reader.with_risks(cells, {1: subject}) for risk in cell.risks} == kinds
