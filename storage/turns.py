"""How many jobs of a process run beside each other, and when one must run alone."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Turns", "jobs_at_once", "machine"]

_MEGABYTES_PER_JOB = 1024
_MOST = 4


def jobs_at_once(cores: int, megabytes: int) -> int:
    """So many documents are read beside each other on a machine with these cores and this memory.

    Two even on two cores: while one is embedded, another is read in its own process or written by PostgreSQL. Beyond
    four, what runs in Python's one lock is what all wait for. A reader of an ordinary file takes less than a gigabyte.

    >>> jobs_at_once(1, 16_000), jobs_at_once(2, 16_000), jobs_at_once(16, 16_000), jobs_at_once(16, 1_500)
    (1, 2, 4, 1)
    """
    by_cores = cores if cores <= 2 else cores - 1
    return max(1, min(by_cores, _MOST, megabytes // _MEGABYTES_PER_JOB))


def machine() -> tuple[int, int]:
    """Cores this process may use, and megabytes of memory of the machine."""
    import psutil

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores, int(psutil.virtual_memory().total // 2**20)


class Turns:
    """Lets `most` jobs in at a time, or one that must be alone: a job that was under way when a process died is tried
    again with nothing beside it, so that what dies a second time is to blame and not its neighbour."""

    def __init__(self, most: int) -> None:
        self._most, self._free = most, asyncio.Semaphore(most)

    @asynccontextmanager
    async def turn(self, *, alone: bool) -> AsyncIterator[None]:
        """Wait, then run. No two that must be alone may ask at a time: each would wait for the other."""
        wanted, held = self._most if alone else 1, 0
        try:
            while held < wanted:
                await self._free.acquire()
                held += 1
            yield
        finally:
            for _ in range(held):
                self._free.release()
