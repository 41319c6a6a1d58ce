"""What every core.library.upload_queue.UploadQueueStore does, over a catalogue of its kind."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event

from core.domain.documents import Document, DocumentState, Label, Labels
from core.domain.errors import Cure
from core.library.upload_queue import UploadCounts, UploadQueueStore, UploadQueueView
from core.ports.catalogue import Catalogue
from core.ports.job_queue import INDEXING, STOPPED
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database
from storage.postgres.upload_queue import SqlUploadQueueStore
from tests.database import new_tenant
from tests.fakes import FakeCatalogue, FakeUploadQueueStore
from tests.stores.libraries import MOMENT, document, passage, random_vectors, store

SURE = 0.6


@pytest.fixture(params=["memory", "postgres"])
def shelf(request: pytest.FixtureRequest) -> tuple[Catalogue, UploadQueueStore]:
    """An empty catalogue of each kind, and its tray."""
    if request.param == "memory":
        catalogue = FakeCatalogue()
        return catalogue, FakeUploadQueueStore(catalogue)
    database = new_tenant(request.getfixturevalue("engine"))
    return SqlCatalogue(database), SqlUploadQueueStore(database)


def read(catalogue: Catalogue, name: str, label: Label) -> Document:
    """A document that is ready, with this truth."""
    known = catalogue.add_document(document(name))
    labelled = replace(known, labels=Labels(truth=label), pages=1)
    catalogue.save_ingested(labelled, [], [passage("text")], random_vectors(1, 1))
    return known


def filled(catalogue: Catalogue) -> dict[str, int]:
    """Name → id of a document of each kind."""
    sure = read(catalogue, "sure.md", Label("intent", 0.9))
    confirmed = read(catalogue, "confirmed.md", Label("intent", 1.0, confirmed=True))
    unsure = read(catalogue, "unsure.md", Label("intent", 0.4))
    unknown = read(catalogue, "Unknown.md", Label(None, 0.9))
    waiting, reading, failed = (catalogue.add_document(document(f"{name}.md")) for name in ("waits", "reads", "bad"))
    catalogue.mark(waiting.id, step="waiting")
    catalogue.mark(reading.id, step="embed 1/2")
    catalogue.fail(failed.id, step="read", reason="It is broken.", remedy="Mend it.")
    made = (sure, confirmed, unsure, unknown, waiting, reading, failed)
    return {each.name: each.id for each in made}


def test_every_file_is_of_one_kind_and_those_that_need_a_look_come_first(
    shelf: tuple[Catalogue, UploadQueueStore],
) -> None:
    catalogue, tray = shelf
    filled(catalogue)
    counts = UploadCounts(running=2, waiting=1, failed=1, again=1, doubtful=2, done=2)
    assert tray.counts(SURE) == counts and counts.all == 7
    names = [each.name for each in tray.page(UploadQueueView.ALL, "", SURE, 99, 0)]
    assert names == ["bad.md", "reads.md", "Unknown.md", "unsure.md", "waits.md", "sure.md", "confirmed.md"]
    assert [each.name for each in tray.page(UploadQueueView.ALL, "", SURE, 2, 3)] == names[3:5]
    for kind in UploadQueueView:
        assert len(tray.page(kind, "", SURE, 99, 0)) == counts.of(kind)
    assert [each.name for each in tray.reading(9)] == ["reads.md"]


def test_what_every_open_page_asks_each_second_builds_no_statement_anew(database: Database) -> None:
    filled(SqlCatalogue(database))
    built: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        built.append(statement)

    tray = SqlUploadQueueStore(database)
    event.listen(database.engine, "before_cursor_execute", note)
    try:
        assert tray.counts(SURE).all == 7 and tray.counts(SURE, "un").doubtful == 2
        assert tray.oldest() == MOMENT
    finally:
        event.remove(database.engine, "before_cursor_execute", note)
    assert built == []


def test_words_find_parts_of_names_in_any_case_and_signs_mean_themselves(
    shelf: tuple[Catalogue, UploadQueueStore],
) -> None:
    catalogue, tray = shelf
    filled(catalogue)
    assert [each.name for each in tray.page(UploadQueueView.DOUBTFUL, " UNKNOWN", SURE, 9, 0)] == ["Unknown.md"]
    assert tray.counts(SURE, "un").doubtful == 1 + 1 and tray.counts(SURE, "%").all == 0


def test_an_archive_that_holds_only_others_is_done_and_knows_its_members(
    shelf: tuple[Catalogue, UploadQueueStore],
) -> None:
    catalogue, tray = shelf
    holder = catalogue.add_document(document("all.zip"))
    catalogue.save_ingested(replace(holder, pages=0), [], [], random_vectors(0, 1))
    inner = catalogue.add_document(document("a.md", parent=holder.id))
    assert tray.counts(SURE).done == 1
    assert [each.id for each in tray.members([holder.id])] == [inner.id]
    assert list(tray.members([inner.id])) == []


def test_what_is_stopped_says_so_and_what_was_read_before_stays_searchable(
    shelf: tuple[Catalogue, UploadQueueStore],
) -> None:
    catalogue, tray = shelf
    ids = filled(catalogue)
    catalogue.mark(ids["sure.md"], step="waiting")  # to be read again
    assert list(tray.stop([ids["waits.md"], ids["unsure.md"]])) == [ids["waits.md"]]
    stopped = catalogue.document(ids["waits.md"])
    assert (stopped.state, stopped.step) == (DocumentState.FAILED, STOPPED) and "You stopped" in stopped.failure
    assert list(tray.stop(None)) == sorted([ids["sure.md"], ids["reads.md"]])
    again = catalogue.document(ids["sure.md"])
    assert (again.state, again.failure, len(catalogue.passages_of(again.id))) == (DocumentState.READY, "", 1)
    assert list(tray.pending()) == []
    assert list(tray.to_try_again()) == sorted([ids["waits.md"], ids["reads.md"], ids["bad.md"]])


def test_only_what_trying_again_can_help_is_tried_with_all_the_others(
    shelf: tuple[Catalogue, UploadQueueStore],
) -> None:
    catalogue, tray = shelf
    ids = filled(catalogue)
    catalogue.mark(ids["sure.md"], step="store", unread=True)
    catalogue.fail(ids["sure.md"], step="read", reason="It is damaged.", remedy="Save it again.", cure=Cure.OTHER_FILE)
    catalogue.fail(ids["reads.md"], step="read", reason="It is locked.", remedy="Open it.", cure=Cure.PASSWORD)
    counts = tray.counts(SURE)
    assert (counts.failed, counts.again) == (3, 1) and tray.counts(SURE, "sure").again == 0
    assert list(tray.to_try_again()) == [ids["bad.md"]]
    assert list(tray.requeue([ids["sure.md"]])) == [ids["sure.md"]]  # who asks for it by name gets it
    assert list(tray.stop(None)) == sorted([ids["sure.md"], ids["waits.md"]])
    assert list(tray.to_try_again()) == sorted([ids["bad.md"], ids["sure.md"], ids["waits.md"]])


def test_what_cannot_be_read_again_is_no_failed_file(shelf: tuple[Catalogue, UploadQueueStore]) -> None:
    catalogue, tray = shelf
    ids, before = filled(catalogue), tray.counts(SURE)
    catalogue.mark(ids["sure.md"], step="waiting")
    catalogue.fail(ids["sure.md"], step="read", reason="It is damaged.", remedy="Save it again.", cure=Cure.OTHER_FILE)
    assert tray.counts(SURE) == before and ids["sure.md"] not in [*tray.pending(), *tray.to_try_again()]
    (listed,) = tray.page(UploadQueueView.DONE, "sure.md", SURE, 1, 0)
    assert listed.id == ids["sure.md"] and "It is damaged. Save it again." in listed.warnings[0]


def test_what_failed_can_wait_again_and_nothing_else(shelf: tuple[Catalogue, UploadQueueStore]) -> None:
    catalogue, tray = shelf
    ids = filled(catalogue)
    assert list(tray.requeue([ids["bad.md"], ids["sure.md"], ids["reads.md"]])) == [ids["bad.md"]]
    again = catalogue.document(ids["bad.md"])
    assert (again.state, again.step, again.failure) == (DocumentState.PENDING, "waiting", "")
    assert catalogue.document(ids["reads.md"]).step == "embed 1/2"


def test_ends_are_counted_from_a_moment_on_without_what_is_read_again(
    shelf: tuple[Catalogue, UploadQueueStore],
) -> None:
    catalogue, tray = shelf
    ids = filled(catalogue)
    assert tray.ends(MOMENT) == (0, None)
    for minutes, name in enumerate(("sure.md", "unsure.md", "bad.md", "reads.md")):
        tray.ended([ids[name]], MOMENT + timedelta(minutes=minutes))
    tray.ended([10**9, ids["sure.md"]], MOMENT)
    assert tray.ends(MOMENT + timedelta(minutes=1)) == (2, MOMENT + timedelta(minutes=1))
    tray.ended([ids["unsure.md"]], MOMENT + timedelta(minutes=5))
    assert tray.ends(MOMENT + timedelta(minutes=1)) == (2, MOMENT + timedelta(minutes=2))
    tray.ended([ids["unsure.md"], ids["bad.md"], ids["sure.md"]], MOMENT + timedelta(minutes=9))
    assert tray.ends(MOMENT + timedelta(minutes=9)) == (3, MOMENT + timedelta(minutes=9))
    assert tray.ends(MOMENT + timedelta(minutes=9), read=True) == (2, MOMENT + timedelta(minutes=9)), "one failed"


def test_projects_and_the_oldest_that_waits_are_known(shelf: tuple[Catalogue, UploadQueueStore]) -> None:
    catalogue, tray = shelf
    assert (list(tray.projects()), tray.oldest()) == ([], None)
    for name, project, days in (("a", "north", 2), ("b", "east", 1), ("c", "north", 0)):
        catalogue.add_document(document(name, project=project, uploaded_at=MOMENT + timedelta(days=days)))
    store(catalogue, document("d", uploaded_at=MOMENT - timedelta(days=9)), [passage("x")], random_vectors(1, 1))
    assert (list(tray.projects()), tray.oldest()) == (["east", "north"], MOMENT)


def test_a_ready_file_is_pending_until_every_index_has_it(shelf: tuple[Catalogue, UploadQueueStore]) -> None:
    catalogue, tray = shelf
    known = catalogue.add_document(document("a.md"))
    catalogue.save_ingested(known, [], [passage("text")], random_vectors(1, 1), step=INDEXING)
    assert catalogue.document(known.id).state is DocumentState.READY and tray.pending() == [known.id]
    assert tray.stop(None) == []
    tray.ended([known.id], MOMENT)
    assert catalogue.document(known.id).step == "" and tray.pending() == []
