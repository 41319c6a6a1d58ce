"""One history of what people changed: labels, documents, versions, decisions, profiles – each with its undo."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.coverage import ReviewerOpinion, ReviewVerdict, Topic
from core.domain.documents import Document, Truth
from core.domain.errors import BadRequest
from core.library.history import HistoryEntry, HistoryKind
from core.workbench import Workbench
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

POLICY = "# Overtime policy\nAll overtime must be approved in writing. This policy is reviewed by internal audit.\n"
NOTES = "# Meeting notes\nThe customer wants overtime approved by phone. We agreed to look at it in the spring.\n"


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Workbench]:
    workbench = built(Stores(WordEmbedder()), tmp_path)
    workbench.documents.upload("policy.md", POLICY.encode(), project="North", tags=["hr"])
    workbench.documents.upload("notes.md", NOTES.encode())
    yield workbench


def by_name(office: Workbench, name: str) -> Document:
    return next(each for each in office.documents.list(archived=None) if each.name == name)


def lines_of(entry: HistoryEntry) -> list[tuple[str, str, str, str]]:
    return [(each.about, each.field, each.before, each.after) for each in entry.changes]


def test_a_label_correction_is_in_the_history_with_before_and_after_and_is_undone(office: Workbench) -> None:
    policy = by_name(office, "policy.md")
    before = policy.labels.authority
    office.bulk_edit.set_labels([(policy.id, "authority", "vendor")], "Ann")
    (entry,) = office.history.newest()
    assert (entry.kind, entry.who, entry.what) == (HistoryKind.DOCUMENTS, "Ann", "Labels corrected")
    assert lines_of(entry) == [("policy.md", "authority", before.value or "", "vendor")]
    assert office.history.of_document(policy.id) == [entry]
    office.history.undo(entry, "Bob")
    assert by_name(office, "policy.md").labels.authority == before
    (undone,) = office.history.newest()
    assert (undone.undone_by, undone.can_undo) == ("Bob", False)
    with pytest.raises(BadRequest, match="cannot be undone"):
        office.history.undo(undone, "Bob")


def test_added_and_changed_topics_are_in_the_history_and_undone(office: Workbench) -> None:
    coverage = office.coverage
    first, second = coverage.add_topics([Topic("Overtime"), Topic("Sick leave")], "Ann")
    coverage.change_topics(
        [replace(first, needs=(Truth.REGULATORY,), owner="Cid"), replace(second, retired=True)], "Ben"
    )
    changed, added = office.history.newest()
    assert [(each.kind, each.who, each.can_undo) for each in (changed, added)] == [
        (HistoryKind.TOPICS, "Ben", True),
        (HistoryKind.TOPICS, "Ann", False),
    ]
    assert lines_of(added) == [("Overtime", "", "", ""), ("Sick leave", "", "", "")]
    assert lines_of(changed) == [
        ("Overtime", "needs", ", ".join(Truth), "regulatory"),
        ("Overtime", "owner", "", "Cid"),
        ("Sick leave", "", "in use", "archived"),
    ]
    office.history.undo(changed, "Ann")
    assert [(each.name, each.needs, each.owner) for each in coverage.topics(None)] == [
        ("Overtime", tuple(Truth), ""),
        ("Sick leave", tuple(Truth), ""),
    ]
    with pytest.raises(BadRequest, match="changed again"):
        office.history.undo(replace(changed, can_undo=True), "Ann")
    assert office.history.newest()[0].what == "Topics changed"


def test_undoing_added_topics_archives_them(office: Workbench) -> None:
    office.coverage.add_topics([Topic("Overtime")], "Ann")
    office.coverage.add_topics([Topic("overtime")], "Ben")  # is there already: no entry
    (entry,) = office.history.newest()
    office.history.undo(entry, "Ben")
    assert not office.coverage.topics(None)


def test_a_confirmed_label_and_its_withdrawal_are_two_entries(office: Workbench) -> None:
    policy = by_name(office, "policy.md")
    value = policy.labels.truth.value
    office.bulk_edit.set_labels([(policy.id, "truth", str(value))], "Ann")
    office.bulk_edit.withdraw_label(policy.id, "truth", "Ann")
    assert [each.what for each in office.history.newest()] == ["Label given back to the classifier", "Labels confirmed"]
    assert by_name(office, "policy.md").labels.truth == policy.labels.truth


def test_a_deleted_document_comes_back_with_what_people_said_of_it(office: Workbench) -> None:
    policy = by_name(office, "policy.md")
    office.bulk_edit.set_labels([(policy.id, "truth", "reality")], "Ann")
    office.bulk_edit.delete(policy.id, "Bob")
    assert {each.name for each in office.documents.list()} == {"notes.md"}
    entry = office.history.newest()[0]
    assert (entry.what, entry.who) == ("Deleted", "Bob")
    office.history.undo(entry, "Ann")
    back = by_name(office, "policy.md")
    assert (back.project, back.tags, back.labels.truth.value) == ("North", ("hr",), "reality")
    assert back.state == "ready"


def test_an_accepted_version_is_in_the_history_until_it_is_undone(office: Workbench) -> None:
    old, new = by_name(office, "policy.md"), by_name(office, "notes.md")
    office.versions.accept(old.id, new.id, "Ann")
    (entry,) = office.history.of_document(old.id)
    assert lines_of(entry) == [("policy.md", "version", "current", "replaced by notes.md")] and entry.can_undo
    office.history.undo(entry, "Bob")
    assert not by_name(office, "policy.md").archived
    assert [(each.what, each.can_undo) for each in office.history.newest()] == [
        ("Version decision undone", False),
        ("New version accepted", False),
    ]


def test_a_coverage_decision_is_in_the_history_and_is_undone(office: Workbench) -> None:
    office.coverage.add_topics([Topic("overtime approval", project="North")])
    run = office.coverage.runs.start("North")
    office.coverage.runs.carry_out(run.id)
    board = office.coverage.board("North")
    assert board is not None
    cell = next(each for each in board.cells if each.kind.value == "regulatory")
    opinion = ReviewerOpinion(ReviewVerdict.CONFIRMED, "Ann", owner="Legal")
    office.coverage.decide(board, cell, opinion)
    office.coverage.decide(board, cell, replace(opinion, who="Bob", owner="HR", after=1))
    last, first, _ = office.history.newest()
    assert lines_of(last) == [("overtime approval · regulatory", "", "gap confirmed, Legal", "gap confirmed, HR")]
    assert (last.can_undo, first.can_undo) == (True, False)
    with pytest.raises(BadRequest, match="needs a name"):
        office.history.undo(last, "")
    office.history.undo(last, "Cy")
    assert office.coverage.current_decisions("North")[cell.topic_id, "regulatory"].owner == "Legal"
    assert [each.can_undo for each in office.history.newest()] == [False, False, True, True]


def test_a_profile_is_in_the_history_and_goes_back_one_version(office: Workbench) -> None:
    profiles = office.evaluation.profiles
    mine = replace(profiles.find("balanced"), name="mine")
    profiles.save(mine, "Ann")
    profiles.save(replace(mine, threshold=0.2), "Bob", after=1)
    last, first = office.history.newest()
    assert (
        lines_of(last) == [("mine", "threshold", f"{mine.threshold:g}", "0.2")] and last.can_undo and not first.can_undo
    )
    office.history.undo(last, "Ann")
    assert profiles.find("mine").threshold == mine.threshold
