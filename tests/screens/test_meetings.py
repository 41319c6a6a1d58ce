"""Review meetings on Coverage: starting one, joining by link, presenting, deciding, and the minutes."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.coverage.meetings.meeting import Meeting
from core.domain.coverage import Board, ReviewVerdict, Topic
from core.domain.people import Door, Principal, Role
from pages.components import session
from tests.screens.conftest import Opened, Stack, words


@pytest.fixture
def board(stocked: Stack) -> Board:
    """A board of two topics."""
    desk = stocked.workbench.coverage
    desk.add_topics([Topic("Overtime pay"), Topic("Zebra husbandry")])
    desk.runs.carry_out(desk.runs.start(None).id)
    found = desk.board(None)
    assert found is not None
    return found


def started(library: Stack, board: Board, who: str = "Ann", title: str = "Friday :red[x]") -> Meeting:
    """A meeting on the whole board."""
    cells = [item.cell for item in library.workbench.coverage.queue(board)]
    return library.workbench.meetings.start(board, title, cells, ("Cid",), who)


def inside(opened: Opened, meeting: Meeting, name: str) -> AppTest:
    """The meeting as somebody sees it who came by its link."""
    screen = opened("coverage.py", meeting=str(meeting.id))
    field(screen, "Your name").set_value(name).run()
    return settled(screen)


def settled(screen: AppTest) -> AppTest:
    """The page as it is now: a browser would be told of changes within a second."""
    screen.run()
    assert not screen.exception, screen.exception[0].value
    return screen


def field(screen: AppTest, label: str) -> Any:
    return next(each for each in screen.text_input if each.label == label)


def pressed(screen: AppTest, label: str) -> AppTest:
    """Press the first button whose label begins so, and let the page be drawn."""
    next(each for each in screen.button if each.label.startswith(label)).click()
    screen.run()
    return settled(screen)


def test_a_meeting_is_started_on_review_and_its_starter_presents_the_worst_cell(
    stocked: Stack, board: Board, opened: Opened
) -> None:
    screen = opened("coverage.py", view="Review")
    next(each for each in screen.button if each.label == "Start a meeting").click().run()
    fields = [each for each in screen.text_input if each.label == "Your name"]
    fields[-1].set_value("Ann")
    next(each for each in screen.button if each.label == "Start").click()
    screen.run()
    (meeting,) = stocked.workbench.meetings.meetings(None)
    queue = stocked.workbench.coverage.queue(board)
    assert meeting.presenter == "Ann" and len(meeting.agenda) == len(queue)
    assert meeting.agenda[0].topic == queue[0].cell.topic
    assert screen.query_params["meeting"] in (str(meeting.id), [str(meeting.id)])


def test_whoever_has_the_link_gives_a_name_and_follows(stocked: Stack, board: Board, opened: Opened) -> None:
    meeting = started(stocked, board)
    door = opened("coverage.py", meeting=str(meeting.id))
    assert "A review meeting is under way. Ann is here." in words(door)
    assert "Accept as covered" not in words(door)
    screen = inside(opened, meeting, "Bob")
    text = words(screen)
    assert "Following" in text and "Friday \\:red\\[x\\]" in text and "not here: Cid" in text
    assert meeting.agenda[0].topic in text
    assert not [each for each in screen.button if each.label.startswith("Accept as covered")]
    stocked.workbench.meetings.show(meeting.id, meeting.agenda[-1].key, "Ann")
    assert meeting.agenda[-1].topic in words(settled(screen))
    assert stocked.workbench.meetings.view(meeting.id).present == ("Ann", "Bob")


def test_the_presenter_uses_a_proposal_decides_and_everyone_moves_on(
    stocked: Stack, board: Board, opened: Opened
) -> None:
    meeting = started(stocked, board)
    meetings = stocked.workbench.meetings
    meetings.beat(meeting.id, "Bob")
    meetings.propose(meeting.id, meeting.at, ReviewVerdict.CONFIRMED, "Never *sent*", "Bob")
    screen = inside(opened, meeting, "Ann")
    assert "**Bob** proposes **Confirm gap**: “Never \\*sent\\*”" in words(screen)
    screen = pressed(screen, "Use")
    assert field(screen, "Comment or reason").value == "Never *sent* (proposed by Bob)"
    screen = pressed(screen, "Confirm gap")
    (decision,) = stocked.workbench.coverage.log(None)
    assert (decision.who, decision.present) == ("Ann", ("Ann", "Bob"))
    assert meetings.meeting(meeting.id).at == meeting.agenda[1].key
    assert "Decided: **gap confirmed**" in words(screen)
    screen = pressed(screen, "Undo `u`")
    assert meetings.meeting(meeting.id).at == meeting.agenda[0].key


def test_the_minutes_follow_the_end_and_stay_in_the_list_and_the_pack(
    stocked: Stack, board: Board, opened: Opened
) -> None:
    meeting = started(stocked, board)
    stocked.workbench.meetings.raise_point(meeting.id, meeting.at, "Ask HR", "Bob", "Cid")
    screen = inside(opened, meeting, "Ann")
    screen = pressed(screen, "End meeting")
    text = words(screen)
    assert "presented by Ann" in text and "absent: Cid" in text and "Ask HR" in text and "1 open point" in text
    assert {"Back to the review"} <= {each.label for each in screen.button}
    review = opened("coverage.py", view="Review")
    assert "Minutes" in [each.label for each in review.button]
    pack = opened("coverage.py", view="Meeting pack")
    assert [each.value for each in pack.multiselect if each.label == "Minutes"] == [[meeting.id]]


def test_the_minutes_tell_requirements_apart_that_begin_alike(stocked: Stack, opened: Opened) -> None:
    desk, alike = (
        stocked.workbench.coverage,
        "The contractor shall run the help desk and answer the mails of employees" * 2,
    )
    desk.add_topics([Topic(f"{alike} {when}") for when in ("today", "later")])
    desk.runs.carry_out(desk.runs.start(None).id)
    board = desk.board(None)
    assert board is not None
    meeting = started(stocked, board)
    stocked.workbench.meetings.raise_point(meeting.id, meeting.at, "Ask HR", "Bob", "Cid")
    stocked.workbench.meetings.end(meeting.id, "Ann")
    text = words(opened("coverage.py", meeting=str(meeting.id)))
    assert text.count("employees today") > 1 and text.count("employees later") > 1


def test_a_meeting_that_goes_on_can_be_joined_from_review_and_one_that_is_not_there_says_so(
    stocked: Stack, board: Board, opened: Opened
) -> None:
    started(stocked, board)
    assert "is under way" in words(opened("coverage.py", view="Review"))
    assert "There is no meeting 999" in words(opened("coverage.py", meeting="999"))


def test_a_viewer_speaks_but_neither_starts_nor_presents(
    stocked: Stack, board: Board, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    meeting = started(stocked, board)
    stocked.workbench.meetings.stop_presenting(meeting.id, "Ann")
    viewer = Principal("vic@example.org", "Vic", ((None, Role.VIEWER),), Door.BROWSER)
    monkeypatch.setattr(session, "principal", lambda: viewer)
    assert "Start a meeting" not in [each.label for each in opened("coverage.py", view="Review").button]
    screen = inside(opened, meeting, "Vic")
    assert "nobody presents" in "".join(each.text for each in screen.get("progress"))
    assert "Present" not in [each.label for each in screen.button]
    drawn = [each.proto.component_name for each in screen.get("bidi_component")]
    assert "fivefold_meeting_say" in drawn
