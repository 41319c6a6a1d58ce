"""Items of several threads are stored in groups, and each thread gets the error of its own item."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.library.group_commit import GroupCommit

LONG = 600.0  # a group that waited this long would fail the test by its timeout


class Shelf:
    """Stores numbers; refuses some."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.refused: set[int] = set()
        self.fails_together = False

    def store(self, items: Sequence[int]) -> Sequence[Exception | None]:
        self.groups.append(list(items))
        if self.fails_together and len(items) > 1:
            raise OSError("together")
        return [ValueError(str(each)) if each in self.refused else None for each in items]


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


def stored(group: GroupCommit[int], *items: int) -> list[str]:
    """Store each in a thread of its own, all announced before the first is stored; their errors."""
    together = threading.Barrier(len(items))

    def store(item: int) -> str:
        with group.announced() as put:
            together.wait(60)
            try:
                put(item)
            except Exception as error:  # noqa: BLE001 - compared by the tests
                return repr(error)
        return ""

    with ThreadPoolExecutor(len(items)) as pool:
        return list(pool.map(store, items))


def test_what_is_announced_is_stored_together(shelf: Shelf) -> None:
    group = GroupCommit(shelf.store, most=8, seconds=LONG)
    assert stored(group, 1, 2, 3, 4) == [""] * 4
    assert [sorted(each) for each in shelf.groups] == [[1, 2, 3, 4]]


def test_a_full_group_does_not_wait_for_the_others(shelf: Shelf) -> None:
    group = GroupCommit(shelf.store, most=2, seconds=LONG)
    with group.announced():
        assert stored(group, 1, 2, 3, 4) == [""] * 4
    assert sorted(len(each) for each in shelf.groups) == [2, 2]


def test_nothing_is_waited_for_that_was_not_announced_or_gave_up(shelf: Shelf) -> None:
    group = GroupCommit(shelf.store, most=8, seconds=LONG)
    with group.announced():
        pass
    with pytest.raises(KeyError), group.announced():
        raise KeyError
    assert stored(group, 1) == [""] and stored(group, 2) == [""]
    assert shelf.groups == [[1], [2]]


def test_a_group_waits_no_longer_than_it_may(shelf: Shelf) -> None:
    group = GroupCommit(shelf.store, most=8, seconds=0.01)
    with group.announced():  # announced, and never comes
        assert stored(group, 1) == [""]
    assert shelf.groups == [[1]]


def test_an_item_that_is_not_patient_waits_for_nobody(shelf: Shelf) -> None:
    group = GroupCommit(shelf.store, most=8, seconds=LONG)
    with group.announced(), group.announced() as put:
        put(1, patient=False)
    assert shelf.groups == [[1]]


def test_one_refused_item_is_the_error_of_its_thread_alone(shelf: Shelf) -> None:
    shelf.refused = {2}
    group = GroupCommit(shelf.store, most=8, seconds=LONG)
    assert stored(group, 1, 2, 3) == ["", "ValueError('2')", ""]
    assert len(shelf.groups) == 1


def test_what_fails_together_is_stored_one_by_one(shelf: Shelf) -> None:
    shelf.fails_together, shelf.refused = True, {3}
    group = GroupCommit(shelf.store, most=8, seconds=LONG)
    assert stored(group, 1, 2, 3) == ["", "", "ValueError('3')"]
    assert sorted(map(sorted, shelf.groups)) == [[1], [1, 2, 3], [2], [3]]
