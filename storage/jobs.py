"""The job queue in PostgreSQL (procrastinate): what is queued survives any process."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, delete, select, text
from sqlalchemy.dialects.postgresql import insert

from core.jobs import FailedWork, JobKind
from storage.batch_models import FAILED_WORK
from storage.database import Database
from storage.failures import store_failures
from storage.rows import storable_text

__all__ = ["TASK", "WORK", "IngestQueue", "queue_name"]

TASK, WORK = "ingest", "work"
_PER_STATEMENT = 500
_AFTER = {JobKind.ENRICH: 100_000}  # so many places behind the files that still have to be read
_WAITING = text("SELECT count(*) FROM procrastinate_jobs WHERE queue_name = :queue AND status IN ('todo', 'doing')")
_KNOWN = text("SELECT queueing_lock FROM procrastinate_jobs WHERE status = 'todo' AND queueing_lock = ANY(:names)")
_CANCEL = text(
    "DELETE FROM procrastinate_jobs WHERE queue_name = :queue AND task_name = :task AND status = 'todo'"
    " AND (CAST(:ids AS bigint[]) IS NULL OR (args ->> 'document_id')::bigint = ANY(CAST(:ids AS bigint[])))"
    " RETURNING (args ->> 'document_id')::bigint"
)


def queue_name(tenant: str) -> str:
    """One queue per tenant. Short, because PostgreSQL cuts the channel it announces jobs on at 63 characters."""
    return f"ingest-{sha256(tenant.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A job to be queued. key: what waits at most once."""

    task: str
    key: str
    arguments: dict[str, Any]
    place: int


class IngestQueue:
    """core.jobs.JobQueue. A document waits at most once, and never runs twice at a time."""

    def __init__(self, engine: Engine, tenant: str) -> None:
        from procrastinate import App, SyncPsycopgConnector

        # Jobs go through our own connections, so the connector's are never opened.
        self._engine, self._name, self._app = engine, queue_name(tenant), App(connector=SyncPsycopgConnector())
        self._database = Database(engine, tenant)

    def defer_ingest(self, document_ids: Sequence[int], place: int = 0) -> None:
        """Queue the ingestion of stored originals; one that waits already is not queued again. Raises StoreFailed."""
        self._defer(
            [
                _Wanted(TASK, f"{number}", {"document_id": int(number)}, place + turn)
                for turn, number in enumerate(document_ids)
            ]
        )

    def defer(self, kind: JobKind, ids: Sequence[int]) -> None:
        """Queue work of another kind; what waits already is not queued again. Raises StoreFailed."""
        after = _AFTER.get(kind, 0)
        self._defer(
            [
                _Wanted(WORK, f"{kind}:{number}", {"kind": str(kind), "number": int(number)}, after + turn)
                for turn, number in enumerate(ids)
            ]
        )

    def _defer(self, wanted: Sequence[_Wanted]) -> None:
        with store_failures("queueing a job"):
            for start in range(0, len(wanted), _PER_STATEMENT):
                self._defer_some({f"{self._name}:{each.key}": each for each in wanted[start : start + _PER_STATEMENT]})

    def _defer_some(self, wanted: dict[str, _Wanted]) -> None:
        """Those that do not wait yet at once; one by one where another process was faster."""
        from procrastinate.exceptions import AlreadyEnqueued

        with self._engine.begin() as connection:
            known = set(connection.scalars(_KNOWN, {"names": list(wanted)}))
        fresh = {name: each for name, each in wanted.items() if name not in known}
        try:
            self._insert(fresh)
        except AlreadyEnqueued:
            for name, each in fresh.items():
                try:
                    self._insert({name: each})
                except AlreadyEnqueued:
                    continue

    def _insert(self, wanted: dict[str, _Wanted]) -> None:
        if not wanted:
            return
        with self._engine.begin() as connection:
            jobs = [
                self._app.configure_task(
                    each.task, queue=self._name, lock=name, queueing_lock=name, priority=-each.place
                ).make_new_job(**each.arguments)
                for name, each in wanted.items()
            ]
            self._app.job_manager.batch_defer_jobs(jobs, connection=connection.connection.driver_connection)

    def cancel(self, document_ids: Sequence[int] | None = None) -> Sequence[int]:
        """Take documents that still wait out of the queue, None: all of them. Raises StoreFailed."""
        ids = None if document_ids is None else [int(each) for each in document_ids]
        with store_failures("taking files out of the queue"), self._engine.begin() as connection:
            return sorted(connection.scalars(_CANCEL, {"queue": self._name, "task": TASK, "ids": ids}))

    def waiting(self) -> int:
        """Jobs queued or running. Raises StoreFailed."""
        with store_failures("counting jobs"), self._engine.begin() as connection:
            return int(connection.scalar(_WAITING, {"queue": self._name}) or 0)

    def give_up(self, failed: FailedWork) -> None:
        """Note work that will not be tried again by itself. Raises StoreFailed."""
        said = {"at": failed.at, "reason": storable_text(failed.reason), "remedy": storable_text(failed.remedy)}
        key = {"tenant_id": self._database.tenant, "kind": str(failed.kind), "number": failed.number}
        with self._database.transaction("noting failed work") as connection:
            row = insert(FAILED_WORK).values(key | said)
            connection.execute(row.on_conflict_do_update(index_elements=list(key), set_=said))

    def settle(self, kind: JobKind, number: int) -> None:
        """Forget that work was given up. Raises StoreFailed."""
        own = (FAILED_WORK.c.tenant_id == self._database.tenant, FAILED_WORK.c.kind == str(kind))
        with self._database.transaction("noting work that is done") as connection:
            connection.execute(delete(FAILED_WORK).where(*own, FAILED_WORK.c.number == number))

    def given_up(self) -> Sequence[FailedWork]:
        """Work given up and not done since, newest first. Raises StoreFailed."""
        query = select(FAILED_WORK).where(FAILED_WORK.c.tenant_id == self._database.tenant)
        with self._database.transaction("reading failed work") as connection:
            rows = connection.execute(query.order_by(FAILED_WORK.c.at.desc(), FAILED_WORK.c.number)).all()
        return [FailedWork(JobKind(row.kind), row.number, row.at, row.reason, row.remedy) for row in rows]
