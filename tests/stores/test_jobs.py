"""Queued work: done once, tried again, taken over from the killed, given up with the reason on the document."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, text

from core.domain.documents import Document, DocumentState
from core.domain.errors import StoreFailed, StoreUnavailable, error_to_show
from core.library.background_jobs import JobHandler
from core.ports.catalogue import Catalogue
from core.ports.job_queue import JobKind
from storage.jobs import worker as worker_module
from storage.jobs.queue import PostgresJobQueue, queue_name
from storage.jobs.worker import _LOCK_CLASS, ATTEMPTS, JobWorker
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database, conninfo_of
from tests.stores.libraries import document, passage, random_vectors

_SECONDS = 40
_KILLED = """
import os, signal, sys, time
from core.ports.job_queue import JobKind
from core.library.background_jobs import JobHandler
from storage.jobs.worker import JobWorker
def ingest(document_id):
    os.kill(os.getpid(), signal.SIGKILL)
handlers = {JobKind.INGEST: JobHandler(ingest, lambda number, error: None)}
JobWorker(sys.argv[1], sys.argv[2], handlers).start()
time.sleep(60)
"""


class Bench:
    """Handlers for a worker, with an ingestion that can go wrong."""

    def __init__(self, catalogue: Catalogue, ingest: Callable[[int], None]) -> None:
        self._catalogue, self._ingest = catalogue, ingest
        self.tried: list[int] = []
        self.handlers: Mapping[JobKind, JobHandler] = {JobKind.INGEST: JobHandler(self.ingest_pending, self.fail)}

    def ingest_pending(self, document_id: int) -> None:
        """As core.library.ingestion_service does."""
        if self._catalogue.document(document_id).state is DocumentState.PENDING:
            self.ingest(document_id)

    def ingest(self, document_id: int) -> Document:
        """Note the attempt, then do as told."""
        self.tried.append(document_id)
        self._ingest(document_id)
        known = self._catalogue.document(document_id)
        self._catalogue.save_ingested(known, [], [passage("text")], random_vectors(1, 1))
        return known

    def fail(self, document_id: int, error: Exception) -> None:
        """As core.library.ingestion_service does."""
        shown = error_to_show(error)
        self._catalogue.fail(document_id, step="read", reason=shown.message, remedy=shown.hint)


@contextmanager
def working(database: Database, bench: Bench, at_once: int = 1) -> Iterator[JobWorker]:
    """A worker of this process."""
    worker = JobWorker(_url(database.engine), database.tenant, bench.handlers, at_once)
    worker.start()
    try:
        yield worker
    finally:
        worker.stop()


def _url(engine: Engine) -> str:
    return conninfo_of(engine.url)


def _until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not done():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def _queued(database: Database, *names: str) -> tuple[SqlCatalogue, PostgresJobQueue, list[int]]:
    catalogue, queue = SqlCatalogue(database), PostgresJobQueue(database.engine, database.tenant)
    ids = [catalogue.add_document(document(name)).id for name in names]
    queue.defer_ingest(ids)
    return catalogue, queue, ids


def _nothing(document_id: int) -> None:
    """All goes well."""


def test_queued_documents_are_ingested_in_order_and_leave_the_queue(database: Database) -> None:
    catalogue, queue, ids = _queued(database, "a", "b", "c")
    assert queue.waiting() == 3
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    assert bench.tried == ids
    assert {catalogue.document(i).state for i in ids} == {DocumentState.READY}


def test_a_document_waits_at_most_once_and_a_ready_one_is_not_read_again(database: Database) -> None:
    catalogue, queue, (first, second) = _queued(database, "a", "b")
    queue.defer_ingest([first, first])
    assert queue.waiting() == 2
    catalogue.save_ingested(catalogue.document(second), [], [], random_vectors(0, 1))
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    assert bench.tried == [first]


def test_what_has_no_job_neither_waits_nor_is_being_read(database: Database) -> None:
    catalogue, queue, (first, second) = _queued(database, "a", "b")
    lost = catalogue.add_document(document("lost")).id
    seen: list[Sequence[int]] = []
    bench = Bench(catalogue, lambda number: seen.append(queue.without_job([lost, first, second])))
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    assert seen == [[lost], [lost, first]]
    assert queue.without_job([second, lost, first]) == [second, lost, first]


def test_a_deleted_documents_job_just_ends(database: Database) -> None:
    catalogue, queue, (only,) = _queued(database, "a")
    catalogue.delete(only)
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    assert bench.tried == []


def test_one_tenants_worker_leaves_anothers_jobs_alone(database: Database, engine: Engine) -> None:
    from tests.database import new_tenant

    other = new_tenant(engine)
    _, theirs, _ = _queued(other, "theirs")
    catalogue, queue, ids = _queued(database, "ours")
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    assert (bench.tried, theirs.waiting()) == (ids, 1)


def test_a_store_that_keeps_failing_ends_with_its_words_on_the_document(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalogue, queue, (bad, good) = _queued(database, "bad", "good")
    _attempted(database, bad, ATTEMPTS - 1)

    def ingest(document_id: int) -> None:
        if document_id == bad:
            raise StoreFailed("The disk is full.", "Make room.")

    with working(database, Bench(catalogue, ingest)):
        _until(lambda: queue.waiting() == 0)
    failed = catalogue.document(bad)
    assert (failed.state, failed.failure, failed.remedy) == (DocumentState.FAILED, "The disk is full.", "Make room.")
    assert catalogue.document(good).state is DocumentState.READY
    assert _statuses(database) == []  # the document says what failed; no job is left behind


def test_a_file_waits_for_a_store_that_does_not_answer(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_LONGEST_WAIT_SECONDS", 0)
    monkeypatch.setattr(worker_module, "_LOOK_SECONDS", 0.2)
    catalogue, queue, (only,) = _queued(database, "a")
    tried: list[int] = []

    def ingest(document_id: int) -> None:
        tried.append(document_id)
        if len(tried) <= ATTEMPTS:
            raise StoreUnavailable("No Chroma server answers.", "Start it.")

    with working(database, Bench(catalogue, ingest)):
        _until(lambda: catalogue.document(only).state is DocumentState.READY)
    assert tried == [only] * (ATTEMPTS + 1) and queue.waiting() == 0


def test_a_killed_workers_job_is_finished_by_the_next_one(database: Database) -> None:
    catalogue, queue, (only,) = _queued(database, "a")
    _killed_at_work(database)
    assert queue.waiting() == 1
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: catalogue.document(only).state is DocumentState.READY)
    assert bench.tried == [only]


def test_a_file_whose_store_did_not_answer_survives_the_end_of_its_worker(database: Database) -> None:
    catalogue, queue, (only,) = _queued(database, "a")
    _attempted(database, only, ATTEMPTS)
    _killed_at_work(database)
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    assert bench.tried == [only]
    assert catalogue.document(only).state is DocumentState.READY


def test_a_file_that_keeps_killing_its_worker_fails_alone(database: Database) -> None:
    catalogue, queue, (poisoned,) = _queued(database, "poisoned")
    for _ in range(ATTEMPTS):
        _killed_at_work(database)
    good = catalogue.add_document(document("good")).id
    queue.defer_ingest([good])
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    failed = catalogue.document(poisoned)
    assert failed.state is DocumentState.FAILED
    assert f"ended the program {ATTEMPTS} times" in failed.failure
    assert bench.tried == [good]
    assert catalogue.document(good).state is DocumentState.READY
    assert _statuses(database) == []


def test_a_slow_job_of_a_living_worker_is_not_taken_over(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_LOOK_SECONDS", 0.2)
    monkeypatch.setattr(worker_module, "_NEWBORN_SECONDS", 1)
    catalogue, queue, (only,) = _queued(database, "slow")
    slow = Bench(catalogue, lambda _: time.sleep(4))
    eager = Bench(catalogue, _nothing)
    with working(database, slow):
        _until(lambda: slow.tried == [only])
        with working(database, eager):
            _until(lambda: queue.waiting() == 0)
    assert (slow.tried, eager.tried) == ([only], [])


def test_stopping_gives_back_what_takes_too_long(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "_GRACE_SECONDS", 0.2)
    catalogue, _, (only,) = _queued(database, "slow")
    bench = Bench(catalogue, lambda _: time.sleep(8))
    with working(database, bench) as worker:
        _until(lambda: bench.tried == [only])
        began = time.monotonic()
        worker.stop()
        assert time.monotonic() - began < 6
    assert _statuses(database) == ["todo"]


def _killed_at_work(database: Database) -> None:
    """A process takes the first job and is killed by it."""
    command = [sys.executable, "-c", _KILLED, _url(database.engine), database.tenant]
    assert subprocess.run(command, timeout=_SECONDS, check=False).returncode == -9
    assert "doing" in _statuses(database)


def _attempted(database: Database, document_id: int, times: int) -> None:
    query = text("UPDATE procrastinate_jobs SET attempts = :times WHERE lock = :lock")
    with database.engine.begin() as connection:
        connection.execute(query, {"times": times, "lock": f"{queue_name(database.tenant)}:{document_id}"})


def _statuses(database: Database) -> list[Any]:
    query = text("SELECT status::text FROM procrastinate_jobs WHERE queue_name = :queue ORDER BY id")
    with database.engine.begin() as connection:
        return list(connection.scalars(query, {"queue": queue_name(database.tenant)}))


_LOCKS = f"SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = {_LOCK_CLASS} AND granted"


def _locks(database: Database) -> int:
    with database.engine.connect() as connection:
        return int(connection.scalar(text(_LOCKS)) or 0)


def test_a_worker_holds_its_lock_before_it_fetches_a_job(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine connecting takes seconds; meanwhile others must not take its jobs for abandoned."""
    connect = psycopg.AsyncConnection.connect

    async def slowly(*arguments: Any, **named: Any) -> Any:
        await asyncio.sleep(1.0)
        return await connect(*arguments, **named)

    monkeypatch.setattr(psycopg.AsyncConnection, "connect", slowly)
    catalogue, queue, _ = _queued(database, "a.txt")
    stored: list[int] = []
    with working(database, Bench(catalogue, lambda _: stored.append(_locks(database)))):
        _until(lambda: queue.waiting() == 0)
    assert stored and stored[0] >= 1


def test_a_worker_that_lost_its_lock_begins_anew(database: Database) -> None:
    catalogue, queue, _ = _queued(database)
    with working(database, Bench(catalogue, _nothing)):
        _until(lambda: _locks(database) == 1)
        with database.engine.connect() as connection:
            connection.execute(
                text(f"SELECT pg_terminate_backend(pid) FROM ({_LOCKS.replace('count(*)', 'pid')}) held")
            )
        _until(lambda: _locks(database) == 0)
        _until(lambda: _locks(database) == 1)
        document_id = catalogue.add_document(document("later.txt")).id
        queue.defer_ingest([document_id])
        _until(lambda: queue.waiting() == 0)
