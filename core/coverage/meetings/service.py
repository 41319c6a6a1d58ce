"""Service of review meetings: one person presents the agenda cell by cell, everyone else follows and proposes."""
# Longer than 300 lines: every method checks the same few conditions, which are read together.

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from core.coverage.board_view import distinct_names
from core.coverage.meetings.meeting import (
    LOST_SECONDS,
    AgendaItem,
    Contribution,
    ContributionKind,
    ContributionState,
    Meeting,
    MeetingState,
    MeetingView,
    attendee_key,
)
from core.coverage.meetings.minutes import make_minutes
from core.coverage.meetings.store import MeetingNotifier, MeetingStore, SilentNotifier
from core.coverage.service import CoverageService
from core.domain.coverage import Board, Cell, Decision, ReviewerOpinion, ReviewVerdict
from core.domain.errors import BadRequest
from core.domain.people import Principal

__all__ = ["MeetingService"]

_LONGEST = 2_000  # characters of a contribution: more than anyone reads during a meeting


class MeetingService:
    """Meetings on coverage boards. `who` is always the name of the person who acts.

    Every method raises StoreFailed when the store fails, and NotFound for an unknown meeting.
    """

    def __init__(
        self,
        *,
        store: MeetingStore,
        coverage: CoverageService,
        now: Callable[[], datetime],
        notifier: MeetingNotifier | None = None,
    ) -> None:
        self._store, self._coverage, self._now = store, coverage, now
        self._notifier = notifier or SilentNotifier()

    # Reading

    def meetings(self, project: str | None) -> Sequence[Meeting]:
        """The meetings on a board, newest first, those under way and those that have ended."""
        return self._store.meetings(project)

    def meeting(self, meeting_id: int) -> Meeting:
        """One meeting; an ended one has its minutes."""
        return self._store.meeting(meeting_id)

    def version(self, meeting_id: int) -> int:
        """A number that rises with every change of the meeting; cheap enough to be read every second."""
        return self._store.version(meeting_id)

    def view(self, meeting_id: int) -> MeetingView:
        """The meeting with its attendees and contributions. The version is read first, so that it is never newer than
        what comes with it."""
        meeting = self._store.meeting(meeting_id)
        attendees, contributions = self._store.attendees(meeting_id), self._store.contributions(meeting_id)
        return MeetingView(meeting, tuple(attendees), tuple(contributions))

    # Coming and going

    def start(
        self,
        board: Board,
        title: str,
        agenda: Sequence[Cell],
        invited: Sequence[str],
        who: str,
        by: Principal | None = None,
    ) -> Meeting:
        """Start a meeting on a board; who starts it presents. invited: names of further people.

        Raises BadRequest without a name or without cells.
        """
        name = _named(who)
        if not agenda:
            raise BadRequest("The agenda has no cells.", "Choose the cells to review.")
        names = distinct_names(board)
        items = tuple(
            dict.fromkeys(
                AgendaItem(cell.topic_id, cell.kind.value, names.get(cell.topic_id, cell.topic)) for cell in agenda
            )
        )
        now = self._now()
        meeting = self._store.add_meeting(
            Meeting(
                project=board.project,
                title=" ".join(title.split()) or f"Review meeting, {now:%Y-%m-%d}",
                started_by=name,
                started_at=now,
                agenda=items,
                presenter=name,
                at=items[0].key,
                invited=_others(invited, name),
                presenters=(name,),
            )
        )
        self.beat(meeting.id, name)
        self._notifier.invited(meeting, by)
        return meeting

    def beat(self, meeting_id: int, who: str) -> int:
        """Report that a person is there; the first report lets them join. Gives the meeting's version.

        Whoever has not reported for LOST_SECONDS counts as away. Raises BadRequest without a name.
        """
        now = self._now()
        return self._store.beat(meeting_id, _named(who), now, now - timedelta(seconds=LOST_SECONDS))

    def leave(self, meeting_id: int, who: str) -> None:
        """Leave a meeting that goes on; nobody presents if the presenter leaves."""
        name = _named(who)
        self._store.leave(meeting_id, name, self._now())
        if self._store.meeting(meeting_id).is_presenter(name):
            self._store.change_meeting(meeting_id, lambda meeting: replace(meeting, presenter=""))

    # Presenting

    def present(self, meeting_id: int, who: str) -> Meeting:
        """Become the presenter. Raises BadRequest while somebody else presents and is there, or after the end."""
        name = _named(who)
        present = {attendee_key(each) for each in self.view(meeting_id).present}

        def changed(meeting: Meeting) -> Meeting:
            _check_open(meeting)
            holder = meeting.presenter
            if holder and not meeting.is_presenter(name) and attendee_key(holder) in present:
                raise BadRequest(f"{holder} is presenting.", f"Ask {holder} to let somebody else present.")
            known = {attendee_key(each) for each in meeting.presenters}
            presenters = meeting.presenters if attendee_key(name) in known else (*meeting.presenters, name)
            return replace(meeting, presenter=name, presenters=presenters)

        return self._store.change_meeting(meeting_id, changed)

    def stop_presenting(self, meeting_id: int, who: str) -> Meeting:
        """Let somebody else present. Raises BadRequest unless this person presents."""
        return self._as_presenter(meeting_id, who, lambda meeting: replace(meeting, presenter=""))

    def show(self, meeting_id: int, cell: str, who: str) -> Meeting:
        """Move everyone who follows to a cell, named as in a URL. Raises BadRequest unless this person presents, and
        for a cell that is not on the agenda."""

        def changed(meeting: Meeting) -> Meeting:
            if cell not in {item.key for item in meeting.agenda}:
                raise BadRequest("This cell is not on the agenda.", "Choose one of the list.")
            return replace(meeting, at=cell)

        return self._as_presenter(meeting_id, who, changed)

    def decide(
        self, meeting_id: int, board: Board, opinions: Sequence[tuple[Cell, ReviewerOpinion]], who: str
    ) -> Sequence[Decision]:
        """Store the presenter's decisions with the names of everyone who is there, all or none.

        Raises BadRequest unless this person presents, or naming what is missing; Outdated, naming the other decision,
        when someone has decided on one of the cells since.
        """
        view = self._presented(meeting_id, who)
        _check_project(view.meeting, [board.project])
        taken = [
            (cell, replace(opinion, who=_named(who), meeting_id=meeting_id, present=view.present))
            for cell, opinion in opinions
        ]
        stored = self._coverage.decide_together(board, taken)
        self._count(meeting_id)
        return stored

    def undo(self, meeting_id: int, decisions: Sequence[Decision], who: str) -> Sequence[Decision]:
        """Undo decisions that nobody has changed since, all or none; the log keeps both.

        Raises BadRequest unless this person presents, Outdated when someone has decided on one of them since.
        """
        _check_project(self._presented(meeting_id, who).meeting, [each.project for each in decisions])
        undone = self._coverage.undo_together(decisions, _named(who))
        self._count(meeting_id)
        return undone

    def undo_cell(self, meeting_id: int, board: Board, cell: Cell, after: int, who: str) -> Decision:
        """Undo the decision in force on a cell. after: the number of the last decision the presenter has seen.

        Raises BadRequest unless this person presents or when there is none, Outdated.
        """
        _check_project(self._presented(meeting_id, who).meeting, [board.project])
        undone = self._coverage.undo(board, cell, _named(who), after)
        self._count(meeting_id)
        return undone

    def end(self, meeting_id: int, who: str, by: Principal | None = None) -> Meeting:
        """End the meeting and store its minutes. Raises BadRequest unless this person presents."""
        view, now = self._presented(meeting_id, who), self._now()
        project = view.meeting.project
        log, board = self._coverage.log(project), self._coverage.board(project)
        boards = self._boards(project, {each.run_id for each in log if each.meeting_id == meeting_id})

        def changed(meeting: Meeting) -> Meeting:
            minutes = make_minutes(meeting, view.attendees, view.contributions, log, board, boards, now)
            return replace(meeting, state=MeetingState.ENDED, ended_at=now, minutes=minutes)

        ended = self._as_presenter(meeting_id, who, changed)
        if ended.minutes is not None:
            self._notifier.decided(ended, ended.minutes.decisions, by)
        return ended

    def _boards(self, project: str | None, run_ids: Collection[int]) -> Mapping[int, Board]:
        """The boards of these runs, as far as they are there."""
        there = [run.id for run in self._coverage.snapshots(project) if run.id in run_ids]
        found = {run_id: self._coverage.board(project, run_id) for run_id in there}
        return {run_id: board for run_id, board in found.items() if board is not None}

    # From every seat

    def propose(
        self, meeting_id: int, cell: str, verdict: ReviewVerdict, words: str, who: str, by: Principal | None = None
    ) -> Contribution:
        """Propose a verdict on a cell of the agenda, with a sentence. Raises BadRequest without one."""
        if not words.strip():
            raise BadRequest("A proposal needs a sentence.", "Say why.")
        return self._say(meeting_id, cell, ContributionKind.PROPOSAL, words, who, by, verdict=verdict)

    def comment(self, meeting_id: int, cell: str, words: str, who: str, by: Principal | None = None) -> Contribution:
        """Put a comment on record; @name tells that person on their Home. Raises BadRequest for an empty one."""
        return self._say(meeting_id, cell, ContributionKind.COMMENT, words, who, by)

    def raise_point(
        self,
        meeting_id: int,
        cell: str,
        words: str,
        who: str,
        owner: str = "",
        due: date | None = None,
        by: Principal | None = None,
    ) -> Contribution:
        """Put an open point on record; its owner is told. due: until when. Raises BadRequest for an empty one."""
        return self._say(meeting_id, cell, ContributionKind.OPEN_POINT, words, who, by, owner=owner, due=due)

    def accept(self, meeting_id: int, contribution_id: int, who: str) -> Contribution:
        """Mark a proposal as put into the decision form. Raises BadRequest unless this person presents."""
        self._presented(meeting_id, who)
        return self._store.change_contribution(
            meeting_id, contribution_id, lambda each: replace(each, state=ContributionState.ACCEPTED)
        )

    def withdraw(self, meeting_id: int, contribution_id: int, who: str) -> Contribution:
        """Take back one's own contribution. Raises BadRequest for somebody else's, NotFound."""
        _check_open(self._store.meeting(meeting_id))

        def changed(each: Contribution) -> Contribution:
            if attendee_key(each.who) != attendee_key(who):
                raise BadRequest(f"Only {each.who} can withdraw this.", "Comment on it instead.")
            return replace(each, state=ContributionState.WITHDRAWN)

        return self._store.change_contribution(meeting_id, contribution_id, changed)

    def _say(
        self,
        meeting_id: int,
        cell: str,
        kind: ContributionKind,
        words: str,
        who: str,
        by: Principal | None,
        *,
        verdict: ReviewVerdict | None = None,
        owner: str = "",
        due: date | None = None,
    ) -> Contribution:
        meeting = self._store.meeting(meeting_id)
        _check_open(meeting)
        item = next((each for each in meeting.agenda if each.key == cell), None)
        if item is None:
            raise BadRequest("This cell is not on the agenda.", "Choose one of the list.")
        if not words.strip():
            raise BadRequest("There is nothing to put on record.", "Write a sentence.")
        contribution = self._store.add_contribution(
            Contribution(
                meeting_id, kind, item.topic_id, item.kind, item.topic, _named(who), self._now(),
                words.strip()[:_LONGEST], verdict, " ".join(owner.split()), due,
            )
        )  # fmt: skip
        self._notifier.contributed(meeting, contribution, by)
        return contribution

    # What needs the presenter

    def _as_presenter(self, meeting_id: int, who: str, change: Callable[[Meeting], Meeting]) -> Meeting:
        def changed(meeting: Meeting) -> Meeting:
            _check_presenter(meeting, who)
            return change(meeting)

        return self._store.change_meeting(meeting_id, changed)

    def _presented(self, meeting_id: int, who: str) -> MeetingView:
        view = self.view(meeting_id)
        _check_presenter(view.meeting, who)
        return view

    def _count(self, meeting_id: int) -> None:
        self._store.change_meeting(meeting_id, lambda meeting: replace(meeting, decided=meeting.decided + 1))


def _named(who: str) -> str:
    name = " ".join(who.split())
    if not name:
        raise BadRequest("A meeting needs to know who you are.", "Enter your name first.")
    return name


def _others(names: Sequence[str], name: str) -> tuple[str, ...]:
    """Each name once, without the person themselves."""
    found = {attendee_key(each): " ".join(each.split()) for each in names if each.strip()}
    found.pop(attendee_key(name), None)
    return tuple(found.values())


def _check_open(meeting: Meeting) -> None:
    if meeting.state is MeetingState.ENDED:
        raise BadRequest("This meeting has ended.", "Its minutes are shown instead.")


def _check_project(meeting: Meeting, projects: Sequence[str | None]) -> None:
    if any(project != meeting.project for project in projects):
        raise BadRequest("This belongs to another board than the meeting.", "Decide it on its own board.")


def _check_presenter(meeting: Meeting, who: str) -> None:
    _check_open(meeting)
    if not meeting.is_presenter(who):
        now = f"{meeting.presenter} presents" if meeting.presenter else "Nobody presents"
        raise BadRequest(f"{now} now; only the presenter can do this.", "Propose it instead.")
