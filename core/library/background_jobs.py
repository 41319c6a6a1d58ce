"""Background jobs: one handler per kind, and the jobs that failed permanently."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.domain.errors import error_to_show
from core.ports.job_queue import FailedWork, JobKind, JobQueue

__all__ = ["BackgroundJobs", "JobHandler"]


@dataclass(frozen=True, slots=True)
class JobHandler:
    """Runs one kind of job. Both functions take the job's number (see JobKind).

    run: does the job; must be idempotent. give_up: records a permanent failure, with the error, where a user sees it.
    """

    run: Callable[[int], object]
    give_up: Callable[[int, Exception], None]


class BackgroundJobs:
    """The jobs of one tenant. `handlers` maps every kind to its handler.

    work: the handlers of all kinds but ingestion. ingestion: a separate handler, since its failures are stored on the
    document.
    """

    def __init__(
        self,
        queue: JobQueue,
        work: Mapping[JobKind, Callable[[int], object]],
        now: Callable[[], datetime],
        *,
        ingestion: JobHandler,
    ) -> None:
        self._queue, self._now = queue, now
        self.handlers: Mapping[JobKind, JobHandler] = {
            JobKind.INGEST: ingestion,
            **{kind: self._handler(kind, run) for kind, run in work.items()},
        }

    def _handler(self, kind: JobKind, run: Callable[[int], object]) -> JobHandler:
        def run_and_settle(number: int) -> None:
            run(number)
            self._queue.settle(kind, number)

        def give_up(number: int, error: Exception) -> None:
            shown = error_to_show(error)
            self._queue.give_up(FailedWork(kind, number, self._now(), shown.message, shown.hint))

        return JobHandler(run_and_settle, give_up)

    def failed(self) -> Sequence[FailedWork]:
        """Jobs that failed permanently and have not succeeded since, newest first."""
        return self._queue.failures()

    def retry(self, failed: FailedWork) -> None:
        """Queue a permanently failed job again."""
        self._queue.settle(failed.kind, failed.number)
        self._queue.defer(failed.kind, [failed.number])
