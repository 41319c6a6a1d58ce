"""Ports of review meetings: the store, and whom to tell. A store is bound to one tenant."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from core.coverage.meetings.meeting import Attendee, Contribution, Meeting, MinutesDecision
from core.domain.errors import NotFound
from core.domain.people import Principal

__all__ = ["MeetingNotifier", "MeetingStore", "SilentNotifier", "no_contribution", "no_meeting"]


class MeetingStore(Protocol):
    """Meetings with their attendees and contributions. Every change raises the meeting's version by one or more."""

    def add_meeting(self, meeting: Meeting) -> Meeting:
        """Store a new meeting (id 0)."""
        ...

    def meeting(self, meeting_id: int) -> Meeting:
        """One meeting. Raises NotFound."""
        ...

    def meetings(self, project: str | None) -> Sequence[Meeting]:
        """The meetings of exactly this project (None: of the whole library), newest first."""
        ...

    def version(self, meeting_id: int) -> int:
        """The version of a meeting: one row by its primary key. Raises NotFound."""
        ...

    def change_meeting(self, meeting_id: int, change: Callable[[Meeting], Meeting]) -> Meeting:
        """Store what `change` makes of the meeting; changes of the same meeting wait for each other.

        An error in `change` is raised and stores nothing. Raises NotFound.
        """
        ...

    def beat(self, meeting_id: int, name: str, at: datetime, lost_before: datetime) -> int:
        """Note that a person is there, and that everyone last seen before `lost_before` is away; gives the version,
        which rises only if somebody came, came back or went away. Names that differ in case are one person; the first
        spelling stays. Raises NotFound."""
        ...

    def leave(self, meeting_id: int, name: str, at: datetime) -> None:
        """Note that a person has left; one who never came is ignored. Raises NotFound."""
        ...

    def attendees(self, meeting_id: int) -> Sequence[Attendee]:
        """Everyone who ever came, in order of arrival."""
        ...

    def add_contribution(self, contribution: Contribution) -> Contribution:
        """Store a new contribution (id 0). Raises NotFound for an unknown meeting."""
        ...

    def contributions(self, meeting_id: int) -> Sequence[Contribution]:
        """Everything put on record in a meeting, oldest first."""
        ...

    def change_contribution(
        self, meeting_id: int, contribution_id: int, change: Callable[[Contribution], Contribution]
    ) -> Contribution:
        """Store what `change` makes of a contribution; an error in it stores nothing. Raises NotFound."""
        ...


class MeetingNotifier(Protocol):
    """Tells people outside the meeting: their Home shows it. by: who acts, None for the owner of the machine."""

    def invited(self, meeting: Meeting, by: Principal | None) -> None:
        """Tell the invited people."""
        ...

    def contributed(self, meeting: Meeting, contribution: Contribution, by: Principal | None) -> None:
        """Tell people mentioned as @name, and the owner of an open point."""
        ...

    def decided(self, meeting: Meeting, decisions: Sequence[MinutesDecision], by: Principal | None) -> None:
        """Tell the owners named in the decisions of an ended meeting."""
        ...


class SilentNotifier:
    """Tells nobody."""

    def invited(self, meeting: Meeting, by: Principal | None) -> None:
        """Nothing."""

    def contributed(self, meeting: Meeting, contribution: Contribution, by: Principal | None) -> None:
        """Nothing."""

    def decided(self, meeting: Meeting, decisions: Sequence[MinutesDecision], by: Principal | None) -> None:
        """Nothing."""


# Errors that every implementation raises


def no_meeting(meeting_id: int) -> NotFound:
    """The meeting is not stored."""
    return NotFound(f"There is no meeting {meeting_id}.", "Ask for its link again, or look at Coverage › Review.")


def no_contribution(contribution_id: int) -> NotFound:
    """The contribution is not stored."""
    return NotFound(f"There is no contribution {contribution_id} in this meeting.", "Look at the meeting again.")
