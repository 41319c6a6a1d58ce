"""Batches: stored and queued, stopped while they wait and while they are read, tried again, read beside each other."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.domain.documents import Document, DocumentState, Passage
from core.domain.errors import FivefoldError, StoreFailed, StoreUnavailable
from core.domain.queries import SearchRequest
from core.domain.results import UploadReceipt
from core.library.group_commit import GroupCommit
from core.library.upload_queue import NewFile
from core.ports.catalogue import NOT_READ_AGAIN
from core.workbench import Workbench
from tests.fakes import FakeBlobs, FakeEntityGraph, FakeVectorIndex
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

LAW = "# Act {0}\nAn employer shall pay overtime under section {0}. A fine of ${0} is due.\n"


class Tray:
    """A workbench whose jobs wait until they are let go, with a clock."""

    def __init__(self, folder: Path) -> None:
        self.now = datetime(2026, 3, 1, tzinfo=UTC)
        self.stores = Stores(WordEmbedder())
        self.workbench: Workbench = built(self.stores, folder, lambda: self.now)
        self.stores.jobs.held = True

    def add(self, *texts: str) -> list[int]:
        """Take texts in; their document ids."""
        files = [NewFile(f"{number}.md", text.encode) for number, text in enumerate(texts)]
        reported = list(self.workbench.upload_queue.take_in(files, project="north", tags=["new"]))
        return [each.document_id for each in reported if isinstance(each, UploadReceipt)]

    def let_go(self) -> None:
        """Run what waits."""
        self.stores.jobs.run_held()

    def states(self) -> list[str]:
        """The states of all documents, the oldest first."""
        return [str(each.state) for each in sorted(self.workbench.documents.list(), key=lambda each: each.id)]


@pytest.fixture
def tray(tmp_path: Path) -> Tray:
    """An empty library."""
    return Tray(tmp_path)


def test_a_batch_is_stored_whole_and_one_bad_file_stops_no_other(tray: Tray) -> None:
    def unreadable() -> bytes:
        raise FivefoldError("It cannot be read.")

    files = [
        NewFile("a.md", LAW.encode),
        NewFile("bad", unreadable),
        NewFile("empty", bytes),
        NewFile("b.md", LAW.encode),
    ]
    reported = list(tray.workbench.upload_queue.take_in(files, project="north"))
    assert [isinstance(each, FivefoldError) for each in reported] == [False, True, True, False]
    assert isinstance(reported[3], UploadReceipt) and reported[3].duplicate_of == "a.md"
    assert tray.stores.jobs.waiting() == 1
    tray.let_go()
    assert tray.states() == ["ready"]


def test_thousands_are_taken_in_and_a_small_batch_comes_before_the_rest_of_a_large_one(tray: Tray) -> None:
    order: list[int] = []
    tray.stores.jobs.run = order.append
    large = tray.add(*(LAW.format(number) for number in range(1_000)))
    small = tray.add("# One\nA first small file.", "# Two\nA second small file.")
    assert tray.workbench.upload_queue.counts(0.6).waiting == 1_002
    tray.let_go()
    assert order[:5] == [*large[:2], small[0], large[2], small[1]] and len(set(order)) == 1_002


def test_the_smallest_files_of_a_batch_are_read_first_and_batches_take_turns(tray: Tray) -> None:
    order: list[int] = []
    tray.stores.jobs.run = order.append

    def take_in(*sizes: int) -> dict[int, int]:
        texts = {size: f"# {size}\n{'word ' * size}".encode() for size in sizes}
        files = [NewFile(f"{size}.md", lambda text=texts[size]: text, len(texts[size])) for size in sizes]
        reported = tray.workbench.upload_queue.take_in(files)
        receipts = [each for each in reported if isinstance(each, UploadReceipt)]
        return {int(each.name.removesuffix(".md")): each.document_id for each in receipts}

    one = take_in(900, 10, 300)
    two = take_in(20, 40)
    tray.let_go()
    assert order == [one[10], one[300], two[20], one[900], two[40]]


def test_what_waits_is_stopped_and_what_was_stopped_can_be_tried_again(tray: Tray) -> None:
    first, second, third = tray.add("# A\nOne sentence.", "# B\nTwo sentences.", "# C\nThree sentences.")
    assert tray.workbench.upload_queue.stop([second]) == 1
    tray.let_go()
    assert tray.states() == ["ready", "failed", "ready"]
    assert tray.workbench.upload_queue.try_again() == 1
    tray.let_go()
    assert tray.states() == ["ready", "ready", "ready"]
    assert tray.workbench.upload_queue.stop() == 0 and (first, third) != (second, second)


@pytest.mark.parametrize("last_step", ["read", "classify", "split", "embed", "store"])
def test_a_file_stopped_while_it_is_read_ends_at_its_next_step_and_leaves_nothing(
    tray: Tray, last_step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.library.step_progress._STEP_SECONDS", 0.0)  # each step is told, however short
    (only,) = tray.add(LAW.format(3))
    progress = tray.stores.catalogue.progress

    def observed(document_id: int, *, step: str) -> bool:
        goes_on = progress(document_id, step=step)
        if step == last_step:
            tray.workbench.upload_queue.stop()
        return goes_on

    tray.stores.catalogue.progress = observed  # type: ignore[method-assign]
    tray.let_go()
    document = tray.workbench.documents.get(only)
    assert (document.state, document.step) == (DocumentState.FAILED, "stopped")
    assert not tray.workbench.documents.passages(only) and tray.stores.vectors.count() == 0
    tray.stores.catalogue.progress = progress  # type: ignore[method-assign]
    tray.workbench.upload_queue.try_again()
    tray.let_go()
    assert tray.states() == ["ready"] and tray.workbench.documents.passages(only)


def test_a_document_stopped_while_it_is_read_again_is_searched_as_before(tray: Tray) -> None:
    (only,) = tray.add(LAW.format(3))
    tray.let_go()
    before = tray.workbench.documents.passages(only)
    tray.workbench.documents.retry(only)
    assert tray.workbench.upload_queue.stop() == 1
    tray.let_go()
    assert tray.states() == ["ready"] and tray.workbench.documents.passages(only) == before


@pytest.mark.parametrize("damage", ["lost", "cut off"])
def test_a_document_whose_original_is_bad_stays_searchable_until_an_upload_repairs_it(tray: Tray, damage: str) -> None:
    (only,) = tray.add(LAW.format(3))
    tray.let_go()
    before, documents = tray.workbench.documents.passages(only), tray.workbench.documents
    digest, blobs = documents.get(only).sha256, documents._originals
    assert isinstance(blobs, FakeBlobs)
    blobs._data[digest] = blobs.get(digest)[:-9]
    if damage == "lost":
        blobs.delete(digest)
    assert documents.read_all_again() == 1
    try:
        tray.let_go()
    except StoreFailed as error:  # a worker gives the job up after some attempts
        tray.workbench.ingestion.fail(only, error)
    kept = documents.get(only)
    assert (kept.state, kept.step, kept.failure) == (DocumentState.READY, "", "")
    assert kept.warnings[0].startswith(NOT_READ_AGAIN) and "Upload the file again" in kept.warnings[0]
    found = tray.workbench.search.run(SearchRequest("overtime under section 3"))
    assert documents.passages(only) == before and [hit.candidate.passage.id for hit in found.hits] == [before[0].id]
    receipt = documents.upload("again.md", LAW.format(3).encode(), project="north")
    assert receipt.document_id == only and documents.uploaded(only) == LAW.format(3).encode()
    tray.let_go()
    read = documents.get(only)
    assert (read.state, read.warnings) == (DocumentState.READY, ()) and documents.passages(only) != before


def test_an_intact_document_uploaded_again_is_not_read_again(tray: Tray) -> None:
    (only,) = tray.add(LAW.format(3))
    tray.let_go()
    assert tray.workbench.documents.upload("again.md", LAW.format(3).encode(), project="north").duplicate_of == "0.md"
    assert tray.stores.jobs.waiting() == 0 and tray.states() == ["ready"] and only


@pytest.mark.parametrize("read_before", [False, True])
def test_a_file_that_an_index_never_takes_fails_at_its_first_reading_only(
    tray: Tray, monkeypatch: pytest.MonkeyPatch, read_before: bool
) -> None:
    (only,) = tray.add(LAW.format(3))
    if read_before:
        tray.let_go()
        tray.workbench.documents.retry(only)

    def refuse(*given: Any, **named: Any) -> None:
        raise StoreUnavailable("No Chroma server answers.", "Start it.")

    with monkeypatch.context() as broken:
        for call in ("ping", "add"):
            broken.setattr(tray.stores.vectors, call, refuse)
        for _ in range(2):  # the attempts of its job
            with pytest.raises(StoreUnavailable) as error:
                tray.workbench.ingestion.ingest_pending(only)
    tray.workbench.ingestion.fail(only, error.value)
    document = tray.workbench.documents.get(only)
    assert document.state is (DocumentState.READY if read_before else DocumentState.FAILED)
    assert bool(tray.workbench.documents.passages(only)) is read_before is bool(tray.stores.vectors.count())
    reason = document.warnings[0] if read_before else document.failure
    assert "No Chroma server answers." in reason
    tray.workbench.documents.retry(only)
    tray.let_go()
    assert tray.states() == ["ready"] and tray.stores.vectors.count() == 1


def test_what_was_stored_and_never_queued_is_found_at_the_next_start(tray: Tray) -> None:
    (only,) = tray.add(LAW.format(3))
    tray.stores.jobs.cancel()  # as if the process had died before it could queue it
    assert tray.workbench.upload_queue.recover() == 1
    assert tray.workbench.upload_queue.recover() == 0, "what waits is not queued again"
    tray.let_go()
    assert tray.workbench.documents.get(only).state is DocumentState.READY


def test_the_pace_is_that_of_the_last_minutes(tray: Tray) -> None:
    ids = tray.add(*(LAW.format(number) for number in range(6)))
    pace = tray.workbench.upload_queue.pace()
    assert (pace.files_per_minute, pace.minutes_left(6)) == (0.0, None)
    for document_id in ids[:4]:
        tray.now += timedelta(seconds=30)
        tray.workbench.ingestion.ingest(document_id)
    pace = tray.workbench.upload_queue.pace()
    assert (pace.files_per_minute, pace.minutes_left(2)) == (2.0, 1.0)
    assert tray.workbench.upload_queue.read_since() == 4
    tray.now += timedelta(hours=1)
    assert tray.workbench.upload_queue.pace().files_per_minute == 0.0
    tray.workbench.upload_queue.ended(ids[:4])
    tray.now += timedelta(seconds=30)
    assert tray.workbench.upload_queue.pace().files_per_minute == 0.0, "four that were stored together open the time"
    tray.workbench.ingestion.ingest(ids[4])
    assert tray.workbench.upload_queue.pace().files_per_minute == 2.0


def test_the_pace_is_unknown_for_five_seconds_and_then_that_of_these(tray: Tray) -> None:
    ids = tray.add(*(LAW.format(number) for number in range(4)))
    tray.workbench.ingestion.ingest(ids[0])
    tray.now += timedelta(seconds=4)
    for each in ids[1:]:
        tray.workbench.ingestion.ingest(each)
    assert tray.workbench.upload_queue.pace().files_per_minute == 0.0
    tray.now += timedelta(seconds=2)
    assert tray.workbench.upload_queue.pace().files_per_minute == 30.0


def test_a_file_that_fails_before_the_first_is_read_is_no_part_of_the_pace(tray: Tray) -> None:
    ids = tray.add(*(LAW.format(number) for number in range(3)))
    tray.workbench.ingestion.fail(ids[0], FivefoldError("It is damaged."))
    tray.workbench.upload_queue.ended(ids[:1])
    tray.now += timedelta(seconds=60)  # in which the model is loaded
    tray.workbench.ingestion.ingest(ids[1])
    assert tray.workbench.upload_queue.pace().files_per_minute == 0.0
    tray.now += timedelta(seconds=6)
    tray.workbench.ingestion.ingest(ids[2])
    assert tray.workbench.upload_queue.pace().files_per_minute == 10.0
    tray.now += timedelta(seconds=60)
    later = tray.add(*(LAW.format(number) for number in range(3, 9)))
    assert tray.workbench.upload_queue.pace().files_per_minute == 0.0, "of the earlier upload"
    for each in later[:5]:
        tray.now += timedelta(seconds=2)
        tray.workbench.ingestion.ingest(each)
    assert tray.workbench.upload_queue.pace().files_per_minute == 30.0


def test_beside_each_other_gives_what_one_after_the_other_does(tray: Tray, tmp_path: Path) -> None:
    texts = [LAW.format(number) * (1 + number % 4) for number in range(24)]
    other = Tray(tmp_path)
    ids, others = tray.add(*texts), other.add(*texts)
    tray.let_go()
    together = threading.Barrier(4)

    def ingest(document_id: int) -> None:
        together.wait(60)
        other.workbench.ingestion.ingest(document_id)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ingest, others))
    assert [_plain(tray.workbench, each) for each in ids] == [_plain(other.workbench, each) for each in others]
    assert tray.stores.vectors.count() == other.stores.vectors.count() > 24
    assert tray.stores.sparse.count() == other.stores.sparse.count()


def _read_together(tray: Tray, ids: list[int]) -> list[str]:
    """Ingest documents at the same time; the name of the error of each, "" without one."""

    def ingest(document_id: int) -> str:
        try:
            tray.workbench.ingestion.ingest_pending(document_id)
        except FivefoldError as error:
            return type(error).__name__
        return ""

    with ThreadPoolExecutor(len(ids)) as pool:
        return list(pool.map(ingest, ids))


def _all_wait_for_each_other(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """So many files are announced before any is stored, and none is stored before all of them are read."""
    monkeypatch.setattr("core.library.ingestion_service._WAIT_SECONDS", 600.0)
    together, announced = threading.Barrier(number), GroupCommit.announced

    @contextmanager
    def waiting(group: GroupCommit[Any]) -> Iterator[Any]:
        with announced(group) as put:
            together.wait(60)
            yield put

    monkeypatch.setattr(GroupCommit, "announced", waiting)


@pytest.mark.parametrize("gone", ["deleted", "stopped", "none"])
def test_files_read_together_are_stored_with_one_call_of_each_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    _all_wait_for_each_other(monkeypatch, 4)
    tray = Tray(tmp_path)
    ids = tray.add(*(LAW.format(number) for number in range(4)))
    calls: list[int] = []
    save, add = tray.stores.catalogue.save_all_ingested, tray.stores.sparse.add
    by_id = tray.stores.catalogue.documents_by_id

    def current(document_ids: Sequence[int]) -> Any:
        if gone == "deleted" and len(document_ids) == 4:
            tray.stores.catalogue.delete(ids[1])
        elif gone == "stopped" and len(document_ids) == 4:
            tray.workbench.upload_queue.stop([ids[1]])
        return by_id(document_ids)

    monkeypatch.setattr(tray.stores.catalogue, "documents_by_id", current)
    monkeypatch.setattr(
        tray.stores.catalogue, "save_all_ingested", lambda some, **named: calls.append(len(some)) or save(some, **named)
    )
    monkeypatch.setattr(tray.stores.sparse, "add", lambda some: calls.append(len(some)) or add(some))
    waited = list[int]()
    tray.workbench.ingestion.tell_waiting(waited.append)
    errors = _read_together(tray, ids)
    assert sorted(waited) == ids
    assert errors == ["", "NotFound" if gone == "deleted" else "", "", ""]
    stored = 4 if gone == "none" else 3
    assert calls == [stored, stored]  # passages: one of each file
    expected = {"deleted": ["ready"] * 3, "stopped": ["ready", "failed", "ready", "ready"], "none": ["ready"] * 4}
    assert tray.states() == expected[gone]
    assert tray.stores.vectors.count() == tray.stores.sparse.count() == stored
    for document in tray.workbench.documents.list():
        (passage,) = tray.workbench.documents.passages(document.id) or [None]
        assert passage is None or document.name.removesuffix(".md") in passage.text


def test_a_file_that_cannot_be_stored_keeps_none_of_those_stored_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _all_wait_for_each_other(monkeypatch, 3)
    tray = Tray(tmp_path)
    ids = tray.add(*(LAW.format(number) for number in range(3)))
    add = tray.stores.vectors.add

    def refuse_one(passages: Sequence[Passage], *given: Any, **named: Any) -> None:
        if any(each.document_id == ids[1] for each in passages):
            raise StoreUnavailable("No Chroma server answers.")
        add(passages, *given, **named)

    monkeypatch.setattr(tray.stores.vectors, "add", refuse_one)
    assert _read_together(tray, ids) == ["", "StoreUnavailable", ""]
    assert tray.states() == ["ready", "pending", "ready"]


def test_what_is_stored_again_alone_is_not_embedded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _all_wait_for_each_other(monkeypatch, 3)
    tray = Tray(tmp_path)
    ids = tray.add(*(LAW.format(number) for number in range(3)))
    save, embed, embedded = tray.stores.lessons.save_records, tray.stores.embedder.embed_parts, list[int]()

    def refuse_several(records: Sequence[Any]) -> None:
        if len(records) > 1:
            raise StoreUnavailable("The database does not answer.")
        save(records)

    def counted(texts: Sequence[str], parts: Any) -> Any:
        embedded.append(len(texts))
        return embed(texts, parts)

    monkeypatch.setattr(tray.stores.lessons, "save_records", refuse_several)
    monkeypatch.setattr(type(tray.stores.embedder), "embed_parts", lambda self, *given: counted(*given))
    assert _read_together(tray, ids) == ["", "", ""] and tray.states() == ["ready"] * 3
    assert len(embedded) == 2 * len(ids)  # its passages, and the sentences of its sample


def _plain(workbench: Workbench, document_id: int) -> tuple[Document, list[object]]:
    """A document and its passages without the ids that tell only in which order they came."""
    passages = [replace(each, id=0, document_id=0) for each in workbench.documents.passages(document_id)]
    return replace(workbench.documents.get(document_id), id=0), list(passages)


def test_a_file_whose_vectors_could_not_be_stored_is_read_again(tray: Tray) -> None:
    (only,) = tray.add(LAW.format(3))
    add = tray.stores.vectors.add

    def refuse(*given: object, **named: object) -> None:
        raise StoreUnavailable("No Chroma server answers.")

    tray.stores.vectors.add = refuse  # type: ignore[method-assign]
    with pytest.raises(StoreUnavailable):
        tray.workbench.ingestion.ingest_pending(only)
    assert tray.states() == ["pending"]
    tray.stores.vectors.add = add  # type: ignore[method-assign]
    tray.workbench.ingestion.ingest_pending(only)
    assert tray.states() == ["ready"]
    assert tray.stores.vectors.count() == len(tray.workbench.documents.passages(only)) > 0


@pytest.mark.parametrize("store", [FakeVectorIndex, FakeEntityGraph])
def test_a_file_is_read_again_whose_worker_died_before_every_index_had_it(
    tray: Tray, monkeypatch: pytest.MonkeyPatch, store: type[FakeVectorIndex] | type[FakeEntityGraph]
) -> None:
    (only,) = tray.add(LAW.format(4))
    add, calls = store.add, list[int]()

    class Killed(BaseException):
        pass

    def die(*given: object, **named: object) -> None:
        raise Killed

    def count_and_add(*given: Any, **named: Any) -> None:
        calls.append(only)
        add(*given, **named)

    monkeypatch.setattr(store, "add", die)
    with pytest.raises(Killed):
        tray.workbench.ingestion.ingest_pending(only)
    monkeypatch.setattr(store, "add", count_and_add)
    tray.workbench.ingestion.ingest_pending(only)
    assert calls == [only] and tray.workbench.documents.get(only).step == ""
    assert tray.stores.vectors.count() == len(tray.workbench.documents.passages(only)) > 0
    tray.workbench.ingestion.ingest_pending(only)
    assert calls == [only], "what every index has is not read again"
