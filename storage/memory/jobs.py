"""Jobs that run at once, in the caller."""

from collections.abc import Callable, Sequence
from functools import partial

from core.jobs import FailedWork, JobKind

__all__ = ["InlineJobs"]


def _nothing(document_id: int) -> None:
    """Until `run` is set, a deferred job stays undone."""


class InlineJobs:
    """core.jobs.JobQueue whose jobs end before `defer_ingest` returns. `run` can be set after construction, because
    the workbench that runs a job also needs the queue. With `held` they wait until `run_held`.

    >>> done = []
    >>> jobs = InlineJobs(); jobs.run = done.append
    >>> jobs.defer_ingest([3, 4]); done, jobs.waiting()
    ([3, 4], 0)
    >>> jobs.held = True; jobs.defer_ingest([5, 6]); jobs.waiting(), jobs.cancel([5])
    (2, [5])
    >>> jobs.run_held(); done
    [3, 4, 6]
    """

    def __init__(self, run: Callable[[int], object] = _nothing) -> None:
        self.run = run
        self.work: Callable[[JobKind, int], object] = lambda kind, number: None
        self.held = False
        self._held: dict[int, int] = {}  # document → its place in its batch
        self._running = 0
        self._failed: dict[tuple[JobKind, int], FailedWork] = {}

    def defer_ingest(self, document_ids: Sequence[int], place: int = 0) -> None:
        """Run each job now, in order."""
        for turn, document_id in enumerate(document_ids):
            if self.held:
                self._held.setdefault(document_id, place + turn)
            else:
                self._now(partial(self.run, document_id))

    def run_held(self) -> None:
        """Run what was held, those with the lowest place in their batch first."""
        waiting, self._held = sorted(self._held, key=self._held.__getitem__), {}
        for document_id in waiting:
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

    def cancel(self, document_ids: Sequence[int] | None = None) -> Sequence[int]:
        """Take what is held out of the queue."""
        gone = sorted(self._held if document_ids is None else self._held.keys() & set(document_ids))
        for document_id in gone:
            del self._held[document_id]
        return gone

    def waiting(self) -> int:
        """Jobs held or running: above 0 without held ones only while seen from inside a job."""
        return self._running + len(self._held)

    def give_up(self, failed: FailedWork) -> None:
        """Note work that failed for good."""
        self._failed[failed.kind, failed.number] = failed

    def settle(self, kind: JobKind, number: int) -> None:
        """Forget that it failed."""
        self._failed.pop((kind, number), None)

    def given_up(self) -> Sequence[FailedWork]:
        """What failed for good, newest first."""
        return sorted(self._failed.values(), key=lambda each: (-each.at.timestamp(), each.number))
