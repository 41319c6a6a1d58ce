"""Tells people about a meeting on their Home: invitations, mentions, and assignments from open points and decisions."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime

from core.collaboration.assignments import Assignment, AssignmentStore
from core.collaboration.notifications import Notification, NotificationKind, Notifier
from core.collaboration.target import Target, on_cell
from core.collaboration.team import Team, Teammate, mentioned
from core.coverage.meetings.meeting import (
    Contribution,
    ContributionKind,
    Meeting,
    MinutesDecision,
    attendee_key,
)
from core.domain.coverage import GapKind, ReviewVerdict
from core.domain.people import LOCAL_LOGIN, Principal

__all__ = ["TeamMeetingNotifier"]

_TO_DO = (ReviewVerdict.CONFIRMED, ReviewVerdict.NEEDS_WORK)


class TeamMeetingNotifier:
    """Implements core.coverage.meetings.store.MeetingNotifier over notifications and assignments.

    People are found by login or by name. Without sign-in everybody shares one Home, which then shows who is meant.
    """

    def __init__(
        self, team: Team, notifier: Notifier, assignments: AssignmentStore, now: Callable[[], datetime]
    ) -> None:
        self._team, self._notifier, self._assignments, self._now = team, notifier, assignments, now

    def invited(self, meeting: Meeting, by: Principal | None) -> None:
        """Tell everyone on the list of invited people who sees the board."""
        first = meeting.agenda[0]
        target = on_cell(first.topic, first.topic_id, GapKind(first.kind), meeting.project)
        people = self._found(meeting.invited, target, by)
        title = f"{meeting.started_by} invites {_whom(people)} to a review meeting"
        self._tell(people, title, meeting.title, f"meeting:{meeting.id}", target)

    def contributed(self, meeting: Meeting, contribution: Contribution, by: Principal | None) -> None:
        """Tell people mentioned as @login or @name, and give an open point to its owner."""
        target = on_cell(contribution.topic, contribution.topic_id, GapKind(contribution.kind_of_cell), meeting.project)
        people = self._found(_names_in(contribution.words, self._teammates(by)), target, by)
        if not _signed_in(by) and not people:
            people = self._found([word for word in contribution.words.split() if word.startswith("@")], target, by)
        title = f"{contribution.who} mentioned {_whom(people)} in {meeting.title}"
        self._tell(people, title, contribution.words, f"meeting:{meeting.id}:{contribution.id}", target)
        if contribution.kind is ContributionKind.OPEN_POINT and contribution.owner:
            self._assign(target, contribution.owner, contribution.words, contribution.due, contribution.who, by)

    def decided(self, meeting: Meeting, decisions: Sequence[MinutesDecision], by: Principal | None) -> None:
        """Give what has to be obtained or fixed to the owner named in the decision."""
        for each in decisions:
            decision = each.decision
            if decision.owner and decision.verdict in _TO_DO:
                words = " – ".join(
                    filter(None, (decision.verdict.value.capitalize(), decision.reason, decision.comment))
                )
                target = on_cell(decision.topic, decision.topic_id, GapKind(decision.kind), meeting.project)
                self._assign(target, decision.owner, words, decision.due, decision.who, by)

    def _assign(self, target: Target, owner: str, task: str, due: date | None, who: str, by: Principal | None) -> None:
        for person in self._found([owner], target, by):
            stored = self._assignments.add_assignment(
                Assignment(target, task, person.login, person.name, _login(by), who, self._now(), due)
            )
            until = f", due {due:%Y-%m-%d}" if due else ""
            title = f"{who} assigned this to {_whom([person])}{until}"
            self._tell([person], title, task, f"assignment:{stored.id}:to", target, NotificationKind.ASSIGNMENT)

    def _teammates(self, by: Principal | None) -> Sequence[Teammate]:
        return self._team.teammates() if _signed_in(by) else ()

    def _found(self, names: Iterable[str], target: Target, by: Principal | None) -> list[Teammate]:
        """The people of these names or logins, each once, who see the target; not the person who acts."""
        keys = {attendee_key(name.lstrip("@")): name.strip("@,.;:!?") for name in names if name.strip("@ ")}
        if not _signed_in(by):
            return [Teammate(LOCAL_LOGIN, name) for name in keys.values()]
        return [
            each
            for each in self._team.teammates()
            if {attendee_key(each.login), attendee_key(each.name)} & keys.keys()
            and each.sees(target)
            and each.login != _login(by)
        ]

    def _tell(
        self,
        people: Sequence[Teammate],
        title: str,
        text: str,
        key: str,
        target: Target,
        kind: NotificationKind = NotificationKind.MENTION,
    ) -> None:
        recipients = {each.login: each for each in people}
        self._notifier.tell(
            [Notification(login, kind, key, title, text, self._now(), on=target) for login in recipients]
        )


def _signed_in(by: Principal | None) -> bool:
    return by is not None and not by.local


def _login(by: Principal | None) -> str:
    return LOCAL_LOGIN if by is None else by.login


def _names_in(text: str, team: Sequence[Teammate]) -> list[str]:
    """Logins mentioned as @login, and names mentioned as @First Last: of "@Ann Lee" the longest name that is there."""
    folded, named = attendee_key(text), list[str]()
    for at in (match.end() for match in re.finditer("@", folded)):
        names = {attendee_key(each.name) for each in team if each.name.strip()}
        fitting = [name for name in names if re.match(rf"{re.escape(name)}(?!\w)", folded[at:])]
        longest = max(fitting, key=len, default="")
        named += [each.login for each in team if longest and attendee_key(each.name) == longest]
    return [*mentioned(text, [each.login for each in team]), *named]


def _whom(people: Sequence[Teammate]) -> str:
    """ "you", or without sign-in the names: everybody reads the same Home."""
    local = [each.name for each in people if each.login == LOCAL_LOGIN]
    return ", ".join(local) if local else "you"
