"""How many jobs of a worker run at a time."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["FetchPermits", "JobSlot", "JobSlots", "jobs_at_once", "machine"]

_MEGABYTES_PER_JOB = 1024  # reading an ordinary file takes less
_MOST = 4  # more jobs would wait for the interpreter lock


def jobs_at_once(cores: int, megabytes: int) -> int:
    """How many documents are read in parallel on a machine with these cores and this memory.

    Two on two cores: while one document is embedded, another is parsed in its own process or written by PostgreSQL.
    Beyond four, jobs wait for Python's global interpreter lock. Reading an ordinary file takes less than a gigabyte.

    >>> jobs_at_once(1, 16_000), jobs_at_once(2, 16_000), jobs_at_once(16, 16_000), jobs_at_once(16, 1_500)
    (1, 2, 4, 1)
    """
    by_cores = cores if cores <= 2 else cores - 1
    return max(1, min(by_cores, _MOST, megabytes // _MEGABYTES_PER_JOB))


def machine() -> tuple[int, int]:
    """The CPU cores this process may use, and the memory of the machine in megabytes."""
    import psutil

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores, int(psutil.virtual_memory().total // 2**20)


class FetchPermits(asyncio.Semaphore):
    """How many jobs a worker may fetch besides those that only wait."""

    def __init__(self, permits: int) -> None:
        super().__init__(permits)
        self._waiting = 0

    def wait_with_job(self) -> None:
        """A job that has a permit only waits from now on: another one may be fetched."""
        self._waiting += 1
        super().release()

    def release(self) -> None:
        """A job ended. One of those that waited gave its permit back before; all count alike."""
        if self._waiting:
            self._waiting -= 1
        else:
            super().release()


class JobSlot:
    """The slot of a running job."""

    def __init__(self, slots: "JobSlots", size: int) -> None:
        self._slots, self.size = slots, size

    def wait(self) -> None:
        """The job only waits from now on: another one may run."""
        size, self.size = self.size, 0
        self._slots.free(size)


class JobSlots:
    """Admits up to `most` jobs at a time besides those that only wait, in the order in which they ask, or one that must
    run alone. A job that was running when its process died is retried alone, so that a second crash is most probably
    caused by it.
    """

    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self._admitted = 0
        self._entrance, self._changed = asyncio.Lock(), asyncio.Event()

    @asynccontextmanager
    async def slot(self, *, alone: bool = False) -> AsyncIterator[JobSlot]:
        """Wait for a slot, then run. alone: until every other job has ended; those that ask later wait behind it."""
        slot = JobSlot(self, self._most if alone else 1)
        async with self._entrance:
            while self._admitted if alone else not self._free:
                self._changed.clear()
                await self._changed.wait()
            self._free -= slot.size
            self._admitted += 1
        try:
            yield slot
        finally:
            self._admitted -= 1
            self.free(slot.size)

    def free(self, size: int) -> None:
        """Give slots back, and look again who may run."""
        self._free += size
        self._changed.set()
