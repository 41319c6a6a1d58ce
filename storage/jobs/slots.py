"""How many jobs of a worker run at a time."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["FILES_PER_JOB", "JobSlots", "jobs_at_once", "machine"]

FILES_PER_JOB = 8
"""Files that are under way for each that is read: those wait for one another to be stored. Chosen by hand."""

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


class JobSlots:
    """Admits some files and some other jobs at a time, so that neither waits for the other, or one job that must run
    alone. A job that was running when its process died is retried alone, so that a second crash is certainly caused by
    it.
    """

    def __init__(self, files: int, others: int) -> None:
        self._files, self._others = asyncio.Semaphore(files), asyncio.Semaphore(others)
        self._all = [self._files] * files + [self._others] * others

    @asynccontextmanager
    async def slot(self, *, file: bool, alone: bool = False) -> AsyncIterator[None]:
        """Wait for a slot, then run. Two jobs that must run alone must not call this at the same time: each would wait
        for the other.
        """
        acquired: list[asyncio.Semaphore] = []
        try:
            for each in self._all if alone else [self._files if file else self._others]:
                await each.acquire()
                acquired.append(each)
            yield
        finally:
            for each in acquired:
                each.release()
