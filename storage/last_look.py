"""When a process last looked at a store that other processes change, and whether that is recent enough."""

from time import monotonic

from core.ports.own_changes import ChangeCount

__all__ = ["LastLook"]


class LastLook:
    """seconds: how old a look may be, as the parts of a search look one after the other. own: changes of this process;
    a look that began before one of them is too old. Thread-safe."""

    def __init__(self, seconds: float = 0.0, own: ChangeCount | None = None) -> None:
        self.seconds, self.own = seconds, own or ChangeCount()
        self._noted = (float("-inf"), 0)

    def is_recent(self, within_seconds: float = 0.0) -> bool:
        """Whether the last look may be relied on. within_seconds: how old it may be, where that is longer."""
        at, changes = self._noted
        return changes == self.own.number and monotonic() - at < max(within_seconds, self.seconds)

    def begin(self) -> tuple[float, int]:
        """This moment, for `note` after the look."""
        return monotonic(), self.own.number

    def note(self, begun: tuple[float, int]) -> None:
        """The look that began then agreed with the store."""
        self._noted = begun
