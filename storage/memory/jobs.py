"""Jobs that run at once, in the caller."""

from collections.abc import Callable, Sequence
from functools import partial

from core.jobs import JobKind

__all__ = ["InlineJobs"]


def _nothing(document_id: int) -> None:
    """Until `run` is set, a deferred job stays undone."""


class InlineJobs:
    """core.jobs.JobQueue whose jobs end before `defer_ingest` returns. `run` can be set after construction, because
    the workbench that runs a job also needs the queue.

    >>> done = []
    >>> jobs = InlineJobs(); jobs.run = done.append
    >>> jobs.defer_ingest([3, 4]); done, jobs.waiting()
    ([3, 4], 0)
    """

    def __init__(self, run: Callable[[int], object] = _nothing) -> None:
        self.run = run
        self.work: Callable[[JobKind, int], object] = lambda kind, number: None
        self._running = 0

    def defer_ingest(self, document_ids: Sequence[int]) -> None:
        """Run each job now, in order."""
        for document_id in document_ids:
            self._now(partial(self.run, document_id))

    def defer(self, kind: JobKind, ids: Sequence[int]) -> None:
        """Do the work now, in order."""
        for number in ids:
            self._now(partial(self.work, kind, number))

    def _now(self, job: Callable[[], object]) -> None:
        self._running += 1
        try:
            job()
        finally:
            self._running -= 1

    def waiting(self) -> int:
        """Jobs running: above 0 only while seen from inside a job."""
        return self._running
