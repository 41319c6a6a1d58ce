"""Whom a meeting tells outside of it: invitations, mentions, and tasks from open points and decisions."""

from collections.abc import Sequence
from datetime import date

import pytest

from core.collaboration.notifications import NotificationKind, Notifier
from core.collaboration.team import Teammate
from core.coverage.meetings.meeting import (
    AgendaItem,
    Contribution,
    ContributionKind,
    Meeting,
    MinutesDecision,
)
from core.coverage.meetings.telling import TeamMeetingNotifier
from core.domain.coverage import Decision, ReviewVerdict
from core.domain.people import LOCAL_LOGIN, Door, Principal, Role, local_principal
from tests.coverage.boards import NOW
from tests.fakes import FakeAssignmentStore, FakeNotificationStore

ITEM = AgendaItem(1, "intent", "overtime")
MEETING = Meeting("Alpha", "Friday", "Ann", NOW, (ITEM,), "Ann", ITEM.key, ("Bob Lee", "cid", "Zoe"), ("Ann",), id=7)
ANN = Principal("ann@example.org", "Ann", ((None, Role.REVIEWER),), Door.BROWSER)


class _Team:
    """Ann, Bob and Cid see the project Alpha; Zoe does not."""

    def teammates(self) -> Sequence[Teammate]:
        people = [("ann@example.org", "Ann"), ("bob@example.org", "Bob Lee"), ("cid", "Cid")]
        return [*(Teammate(login, name) for login, name in people), Teammate("zoe", "Zoe", ("Beta",))]


class Desk:
    """The notifier with what it has told and assigned."""

    def __init__(self) -> None:
        self.notes, self.tasks = FakeNotificationStore(), FakeAssignmentStore()
        self.notifier = TeamMeetingNotifier(_Team(), Notifier(self.notes), self.tasks, lambda: NOW)

    def notifications(self, login: str) -> list[tuple[NotificationKind, str]]:
        return [(each.kind, each.title) for each in self.notes.notifications_of(login)]


@pytest.fixture
def desk() -> Desk:
    return Desk()


def contribution(words: str, kind: ContributionKind = ContributionKind.COMMENT, owner: str = "") -> Contribution:
    return Contribution(7, kind, 1, "intent", "overtime", "Ann", NOW, words, None, owner, date(2026, 2, 1), id=3)


def test_invited_people_who_see_the_board_are_told_by_name_or_login(desk: Desk) -> None:
    desk.notifier.invited(MEETING, ANN)
    invitation = (NotificationKind.MENTION, "Ann invites you to a review meeting")
    assert desk.notifications("bob@example.org") == desk.notifications("cid") == [invitation]
    assert desk.notifications("zoe") == desk.notifications(ANN.login) == [], (
        "she does not see the project; nobody invites themselves"
    )


def test_mentions_reach_people_by_login_and_by_full_name(desk: Desk) -> None:
    desk.notifier.contributed(MEETING, contribution("@bob lee and @cid, ask @Zoe; @Ann agrees"), ANN)
    assert desk.notifications("bob@example.org") == [(NotificationKind.MENTION, "Ann mentioned you in Friday")]
    assert len(desk.notifications("cid")) == 1 and not desk.notifications("zoe") and not desk.notifications(ANN.login)
    desk.notifier.contributed(MEETING, contribution("nobody@cid.example is no mention"), ANN)
    assert len(desk.notifications("cid")) == 1


def test_a_mention_reaches_nobody_whose_name_only_begins_so(desk: Desk) -> None:
    bob = Principal("bob@example.org", "Bob Lee", ((None, Role.REVIEWER),), Door.BROWSER)
    for words in ("@Anna, please", "@Cidonia knows", "@Bob Leeds"):
        desk.notifier.contributed(MEETING, contribution(words), bob)
    assert not desk.notifications(ANN.login) and not desk.notifications("cid")
    desk.notifier.contributed(MEETING, contribution("@Ann, please"), bob)
    assert len(desk.notifications(ANN.login)) == 1


def test_an_open_point_and_a_decision_become_tasks_of_their_owner(desk: Desk) -> None:
    desk.notifier.contributed(MEETING, contribution("Ask HR", ContributionKind.OPEN_POINT, "Bob Lee"), ANN)
    decisions = [
        Decision(1, "intent", "Alpha", verdict, "Ann", NOW, 1, topic="overtime", comment="get it", owner="cid")
        for verdict in (ReviewVerdict.CONFIRMED, ReviewVerdict.ACCEPTED)
    ]
    desk.notifier.decided(MEETING, [MinutesDecision(each, ()) for each in decisions], ANN)
    (point,) = desk.tasks.assignments(to="bob@example.org")
    assert (point.task, point.due, point.by, point.on.project) == ("Ask HR", date(2026, 2, 1), ANN.login, "Alpha")
    (task,) = desk.tasks.assignments(to="cid")
    assert task.task == "Gap confirmed – get it", "what was accepted leaves nothing to do"
    assert desk.notifications("cid") == [(NotificationKind.ASSIGNMENT, "Ann assigned this to you")]


@pytest.mark.parametrize("by", [None, local_principal(Door.BROWSER, "Ann")])
def test_without_sign_in_everybody_reads_one_home_which_says_who_is_meant(desk: Desk, by: Principal | None) -> None:
    desk.notifier.invited(MEETING, by)
    desk.notifier.contributed(MEETING, contribution("@Bob, ask @Cid!", ContributionKind.OPEN_POINT, "Dan"), by)
    titles = [title for _, title in desk.notifications(LOCAL_LOGIN)]
    assert "Ann invites Bob Lee, cid, Zoe to a review meeting" in titles
    assert "Ann mentioned Bob, Cid in Friday" in titles
    (task,) = desk.tasks.assignments(to=LOCAL_LOGIN)
    assert task.to_name == "Dan" and "Ann assigned this to Dan, due 2026-02-01" in titles
