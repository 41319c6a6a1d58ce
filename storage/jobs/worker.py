"""Runs queued jobs in a thread of this process, and takes over jobs that a killed process left behind.

Each worker holds an advisory lock: PostgreSQL releases it as soon as the process ends and keeps it while the process
is busy or asleep. So a killed process's jobs are retried within seconds, and slow jobs are left alone. Jobs that were
running when a process died are retried one at a time, each alone (`JobSlots`): they share one lock, so only one of them
is ever fetched. This identifies the document that crashes its process, and no other one is blamed.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg

from core.domain.errors import FileTooCostly, FivefoldError, NotFound, StoreUnavailable
from core.library.background_jobs import JobHandler
from core.ports.job_queue import JobKind
from storage.jobs.queue import TASK, WORK, queue_name
from storage.jobs.slots import FetchPermits, JobSlot, JobSlots

if TYPE_CHECKING:
    from procrastinate import App, BaseRetryStrategy, JobContext
    from procrastinate.jobs import Job

__all__ = ["JobWorker"]

ATTEMPTS = 3
"""Attempts per job, and how often it may end its process. Chosen by hand, not fitted."""
STORE_ATTEMPTS = 30
"""Attempts while a store does not answer, within some 25 minutes: nothing is wrong with the file. Chosen by hand."""

_FIRST_WAIT_SECONDS, _LONGER_SECONDS, _LONGEST_WAIT_SECONDS = 2, 10, 60
"""Before the second attempt, added for each further one, and at most. Chosen by hand."""

_LOOK_SECONDS = 2.0  # between looks for new, and for abandoned, jobs. Chosen by hand.
_NEWBORN_SECONDS = 3  # a worker registers shortly before it takes its lock
_HEARTBEAT_SECONDS = 30.0  # between signs of life in the job table. Chosen by hand.
_FORGET_SECONDS = 86_400.0  # procrastinate prunes dead workers after it; advisory locks tell us sooner
_GRACE_SECONDS = 5.0  # time for a running job to end before it is returned to the queue. Chosen by hand, not fitted.
_STOP_SECONDS = 20.0  # how long stopping waits for the thread. Chosen by hand.
_LOCK_CLASS = 5_005  # of our advisory locks; arbitrary, but never to be changed
_ALIVE = "SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid = %s AND granted"
_COUNT_CRASHES = "UPDATE procrastinate_jobs SET args = args || jsonb_build_object('crashes', %s::int) WHERE id = %s"
_log = logging.getLogger(__name__)


class JobWorker:
    """Runs the jobs of one tenant. handlers: one for every kind of job. at_once: how many jobs run in parallel."""

    def __init__(self, conninfo: str, tenant: str, handlers: Mapping[JobKind, JobHandler], at_once: int = 1) -> None:
        self._conninfo, self._queue, self._handlers = conninfo, queue_name(tenant), handlers
        self._at_once, self._alone = at_once, f"{self._queue}:alone"
        self._files: dict[int, JobSlot] = {}  # those being read, by document
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = threading.Event()
        self._slots: JobSlots | None = None
        self._worker: Any = None  # procrastinate's Worker, whose methods carry no types
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="ingest worker", daemon=True)

    def start(self) -> None:
        """Start the thread; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Finish the running job, or return it to the queue after a few seconds. Safe to call again."""
        self._stopping.set()
        if self._worker is not None:
            self._worker.stop()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def let_wait(self, document_id: int) -> None:
        """A file that is read only waits to be stored from now on: another one may be read. Called by its thread."""
        with suppress(RuntimeError):  # the worker has stopped
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._make_room, document_id)

    def _make_room(self, document_id: int) -> None:
        slot = self._files.pop(document_id, None)
        if slot is not None and self._worker is not None:
            slot.wait()
            self._worker.permits.wait_with_job()

    async def _serve(self) -> None:
        from procrastinate.exceptions import ConnectorException

        self._loop = asyncio.get_running_loop()
        while not self._stopping.is_set():
            try:
                async with self._opened() as app:
                    await self._work(app)
            except (psycopg.Error, ConnectorException) as error:
                _log.warning("The database does not answer the worker: %s", error)
            if not self._stopping.is_set():
                await asyncio.sleep(_LOOK_SECONDS)

    @asynccontextmanager
    async def _opened(self) -> "AsyncIterator[App]":
        from procrastinate import App, PsycopgConnector

        app = App(connector=PsycopgConnector(conninfo=self._conninfo, min_size=1, max_size=4))
        retry = _retries()
        app.task(name=TASK, pass_context=True, retry=retry)(self._ingest)
        app.task(name=WORK, pass_context=True, retry=retry)(self._run_work)
        async with app.open_async():
            yield app

    async def _work(self, app: "App") -> None:
        self._slots = JobSlots(self._at_once)
        self._worker = _worker_type()(
            app,
            queues=[self._queue],
            concurrency=self._at_once,
            fetch_job_polling_interval=_LOOK_SECONDS,
            shutdown_graceful_timeout=_GRACE_SECONDS,
            delete_jobs="always",
            install_signal_handlers=False,
            update_heartbeat_interval=_HEARTBEAT_SECONDS,
            stalled_worker_timeout=_FORGET_SECONDS,
        )
        async with await psycopg.AsyncConnection.connect(self._conninfo, autocommit=True) as connection:
            _lock_when_registered(app, connection)
            watching = asyncio.create_task(self._watch(app, self._worker, connection))
            watching.add_done_callback(partial(_stop_without_watch, self._worker))
            try:
                await self._worker.run()
            finally:
                self._worker = None
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    async def _watch(self, app: "App", worker: Any, connection: "psycopg.AsyncConnection[Any]") -> None:
        """Take over the jobs of dead workers, until cancelled. connection: holds this worker's lock."""
        while worker.worker_id is None:
            await asyncio.sleep(0.01)
        if self._stopping.is_set():
            worker.stop()
        while True:
            alive = {row[0] for row in await (await connection.execute(_ALIVE, (_LOCK_CLASS,))).fetchall()}
            for job in await app.job_manager.get_stalled_jobs(
                queue=self._queue, seconds_since_heartbeat=_NEWBORN_SECONDS
            ):
                if job.worker_id not in alive:
                    await self._take_over(app, job, connection)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _take_over(self, app: "App", job: "Job", connection: "psycopg.AsyncConnection[Any]") -> None:
        """Queue the job of a dead worker again, to run alone, or give it up when it has ended too many."""
        from procrastinate.exceptions import UniqueViolation
        from procrastinate.jobs import Status
        from procrastinate.utils import utcnow

        crashes = _crashes(job) + 1  # not the job's attempts: a store that did not answer counts there too
        if crashes < ATTEMPTS:
            try:
                await connection.execute(_COUNT_CRASHES, (crashes, job.id))
                await app.job_manager.retry_job(job, retry_at=utcnow(), lock=self._alone)
                return
            except UniqueViolation:  # the same document waits already
                await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
                return
        await asyncio.to_thread(self._give_up, job, _crash_error(job))
        await app.job_manager.finish_job(job, Status.FAILED, delete_job=True)

    def _give_up(self, job: "Job", error: Exception) -> None:
        try:
            kind, number = _kind_and_number(job)
            self._handlers[kind].give_up(number, error)
        except NotFound:
            return  # deleted meanwhile
        except (FivefoldError, ValueError) as failure:  # if it cannot be recorded for the user, it is logged
            _log.warning("That job %s failed (%s) could not be noted: %s", job.id, error, failure)

    async def _ingest(self, context: "JobContext", document_id: int, crashes: int = 0) -> None:
        """crashes: how often the job ended its process; for `_take_over`."""
        await self._run(context.job, partial(self._handlers[JobKind.INGEST].run, document_id), document_id)

    async def _run_work(self, context: "JobContext", kind: str, number: int, crashes: int = 0) -> None:
        await self._run(context.job, lambda: self._handlers[JobKind(kind)].run(number))

    async def _run(self, job: "Job", work: Callable[[], object], document_id: int | None = None) -> None:
        """Run a job in a thread when a slot is free. An error is raised so that the job is retried; after the last
        attempt it is given up. document_id: of the file that it reads.
        """
        assert self._slots is not None
        async with self._slots.slot(alone=job.lock == self._alone) as slot:
            if document_id is not None:
                self._files[document_id] = slot
            # A thread of our own: a pool's threads would keep the process alive until the last page is read.
            outcome: Future[BaseException | None] = Future()
            outcome.set_running_or_notify_cancel()  # returning a job to the queue does not cancel its thread
            threading.Thread(target=_run_and_report, args=(work, outcome), name=str(job.task_name), daemon=True).start()
            try:
                error = await asyncio.wrap_future(outcome)
            finally:
                self._files.pop(document_id or 0, None)
        if error is None:
            return
        if job.attempts + 1 >= _most_attempts(error) and isinstance(error, Exception):
            await asyncio.to_thread(self._give_up, job, error)
        raise error


def _most_attempts(error: BaseException) -> int:
    return STORE_ATTEMPTS if isinstance(error, StoreUnavailable) else ATTEMPTS


def _retries() -> "BaseRetryStrategy":
    """A store that does not answer, or a model that is still being copied, may be available a little later."""
    from procrastinate import BaseRetryStrategy, RetryDecision

    class Retries(BaseRetryStrategy):
        def get_retry_decision(self, *, exception: BaseException, job: "Job") -> RetryDecision | None:
            if job.attempts + 1 >= _most_attempts(exception):
                return None
            seconds = min(_FIRST_WAIT_SECONDS + _LONGER_SECONDS * job.attempts, _LONGEST_WAIT_SECONDS)
            return RetryDecision(retry_in={"seconds": seconds})

    return Retries()


def _worker_type() -> Any:
    """procrastinate's worker, which fetches another job for each that only waits."""
    from procrastinate.worker import Worker

    class PatientWorker(Worker):
        permits: FetchPermits

        @property
        def _job_semaphore(self) -> FetchPermits:
            return self.permits

        @_job_semaphore.setter
        def _job_semaphore(self, made: asyncio.Semaphore) -> None:  # made anew whenever the worker starts
            self.permits = FetchPermits(self.concurrency)

    return PatientWorker


def _lock_when_registered(app: "App", connection: "psycopg.AsyncConnection[Any]") -> None:
    """Take the lock before the first job is fetched: loading models for it can keep this process from locking for
    longer than a newborn is given, and others would take the job for abandoned."""
    register = app.job_manager.register_worker

    async def registered() -> int:
        number = int(await register())
        await connection.execute("SELECT pg_advisory_lock(%s, %s)", (_LOCK_CLASS, number))
        return number

    app.job_manager.register_worker = registered  # type: ignore[method-assign]


def _stop_without_watch(worker: Any, watching: "asyncio.Task[None]") -> None:
    """A worker whose lock was lost with its connection stops and starts again: others take its jobs."""
    if not watching.cancelled() and watching.exception() is not None:
        _log.warning("The worker lost its lock, and starts again: %s", watching.exception())
        worker.stop()


def _kind_and_number(job: "Job") -> tuple[JobKind, int]:
    """The job's kind and number. Raises ValueError for a kind unknown to this version."""
    if job.task_name == TASK:
        return JobKind.INGEST, int(str(job.task_kwargs["document_id"]))
    return JobKind(str(job.task_kwargs["kind"])), int(str(job.task_kwargs["number"]))


def _crashes(job: "Job") -> int:
    """How often a job ended its process before."""
    return int(str(job.task_kwargs.get("crashes", 0)))


def _run_and_report(work: Callable[[], object], outcome: "Future[Any]") -> None:
    try:
        work()
        outcome.set_result(None)
    except NotFound:
        outcome.set_result(None)  # deleted while it waited
    except BaseException as error:  # noqa: BLE001 - handed over to the job, which raises it
        outcome.set_result(error)


def _crash_error(job: "Job") -> FileTooCostly:
    """The error to report for a job that crashed its process."""
    done = "Reading this file" if job.task_name == TASK else "This work"
    return FileTooCostly(
        f"{done} ended the program {ATTEMPTS} times.",
        "Save it again in another format, or split it, and upload that; or retry when more memory is free.",
    )
