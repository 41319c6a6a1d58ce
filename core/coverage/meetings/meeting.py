"""Values of a review meeting: the agenda, who is there, what people propose and say, and the minutes."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from core.domain.coverage import Decision, ReviewVerdict
from core.domain.results import Citation

__all__ = [
    "BEAT_SECONDS",
    "LOST_SECONDS",
    "AgendaItem",
    "Attendance",
    "Attendee",
    "Contribution",
    "ContributionKind",
    "ContributionState",
    "Meeting",
    "MeetingState",
    "MeetingView",
    "Minutes",
    "MinutesDecision",
    "MinutesPoint",
    "attendee_key",
]

BEAT_SECONDS = 2.0
"""How often an open browser reports that its person is there: one small write per seat."""

LOST_SECONDS = 10.0
"""After this long without a report a person counts as away: five missed reports, more than a reload of the page, or
the drawing of it on a busy machine, takes."""


def attendee_key(name: str) -> str:
    """What makes two names the same person: case and surrounding space do not count.

    >>> attendee_key(" Ann Lee ") == attendee_key("ann lee")
    True
    """
    return " ".join(name.split()).casefold()


class MeetingState(StrEnum):
    """State of a meeting."""

    OPEN = "open"
    ENDED = "ended"


class ContributionKind(StrEnum):
    """What somebody puts on record from their seat."""

    PROPOSAL = "proposal"
    COMMENT = "comment"
    OPEN_POINT = "open point"


class ContributionState(StrEnum):
    """Whether a contribution still waits, was put into the decision form, or was taken back by its author."""

    OPEN = "open"
    ACCEPTED = "accepted"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """One cell to review. kind: a GapKind's value. topic: its name when the agenda was made, with its project where
    another topic of the board has the same."""

    topic_id: int
    kind: str
    topic: str

    @property
    def key(self) -> str:
        """The cell as a URL names it: "regulatory:12"."""
        return f"{self.kind}:{self.topic_id}"


@dataclass(frozen=True, slots=True)
class Attendance:
    """One person's attendance. left_at: when they were last seen."""

    name: str
    joined_at: datetime
    left_at: datetime


@dataclass(frozen=True, slots=True)
class MinutesDecision:
    """One decision of a meeting, with the sentences it was taken on."""

    decision: Decision
    quotes: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class MinutesPoint:
    """Something that remains to be done. kind: a GapKind's value. who: who raised it, "" for an undecided cell."""

    topic: str
    kind: str
    words: str
    who: str = ""
    owner: str = ""
    due: date | None = None


@dataclass(frozen=True, slots=True)
class Contribution:
    """A proposal, a comment or an open point about one cell of the agenda. id: 0 until stored.

    verdict: of a proposal only. owner, due: of an open point. kind_of_cell: a GapKind's value; topic: its name."""

    meeting_id: int
    kind: ContributionKind
    topic_id: int
    kind_of_cell: str
    topic: str
    who: str
    at: datetime
    words: str = ""
    verdict: ReviewVerdict | None = None
    owner: str = ""
    due: date | None = None
    state: ContributionState = ContributionState.OPEN
    id: int = 0

    @property
    def cell(self) -> str:
        """The cell it is about, as a URL names it."""
        return f"{self.kind_of_cell}:{self.topic_id}"


@dataclass(frozen=True, slots=True)
class Minutes:
    """The record of an ended meeting; it does not change when decisions are changed later.

    absent: invited people who never came. decisions: those in force when the meeting ended. points: open points and
    agenda cells without a decision. remarks: proposals and comments, oldest first.
    """

    meeting_id: int
    title: str
    project: str | None
    started_at: datetime
    ended_at: datetime
    presenters: tuple[str, ...]
    attendance: tuple[Attendance, ...]
    absent: tuple[str, ...]
    agenda: tuple[AgendaItem, ...]
    decisions: tuple[MinutesDecision, ...]
    points: tuple[MinutesPoint, ...]
    remarks: tuple[Contribution, ...]


@dataclass(frozen=True, slots=True)
class Meeting:
    """A review meeting on one board. id: 0 until stored. project: of the board, None for the whole library.

    presenter: "" when nobody presents. at: the presented cell as a URL names it, "" with an empty agenda. presenters:
    everyone who presented, in order. decided: number of decisions taken or undone, so that browsers know when their
    board is outdated. version: rises with every change of the meeting, its attendees or contributions.
    """

    project: str | None
    title: str
    started_by: str
    started_at: datetime
    agenda: tuple[AgendaItem, ...]
    presenter: str
    at: str
    invited: tuple[str, ...] = ()
    presenters: tuple[str, ...] = ()
    decided: int = 0
    state: MeetingState = MeetingState.OPEN
    ended_at: datetime | None = None
    minutes: Minutes | None = None
    version: int = 1
    id: int = 0

    def is_presenter(self, name: str) -> bool:
        """Whether this person presents."""
        return bool(self.presenter) and attendee_key(self.presenter) == attendee_key(name)


@dataclass(frozen=True, slots=True)
class Attendee:
    """One person in a meeting. beat_at: when their browser last reported. present: False once reports stopped."""

    meeting_id: int
    name: str
    joined_at: datetime
    beat_at: datetime
    present: bool = True


@dataclass(frozen=True, slots=True)
class MeetingView:
    """A meeting with everyone who came, in order of arrival, and what they said, oldest first."""

    meeting: Meeting
    attendees: tuple[Attendee, ...]
    contributions: tuple[Contribution, ...]

    @property
    def present(self) -> tuple[str, ...]:
        """Names of the people who are there now, in order of arrival."""
        return tuple(each.name for each in self.attendees if each.present)

    @property
    def presenter_is_here(self) -> bool:
        """Whether somebody presents and their browser still reports."""
        return any(self.meeting.is_presenter(name) for name in self.present)
