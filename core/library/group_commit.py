"""Group commit: what several threads want to store is stored together, as databases write their logs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Condition, Lock
from typing import Generic, TypeVar

__all__ = ["Announced", "GroupCommit"]

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Waiting(Generic[T]):
    """What one thread wants to store. patient: it waits for others. error: why it was not stored."""

    item: T
    patient: bool
    done: bool = False
    error: BaseException | None = None


class GroupCommit(Generic[T]):
    """Stores the items of many threads in groups. Thread-safe.

    store: stores some items, in the thread of one of them, and returns an error or None for each; if it raises, each is
    stored alone. most: items of a group. seconds: how long, at most, a group that is not full waits for the items
    that are `announced`; None: until they have come or their contexts have ended, also where an item is not patient.
    """

    def __init__(
        self, store: Callable[[Sequence[T]], Sequence[BaseException | None]], *, most: int, seconds: float | None
    ) -> None:
        self._store, self._most, self._seconds = store, most, seconds
        self._waiting: list[_Waiting[T]] = []
        self._coming = 0
        self._changed, self._turn = Condition(), Lock()

    def announced(self) -> "Announced[T]":
        """From now on others wait for an item, until it is stored or the returned context ends."""
        self._change(1)
        return Announced(self)

    def _put(self, own: _Waiting[T], *, announced: bool) -> None:
        self._change(-announced, own)
        with self._turn:  # one group at a time: concurrent writers would only wait for each other's rows
            while not own.done:
                self._store_group()
        if own.error is not None:
            raise own.error

    def _change(self, coming: int, *waiting: _Waiting[T]) -> None:
        with self._changed:
            self._coming += coming
            self._waiting += waiting
            self._changed.notify_all()

    def _store_group(self) -> None:
        with self._changed:
            self._changed.wait_for(self._is_complete, self._seconds)
            group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        self._settle(group)

    def _is_complete(self) -> bool:
        full = len(self._waiting) >= self._most or not self._coming
        return full or (self._seconds is not None and not all(each.patient for each in self._waiting))

    def _settle(self, group: Sequence[_Waiting[T]]) -> None:
        try:
            errors = self._store([each.item for each in group])
        except BaseException as error:  # noqa: BLE001 - raised in the thread that the item belongs to
            if len(group) > 1:
                for each in group:
                    self._settle([each])
                return
            errors = [error]
        for each, found in zip(group, errors, strict=True):
            each.error, each.done = found, True


class Announced(Generic[T]):
    """An item that is to come; a context, left by the thread that has it."""

    def __init__(self, group: GroupCommit[T]) -> None:
        self._group, self._called = group, False

    def __call__(self, item: T, *, patient: bool = True) -> None:
        """Store it, once at most; returns when it is stored, and raises its error. patient: it waits for others. Also
        after the context has ended."""
        announced, self._called = not self._called, True
        self._group._put(_Waiting(item, patient), announced=announced)

    def __enter__(self) -> "Announced[T]":
        return self

    def __exit__(self, *_: object) -> None:
        if not self._called:
            self._called = True
            self._group._change(-1)
