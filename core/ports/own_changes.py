"""Counts what a program changes, so that what it remembers of the stores never hides its own changes."""

from threading import Lock

__all__ = ["OwnChanges"]


class OwnChanges:
    """What is remembered for a while, because reading it at every search costs more, is remembered with the number of
    changes before it was read. Another number means: read it again. Search processes get the number with every
    question, so that they see what their app has changed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._number = 0

    @property
    def number(self) -> int:
        """How many changes there were."""
        return self._number

    def note(self) -> None:
        """Something was changed that searches must see from now on."""
        with self._lock:
            self._number += 1

    def follow(self, number: int) -> None:
        """Another program, which this one works for, has made so many changes."""
        with self._lock:
            self._number = max(self._number, number)
