"""The job queue in PostgreSQL (procrastinate): what is queued survives any process."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import Engine, text

from core.jobs import JobKind
from storage.failures import store_failures

__all__ = ["TASK", "WORK", "IngestQueue", "queue_name"]

TASK, WORK = "ingest", "work"
_WAITING = text("SELECT count(*) FROM procrastinate_jobs WHERE queue_name = :queue AND status IN ('todo', 'doing')")


def queue_name(tenant: str) -> str:
    """One queue per tenant. Short, because PostgreSQL cuts the channel it announces jobs on at 63 characters."""
    return f"ingest-{sha256(tenant.encode()).hexdigest()[:16]}"


class IngestQueue:
    """core.jobs.JobQueue. A document waits at most once, and never runs twice at a time."""

    def __init__(self, engine: Engine, tenant: str) -> None:
        from procrastinate import App, SyncPsycopgConnector

        # Jobs go through our own connections, so the connector's are never opened.
        self._engine, self._tenant, self._app = engine, tenant, App(connector=SyncPsycopgConnector())

    def defer_ingest(self, document_ids: Sequence[int]) -> None:
        """Queue the ingestion of stored originals; one that waits already is not queued again. Raises StoreFailed."""
        for document_id in document_ids:
            self._defer(TASK, f"{document_id}", {"document_id": int(document_id)})

    def defer(self, kind: JobKind, ids: Sequence[int]) -> None:
        """Queue work of another kind; what waits already is not queued again. Raises StoreFailed."""
        for number in ids:
            self._defer(WORK, f"{kind}:{number}", {"kind": str(kind), "number": int(number)})

    def _defer(self, task: str, key: str, arguments: Mapping[str, Any]) -> None:
        from procrastinate.exceptions import AlreadyEnqueued

        name = f"{queue_name(self._tenant)}:{key}"
        with store_failures("queueing a job"):
            try:
                with self._engine.begin() as connection:
                    configured = self._app.configure_task(
                        task,
                        queue=queue_name(self._tenant),
                        lock=name,
                        queueing_lock=name,
                        connection=connection.connection.driver_connection,
                    )
                    configured.defer(**arguments)
            except AlreadyEnqueued:
                return

    def waiting(self) -> int:
        """Jobs queued or running. Raises StoreFailed."""
        with store_failures("counting jobs"), self._engine.begin() as connection:
            return int(connection.scalar(_WAITING, {"queue": queue_name(self._tenant)}) or 0)
