"""At most a few searches at once in a process; the others wait in line."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["Turns"]

_AT_ONCE = 3
"""Two keep Python busy, a third one while they wait for the database; more only slow each other down."""


class Turns:
    """A semaphore that is fair: whoever waits longest is next, while Python's lets anybody overtake.

    Python runs one thread at a time. Many searches side by side take more processor time than a few, as they wait for
    each other at every step, and all of them end late.
    """

    def __init__(self, at_once: int = _AT_ONCE) -> None:
        self._lock, self._free = Lock(), at_once
        self._waiting: deque[Lock] = deque()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for a turn, and have it until the block ends."""
        self._take()
        try:
            yield
        finally:
            self._pass_on()

    def _take(self) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            mine = Lock()
            mine.acquire()
            self._waiting.append(mine)
        try:
            mine.acquire()  # released by whoever passes on
        except BaseException:
            with self._lock:
                still_waiting = mine in self._waiting
                if still_waiting:
                    self._waiting.remove(mine)
            if not still_waiting:
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1
