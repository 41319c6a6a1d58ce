"""Review meetings: who presents, who is there, what is proposed and decided, and the minutes."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from core.coverage.meetings.meeting import (
    LOST_SECONDS,
    Contribution,
    ContributionState,
    Meeting,
    MeetingState,
    Minutes,
    MinutesDecision,
)
from core.coverage.meetings.minutes import minutes_data
from core.coverage.meetings.service import MeetingService
from core.domain.coverage import Board, Cell, CellState, Decision, GapKind, ReviewerOpinion, ReviewVerdict, Topic
from core.domain.errors import BadRequest, FivefoldError, NotFound, Outdated
from core.domain.people import Principal
from core.workbench import Workbench
from tests.coverage.boards import NOW
from tests.fakes import FakeMeetingStore
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

POLICY = b"# Overtime policy\nAll overtime must be approved in writing by a manager before it is worked.\n"


class Room:
    """A library with a board, a clock that is set by hand, and a note of whom Home would tell."""

    def __init__(self, folder: Path) -> None:
        self.at = NOW
        self.stores = Stores(WordEmbedder())
        self.workbench: Workbench = built(self.stores, folder, self.now)
        self.told: list[str] = []
        self.workbench.documents.upload("policy.md", POLICY)
        self.coverage = self.workbench.coverage
        self.coverage.add_topics([Topic("overtime approved in writing"), Topic("zebra husbandry")])
        self.coverage.runs.carry_out(self.coverage.runs.start(None).id)
        self.meetings = MeetingService(
            store=FakeMeetingStore(), coverage=self.coverage, now=self.now, notifier=_Notes(self.told)
        )

    def now(self) -> datetime:
        return self.at

    def later(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    @property
    def board(self) -> Board:
        board = self.coverage.board(None)
        assert board is not None
        return board

    @property
    def cells(self) -> Sequence[Cell]:
        return [item.cell for item in self.coverage.queue(self.board)]

    def started(self, *people: str) -> Meeting:
        """A meeting that Ann presents, in which these people have arrived."""
        meeting = self.meetings.start(self.board, "", self.cells, ("Bob", "ann", "Cid"), "Ann")
        for name in people:
            self.meetings.beat(meeting.id, name)
        return meeting

    def opinion(
        self, cell: Cell, verdict: ReviewVerdict = ReviewVerdict.CONFIRMED, words: str = ""
    ) -> tuple[Cell, ReviewerOpinion]:
        """What the form makes of a click, after whatever is decided now."""
        log = self.coverage.log(None)
        seen = sum((each.topic_id, each.kind) == (cell.topic_id, cell.kind.value) for each in log)
        return cell, ReviewerOpinion(verdict, "Mallory", seen, comment=words, owner="Bob")

    def decided(self, meeting: Meeting, cell: Cell, who: str = "Ann") -> Decision:
        return self.meetings.decide(meeting.id, self.board, [self.opinion(cell)], who)[0]


class _Notes:
    def __init__(self, values: list[str]) -> None:
        self.told = values

    def invited(self, meeting: Meeting, by: Principal | None) -> None:
        self.told += [f"{name} is invited to {meeting.title}" for name in meeting.invited]

    def contributed(self, meeting: Meeting, contribution: Contribution, by: Principal | None) -> None:
        self.told.append(f"{contribution.who}: {contribution.words}")

    def decided(self, meeting: Meeting, decisions: Sequence[MinutesDecision], by: Principal | None) -> None:
        self.told += [f"{each.decision.owner} owns {each.decision.verdict.value}" for each in decisions]


@pytest.fixture
def room(tmp_path: Path) -> Room:
    return Room(tmp_path)


def test_who_starts_a_meeting_presents_its_worst_cell_and_the_others_are_told(room: Room) -> None:
    meeting = room.started()
    assert (meeting.presenter, meeting.at) == ("Ann", meeting.agenda[0].key)
    assert [item.key for item in meeting.agenda] == [f"{cell.kind.value}:{cell.topic_id}" for cell in room.cells]
    assert meeting.invited == ("Bob", "Cid"), "not the person who started it"
    assert room.told == [f"{name} is invited to Review meeting, 2026-01-15" for name in ("Bob", "Cid")]
    assert room.meetings.view(meeting.id).present == ("Ann",)
    assert [each.id for each in room.meetings.meetings(None)] == [meeting.id]


def test_a_meeting_needs_a_name_and_cells(room: Room) -> None:
    with pytest.raises(BadRequest, match="who you are"):
        room.meetings.start(room.board, "x", room.cells, (), "  ")
    with pytest.raises(BadRequest, match="no cells"):
        room.meetings.start(room.board, "x", (), (), "Ann")
    with pytest.raises(NotFound):
        room.meetings.beat(10**9, "Ann")


def test_only_the_presenter_moves_everyone_and_only_to_cells_of_the_agenda(room: Room) -> None:
    meeting = room.started("Bob")
    second = meeting.agenda[1].key
    with pytest.raises(BadRequest, match="Ann presents now"):
        room.meetings.show(meeting.id, second, "Bob")
    with pytest.raises(BadRequest, match="not on the agenda"):
        room.meetings.show(meeting.id, "regulatory:999", "Ann")
    before = room.meetings.version(meeting.id)
    assert room.meetings.show(meeting.id, second, " ANN ").at == second
    assert room.meetings.version(meeting.id) == before + 1


def test_who_comes_late_finds_the_meeting_where_it_is_and_is_in_the_minutes(room: Room) -> None:
    meeting = room.started("Bob")
    room.meetings.show(meeting.id, meeting.agenda[2].key, "Ann")
    room.decided(meeting, room.cells[2])
    room.later(60)
    for name in ("Ann", "Bob", "Eve"):
        room.meetings.beat(meeting.id, name)
    view = room.meetings.view(meeting.id)
    assert view.present == ("Ann", "Bob", "Eve") and view.meeting.at == meeting.agenda[2].key
    minutes = ended(room, meeting)
    assert [(each.name, each.joined_at) for each in minutes.attendance][-1] == ("Eve", NOW + timedelta(seconds=60))
    assert minutes.absent == ("Cid",)
    assert minutes.decisions[0].decision.present == ("Ann", "Bob"), "Eve was not there when it was decided"


def test_when_the_presenter_is_lost_anybody_present_can_present_instead(room: Room) -> None:
    meeting = room.started("Bob", "Cid")
    with pytest.raises(BadRequest, match="Ann is presenting"):
        room.meetings.present(meeting.id, "Bob")
    for _ in range(5):
        room.later(LOST_SECONDS / 4)
        room.meetings.beat(meeting.id, "Bob")
        room.meetings.beat(meeting.id, "Cid")
    view = room.meetings.view(meeting.id)
    assert not view.presenter_is_here and view.present == ("Bob", "Cid")
    assert room.meetings.present(meeting.id, "Bob").presenters == ("Ann", "Bob")
    with pytest.raises(BadRequest, match="Bob is presenting"):
        room.meetings.present(meeting.id, "Cid")
    room.meetings.beat(meeting.id, "Ann")
    with pytest.raises(BadRequest, match="Bob presents now"):
        room.meetings.show(meeting.id, meeting.agenda[1].key, "Ann")


def test_of_several_who_want_to_present_at_once_one_does(room: Room) -> None:
    meeting = room.started("Bob", "Cid", "Dan")
    assert room.meetings.stop_presenting(meeting.id, "Ann").presenter == ""

    def tried(name: str) -> str:
        try:
            return room.meetings.present(meeting.id, name).presenter
        except BadRequest as problem:
            return problem.message

    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(tried, ("Bob", "Cid", "Dan")))
    presenter = room.meetings.meeting(meeting.id).presenter
    assert sorted(answers) == sorted([presenter, *[f"{presenter} is presenting."] * 2])


def test_a_presenter_who_leaves_frees_the_chair(room: Room) -> None:
    meeting = room.started("Bob")
    room.meetings.leave(meeting.id, "Ann")
    assert room.meetings.meeting(meeting.id).presenter == ""
    assert room.meetings.present(meeting.id, "Bob").presenter == "Bob"
    room.meetings.leave(meeting.id, "Nobody we know")


def test_the_presenters_decision_records_who_was_there_under_the_presenters_own_name(room: Room) -> None:
    meeting = room.started("Bob")
    decision = room.decided(meeting, room.cells[0])
    assert (decision.who, decision.present, decision.meeting_id) == ("Ann", ("Ann", "Bob"), meeting.id)
    assert room.meetings.meeting(meeting.id).decided == 1
    with pytest.raises(BadRequest, match="only the presenter"):
        room.decided(meeting, room.cells[0], "Bob")
    (undone,) = room.meetings.undo(meeting.id, [decision], "Ann")
    assert (undone.verdict, undone.present) == (ReviewVerdict.UNDONE, ())
    assert room.meetings.meeting(meeting.id).decided == 2
    assert ended(room, meeting).decisions == ()


def test_of_two_who_decide_at_once_one_wins_and_the_other_is_told_what_was_decided(room: Room) -> None:
    meeting = room.started("Bob")
    cell, board = room.cells[0], room.board
    seen = [room.opinion(cell), (cell, ReviewerOpinion(ReviewVerdict.NEEDS_WORK, "Bob", 0))]

    def in_the_meeting() -> object:
        return room.meetings.decide(meeting.id, board, [seen[0]], "Ann")

    def outside() -> object:
        return room.coverage.decide_together(board, [seen[1]])

    def tried(decide: object) -> str:
        try:
            decide()  # type: ignore[operator]
        except Outdated as problem:
            return problem.message
        return "stored"

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(tried, (in_the_meeting, outside)))
    (text,) = room.coverage.current_decisions(None).values()
    assert sorted(each == "stored" for each in outcomes) == [False, True]
    (lost,) = [each for each in outcomes if each != "stored"]
    assert f"{text.who} has decided" in lost and text.verdict.value in lost and "Yours was not stored" in lost
    assert len(room.coverage.log(None)) == 1


def test_every_seat_proposes_and_comments_and_the_presenter_accepts(room: Room) -> None:
    meeting = room.started("Bob")
    cell = meeting.at
    proposal = room.meetings.propose(meeting.id, cell, ReviewVerdict.CONFIRMED, " IT never sent it. ", "Bob")
    comment = room.meetings.comment(meeting.id, cell, "@Cid can you ask them?", "Bob")
    assert proposal.words == "IT never sent it."
    assert room.told[-2:] == ["Bob: IT never sent it.", "Bob: @Cid can you ask them?"]
    with pytest.raises(BadRequest, match="Ann presents now"):
        room.meetings.accept(meeting.id, proposal.id, "Bob")
    assert room.meetings.accept(meeting.id, proposal.id, "Ann").state is ContributionState.ACCEPTED
    with pytest.raises(BadRequest, match="Only Bob"):
        room.meetings.withdraw(meeting.id, comment.id, "Ann")
    room.meetings.withdraw(meeting.id, comment.id, "bob")
    assert [each.state.value for each in room.meetings.view(meeting.id).contributions] == ["accepted", "withdrawn"]
    for call in (
        lambda: room.meetings.propose(meeting.id, cell, ReviewVerdict.WAIVED, " ", "Bob"),
        lambda: room.meetings.comment(meeting.id, cell, "", "Bob"),
        lambda: room.meetings.comment(meeting.id, "intent:999", "x", "Bob"),
        lambda: room.meetings.comment(meeting.id, cell, "x", " "),
    ):
        with pytest.raises(BadRequest):
            call()


def test_minutes_say_who_came_what_was_decided_why_and_what_is_open(room: Room) -> None:
    cell = next(each for each in room.board.cells if each.evidence)
    meeting = room.meetings.start(room.board, "Friday", [cell, *room.cells], (), "Ann")
    room.meetings.beat(meeting.id, "Bob")
    key = f"{cell.kind.value}:{cell.topic_id}"
    room.meetings.propose(meeting.id, key, ReviewVerdict.CONFIRMED, "Too vague.", "Bob")
    room.meetings.raise_point(meeting.id, key, "Ask HR for the form", "Bob", "Cid", NOW.date())
    removed = room.meetings.comment(meeting.id, key, "never mind", "Bob")
    room.meetings.withdraw(meeting.id, removed.id, "Bob")
    room.later(30)
    room.decided(meeting, cell)
    minutes = ended(room, meeting)
    (minuted,) = minutes.decisions
    assert minuted.quotes == cell.evidence[:3]
    first = minutes.points[0]
    assert (first.words, first.owner, first.due, first.who) == ("Ask HR for the form", "Cid", NOW.date(), "Bob")
    assert len(minutes.points) == len(meeting.agenda), "the point, and every cell but the decided one"
    assert [each.words for each in minutes.remarks] == ["Too vague."]
    room.coverage.undo_together([minuted.decision], "Zoe")
    assert room.meetings.meeting(meeting.id).minutes == minutes, "what is decided later changes no minutes"
    data = minutes_data(minutes)
    assert data["decisions"][0]["present"] == ["Ann", "Bob"] and data["decisions"][0]["quotes"]
    assert data["open_points"][0]["due"] == "2026-01-15"


def test_after_the_end_nothing_can_be_changed(room: Room) -> None:
    meeting = room.started("Bob")
    with pytest.raises(BadRequest, match="Ann presents now"):
        room.meetings.end(meeting.id, "Bob")
    proposal = room.meetings.propose(meeting.id, meeting.at, ReviewVerdict.CONFIRMED, "x", "Bob")
    assert ended(room, meeting).presenters == ("Ann",)
    cell = room.cells[0]
    for call in (
        lambda: room.meetings.show(meeting.id, meeting.at, "Ann"),
        lambda: room.meetings.present(meeting.id, "Bob"),
        lambda: room.meetings.comment(meeting.id, meeting.at, "late", "Bob"),
        lambda: room.meetings.withdraw(meeting.id, proposal.id, "Bob"),
        lambda: room.decided(meeting, cell),
        lambda: room.meetings.end(meeting.id, "Ann"),
    ):
        with pytest.raises(FivefoldError, match="has ended"):
            call()
    assert room.coverage.log(None) == []


def test_a_meeting_belongs_to_the_project_of_its_board(room: Room) -> None:
    room.coverage.runs.carry_out(room.coverage.runs.start("Tallgrass").id)
    board = room.coverage.board("Tallgrass")
    assert board is not None
    meeting = room.meetings.start(board, "Ours", [board.cell("zebra husbandry", GapKind.INTENT)], (), "Ann")
    assert meeting.project == "Tallgrass" and room.meetings.meetings(None) == []
    decision = room.meetings.decide(meeting.id, board, [room.opinion(board.cells[0])], "Ann")[0]
    assert decision.project == "Tallgrass"
    assert [each.decision for each in ended(room, meeting).decisions] == [decision]


def ended(room: Room, meeting: Meeting) -> Minutes:
    """The minutes of a meeting that its presenter ends."""
    over = room.meetings.end(meeting.id, "Ann")
    assert over.state is MeetingState.ENDED and over.minutes is not None
    return over.minutes


def test_a_suspect_cell_that_the_meeting_did_not_decide_is_an_open_point(room: Room) -> None:
    cell = next(each for each in room.board.cells if each.state is CellState.COVERED)
    room.coverage.decide(room.board, cell, ReviewerOpinion(ReviewVerdict.ACCEPTED, "Ann"))
    room.workbench.documents.delete(cell.evidence[0].document_id)
    assert (cell.topic, cell.kind.value) in _points(room.meetings.end(room.started().id, "Ann"))


def _points(ended: Meeting) -> set[tuple[str, str]]:
    assert ended.minutes is not None
    return {(point.topic, point.kind) for point in ended.minutes.points}


def test_the_minutes_quote_what_a_decision_was_taken_on_not_what_a_later_run_found(room: Room) -> None:
    meeting = room.started()
    gap = room.board.cell("zebra husbandry", GapKind.COMPLIANCE)
    assert not (gap.evidence or gap.near_misses)
    room.decided(meeting, gap)
    room.workbench.documents.upload("zebra.md", b"# Zebra husbandry policy\nZebra husbandry must be approved.\n")
    room.coverage.runs.carry_out(room.coverage.runs.start(None).id)
    assert room.board.cell("zebra husbandry", GapKind.COMPLIANCE).evidence
    minutes = room.meetings.end(meeting.id, "Ann").minutes
    assert minutes is not None and [each.quotes for each in minutes.decisions] == [()]
