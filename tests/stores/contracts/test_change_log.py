"""What every core.library.bulk_edit.store.ChangeLog does."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from core.domain.documents import Evidence, EvidenceSource, Label
from core.domain.errors import NotFound
from core.library.bulk_edit.store import ChangeLog, ChangeSet, LabelEdit
from storage.postgres.changes import SqlChangeLog
from tests.database import new_tenant
from tests.fakes import FakeChangeLog

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
LABEL = Label("intent", 0.7, "reference", 0.2, (Evidence("shall “pay”", EvidenceSource.TEXT, "intent", 1.5, "says"),))
FIRST = LabelEdit(7, "Löhne; 残業.md", "truth", "intent", "compliance", LABEL)
SECOND = LabelEdit(9, "b.md", "tags", "", "pay; 'x' -- \\0")


@pytest.fixture(params=["memory", "postgres"])
def log(request: pytest.FixtureRequest) -> ChangeLog:
    """An empty log of each kind."""
    if request.param == "memory":
        return FakeChangeLog()
    return SqlChangeLog(new_tenant(request.getfixturevalue("engine")))


def test_a_set_is_read_back_exactly_as_it_was_stored(log: ChangeLog) -> None:
    stored = log.add(ChangeSet(AT, "Ann", "Truth → compliance", (FIRST, SECOND)))
    assert stored.id > 0 and replace(stored, id=0) == ChangeSet(AT, "Ann", "Truth → compliance", (FIRST, SECOND))
    assert log.find(stored.id) == stored
    assert list(log.newest(10)) == [stored]


def test_the_newest_come_first_and_no_more_than_asked_for(log: ChangeLog) -> None:
    sets = [log.add(ChangeSet(AT + timedelta(days=day), "Ann", str(day), (FIRST,))) for day in range(4)]
    assert list(log.newest(3)) == sets[:0:-1]


def test_of_one_document_only_its_own_changes_are_told(log: ChangeLog) -> None:
    both = log.add(ChangeSet(AT, "Ann", "both", (FIRST, SECOND, replace(SECOND, field="owner"))))
    log.add(ChangeSet(AT, "Ann", "other", (FIRST,)))
    assert list(log.newest(10, SECOND.document_id)) == [replace(both, changes=both.changes[1:])]
    assert list(log.newest(10, 12_345)) == []


def test_what_is_taken_back_says_by_whom_and_when(log: ChangeLog) -> None:
    stored = log.add(ChangeSet(AT, "Ann", "x", (FIRST,)))
    log.mark_undone(stored.id, "Bob", AT + timedelta(hours=1))
    assert log.find(stored.id) == replace(stored, undone_at=AT + timedelta(hours=1), undone_by="Bob")


def test_an_unknown_set_is_not_found(log: ChangeLog) -> None:
    with pytest.raises(NotFound):
        log.find(404)
    with pytest.raises(NotFound):
        log.mark_undone(404, "Ann", AT)
