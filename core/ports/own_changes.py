"""Counts what a program changes, so that what it remembers of the stores never hides its own changes."""

from threading import Lock

__all__ = ["ChangeCount", "OwnChanges"]


class ChangeCount:
    """What is remembered for a while, because reading it at every search costs more, is remembered with the number of
    changes before it was read. Another number means: read it again. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._own = self._followed = 0

    @property
    def number(self) -> int:
        """How many changes there were."""
        return self._own + self._followed

    def note(self) -> None:
        """Something was changed that searches must see from now on."""
        with self._lock:
            self._own += 1

    def follow(self, number: int) -> None:
        """Another program, which this one works for, has made so many changes."""
        with self._lock:
            self._followed = max(self._followed, number)


class OwnChanges:
    """library: changes of documents and passages. choices: of the vocabulary and the score profiles. Search processes
    get both numbers with every question, so that they see what their app has changed."""

    def __init__(self) -> None:
        self.library, self.choices = ChangeCount(), ChangeCount()

    @property
    def numbers(self) -> tuple[int, int]:
        """How many changes of each there were."""
        return self.library.number, self.choices.number

    def follow(self, numbers: tuple[int, int]) -> None:
        """Another program, which this one works for, has made so many changes."""
        self.library.follow(numbers[0])
        self.choices.follow(numbers[1])
