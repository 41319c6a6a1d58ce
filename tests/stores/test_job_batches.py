"""Batches of queued work: thousands at once, in turns, taken out again, beside each other, and of every kind."""

import asyncio
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial

import pytest
from sqlalchemy import text

from core.domain.documents import DocumentState
from core.domain.errors import NotFound, StoreFailed
from core.library.background_jobs import BackgroundJobs, JobHandler
from core.ports.job_queue import JobKind
from storage.jobs.queue import PostgresJobQueue, queue_name
from storage.jobs.slots import FetchPermits, JobSlots
from storage.jobs.worker import ATTEMPTS
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.database import Database
from tests.stores.libraries import document
from tests.stores.test_jobs import Bench, _nothing, _queued, _until, _url, working

_KILLED_BESIDE = """
import os, signal, sys, threading
from core.ports.job_queue import JobKind
from core.library.background_jobs import JobHandler
from storage.jobs.worker import JobWorker
both = threading.Barrier(2)
def ingest(document_id):
    both.wait(30)
    os.kill(os.getpid(), signal.SIGKILL)
handlers = {JobKind.INGEST: JobHandler(ingest, lambda number, error: None)}
JobWorker(sys.argv[1], sys.argv[2], handlers, 2).start()
threading.Event().wait(60)
"""


class Desk(Bench):
    """A bench that does work of other kinds too."""

    def __init__(self, catalogue: SqlCatalogue, queue: PostgresJobQueue) -> None:
        super().__init__(catalogue, _nothing)
        self.queue = queue
        self.done: list[tuple[JobKind, int]] = []
        self.broken: set[int] = set()
        self.handlers = BackgroundJobs(
            queue,
            {kind: partial(self._work, kind) for kind in JobKind if kind is not JobKind.INGEST},
            lambda: datetime.now(UTC),
            ingestion=JobHandler(self.ingest_pending, self.fail),
        ).handlers

    def _work(self, kind: JobKind, number: int) -> None:
        self.work(kind, number)

    def work(self, kind: JobKind, number: int) -> None:
        """Note it; some of it fails."""
        self.done.append((kind, number))
        if number in self.broken:
            raise StoreFailed("The disk is full.", "Make room.")


def test_thousands_are_queued_at_once_and_none_of_them_twice(database: Database) -> None:
    queue = PostgresJobQueue(database.engine, database.tenant)
    queue.defer_ingest(range(1, 2_001))
    queue.defer_ingest(range(1_500, 2_501))
    queue.defer_ingest([1, 1, 2])
    assert queue.waiting() == 2_500
    assert list(queue.cancel([7, 8, 9_999])) == [7, 8]
    assert len(queue.cancel()) == 2_498 and queue.waiting() == 0


def test_alerts_and_deliveries_are_not_counted_as_files_that_wait(database: Database) -> None:
    queue = PostgresJobQueue(database.engine, database.tenant)
    for kind in (JobKind.ALERT, JobKind.MAIL, JobKind.WEBHOOK, JobKind.ENRICH):
        queue.defer(kind, [1])
    assert queue.waiting() == 1


def test_a_small_batch_is_not_stuck_behind_a_large_one(database: Database) -> None:
    catalogue = SqlCatalogue(database)
    large = [catalogue.add_document(document(f"large {number}")).id for number in range(8)]
    small = [catalogue.add_document(document(f"small {number}")).id for number in range(2)]
    queue = PostgresJobQueue(database.engine, database.tenant)
    queue.defer_ingest(large[:5])
    queue.defer_ingest(large[5:], place=5)
    queue.defer_ingest(small)
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    assert bench.tried == [*large[:2], small[0], large[2], small[1], *large[3:]]


def test_small_batches_without_end_do_not_pass_a_waiting_file_for_ever(database: Database) -> None:
    catalogue = SqlCatalogue(database)
    queue = PostgresJobQueue(database.engine, database.tenant)
    small = [catalogue.add_document(document(f"small {number}")).id for number in range(40)]
    large = catalogue.add_document(document("large")).id
    queue.defer_ingest(small[:2])
    queue.defer_ingest([large], place=5)
    later = iter(small[2:])

    def another_follows(_: int) -> None:
        queue.defer_ingest([each for each in [next(later, None)] if each is not None])

    bench = Bench(catalogue, another_follows)
    with working(database, bench):
        _until(lambda: large in bench.tried)
    assert bench.tried.index(large) == 5


def test_enrichment_waits_until_the_files_are_read(database: Database) -> None:
    catalogue, queue, ids = _queued(database)
    desk = Desk(catalogue, queue)
    queue.defer(JobKind.ENRICH, [1])
    ids = [catalogue.add_document(document(f"{number}")).id for number in range(3)]
    queue.defer_ingest(ids)
    order: list[object] = []
    desk.work = lambda kind, number: order.append(kind)  # type: ignore[method-assign]
    desk._ingest = order.append
    with working(database, desk):
        _until(lambda: queue.waiting() == 0)
    assert order == [*ids, JobKind.ENRICH]


def test_work_of_every_kind_is_done_and_waits_at_most_once(database: Database) -> None:
    catalogue, queue, _ = _queued(database)
    desk = Desk(catalogue, queue)
    for kind in (JobKind.FEED, JobKind.FEED, JobKind.FOLDER, JobKind.LEARN):
        queue.defer(kind, [3])
    assert queue.waiting() == 3
    with working(database, desk):
        _until(lambda: queue.waiting() == 0)
    assert Counter(desk.done) == {(kind, 3): 1 for kind in (JobKind.FEED, JobKind.FOLDER, JobKind.LEARN)}


def test_work_that_keeps_failing_is_noted_until_it_is_done(database: Database) -> None:
    catalogue, queue, _ = _queued(database)
    desk = Desk(catalogue, queue)
    desk.broken = {7}
    queue.defer(JobKind.FEED, [7, 8])
    _tried(database, ATTEMPTS - 1)
    with working(database, desk):
        _until(lambda: queue.waiting() == 0)
    (failed,) = queue.failures()
    assert (failed.kind, failed.number, failed.reason) == (JobKind.FEED, 7, "The disk is full.")
    desk.broken = set()
    queue.defer(JobKind.FEED, [7])
    with working(database, desk):
        _until(lambda: queue.waiting() == 0)
    assert list(queue.failures()) == []


def test_work_for_something_deleted_meanwhile_just_ends(database: Database) -> None:
    catalogue, queue, _ = _queued(database)
    desk = Desk(catalogue, queue)

    def deleted(kind: JobKind, number: int) -> None:
        raise NotFound("It was deleted.")

    desk.work = deleted  # type: ignore[method-assign]
    queue.defer(JobKind.FEED, [1])
    with working(database, desk):
        _until(lambda: queue.waiting() == 0)
    assert list(queue.failures()) == []


def test_a_stopped_document_is_not_read(database: Database) -> None:
    catalogue, queue, (stopped, other) = _queued(database, "a", "b")
    catalogue.fail(stopped, step="stopped", reason="You stopped it.", remedy="")
    bench = Bench(catalogue, _nothing)
    with working(database, bench):
        _until(lambda: queue.waiting() == 0)
    assert bench.tried == [other]


def test_two_documents_are_read_beside_each_other_and_no_document_twice(database: Database) -> None:
    catalogue, queue, ids = _queued(database, *"abcdef")
    together = threading.Barrier(2)
    bench = Bench(catalogue, lambda _: _met(together))
    with working(database, bench, at_once=2):
        _until(lambda: queue.waiting() == 0)
    assert sorted(bench.tried) == ids
    assert {catalogue.document(each).state for each in ids} == {DocumentState.READY}


def test_another_file_is_read_while_one_waits_to_be_stored(database: Database) -> None:
    catalogue, queue, ids = _queued(database, *"abcd")
    all_read = threading.Barrier(4)
    reading, most, lock = set[int](), list[int](), threading.Lock()

    def ingest(document_id: int) -> None:
        with lock:
            reading.add(document_id)
            most.append(len(reading))
        time.sleep(0.05)
        with lock:
            reading.discard(document_id)
        worker.let_wait(document_id)
        _met(all_read)  # the first is not done before the last has been read

    bench = Bench(catalogue, ingest)
    with working(database, bench) as worker:
        _until(lambda: queue.waiting() == 0)
    assert sorted(bench.tried) == ids and max(most) == 1
    assert {catalogue.document(each).state for each in ids} == {DocumentState.READY}


def _run(jobs: Coroutine[object, object, None]) -> None:
    """In a thread of its own: another test may have left an event loop running in this one."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, jobs).result(60)


async def _in_order(slots: JobSlots, order: list[str], name: str, *, alone: bool = False) -> None:
    async with slots.slot(alone=alone):
        order.append(name)


def test_a_job_that_runs_alone_waits_for_those_that_only_wait_and_is_not_passed() -> None:
    order: list[str] = []

    async def jobs() -> None:
        slots = JobSlots(2)
        async with slots.slot() as waiting:
            waiting.wait()
            async with slots.slot(), slots.slot():  # two run besides
                asked = [_in_order(slots, order, name, alone=name == "alone") for name in ("one", "alone", "other")]
                tasks = [asyncio.create_task(each) for each in asked]
                await _some_turns()
                assert order == []
            await _some_turns()
            assert order == ["one"]
        await asyncio.wait_for(asyncio.gather(*tasks), 60)

    _run(jobs())
    assert order == ["one", "alone", "other"]


async def _some_turns() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_as_many_jobs_are_fetched_as_run_besides_those_that_wait() -> None:
    async def jobs() -> None:
        permits = FetchPermits(1)
        await permits.acquire()
        assert permits.locked()
        permits.wait_with_job()
        await permits.acquire()
        assert permits.locked()
        permits.release()
        assert permits.locked()
        permits.release()
        assert not permits.locked()
        await permits.acquire()
        assert permits.locked()

    _run(jobs())


def _met(together: threading.Barrier) -> None:
    together.wait(30)


def test_the_neighbour_of_a_file_that_kills_its_worker_is_not_blamed(database: Database) -> None:
    """Both were under way when the process died; each is tried again alone, as often as it takes."""
    catalogue, queue, ids = _queued(database, "a", "b")
    _tried(database, ATTEMPTS - 2)
    command = [sys.executable, "-c", _KILLED_BESIDE, _url(database.engine), database.tenant]
    assert subprocess.run(command, timeout=60, check=False).returncode == -9
    running, most = set(), []

    def ingest(document_id: int) -> None:
        running.add(document_id)
        most.append(len(running))
        running.discard(document_id)

    bench = Bench(catalogue, ingest)
    with working(database, bench, at_once=2):
        _until(lambda: queue.waiting() == 0)
    assert {catalogue.document(each).state for each in ids} == {DocumentState.READY}
    assert most == [1, 1]


def _tried(database: Database, times: int) -> None:
    query = text("UPDATE procrastinate_jobs SET attempts = :times WHERE queue_name = :queue")
    with database.engine.begin() as connection:
        connection.execute(query, {"times": times, "queue": queue_name(database.tenant)})


@pytest.mark.parametrize("cancelled", [True, False])
def test_queueing_again_after_taking_out_works(database: Database, cancelled: bool) -> None:
    _, queue, (only,) = _queued(database, "a")
    if cancelled:
        assert list(queue.cancel([only])) == [only]
    queue.defer_ingest([only])
    assert queue.waiting() == 1
