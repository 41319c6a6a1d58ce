"""Use tracking is never in the way: nothing that happens to the log reaches a search, and what is lost is counted."""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from bootstrap.environment import utc_now
from core.domain.documents import Passage
from core.domain.errors import StoreFailed
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.search.store import DocumentUsage, UsageEvent, UsageKind, passage_uses
from core.search.usage_tracker import UsageTracker
from tests.fakes import FakeUsageLog
from tests.search.library import NOW, payroll_library

QUESTION = "When must employers deposit withheld income taxes?"


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.at = NOW

    def __call__(self) -> datetime:
        return self.at


class WatchedLog(FakeUsageLog):
    """A log that can be out of order, or held up; it counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.broken, self.reads, self.batches = False, 0, list[int]()
        self.open = threading.Event()
        self.open.set()

    @contextmanager
    def held_up(self) -> Iterator[None]:
        """Nothing is answered inside."""
        self.open.clear()
        try:
            yield
        finally:
            self.open.set()

    def record(self, events: Sequence[UsageEvent]) -> None:
        self._answer()
        self.batches.append(len(events))
        super().record(events)

    def uses(self, document_ids: Sequence[int]) -> Mapping[int, DocumentUsage]:
        self._answer()
        self.reads += 1
        return super().uses(document_ids)

    def _answer(self) -> None:
        assert self.open.wait(30)
        if self.broken:
            raise StoreFailed("The disk of the database is full.", "Make room.")


@pytest.fixture
def log() -> WatchedLog:
    return WatchedLog()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def made(log: WatchedLog, clock: Clock) -> Iterator[Callable[..., UsageTracker]]:
    """Makes recorders over the log, closed at the end."""
    recorders: list[UsageTracker] = []

    def make(**how: float) -> UsageTracker:
        recorders.append(UsageTracker(log, clock, **{"gather_seconds": 0.001, **how}))  # type: ignore[arg-type]
        return recorders[-1]

    yield make
    for recorder in recorders:
        recorder.close()


def passage(passage_id: int = 1, document_id: int = 7) -> Passage:
    return Passage("Pay overtime.", 1, 0, 13, (), id=passage_id, document_id=document_id)


def answer() -> SearchResult:
    return payroll_library().searcher.search(SearchRequest(QUESTION), NOW)


def test_what_was_shown_opened_cited_and_marked_is_told_apart(
    log: WatchedLog, made: Callable[..., UsageTracker]
) -> None:
    recorder, result = made(), answer()
    best = result.hits[0].candidate.passage
    recorder.shown(result, "Ann")
    recorder.opened(best, QUESTION, "Ann")
    recorder.cited(best, QUESTION, "Bob")
    recorder.mark(best, f"  {QUESTION}\n", " Cleo ", helpful=True)
    assert recorder.flush()
    mine = recorder.of_question(QUESTION)[best.id]
    assert (mine.opened, mine.cited, mine.helpful) == ({"Ann"}, {"Bob"}, {"Cleo"})
    assert recorder.uses([best.document_id]) == {best.document_id: DocumentUsage(3, NOW, (QUESTION,))}
    assert sorted(log.batches) != [] and sum(log.batches) == len(result.hits) + 3
    assert {each.kind for each in recorder.of_passage(best.id)} == {
        UsageKind.OPENED,
        UsageKind.CITED,
        UsageKind.HELPFUL,
    }


def test_the_latest_word_of_each_person_holds(made: Callable[..., UsageTracker]) -> None:
    recorder = made()
    for helpful in (True, False):
        recorder.mark(passage(), QUESTION, "Ann", helpful=helpful)
    recorder.mark(passage(), QUESTION, "Bob", helpful=True)
    statement = recorder.of_question(QUESTION)[1]
    assert (statement.helpful, statement.not_helpful) == ({"Bob"}, {"Ann"})
    assert recorder.uses([7])[7].uses == 1
    recorder.mark(passage(), QUESTION, "Ann", helpful=None)
    assert recorder.of_question(QUESTION)[1].not_helpful == frozenset()
    assert passage_uses([]) == {}


def test_a_page_that_draws_itself_anew_opens_and_cites_nothing_twice(
    made: Callable[..., UsageTracker], clock: Clock
) -> None:
    recorder = made()
    for _ in range(5):
        recorder.opened(passage(), QUESTION, "Ann")
        recorder.cited(passage(), QUESTION, "Ann")
    recorder.opened(passage(), QUESTION, "Bob")
    recorder.opened(passage(), "Another?", "Ann")
    recorder.flush()
    assert recorder.uses([7])[7].uses == 4
    clock.at += timedelta(minutes=11)
    recorder.opened(passage(), QUESTION, "Ann")
    recorder.flush()
    assert len(recorder.of_passage(1)) == 5


def test_a_failing_store_fails_no_search_and_what_is_lost_is_counted_and_told(
    log: WatchedLog, made: Callable[..., UsageTracker]
) -> None:
    recorder, result = made(), answer()
    assert recorder.notice == ""
    log.broken = True
    recorder.shown(result)
    recorder.opened(passage())
    assert recorder.uses([7, 8]) == {}
    recorder.flush()
    assert recorder.dropped == len(result.hits) + 1
    assert recorder.notice == (
        f"What was shown or opened could not be noted {recorder.dropped} times since 2026-01-15 12:00 UTC:"
        " The disk of the database is full. Search is not affected."
    )
    log.broken = False
    recorder.opened(passage(2))
    assert recorder.flush() and recorder.dropped == len(result.hits) + 1
    assert len(recorder.of_passage(2)) == 1


def test_what_is_done_on_purpose_fails_aloud_and_can_be_done_again(
    log: WatchedLog, made: Callable[..., UsageTracker]
) -> None:
    recorder = made()
    log.broken = True
    with pytest.raises(StoreFailed):
        recorder.mark(passage(), QUESTION, "Ann", helpful=True)
    with pytest.raises(StoreFailed):
        recorder.cited(passage(), QUESTION, "Ann")
    assert recorder.dropped == 0
    log.broken = False
    recorder.cited(passage(), QUESTION, "Ann")
    assert recorder.uses([7])[7].uses == 1


def test_a_store_that_hangs_holds_nobody_up_and_a_full_queue_drops(
    log: WatchedLog, made: Callable[..., UsageTracker]
) -> None:
    recorder = made(room=20)
    recorder.uses([7])
    with log.held_up():
        for number in range(100):
            recorder.opened(passage(number))
        assert recorder.uses([7]) == {}
        assert not recorder.flush(0.05)
        assert 100 - 20 - 20 <= recorder.dropped <= 80  # a first batch may be on its way
        assert "20 events were waiting already" in recorder.notice
    assert recorder.flush()
    assert recorder.dropped + sum(log.batches) == 100


def test_events_of_many_threads_are_all_written_in_few_batches(
    log: WatchedLog, made: Callable[..., UsageTracker]
) -> None:
    recorder = made(gather_seconds=0.05)

    def work(who: int) -> None:
        for number in range(200):
            recorder.opened(passage(number), who=f"r{who}")
            recorder.uses([7])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert recorder.flush()
    assert recorder.dropped == 0 and sum(log.batches) == 1600 and max(log.batches) <= 500
    assert log.uses([7])[7].uses == 1600


def test_uses_are_read_once_and_again_behind_the_search_when_they_are_old(
    log: WatchedLog, made: Callable[..., UsageTracker], clock: Clock
) -> None:
    recorder = made()
    log.record([UsageEvent(UsageKind.CITED, 7, 1, QUESTION, "Ann", NOW)])
    for _ in range(3):
        assert recorder.uses([7, 8])[7].uses == 1
    assert log.reads == 1
    log.record([UsageEvent(UsageKind.CITED, 8, 1, QUESTION, "Ann", NOW)])  # by another process
    assert set(recorder.uses([7, 8])) == {7} and log.reads == 1
    clock.at += timedelta(minutes=1)
    with log.held_up():
        assert set(recorder.uses([7, 8])) == {7}  # at once, as it was known
    assert recorder.flush()
    assert set(recorder.uses([7, 8])) == {7, 8} and log.reads == 2


def test_uses_that_are_old_are_read_before_the_search_where_nothing_is_remembered(
    log: WatchedLog, made: Callable[..., UsageTracker], clock: Clock
) -> None:
    recorder = made(remembers=False)
    log.record([UsageEvent(UsageKind.CITED, 7, 1, QUESTION, "Ann", NOW)])
    assert [recorder.uses([7])[7].uses for _ in range(2)] == [1, 1] and log.reads == 1
    log.record([UsageEvent(UsageKind.CITED, 7, 2, QUESTION, "Ben", NOW)])  # by another process
    clock.at += timedelta(minutes=1)
    assert recorder.uses([7])[7].uses == 2


def test_when_the_store_fails_later_what_was_known_is_still_told(
    log: WatchedLog, made: Callable[..., UsageTracker], clock: Clock
) -> None:
    recorder = made()
    log.record([UsageEvent(UsageKind.CITED, 7, 1, QUESTION, "Ann", NOW)])
    recorder.uses([7])
    log.broken = True
    clock.at += timedelta(minutes=1)
    recorder.uses([7])
    recorder.flush()
    assert recorder.uses([7])[7].uses == 1


def test_what_one_opens_is_seen_by_the_next_search(made: Callable[..., UsageTracker]) -> None:
    recorder = made()
    assert recorder.uses([7]) == {}
    recorder.opened(passage(), QUESTION)
    recorder.flush()
    assert recorder.uses([7])[7].questions == (QUESTION,)


def test_a_deleted_document_leaves_nothing_not_even_what_was_waiting(
    log: WatchedLog, made: Callable[..., UsageTracker]
) -> None:
    recorder = made(gather_seconds=30)
    recorder.cited(passage(), QUESTION)
    recorder.opened(passage(2), QUESTION)
    recorder.opened(passage(3, document_id=8), QUESTION)
    recorder.delete([7])
    recorder.flush()
    assert set(recorder.uses([7, 8])) == {8} == set(log.uses([7, 8]))
    assert recorder.of_passage(2) == []


def test_closing_writes_what_waits_and_what_comes_later_is_counted(log: WatchedLog) -> None:
    recorder = UsageTracker(log, gather_seconds=30, now=utc_now)
    recorder.opened(passage())
    recorder.close()
    recorder.close()
    assert log.uses([7])[7].uses == 1
    recorder.opened(passage(2))
    assert recorder.dropped == 1 and "the program is closing" in recorder.notice
    assert "1 time since" in recorder.notice


def test_a_recorder_that_is_not_used_starts_no_thread(log: WatchedLog) -> None:
    before = set(threading.enumerate())
    recorder = UsageTracker(log, now=utc_now)
    assert recorder.uses([1]) == {} and recorder.flush()
    recorder.close()
    assert set(threading.enumerate()) <= before


def test_an_answer_without_hits_shows_nothing(log: WatchedLog, made: Callable[..., UsageTracker]) -> None:
    recorder = made()
    recorder.shown(replace(answer(), hits=()))
    assert recorder.flush() and log.batches == []
