"""Notifications: what a person should know, whether they have read it, and how it reaches them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from core.collaboration.target import Target
from core.domain.errors import NotFound
from core.domain.people import Principal
from core.ports.catalogue import Catalogue

__all__ = [
    "MOST_LISTED",
    "Notification",
    "NotificationKind",
    "NotificationPreferences",
    "NotificationService",
    "NotificationStore",
    "Notifier",
    "as_seen",
    "no_notification",
    "results_in_words",
]

MOST_LISTED = 100
"""Notifications that are listed at most, newest first."""
_NAMED = 5  # documents named in a notification; chosen by hand


class NotificationKind(StrEnum):
    """What a notification is about."""

    MENTION = "mention"
    ASSIGNMENT = "assignment"
    SAVED_SEARCH = "saved search"


@dataclass(frozen=True, slots=True)
class Notification:
    """One thing one person should know. to: a login. title: one line; text: the words behind it, may be "".

    key: what it is about; a person has one notification with a key at most, and a later one replaces it. on: None for a
    saved search, whose id is `search_id` then; documents: of its results, the best first. read_at, mailed_at,
    posted_at: None until read, sent by e-mail and posted to the webhook. id: 0 until stored."""

    to: str
    kind: NotificationKind
    key: str
    title: str
    text: str
    at: datetime
    on: Target | None = None
    search_id: int | None = None
    documents: tuple[int, ...] = ()
    id: int = 0
    read_at: datetime | None = None
    mailed_at: datetime | None = None
    posted_at: datetime | None = None

    @property
    def path(self) -> str:
        """The address of what it is about, relative to the root of the site."""
        return self.on.path if self.on is not None else f"search?saved={self.search_id}"


def results_in_words(names: Sequence[str]) -> str:
    """Where the results of a saved search are.

    >>> results_in_words(["a.pdf", "b.pdf"])
    'In a.pdf, b.pdf'
    """
    each_once = list(dict.fromkeys(names))
    more = f" and {len(each_once) - _NAMED} more" if len(each_once) > _NAMED else ""
    return f"In {', '.join(each_once[:_NAMED])}{more}"


def as_seen(notification: Notification, names: Mapping[int, str]) -> Notification | None:
    """A notification for somebody who may see these documents now, id → name; None when none of its own is left. Roles
    are withdrawn, documents deleted and moved."""
    if not notification.documents:
        return notification
    left = [names[each] for each in notification.documents if each in names]
    return replace(notification, text=results_in_words(left)) if left else None


@dataclass(frozen=True, slots=True)
class NotificationPreferences:
    """What one person wants by e-mail. Home shows everything."""

    login: str
    mailed: frozenset[NotificationKind] = frozenset(NotificationKind)


# Errors that every store raises
def no_notification(notification_id: int) -> NotFound:
    """The notification is not stored."""
    return NotFound(f"Notification {notification_id} is not (or no longer) here.", "Load the page again.")


class NotificationStore(Protocol):
    """Stores the notifications of one tenant. Every method raises StoreFailed when the store does not respond."""

    def save_notification(self, notification: Notification) -> Notification:
        """Store a notification (id 0) as unread and unsent; it replaces the person's earlier one with the same key."""
        ...

    def notification(self, notification_id: int) -> Notification:
        """One notification. Raises NotFound."""
        ...

    def notifications_of(self, login: str, *, unread: bool = False, limit: int = MOST_LISTED) -> Sequence[Notification]:
        """A person's notifications, newest first."""
        ...

    def unread_count(self, login: str) -> int:
        """How many a person has not read."""
        ...

    def mark_read(self, login: str, at: datetime, ids: Sequence[int] | None = None) -> None:
        """Record that a person has read these (None: all) of their notifications."""
        ...

    def delete_notifications(self, login: str, key: str) -> None:
        """Delete a person's notification with a key: what it says is no longer so."""
        ...

    def reword_notifications(self, key: str, text: str) -> None:
        """Change the text of everybody's notifications with a key; who has read theirs, or got it by e-mail, is not
        told again."""
        ...

    def unmailed(self, since: datetime) -> Sequence[Notification]:
        """All since then that were neither read nor sent by e-mail, oldest first."""
        ...

    def unposted(self, since: datetime) -> Sequence[Notification]:
        """All since then that were not posted to the webhook, oldest first."""
        ...

    def last_mailed(self, login: str) -> datetime | None:
        """When a person's latest e-mail was sent; None: never."""
        ...

    def record_mail(self, login: str, at: datetime) -> None:
        """Record when a person's latest e-mail was sent."""
        ...

    def mark_mailed(self, ids: Sequence[int], at: datetime) -> None:
        """Record that notifications were sent by e-mail, or need not be."""
        ...

    def mark_posted(self, ids: Sequence[int], at: datetime) -> None:
        """Record that notifications were posted to the webhook, or need not be."""
        ...

    def preferences(self, login: str) -> NotificationPreferences:
        """What a person wants; the default until they chose."""
        ...

    def save_preferences(self, preferences: NotificationPreferences) -> None:
        """Store what a person wants."""
        ...


class Notifier:
    """Writes notifications. Raises StoreFailed when the store does not answer."""

    def __init__(self, store: NotificationStore) -> None:
        self._store = store

    def tell(self, notifications: Sequence[Notification]) -> None:
        """Store notifications, each in place of an earlier one with its key."""
        for each in notifications:
            self._store.save_notification(each)

    def withdraw(self, login: str, key: str) -> None:
        """Delete a notification that is no longer so."""
        self._store.delete_notifications(login, key)

    def reword(self, key: str, text: str) -> None:
        """Change what everybody's notifications with a key say, without telling them again."""
        self._store.reword_notifications(key, text)


class NotificationService:
    """A person's own notifications and preferences. catalogue: as the person sees it. Raises StoreFailed when the store
    does not answer."""

    def __init__(self, store: NotificationStore, catalogue: Catalogue, now: Callable[[], datetime]) -> None:
        self._store, self._catalogue, self._now = store, catalogue, now

    def listed(self, by: Principal, *, unread: bool = False) -> Sequence[Notification]:
        """A person's notifications, newest first, at most MOST_LISTED; without those whose documents are all hidden by
        now."""
        return self._seen(self._store.notifications_of(by.login, unread=unread))

    def unread(self, by: Principal) -> int:
        """How many a person has not read."""
        count = self._store.unread_count(by.login)
        if not count:
            return 0
        newest = self._store.notifications_of(by.login, unread=True)
        return count - (len(newest) - len(self._seen(newest)))

    def _seen(self, found: Sequence[Notification]) -> Sequence[Notification]:
        """As the person may see them now."""
        named = {document for each in found for document in each.documents}
        known = self._catalogue.documents_by_id(sorted(named)) if named else {}
        names = {number: document.name for number, document in known.items()}
        return [seen for each in found if (seen := as_seen(each, names)) is not None]

    def mark_read(self, ids: Sequence[int], by: Principal) -> None:
        """Record that a person has read these of their notifications; others' are left alone."""
        self._store.mark_read(by.login, self._now(), ids)

    def mark_all_read(self, by: Principal) -> None:
        """Record that a person has read all of theirs."""
        self._store.mark_read(by.login, self._now())

    def read_about(self, about: Target | int, by: Principal) -> None:
        """Record that a person has seen what is behind their notifications about a target, or a saved search by its
        id."""
        unread = self._store.notifications_of(by.login, unread=True)
        if isinstance(about, int):
            found = [each.id for each in unread if each.search_id == about]
        else:
            found = [each.id for each in unread if each.on is not None and about.covers(each.on)]
        if found:
            self._store.mark_read(by.login, self._now(), found)

    def preferences(self, by: Principal) -> NotificationPreferences:
        """What a person wants by e-mail."""
        return self._store.preferences(by.login)

    def choose(self, mailed: frozenset[NotificationKind], by: Principal) -> None:
        """Store what a person wants by e-mail."""
        self._store.save_preferences(NotificationPreferences(by.login, mailed))
