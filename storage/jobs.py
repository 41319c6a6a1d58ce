"""The job queue in PostgreSQL (procrastinate): what is queued survives any process."""

from collections.abc import Sequence
from hashlib import sha256

from sqlalchemy import Engine, text

from storage.failures import store_failures

__all__ = ["TASK", "IngestQueue", "queue_name"]

TASK = "ingest"
_WAITING = text("SELECT count(*) FROM procrastinate_jobs WHERE queue_name = :queue AND status IN ('todo', 'doing')")


def queue_name(tenant: str) -> str:
    """One queue per tenant. Short, because PostgreSQL cuts the channel it announces jobs on at 63 characters."""
    return f"ingest-{sha256(tenant.encode()).hexdigest()[:16]}"


class IngestQueue:
    """ports.JobQueue. A document waits at most once, and never runs twice at a time."""

    def __init__(self, engine: Engine, tenant: str) -> None:
        from procrastinate import App, SyncPsycopgConnector

        # Jobs go through our own connections, so the connector's are never opened.
        self._engine, self._tenant, self._app = engine, tenant, App(connector=SyncPsycopgConnector())

    def defer_ingest(self, document_ids: Sequence[int]) -> None:
        """Queue the ingestion of stored originals; one that waits already is not queued again. Raises StoreFailed."""
        for document_id in document_ids:
            self._defer(int(document_id))

    def _defer(self, document_id: int) -> None:
        from procrastinate.exceptions import AlreadyEnqueued

        name = f"{queue_name(self._tenant)}:{document_id}"
        with store_failures("queueing a document"):
            try:
                with self._engine.begin() as connection:
                    task = self._app.configure_task(
                        TASK,
                        queue=queue_name(self._tenant),
                        lock=name,
                        queueing_lock=name,
                        connection=connection.connection.driver_connection,
                    )
                    task.defer(document_id=document_id)
            except AlreadyEnqueued:
                return

    def waiting(self) -> int:
        """Jobs queued or running. Raises StoreFailed."""
        with store_failures("counting jobs"), self._engine.begin() as connection:
            return int(connection.scalar(_WAITING, {"queue": queue_name(self._tenant)}) or 0)
