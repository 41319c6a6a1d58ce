"""The job queue in PostgreSQL (procrastinate): queued jobs survive the end of any process."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, delete, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from core.ports.job_queue import FailedWork, JobKind
from storage.postgres.database import Database, store_failures
from storage.postgres.tables import Base, allow, of_tenant, table_of

__all__ = ["FAILED_WORK", "TASK", "WORK", "PostgresJobQueue", "queue_name"]


class FailedWorkRow(Base):
    """Work that is no longer retried automatically; the row is deleted when the work succeeds later."""

    __tablename__ = "failed_work"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT, UPDATE (at, reason, remedy), DELETE"))

    kind: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    reason: Mapped[str]
    remedy: Mapped[str]


FAILED_WORK = table_of(FailedWorkRow)

TASK, WORK = "ingest", "work"
_PER_STATEMENT = 500  # jobs queued with one statement. Chosen by hand, not fitted.
_AFTER = dict.fromkeys((JobKind.ENRICH, JobKind.ALERT), 100_000)  # places behind the files; more than those of a batch
_ASIDE = (JobKind.ALERT, JobKind.MAIL, JobKind.WEBHOOK)  # change nothing that a search finds
_WAITING = text(
    "SELECT count(*) FROM procrastinate_jobs WHERE queue_name = :queue AND status IN ('todo', 'doing')"
    " AND coalesce(args ->> 'kind', '') <> ALL(CAST(:aside AS text[]))"
)
_LOWEST = text(  # a place is stored as a negative priority
    "SELECT -max(priority) FROM procrastinate_jobs WHERE queue_name = :queue AND task_name = :task AND status = 'todo'"
)
_KNOWN = text("SELECT queueing_lock FROM procrastinate_jobs WHERE status = 'todo' AND queueing_lock = ANY(:names)")
_QUEUED = text(
    "SELECT (args ->> 'document_id')::bigint FROM procrastinate_jobs"
    " WHERE queue_name = :queue AND task_name = :task AND status IN ('todo', 'doing')"
)
_CANCEL = text(
    "DELETE FROM procrastinate_jobs WHERE queue_name = :queue AND task_name = :task AND status = 'todo'"
    " AND (CAST(:ids AS bigint[]) IS NULL OR (args ->> 'document_id')::bigint = ANY(CAST(:ids AS bigint[])))"
    " RETURNING (args ->> 'document_id')::bigint"
)


def queue_name(tenant: str) -> str:
    """One queue per tenant. Short, because PostgreSQL truncates channel names at 63 characters."""
    return f"ingest-{sha256(tenant.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class _DeferredJob:
    """A job to queue. key: at most one job with this key waits at a time."""

    task: str
    key: str
    arguments: dict[str, Any]
    place: int


class PostgresJobQueue:
    """Implements core.ports.job_queue.JobQueue. A document waits at most once and never runs twice at the same time."""

    def __init__(self, engine: Engine, tenant: str) -> None:
        from procrastinate import App, SyncPsycopgConnector

        # Jobs are written through our own connections, so the connector never opens one.
        self._engine, self._name, self._app = engine, queue_name(tenant), App(connector=SyncPsycopgConnector())
        self._database = Database(engine, tenant)

    def defer_ingest(self, document_ids: Sequence[int], place: int | None = None) -> int:
        """Queue the ingestion of stored originals, except those already waiting. Raises StoreFailed."""
        first = self._first_place() if place is None else place
        self._defer(
            [
                _DeferredJob(TASK, f"{number}", {"document_id": int(number)}, first + turn)
                for turn, number in enumerate(document_ids)
            ]
        )
        return first + len(document_ids)

    def _first_place(self) -> int:
        """The place of a new batch. At the lowest waiting place itself, batches of one file that follow each other
        without a pause would keep that place the lowest for ever.
        """
        with store_failures("queueing a job"), self._engine.begin() as connection:
            lowest = connection.scalar(_LOWEST, {"queue": self._name, "task": TASK})
        return 0 if lowest is None else int(lowest) + 1

    def defer(self, kind: JobKind, ids: Sequence[int]) -> None:
        """Queue work of another kind, except what already waits. Raises StoreFailed."""
        after = _AFTER.get(kind, 0)
        self._defer(
            [
                _DeferredJob(WORK, f"{kind}:{number}", {"kind": str(kind), "number": int(number)}, after + turn)
                for turn, number in enumerate(ids)
            ]
        )

    def _defer(self, jobs: Sequence[_DeferredJob]) -> None:
        with store_failures("queueing a job"):
            for start in range(0, len(jobs), _PER_STATEMENT):
                self._defer_some({f"{self._name}:{each.key}": each for each in jobs[start : start + _PER_STATEMENT]})

    def _defer_some(self, jobs: dict[str, _DeferredJob]) -> None:
        """Queue the jobs not waiting yet with one statement; one by one if another process queued one meanwhile."""
        from procrastinate.exceptions import AlreadyEnqueued

        with self._engine.begin() as connection:
            known = set(connection.scalars(_KNOWN, {"names": list(jobs)}))
        fresh = {name: each for name, each in jobs.items() if name not in known}
        try:
            self._insert(fresh)
        except AlreadyEnqueued:
            for name, each in fresh.items():
                try:
                    self._insert({name: each})
                except AlreadyEnqueued:
                    continue

    def _insert(self, pending: dict[str, _DeferredJob]) -> None:
        if not pending:
            return
        with self._engine.begin() as connection:
            jobs = [
                self._app.configure_task(
                    each.task, queue=self._name, lock=name, queueing_lock=name, priority=-each.place
                ).make_new_job(**each.arguments)
                for name, each in pending.items()
            ]
            self._app.job_manager.batch_defer_jobs(jobs, connection=connection.connection.driver_connection)

    def without_job(self, document_ids: Sequence[int]) -> Sequence[int]:
        """Those among these documents that neither wait nor are being read; order kept. Raises StoreFailed."""
        with store_failures("looking for files without a job"), self._engine.begin() as connection:
            queued = set(connection.scalars(_QUEUED, {"queue": self._name, "task": TASK}))
        return [each for each in document_ids if each not in queued]

    def cancel(self, document_ids: Sequence[int] | None = None) -> Sequence[int]:
        """Remove waiting documents from the queue; None: all of them. Raises StoreFailed."""
        ids = None if document_ids is None else [int(each) for each in document_ids]
        with store_failures("taking files out of the queue"), self._engine.begin() as connection:
            return sorted(connection.scalars(_CANCEL, {"queue": self._name, "task": TASK, "ids": ids}))

    def waiting(self) -> int:
        """The number of jobs queued or running, without alerts and deliveries. Raises StoreFailed."""
        with store_failures("counting jobs"), self._engine.begin() as connection:
            return int(connection.scalar(_WAITING, {"queue": self._name, "aside": list(map(str, _ASIDE))}) or 0)

    def give_up(self, failed: FailedWork) -> None:
        """Record work that will not be retried automatically. Raises StoreFailed."""
        failure = {"at": failed.at, "reason": storable_text(failed.reason), "remedy": storable_text(failed.remedy)}
        key = {"tenant_id": self._database.tenant, "kind": str(failed.kind), "number": failed.number}
        with self._database.transaction("noting failed work") as connection:
            row = insert(FAILED_WORK).values(key | failure)
            connection.execute(row.on_conflict_do_update(index_elements=list(key), set_=failure))

    def settle(self, kind: JobKind, number: int) -> None:
        """Delete the record that work was given up. Raises StoreFailed."""
        own = (FAILED_WORK.c.tenant_id == self._database.tenant, FAILED_WORK.c.kind == str(kind))
        with self._database.transaction("noting work that is done") as connection:
            connection.execute(delete(FAILED_WORK).where(*own, FAILED_WORK.c.number == number))

    def failures(self) -> Sequence[FailedWork]:
        """Work given up and not completed since, newest first. Raises StoreFailed."""
        query = select(FAILED_WORK).where(FAILED_WORK.c.tenant_id == self._database.tenant)
        with self._database.transaction("reading failed work") as connection:
            rows = connection.execute(query.order_by(FAILED_WORK.c.at.desc(), FAILED_WORK.c.number)).all()
        return [FailedWork(JobKind(row.kind), row.number, row.at, row.reason, row.remedy) for row in rows]
