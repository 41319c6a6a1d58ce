"""What every core.coverage.meetings.store.MeetingStore does."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta

import pytest

from core.coverage.meetings.meeting import (
    AgendaItem,
    Contribution,
    ContributionKind,
    ContributionState,
    Meeting,
    MeetingState,
)
from core.coverage.meetings.minutes import make_minutes
from core.coverage.meetings.store import MeetingStore
from core.domain.coverage import Decision, ReviewVerdict
from core.domain.errors import BadRequest, NotFound
from storage.postgres.meetings import SqlMeetingStore
from tests.coverage.boards import citation
from tests.database import new_tenant
from tests.fakes import FakeMeetingStore
from tests.stores.contracts.usage import AT

AGENDA = (AgendaItem(1, "regulatory", "Größe – 残業?"), AgendaItem(2, "intent", "“due”; --"))
LATER, LOST = AT + timedelta(seconds=2), AT - timedelta(seconds=8)


def meeting_of(title: str = "Friday", project: str | None = None) -> Meeting:
    return Meeting(project, title, "Ann", AT, AGENDA, "Ann", AGENDA[0].key, ("Bob",), ("Ann",))


def said_in(meeting: Meeting, words: str = "It's “due”; --\x00") -> Contribution:
    return Contribution(meeting.id, ContributionKind.PROPOSAL, 1, "regulatory", "pay", "Bob", AT, words)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> MeetingStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeMeetingStore()
    return SqlMeetingStore(new_tenant(request.getfixturevalue("engine")))


def test_a_meeting_is_read_back_as_it_was_stored_and_listed_in_its_project_newest_first(store: MeetingStore) -> None:
    first, second = store.add_meeting(meeting_of()), store.add_meeting(meeting_of("Monday"))
    other = store.add_meeting(meeting_of(project="Tallgrass"))
    assert first == replace(meeting_of(), id=first.id) and store.meeting(first.id) == first
    assert list(store.meetings(None)) == [second, first] and list(store.meetings("Tallgrass")) == [other]
    assert list(store.meetings("Tall")) == []


def test_minutes_are_read_back_exactly(store: MeetingStore) -> None:
    meeting = store.add_meeting(meeting_of())
    store.beat(meeting.id, "Ann", AT, LOST)
    decision = Decision(
        1, "regulatory", None, ReviewVerdict.ACCEPTED, "Ann", AT, 1, id=3, pinned=(citation(),), meeting_id=meeting.id,
        present=("Ann",),
    )  # fmt: skip
    minutes = make_minutes(meeting, store.attendees(meeting.id), [said_in(meeting, "why")], [decision], None, {}, LATER)
    store.change_meeting(meeting.id, lambda each: replace(each, state=MeetingState.ENDED, minutes=minutes))
    assert store.meeting(meeting.id).minutes == minutes
    assert minutes.decisions[0].quotes == (citation(),)


def test_each_change_raises_the_version_and_one_that_fails_stores_nothing(store: MeetingStore) -> None:
    meeting = store.add_meeting(meeting_of())
    moved = store.change_meeting(meeting.id, lambda each: replace(each, at=AGENDA[1].key))
    assert (moved.version, store.version(meeting.id)) == (2, 2)

    def refused(each: Meeting) -> Meeting:
        raise BadRequest(f"Not {each.title}.")

    with pytest.raises(BadRequest, match="Not Friday"):
        store.change_meeting(meeting.id, refused)
    assert store.meeting(meeting.id) == moved


def test_changes_at_the_same_time_wait_for_each_other(store: MeetingStore) -> None:
    meeting = store.add_meeting(meeting_of())

    def step(_: int) -> None:
        store.change_meeting(meeting.id, lambda each: replace(each, decided=each.decided + 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(step, range(20)))
    assert store.meeting(meeting.id).decided == 20 and store.version(meeting.id) == 21


def test_only_coming_and_going_raises_the_version_not_every_report(store: MeetingStore) -> None:
    number = store.add_meeting(meeting_of()).id
    assert store.beat(number, "Ann", AT, LOST) == 2
    assert store.beat(number, "Bob", AT, LOST) == 3
    assert store.beat(number, "Ann", LATER, LOST) == 3 == store.version(number)
    late = LATER + timedelta(seconds=8)
    assert store.beat(number, "ann ", late, late - timedelta(seconds=8)) == 4
    assert [(each.name, each.present) for each in store.attendees(number)] == [("Ann", True), ("Bob", False)]
    assert store.beat(number, "Bob", late, LOST) == 5
    ann, bob = store.attendees(number)
    assert (ann.joined_at, ann.beat_at, bob.present, bob.joined_at) == (AT, late, True, AT)
    store.leave(number, "BOB", late)
    store.leave(number, "Bob", late)
    store.leave(number, "Nobody", late)
    assert store.version(number) == 6 and not store.attendees(number)[1].present


def test_reports_of_many_at_the_same_time_lose_nobody(store: MeetingStore) -> None:
    number = store.add_meeting(meeting_of()).id
    names = [f"Person {each}" for each in range(5)] * 4
    with ThreadPoolExecutor(5) as pool:
        list(pool.map(lambda name: store.beat(number, name, LATER, LATER), names))
    assert [each.name for each in store.attendees(number) if each.present] == sorted(set(names))


def test_contributions_are_kept_in_order_and_change(store: MeetingStore) -> None:
    meeting = store.add_meeting(meeting_of())
    first, second = store.add_contribution(said_in(meeting, "one")), store.add_contribution(said_in(meeting, "two"))
    taken = store.change_contribution(
        meeting.id, first.id, lambda each: replace(each, state=ContributionState.ACCEPTED)
    )
    assert list(store.contributions(meeting.id)) == [taken, second]
    assert store.version(meeting.id) == 4
    hostile = store.add_contribution(said_in(meeting))
    assert store.contributions(meeting.id)[-1].words.startswith("It's “due”; --") and hostile.id > second.id


def test_what_is_not_there_is_not_found(store: MeetingStore) -> None:
    meeting, other = store.add_meeting(meeting_of()), store.add_meeting(meeting_of())
    theirs = store.add_contribution(said_in(other))
    unknown = 10**9
    for call in (
        lambda: store.meeting(unknown),
        lambda: store.version(unknown),
        lambda: store.change_meeting(unknown, lambda each: each),
        lambda: store.beat(unknown, "Ann", AT, LOST),
        lambda: store.leave(unknown, "Ann", AT),
        lambda: store.add_contribution(replace(said_in(meeting), meeting_id=unknown)),
        lambda: store.change_contribution(meeting.id, theirs.id, lambda each: each),
    ):
        with pytest.raises(NotFound):
            call()
    assert list(store.attendees(unknown)) == list(store.contributions(unknown)) == []
