"""Assignments: who does what about a document, a passage or a cell, and until when."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Protocol

from core.collaboration.notifications import Notification, NotificationKind, Notifier
from core.collaboration.target import Target, checked_target, current_target
from core.collaboration.team import Team, Teammate, people_for, sees
from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.people import Principal
from core.ports.catalogue import Catalogue

__all__ = [
    "MOST_LETTERS_OF_A_TASK",
    "Assignment",
    "AssignmentService",
    "AssignmentStore",
    "no_assignment",
    "outdated_assignment",
]

MOST_LETTERS_OF_A_TASK = 1000
"""Characters of a task at most. Chosen by hand."""
_REMIND = timedelta(days=1)  # before the due date; chosen by hand


@dataclass(frozen=True, slots=True)
class Assignment:
    """One task. to, by: logins, with the names shown then. due: the last day. done_by: a name, "" while it is open.
    reminded: whether the person was told that it is due. id: 0 until stored. version: for optimistic locking."""

    on: Target
    task: str
    to: str
    to_name: str
    by: str
    by_name: str
    at: datetime
    due: date | None = None
    done_at: datetime | None = None
    done_by: str = ""
    reminded: bool = False
    id: int = 0
    version: int = 1

    def overdue(self, today: date) -> bool:
        """Whether it is open after its last day."""
        return self.done_at is None and self.due is not None and self.due < today


# Errors that every store raises
def no_assignment(assignment_id: int) -> NotFound:
    """The assignment is not stored, or belongs to what the person may not see."""
    return NotFound(f"Assignment {assignment_id} is not (or no longer) here.", "Load the page again.")


def outdated_assignment() -> Outdated:
    """Someone has changed this assignment since it was read."""
    return Outdated("This assignment has been changed meanwhile.", "Load the page again.")


class AssignmentStore(Protocol):
    """Stores the assignments of one tenant. Every method raises StoreFailed when the store does not respond."""

    def assignments(
        self, *, key: str | None = None, to: str | None = None, due_by: date | None = None, done: bool | None = None
    ) -> Sequence[Assignment]:
        """Assignments, by due date (undated last), then oldest first. key: of a `Target`; to: a login; due_by: due on
        this day or earlier; done: only done or only open ones."""
        ...

    def assignment(self, assignment_id: int) -> Assignment:
        """One assignment. Raises NotFound."""
        ...

    def add_assignment(self, assignment: Assignment) -> Assignment:
        """Store a new assignment (id 0). Raises NotFound when its document is not there."""
        ...

    def change_assignment(self, assignment: Assignment) -> Assignment:
        """Store a changed assignment with the version it was read with; returns it with its new version. Raises
        Outdated, NotFound."""
        ...


class AssignmentService:
    """Gives tasks to people and tells them. Every method raises StoreFailed when the store does not answer, and
    NotFound for what the person may not see."""

    def __init__(
        self, store: AssignmentStore, catalogue: Catalogue, team: Team, notifier: Notifier, now: Callable[[], datetime]
    ) -> None:
        self._store, self._catalogue, self._team = store, catalogue, team
        self._notifier, self._now = notifier, now

    def on(self, target: Target, by: Principal) -> Sequence[Assignment]:
        """The assignments about something, open ones first, by due date."""
        own = self._seen(target, by)
        found = [each for each in self._store.assignments(key=own.key) if own.covers(each.on)]
        return sorted(found, key=lambda each: each.done_at is not None)

    def assignable(self, target: Target, by: Principal) -> Sequence[Teammate]:
        """The people who may see something, by name; without sign-in only the person who asks."""
        own = self._seen(target, by)
        return [each for each in self._teammates(by) if each.sees(own)]

    def mine(self, by: Principal) -> Sequence[Assignment]:
        """A person's open assignments, by due date."""
        found = self._store.assignments(to=by.login, done=False)
        return [each for each in found if (on := current_target(each.on, self._catalogue)) and sees(by, on)]

    def assign(self, target: Target, task: str, to: str, by: Principal, due: date | None = None) -> Assignment:
        """Give a task to a person, by login. Raises BadRequest for an empty or too long task, a day that has passed,
        and a person who may not see the target."""
        own, words = self._seen(target, by), _checked_task(task)
        if due is not None and due < self._now().date():
            raise BadRequest(f"{due} has passed.", "Choose today or a later day.")
        person = self._person(to, own, by)
        stored = self._store.add_assignment(
            Assignment(own, words, person.login, person.name, by.login, by.name, self._now(), due)
        )
        if person.login != by.login:
            self._tell(stored, stored.to, f"{by.name} assigned this to you{_until(due)}", "to")
        return stored

    def finish(self, assignment_id: int, by: Principal) -> Assignment:
        """Mark an assignment as done, and tell the person who gave it. Raises Outdated."""
        known = self._found(assignment_id, by)
        if known.done_at is not None:
            return known
        stored = self._store.change_assignment(replace(known, done_at=self._now(), done_by=by.name))
        self._notifier.withdraw(known.to, f"assignment:{known.id}:to")
        self._notifier.withdraw(known.to, f"assignment:{known.id}:due")
        if known.by != by.login:
            self._tell(stored, known.by, f"{by.name} has done what you assigned", "done")
        return stored

    def reopen(self, assignment_id: int, by: Principal) -> Assignment:
        """Mark an assignment as open again. Raises Outdated."""
        known = self._found(assignment_id, by)
        stored = self._store.change_assignment(replace(known, done_at=None, done_by=""))
        self._notifier.withdraw(known.by, f"assignment:{known.id}:done")
        return stored

    def remind(self) -> None:
        """Tell people once, a day before, what is due."""
        for each in self._store.assignments(due_by=self._now().date() + _REMIND, done=False):
            if not each.reminded and each.due is not None:
                stored = self._store.change_assignment(replace(each, reminded=True))
                self._tell(stored, each.to, f"Due on {each.due:%Y-%m-%d}", "due")

    def _seen(self, target: Target, by: Principal) -> Target:
        own = checked_target(target, self._catalogue)
        if not sees(by, own):
            raise NotFound(f"'{target.name}' is not (or no longer) here.", "Open something else.")
        return own

    def _found(self, assignment_id: int, by: Principal) -> Assignment:
        found = self._store.assignment(assignment_id)
        if not sees(by, checked_target(found.on, self._catalogue)):
            raise no_assignment(assignment_id)
        return found

    def _person(self, login: str, on: Target, by: Principal) -> Teammate:
        return people_for([login], on, {each.login: each for each in self._teammates(by)})[0]

    def _teammates(self, by: Principal) -> Sequence[Teammate]:
        return [Teammate(by.login, by.name)] if by.local else self._team.teammates()

    def _tell(self, assignment: Assignment, to: str, title: str, what: str) -> None:
        self._notifier.tell(
            [
                Notification(
                    to=to,
                    kind=NotificationKind.ASSIGNMENT,
                    key=f"assignment:{assignment.id}:{what}",
                    title=title,
                    text=assignment.task,
                    at=self._now(),
                    on=assignment.on,
                )
            ]
        )


def _until(due: date | None) -> str:
    return f", due {due:%Y-%m-%d}" if due else ""


def _checked_task(task: str) -> str:
    tidy = " ".join(task.split())
    if not tidy:
        raise BadRequest("The assignment has no task.", "Write what has to be done.")
    if len(tidy) > MOST_LETTERS_OF_A_TASK:
        raise BadRequest(f"A task has at most {MOST_LETTERS_OF_A_TASK:,} characters.", "Shorten it.")
    return tidy
