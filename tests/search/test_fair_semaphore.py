"""Searches take turns in the order in which they came."""

from threading import Event, Thread
from time import sleep

import pytest

from core.search.fair_semaphore import FairSemaphore


def test_those_who_wait_are_served_in_their_order_and_nobody_overtakes() -> None:
    semaphore, served, release = FairSemaphore(1), list[int](), Event()

    def first() -> None:
        with semaphore:
            release.wait(10)

    def wait(number: int) -> None:
        with semaphore:
            served.append(number)

    threads = [Thread(target=first)]
    threads[0].start()
    for number in range(8):
        threads.append(Thread(target=wait, args=(number,)))
        threads[-1].start()
        while len(semaphore._waiting) <= number:  # each is in line before the next one comes
            sleep(0.001)
    release.set()
    for each in threads:
        each.join(10)
    assert served == list(range(8))


def test_at_most_so_many_have_a_turn_and_an_error_gives_it_back() -> None:
    semaphore, now, most = FairSemaphore(2), list[int](), list[int]()

    def work(number: int) -> None:
        try:
            with semaphore:
                now.append(number)
                most.append(len(now))
                sleep(0.002)
                now.remove(number)
                raise ValueError(number)
        except ValueError:
            pass

    threads = [Thread(target=work, args=(number,)) for number in range(20)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(10)
    assert len(most) == 20
    assert max(most) == 2
    with semaphore, semaphore:
        pass


def test_who_is_interrupted_while_waiting_leaves_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        """A lock whose second acquisition is interrupted, as by Ctrl+C."""

        def __init__(self) -> None:
            self.taken = False

        def acquire(self) -> None:
            if self.taken:
                raise KeyboardInterrupt
            self.taken = True

    semaphore = FairSemaphore(1)
    with semaphore:
        monkeypatch.setattr("core.search.fair_semaphore.Lock", Interrupted)
        with pytest.raises(KeyboardInterrupt), semaphore:
            pass
        assert not semaphore._waiting
    with semaphore:
        pass
