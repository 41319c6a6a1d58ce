"""A small team over fakes: Ann writes, Bo sees everything, Cy only the project north, Di only south."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from core.collaboration.assignments import AssignmentService
from core.collaboration.comments import CommentService
from core.collaboration.delivery import DeliveryService
from core.collaboration.notifications import NotificationService, Notifier
from core.collaboration.target import Target, on_cell, on_document
from core.collaboration.team import Teammate
from core.domain.coverage import GapKind
from core.domain.documents import Document
from core.domain.people import Door, Principal, Role
from tests.fakes import (
    FakeAssignmentStore,
    FakeCatalogue,
    FakeCommentStore,
    FakeMailer,
    FakeNotificationStore,
    FakeTeam,
    FakeWebhook,
    InlineJobs,
)
from tests.label_edits import store_labels
from tests.stores.libraries import document

__all__ = ["AT", "Room", "person"]

AT = datetime(2026, 11, 23, 9, tzinfo=UTC)
_ROLES: dict[str, str | None] = {"ann": None, "bo": None, "cy": "north", "di": "south"}


def person(login: str, role: Role = Role.ANALYST) -> Principal:
    """A signed-in person of the team."""
    return Principal(login, login.capitalize(), ((_ROLES[login], role),), Door.BROWSER)


class Room:
    """The services over fakes. now: can be moved with `later`."""

    def __init__(self, **delivery: Any) -> None:
        self.now = AT
        self.catalogue, self.jobs = FakeCatalogue(), InlineJobs()
        self.comment_store, self.assignment_store = FakeCommentStore(), FakeAssignmentStore()
        self.store = FakeNotificationStore()
        self.team = FakeTeam(
            [
                Teammate(login, login.capitalize(), None if project is None else (project,), f"{login}@example.org")
                for login, project in _ROLES.items()
            ]
        )
        notifier = Notifier(self.store)
        self.comments = CommentService(self.comment_store, self.catalogue, self.team, notifier, self.clock)
        self.assignments = AssignmentService(self.assignment_store, self.catalogue, self.team, notifier, self.clock)
        self.notifications = NotificationService(self.store, self.catalogue, self.clock)
        self.mailer, self.webhook = FakeMailer(), FakeWebhook()
        outside = {"mailer": self.mailer, "webhook": self.webhook, "site": "https://five.example/"} | delivery
        self.delivery = DeliveryService(self.store, self.team, self.catalogue, self.jobs, self.clock, **outside)

    def clock(self) -> datetime:
        """The time it is in the room."""
        return self.now

    def later(self, **time: float) -> None:
        """Move the clock."""
        self.now += timedelta(**time)

    def document(self, project: str | None = "north") -> Document:
        """A new document."""
        number = len(self.catalogue.documents())
        return self.catalogue.add_document(document(f"policy {number}.pdf", project=project))

    def on_document(self, project: str | None = "north") -> Target:
        """A new document, to talk about."""
        return on_document(self.document(project))

    def move(self, on: Target, project: str | None) -> None:
        """Move a document into another project."""
        stored = self.catalogue.document(on.document_id or 0)
        store_labels(self.catalogue, replace(stored, project=project), ())

    @property
    def cell(self) -> Target:
        """A cell of the board of north."""
        return on_cell("Overtime", 4, GapKind.INTENT, "north")

    def messages(self, login: str) -> list[str]:
        """The titles of what a person was told, newest first."""
        return [each.title for each in self.notifications.listed(person(login))]
