"""Who sees what quotes a document does not depend on whether the document was deleted, and what was deleted for good
does not come back with what somebody saves later."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Thread

import numpy as np
import pytest
from sqlalchemy import text

from core.coverage.meetings.meeting import Minutes, MinutesDecision
from core.domain.coverage import Cell, CellState, CoverageRun, Decision, ReviewVerdict, RunState, Topic
from core.domain.documents import Truth
from core.insights.store import Episode, EvidenceLink, Insight
from core.library.shortlists import Shortlist, ShortlistItem
from core.library.trash import REDACTED
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.coverage_boards import SqlCoverageBoardStore
from storage.postgres.database import Database, Scope
from storage.postgres.document_projects import redact_purged
from storage.postgres.insights import SqlInsightStore
from storage.postgres.meetings import SqlMeetingStore
from storage.postgres.shortlists import SqlShortlistStore
from storage.postgres.trash import SqlTrash
from tests.coverage.boards import citation
from tests.label_edits import store_labels
from tests.stores.contracts.insights import AT, episode, insight
from tests.stores.contracts.test_meeting_store import meeting_of
from tests.stores.libraries import MOMENT, document, passage, store

QUOTE = "Overtime is paid at twice the rate."
ALL = {"topic", "revision", "insight", "episode", "shortlist"}


def _document(database: Database, project: str | None, name: str = "a.pdf") -> int:
    catalogue = SqlCatalogue(database)
    described = document(name, project=project)
    store(catalogue, described, [passage(QUOTE)], np.zeros((1, 3), dtype=np.float32))
    found = catalogue.document_by_hash(described.sha256, project)
    assert found is not None
    return found.id


def _link(document_id: int) -> EvidenceLink:
    return EvidenceLink(1, document_id, "a.pdf", 1, 0, len(QUOTE), QUOTE)


def _shortlist(document_id: int, name: str = "Overtime") -> Shortlist:
    item = ShortlistItem("Overtime?", document_id, "a.pdf", 1, "", QUOTE, "a.pdf, p. 1", AT, "Ask Ann.")
    return Shortlist(name, "Ann", AT, (item,))


def _topic(document_id: int) -> Topic:
    return Topic("overtime rate", source=citation(QUOTE, document_id=document_id))


def _quote(database: Database, document_id: int) -> None:
    """Quotes of a document in everything that people with one project may see, none with a project of its own."""
    SqlCoverageBoardStore(database).add_topics([_topic(document_id)], "ann", AT)
    insights = SqlInsightStore(database)
    insights.add(insight(links=(_link(document_id),)))
    insights.add(episode(links=(_link(document_id),)))
    SqlShortlistStore(database).add_shortlist(_shortlist(document_id))


def _seen(database: Database, *projects: str) -> set[str]:
    """What somebody with a role in these projects sees."""
    scoped = replace(database, scope=Scope(projects, "eve"))
    boards, insights = SqlCoverageBoardStore(scoped), SqlInsightStore(scoped)
    found: dict[str, Sequence[object]] = {
        "topic": boards.topics(None),
        "revision": boards.topic_revisions(9),
        "insight": insights.every(Insight),
        "episode": insights.every(Episode),
        "shortlist": SqlShortlistStore(scoped).shortlists(),
    }
    return {name for name, values in found.items() if values}


def _trash(database: Database, document_id: int) -> None:
    SqlTrash(database).put(document_id, "Ann", MOMENT)


def _purge(database: Database, document_id: int) -> None:
    _trash(database, document_id)
    trash = SqlTrash(database)
    trash.begin_purge(document_id)
    trash.forget([document_id])
    trash.finish(document_id)


def _restore(database: Database, document_id: int) -> None:
    _trash(database, document_id)
    SqlTrash(database).take_back(document_id)


FATES: dict[str, Callable[[Database, int], None]] = {
    "in the library": lambda database, document_id: None,
    "in the trash": _trash,
    "restored": _restore,
    "deleted for good": _purge,
}


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize(("project", "alpha_sees"), [("Alpha", ALL), (None, ALL), ("Beta", set())])
def test_what_quotes_a_document_is_seen_where_the_document_was(
    database: Database, fate: str, project: str | None, alpha_sees: set[str]
) -> None:
    document_id = _document(database, project)
    _quote(database, document_id)
    FATES[fate](database, document_id)
    assert _seen(database, "Alpha") == alpha_sees
    assert _seen(database, "Alpha", "Beta") == ALL


@pytest.mark.parametrize("fate", FATES)
def test_the_last_project_of_a_document_counts(database: Database, fate: str) -> None:
    document_id = _document(database, "Alpha")
    _quote(database, document_id)
    _move(database, document_id, "Beta")
    FATES[fate](database, document_id)
    assert _seen(database, "Alpha") == set() and _seen(database, "Beta") == ALL


def test_what_names_a_document_that_never_was_is_seen_by_people_of_all_projects_only(database: Database) -> None:
    _quote(database, 10**9)
    assert _seen(database, "Alpha") == set()
    assert SqlCoverageBoardStore(database).topics(None)


def _move(database: Database, document_id: int, project: str | None) -> None:
    catalogue = SqlCatalogue(database)
    store_labels(
        catalogue, replace(catalogue.document(document_id), project=project), catalogue.passages_of(document_id)
    )


# Saved after the document was deleted for good


def _rows_with_quote(database: Database) -> set[str]:
    """The tables that hold the quote, or its words in lower case."""
    found = set()
    for table in (
        "topics",
        "topic_revisions",
        "coverage_runs",
        "cells",
        "decisions",
        "insights",
        "links",
        "shortlists",
        "meetings",
    ):
        query = text(f"SELECT count(*) FROM {table} AS row WHERE row::text ILIKE :quote")
        with database.transaction("looking") as connection:
            if connection.scalar(query, {"quote": f"%{QUOTE}%"}):
                found.add(table)
    return found


def _save_board(database: Database, document_id: int) -> None:
    """A run that was going on while the document was deleted, and a decision on it."""
    boards, quoted = SqlCoverageBoardStore(database), citation(QUOTE, document_id=document_id)
    (topic,) = boards.add_topics([_topic(document_id)], "ann", AT)
    boards.change_topics([replace(topic, source=quoted)], "ann", AT)
    run = boards.add_run(CoverageRun(0, None, RunState.RUNNING, (_topic(document_id),), 6, AT, AT))
    boards.change_run(replace(run, done=1))
    cell = Cell(topic.name, Truth.INTENT, CellState.COVERED, 0.9, 0.5, evidence=(quoted,), topic_id=topic.id)
    boards.save_cells(run.id, [cell])
    boards.decide([Decision(topic.id, "intent", None, ReviewVerdict.ACCEPTED, "ann", AT, 1, pinned=(quoted,))])


def _save_notes(database: Database, document_id: int) -> None:
    """New ones, and changes with the quote as it was read before."""
    insights = SqlInsightStore(database)
    for new in (insight(links=(_link(document_id),)), episode(links=(_link(document_id),))):
        stored = insights.add(new)
        insights.change(replace(stored, links=(_link(document_id),)))


def _save_shortlist(database: Database, document_id: int) -> None:
    shortlists = SqlShortlistStore(database)
    stored = shortlists.add_shortlist(_shortlist(document_id, f"Document {document_id}"))
    shortlists.change_shortlist(replace(stored, items=_shortlist(document_id).items))


def _save_minutes(database: Database, document_id: int) -> None:
    """The minutes of a meeting, with what its decisions were taken on."""
    meetings, quoted = SqlMeetingStore(database), citation(QUOTE, document_id=document_id)
    decision = Decision(1, "intent", None, ReviewVerdict.ACCEPTED, "ann", AT, 1, pinned=(quoted,))
    meeting = meetings.add_meeting(meeting_of())
    taken = (MinutesDecision(decision, (quoted,)),)
    minutes = Minutes(meeting.id, "Friday", None, AT, AT, ("Ann",), (), (), meeting.agenda, taken, (), ())
    meetings.change_meeting(meeting.id, lambda before: replace(before, minutes=minutes))


SAVED: dict[Callable[[Database, int], None], set[str]] = {
    _save_board: {"topics", "topic_revisions", "coverage_runs", "cells", "decisions"},
    _save_notes: {"insights", "links"},
    _save_shortlist: {"shortlists"},
    _save_minutes: {"meetings"},
}
"""What somebody saves → the tables that hold the quote then."""


@pytest.mark.parametrize("save", SAVED)
def test_what_is_saved_later_does_not_bring_a_quote_back(
    database: Database, save: Callable[[Database, int], None]
) -> None:
    gone, living = _document(database, "Alpha"), _document(database, "Alpha", "b.pdf")
    _purge(database, gone)
    save(database, gone)
    assert _rows_with_quote(database) == set()
    SqlCoverageBoardStore(database).change_topics(_retired(database), "ann", AT)
    save(database, living)
    assert _rows_with_quote(database) == SAVED[save]


def _retired(database: Database) -> list[Topic]:
    return [replace(each, retired=True) for each in SqlCoverageBoardStore(database).topics(None)]


def test_a_shortlist_says_that_the_document_is_deleted_and_keeps_what_people_wrote(database: Database) -> None:
    document_id = _document(database, "Alpha")
    shortlists = SqlShortlistStore(database)
    read = shortlists.add_shortlist(_shortlist(document_id))
    _purge(database, document_id)
    saved = shortlists.change_shortlist(replace(read, name="Pay"))
    assert saved == shortlists.shortlist(read.id)
    assert [(each.quote, each.note) for each in saved.items] == [(REDACTED, "Ask Ann.")]


@pytest.mark.parametrize("purged", [False, True])
def test_a_shortlist_may_quote_what_its_owner_no_longer_sees(database: Database, purged: bool) -> None:
    document_id = _document(database, "Alpha")
    shortlists = SqlShortlistStore(replace(database, scope=Scope(("Beta",), "ann")))
    if purged:
        _purge(database, document_id)
    stored = shortlists.add_shortlist(_shortlist(document_id))
    assert stored.items[0].quote == (REDACTED if purged else QUOTE)
    assert shortlists.shortlist(stored.id) == stored
    assert not SqlShortlistStore(replace(database, scope=Scope(("Beta",), "bo"))).shortlists()


def test_the_quote_of_a_document_in_the_trash_is_stored(database: Database) -> None:
    document_id = _document(database, "Alpha")
    _trash(database, document_id)
    assert SqlShortlistStore(database).add_shortlist(_shortlist(document_id)).items[0].quote == QUOTE


def test_a_deletion_for_good_waits_until_what_quotes_the_document_is_saved(database: Database) -> None:
    document_id = _document(database, "Alpha")
    _trash(database, document_id)
    deletion = Thread(target=SqlTrash(database).begin_purge, args=[document_id])
    with database.transaction("saving") as connection:
        assert redact_purged(database, connection, [_link(document_id)]) == [_link(document_id)]
        deletion.start()
        deletion.join(0.3)
        assert deletion.is_alive()
    deletion.join(10)
    assert not deletion.is_alive()
    with database.transaction("saving") as connection:
        assert redact_purged(database, connection, [_link(document_id)]) == [
            replace(_link(document_id), quote=REDACTED)
        ]
