"""A semaphore that keeps the order: at most a few searches at once in a process."""

from collections import deque
from threading import Lock
from types import TracebackType

__all__ = ["FairSemaphore"]

_AT_ONCE = 8
"""Three searches keep Python busy, and more slow each other down; but while pages are drawn, three threads get too
small a share of the processor. Chosen by hand."""


class FairSemaphore:
    """Whoever waits longest is next, while Python's semaphore lets anybody overtake.

    Python runs one thread at a time. Many searches side by side take more processor time than a few, as they wait for
    each other at every step, and all of them take longer.
    """

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._lock, self._free = Lock(), at_once
        self._waiting: deque[Lock] = deque()

    def __enter__(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        try:
            mine.acquire()  # released by whoever leaves
        except BaseException:
            with self._lock:
                waits = mine in self._waiting
                if waits:
                    self._waiting.remove(mine)
            if not waits:
                self._leave()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def _leave(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1
