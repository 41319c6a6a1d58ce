"""The progress of one file through its steps: written where people see it, and bounded in time.

Every step has a deadline that grows with its work. A step says often how far it is; one that says nothing for too long
is seen by `overdue`, from another thread, so that a worker can end it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from core.domain.errors import Cure, FileTooCostly

__all__ = ["STEP_NAMES", "OverdueStep", "StepClock", "StepProgress"]

STEP_NAMES: Mapping[str, str] = {
    "read": "Reading",
    "load": "Loading the tables of",
    "split": "Splitting",
    "embed": "Embedding",
    "classify": "Classifying",
    "entities": "Finding the names in",
    "store": "Storing",
}
"""The steps in their order, as the message of a deadline begins."""
# Chosen by hand, not fitted.
_PASSAGES_PER_TURN = 1_000  # a step over passages has the seconds of one file for each so many
_TOLD_SECONDS = 1.0  # between two notes of progress within a step
_STEP_SECONDS = (
    0.25  # between a note and that of the next step: writing each step costs a small file more than reading it
)
_GRACE = 1.5  # of its deadline, after which a step that says nothing is overdue
_READING = 2.0  # times the seconds of a file: an archive is taken apart, then read, and the reader ends itself


@dataclass(frozen=True, slots=True)
class OverdueStep:
    """A step that neither ended nor said how far it is in its time."""

    document_id: int
    step: str
    error: FileTooCostly


@dataclass(slots=True)
class _Running:
    name: str
    step: str
    began: float
    turns: int
    reported_at: float = 0.0
    text: str = ""


class StepClock:
    """The deadlines of all files being read in this process. Thread-safe.

    seconds: of a step, for each thousand passages where a step works on passages. monotonic: a clock in seconds.
    """

    def __init__(self, seconds: float, monotonic: Callable[[], float]) -> None:
        self._seconds, self._monotonic = seconds, monotonic
        self._running: dict[int, _Running] = {}
        self._lock = Lock()

    def begin(self, document_id: int, name: str, tell: Callable[[str], None]) -> "StepProgress":
        """Follow a document. tell: notes a step, such as "embed 300/2000", where people see it; it may raise to end
        the work."""
        return StepProgress(self, document_id, name, tell)

    def at(self, document_id: int, name: str, text: str) -> bool:
        """Note how far a document is; returns whether to tell people. Raises FileTooCostly after the deadline."""
        now, step = self._monotonic(), text.partition(" ")[0]
        with self._lock:
            running = self._running.get(document_id)
            turns = max(_turns(text), running.turns if running is not None else 1)
            if running is None or running.step != step:
                tell = running is None or now - running.reported_at >= _STEP_SECONDS
                reported_at = now if running is None or tell else running.reported_at
                self._running[document_id] = _Running(name, step, now, turns, reported_at, text)
                return tell
            running.turns = turns
            if now - running.began > self._limit(running):
                raise self._too_slow(running)
            if text == running.text or now - running.reported_at < _TOLD_SECONDS:
                return False
            running.reported_at, running.text = now, text
            return True

    def end(self, document_id: int) -> None:
        """The document is done, well or not."""
        with self._lock:
            self._running.pop(document_id, None)

    def overdue(self) -> tuple[OverdueStep, ...]:
        """Steps that are beyond their deadline by half and have not ended."""
        now = self._monotonic()
        with self._lock:
            return tuple(
                OverdueStep(document_id, each.step, self._too_slow(each))
                for document_id, each in self._running.items()
                if now - each.began > _GRACE * self._limit(each)
            )

    def _limit(self, running: _Running) -> float:
        return self._seconds * (_READING if running.step == "read" else running.turns)

    def _too_slow(self, running: _Running) -> FileTooCostly:
        return FileTooCostly(
            f"{STEP_NAMES.get(running.step, running.step.capitalize())} '{running.name}' took more than"
            f" {self._limit(running):,.0f} seconds and was stopped.",
            "Split the file, or raise FIVEFOLD_FILE_SECONDS.",
            Cure.AGAIN,
        )


class StepProgress:
    """Called with the step of one document, and how far it is. A context manager."""

    def __init__(self, clock: StepClock, document_id: int, name: str, tell: Callable[[str], None]) -> None:
        self._clock, self._document_id, self._name, self._tell = clock, document_id, name, tell
        self.step = "read"

    def __call__(self, text: str) -> None:
        """Raises FileTooCostly after the deadline of the step, and whatever `tell` raises."""
        self.step = text
        if self._clock.at(self._document_id, self._name, text):
            self._tell(text)

    def __enter__(self) -> "StepProgress":
        return self

    def __exit__(self, *_: object) -> None:
        self._clock.end(self._document_id)


def _turns(text: str) -> int:
    """How often a step has the seconds of one file, by its passages; the steps after it have them too.

    >>> _turns("read"), _turns("split 900"), _turns("embed 300/2001")
    (1, 1, 3)
    """
    count = text.partition(" ")[2].rpartition("/")[2]
    return max(1, -(-int(count) // _PASSAGES_PER_TURN)) if count.isdecimal() else 1
