"""Review meetings in dicts."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from threading import RLock

from core.coverage.meetings.meeting import Attendee, Contribution, Meeting, attendee_key
from core.coverage.meetings.store import no_contribution, no_meeting

__all__ = ["FakeMeetingStore"]


class FakeMeetingStore:
    """Implements core.coverage.meetings.store.MeetingStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._meetings: dict[int, Meeting] = {}
        self._attendees: dict[int, dict[str, Attendee]] = {}
        self._contributions: dict[int, Contribution] = {}

    def add_meeting(self, meeting: Meeting) -> Meeting:
        """Store a new meeting."""
        with self._lock:
            new = replace(meeting, id=next(self._ids), version=1)
            self._meetings[new.id], self._attendees[new.id] = new, {}
        return new

    def meeting(self, meeting_id: int) -> Meeting:
        """One meeting. Raises NotFound."""
        if meeting_id not in self._meetings:
            raise no_meeting(meeting_id)
        return self._meetings[meeting_id]

    def meetings(self, project: str | None) -> Sequence[Meeting]:
        """The meetings of exactly this project, newest first."""
        with self._lock:
            found = [meeting for meeting in self._meetings.values() if meeting.project == project]
        return sorted(found, key=lambda meeting: -meeting.id)

    def version(self, meeting_id: int) -> int:
        """The version of a meeting. Raises NotFound."""
        return self.meeting(meeting_id).version

    def change_meeting(self, meeting_id: int, change: Callable[[Meeting], Meeting]) -> Meeting:
        """Store what `change` makes of the meeting, one change after the other. Raises NotFound."""
        with self._lock:
            before = self.meeting(meeting_id)
            self._meetings[meeting_id] = replace(change(before), id=before.id, version=before.version + 1)
            return self._meetings[meeting_id]

    def beat(self, meeting_id: int, name: str, at: datetime, lost_before: datetime) -> int:
        """Note that a person is there and who is away; gives the version. Raises NotFound."""
        with self._lock:
            version, people = self.version(meeting_id), self._attendees[meeting_id]
            before = dict(people)
            known = people.get(attendee_key(name), Attendee(meeting_id, name, at, at, present=False))
            people[attendee_key(name)] = replace(known, beat_at=max(known.beat_at, at), present=True)
            for key, each in people.items():
                if key != attendee_key(name) and each.beat_at < lost_before:
                    people[key] = replace(each, present=False)
            here = {key for key, each in people.items() if each.present}
            if here != {key for key, each in before.items() if each.present}:
                version = self.change_meeting(meeting_id, lambda meeting: meeting).version
            return version

    def leave(self, meeting_id: int, name: str, at: datetime) -> None:
        """Note that a person has left. Raises NotFound."""
        with self._lock:
            self.meeting(meeting_id)
            known = self._attendees[meeting_id].get(attendee_key(name))
            if known is not None and known.present:
                self._attendees[meeting_id][attendee_key(name)] = replace(known, beat_at=at, present=False)
                self.change_meeting(meeting_id, lambda meeting: meeting)

    def attendees(self, meeting_id: int) -> Sequence[Attendee]:
        """Everyone who ever came, in order of arrival."""
        with self._lock:
            people = self._attendees.get(meeting_id, {})
            return [people[key] for key in sorted(people, key=lambda key: (people[key].joined_at, key))]

    def add_contribution(self, contribution: Contribution) -> Contribution:
        """Store a new contribution. Raises NotFound for an unknown meeting."""
        with self._lock:
            self.change_meeting(contribution.meeting_id, lambda meeting: meeting)
            new = replace(contribution, id=next(self._ids))
            self._contributions[new.id] = new
        return new

    def contributions(self, meeting_id: int) -> Sequence[Contribution]:
        """Everything put on record in a meeting, oldest first."""
        with self._lock:
            return [each for each in self._contributions.values() if each.meeting_id == meeting_id]

    def change_contribution(
        self, meeting_id: int, contribution_id: int, change: Callable[[Contribution], Contribution]
    ) -> Contribution:
        """Store what `change` makes of a contribution. Raises NotFound."""
        with self._lock:
            self.meeting(meeting_id)
            before = self._contributions.get(contribution_id)
            if before is None or before.meeting_id != meeting_id:
                raise no_contribution(contribution_id)
            self._contributions[contribution_id] = replace(change(before), id=before.id, meeting_id=meeting_id)
            self.change_meeting(meeting_id, lambda meeting: meeting)
            return self._contributions[contribution_id]
