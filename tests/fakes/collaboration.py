"""Comments, assignments, notifications and alerts in dicts, and a team."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import count
from threading import RLock
from typing import Any

from core.collaboration.assignments import Assignment, no_assignment, outdated_assignment
from core.collaboration.comments import Comment, no_comment, outdated_comment
from core.collaboration.delivery import Mail
from core.collaboration.notifications import (
    MOST_LISTED,
    Notification,
    NotificationPreferences,
    no_notification,
)
from core.collaboration.team import Teammate
from core.library.saved_search_alerts import SavedSearchAlert, no_alert

__all__ = [
    "FakeAssignmentStore",
    "FakeCommentStore",
    "FakeMailer",
    "FakeNotificationStore",
    "FakeSavedSearchAlertStore",
    "FakeTeam",
    "FakeWebhook",
]


@dataclass
class FakeTeam:
    """Implements core.collaboration.team.Team. people: may be changed at any time."""

    people: list[Teammate] = field(default_factory=list)

    def teammates(self) -> Sequence[Teammate]:
        """All of them, by name."""
        return sorted(self.people, key=lambda each: each.name)


@dataclass
class FakeMailer:
    """Implements core.collaboration.delivery.Mailer. problem: raised instead of sending."""

    sent: list[Mail] = field(default_factory=list)
    problem: Exception | None = None

    def send(self, mail: Mail) -> None:
        """Keep it."""
        if self.problem is not None:
            raise self.problem
        self.sent.append(mail)


@dataclass
class FakeWebhook:
    """Implements core.collaboration.delivery.Webhook."""

    posted: list[dict[str, Any]] = field(default_factory=list)

    def post(self, event: dict[str, Any]) -> None:
        """Keep it."""
        self.posted.append(event)


class FakeCommentStore:
    """Implements core.collaboration.comments.CommentStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._comments: dict[int, Comment] = {}

    def comments(self, key: str) -> Sequence[Comment]:
        """The comments on everything with this key, oldest first."""
        with self._lock:
            return [each for each in self._comments.values() if each.on.key == key and each.deleted_at is None]

    def comment(self, comment_id: int) -> Comment:
        """One comment. Raises NotFound."""
        with self._lock:
            if comment_id not in self._comments:
                raise no_comment(comment_id)
            return self._comments[comment_id]

    def add_comment(self, comment: Comment) -> Comment:
        """Store a new comment."""
        with self._lock:
            new = replace(comment, id=next(self._ids), version=1)
            self._comments[new.id] = new
            return new

    def change_comment(self, comment: Comment) -> Comment:
        """Store a changed comment; returns it with its new version. Raises Outdated, NotFound."""
        with self._lock:
            if self.comment(comment.id).version != comment.version:
                raise outdated_comment()
            self._comments[comment.id] = replace(comment, version=comment.version + 1)
            return self._comments[comment.id]


class FakeAssignmentStore:
    """Implements core.collaboration.assignments.AssignmentStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._assignments: dict[int, Assignment] = {}

    def assignments(
        self, *, key: str | None = None, to: str | None = None, due_by: date | None = None, done: bool | None = None
    ) -> Sequence[Assignment]:
        """Assignments, by due date (undated last), then oldest first."""
        with self._lock:
            found = [
                each
                for each in self._assignments.values()
                if (key is None or each.on.key == key)
                and (to is None or each.to == to)
                and (due_by is None or (each.due is not None and each.due <= due_by))
                and (done is None or (each.done_at is not None) is done)
            ]
        return sorted(found, key=lambda each: (each.due is None, each.due or date.min, each.id))

    def assignment(self, assignment_id: int) -> Assignment:
        """One assignment. Raises NotFound."""
        with self._lock:
            if assignment_id not in self._assignments:
                raise no_assignment(assignment_id)
            return self._assignments[assignment_id]

    def add_assignment(self, assignment: Assignment) -> Assignment:
        """Store a new assignment."""
        with self._lock:
            new = replace(assignment, id=next(self._ids), version=1)
            self._assignments[new.id] = new
            return new

    def change_assignment(self, assignment: Assignment) -> Assignment:
        """Store a changed assignment; returns it with its new version. Raises Outdated, NotFound."""
        with self._lock:
            if self.assignment(assignment.id).version != assignment.version:
                raise outdated_assignment()
            self._assignments[assignment.id] = replace(assignment, version=assignment.version + 1)
            return self._assignments[assignment.id]


class FakeNotificationStore:
    """Implements core.collaboration.notifications.NotificationStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._notifications: dict[int, Notification] = {}
        self._preferences: dict[str, NotificationPreferences] = {}
        self._mailed: dict[str, datetime] = {}

    def save_notification(self, notification: Notification) -> Notification:
        """Store a notification as unread and unsent, in place of the person's earlier one with its key."""
        with self._lock:
            self.delete_notifications(notification.to, notification.key)
            new = replace(notification, id=next(self._ids), read_at=None, mailed_at=None, posted_at=None)
            self._notifications[new.id] = new
            return new

    def notification(self, notification_id: int) -> Notification:
        """One notification. Raises NotFound."""
        with self._lock:
            if notification_id not in self._notifications:
                raise no_notification(notification_id)
            return self._notifications[notification_id]

    def notifications_of(self, login: str, *, unread: bool = False, limit: int = MOST_LISTED) -> Sequence[Notification]:
        """A person's notifications, newest first."""
        with self._lock:
            own = [each for each in self._notifications.values() if each.to == login]
        found = [each for each in own if not unread or each.read_at is None]
        return sorted(found, key=lambda each: (each.at, each.id), reverse=True)[:limit]

    def unread_count(self, login: str) -> int:
        """How many a person has not read."""
        with self._lock:
            return sum(each.to == login and each.read_at is None for each in self._notifications.values())

    def mark_read(self, login: str, at: datetime, ids: Sequence[int] | None = None) -> None:
        """Record that a person has read these (None: all) of their notifications."""
        with self._lock:
            for each in list(self._notifications.values()):
                if each.to == login and each.read_at is None and (ids is None or each.id in ids):
                    self._notifications[each.id] = replace(each, read_at=at)

    def delete_notifications(self, login: str, key: str) -> None:
        """Delete a person's notification with a key."""
        with self._lock:
            for each in list(self._notifications.values()):
                if (each.to, each.key) == (login, key):
                    del self._notifications[each.id]

    def reword_notifications(self, key: str, text: str) -> None:
        """Change the text of everybody's notifications with a key."""
        with self._lock:
            for each in list(self._notifications.values()):
                if each.key == key:
                    self._notifications[each.id] = replace(each, text=text)

    def unmailed(self, since: datetime) -> Sequence[Notification]:
        """All since then that were neither read nor sent by e-mail, oldest first."""
        with self._lock:
            unread = [each for each in self._notifications.values() if each.read_at is None and each.at >= since]
        return [each for each in unread if each.mailed_at is None]

    def unposted(self, since: datetime) -> Sequence[Notification]:
        """All since then that were not posted to the webhook, oldest first."""
        with self._lock:
            return [each for each in self._notifications.values() if each.posted_at is None and each.at >= since]

    def last_mailed(self, login: str) -> datetime | None:
        """When a person's latest e-mail was sent; None: never."""
        return self._mailed.get(login)

    def record_mail(self, login: str, at: datetime) -> None:
        """Record when a person's latest e-mail was sent."""
        self._mailed[login] = at

    def mark_mailed(self, ids: Sequence[int], at: datetime) -> None:
        """Record that notifications were sent by e-mail, or need not be."""
        with self._lock:
            for each in ids:
                if each in self._notifications:
                    self._notifications[each] = replace(self._notifications[each], mailed_at=at)

    def mark_posted(self, ids: Sequence[int], at: datetime) -> None:
        """Record that notifications were posted to the webhook, or need not be."""
        with self._lock:
            for each in ids:
                if each in self._notifications:
                    self._notifications[each] = replace(self._notifications[each], posted_at=at)

    def preferences(self, login: str) -> NotificationPreferences:
        """What a person wants; the default until they chose."""
        return self._preferences.get(login, NotificationPreferences(login))

    def save_preferences(self, preferences: NotificationPreferences) -> None:
        """Store what a person wants."""
        self._preferences[preferences.login] = preferences


class FakeSavedSearchAlertStore:
    """Implements core.library.saved_search_alerts.SavedSearchAlertStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._alerts: dict[tuple[int, str], SavedSearchAlert] = {}

    def alerts(self, login: str | None = None) -> Sequence[SavedSearchAlert]:
        """All alerts, or those of one person, oldest first."""
        with self._lock:
            return [each for each in self._alerts.values() if login in (None, each.login)]

    def alert(self, alert_id: int) -> SavedSearchAlert:
        """One alert. Raises NotFound."""
        for each in self.alerts():
            if each.id == alert_id:
                return each
        raise no_alert(alert_id)

    def save_alert(self, alert: SavedSearchAlert) -> SavedSearchAlert:
        """Store a new alert, or a changed one. Raises NotFound for one that was deleted."""
        with self._lock:
            known = self._alerts.get((alert.view_id, alert.login))
            if known is None and alert.id:
                raise no_alert(alert.id)
            new = replace(alert, id=next(self._ids) if known is None else known.id)
            self._alerts[alert.view_id, alert.login] = new
            return new

    def delete_alert(self, view_id: int, login: str) -> None:
        """Delete a person's alert, if there is one."""
        with self._lock:
            self._alerts.pop((view_id, login), None)
