"""Jobs that run at once, in the caller."""

from collections.abc import Callable, Sequence

__all__ = ["InlineJobs"]


def _nothing(document_id: int) -> None:
    """Until `run` is set, a deferred job stays undone."""


class InlineJobs:
    """ports.JobQueue whose jobs end before `defer_ingest` returns. `run` can be set after construction, because
    the workbench that runs a job also needs the queue.

    >>> done = []
    >>> jobs = InlineJobs(); jobs.run = done.append
    >>> jobs.defer_ingest([3, 4]); done, jobs.waiting()
    ([3, 4], 0)
    """

    def __init__(self, run: Callable[[int], object] = _nothing) -> None:
        self.run = run
        self._running = 0

    def defer_ingest(self, document_ids: Sequence[int]) -> None:
        """Run each job now, in order."""
        for document_id in document_ids:
            self._running += 1
            try:
                self.run(document_id)
            finally:
                self._running -= 1

    def waiting(self) -> int:
        """Jobs running: above 0 only while seen from inside a job."""
        return self._running
