"""Delivery of notifications outside the pages: one e-mail now and then with all that is new, and a webhook."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Protocol

from core.collaboration.notifications import Notification, NotificationKind, NotificationStore, as_seen
from core.collaboration.target import current_target, on_document
from core.collaboration.team import Team, Teammate
from core.domain.people import LOCAL_LOGIN
from core.ports.catalogue import Catalogue
from core.ports.job_queue import JobKind, JobQueue

__all__ = ["DeliveryService", "Mail", "Mailer", "Webhook", "digest", "webhook_event"]

_MOST_IN_MAIL = 50  # notifications told in one e-mail; the rest are counted. Chosen by hand.
_TOO_OLD = timedelta(days=2)  # what is older is not sent: e-mail may have been configured only now. Chosen by hand.
_TRY_AGAIN = timedelta(minutes=10)  # after the attempts of a job failed; chosen by hand
_AT_ONCE = 10  # events queued in one minute, so that an address that does not answer keeps no other job waiting
_LETTERS = 300  # of a text in an e-mail; chosen by hand
_HEADINGS = {
    NotificationKind.MENTION: "Mentions",
    NotificationKind.ASSIGNMENT: "Assignments",
    NotificationKind.SAVED_SEARCH: "Saved searches",
}


@dataclass(frozen=True, slots=True)
class Mail:
    """One e-mail in plain text."""

    to: str
    subject: str
    text: str


class Mailer(Protocol):
    """Sends e-mail."""

    def send(self, mail: Mail) -> None:
        """Send one. Raises FetchFailed when the mail server does not take it."""
        ...


class Webhook(Protocol):
    """Posts events to one configured address."""

    def post(self, event: dict[str, Any]) -> None:
        """Post an event as signed JSON. Raises FetchFailed when the address does not take it, BadRequest when it may
        not be used."""
        ...


class DeliveryService:
    """Sends what was not sent yet. mailer, webhook: None while not configured. site: the address people open, ending
    with "/". pace: the shortest time between two e-mails to one person. Every method raises StoreFailed when the store
    does not answer."""

    def __init__(
        self,
        store: NotificationStore,
        team: Team,
        catalogue: Catalogue,
        jobs: JobQueue,
        now: Callable[[], datetime],
        *,
        mailer: Mailer | None = None,
        webhook: Webhook | None = None,
        site: str = "",
        pace: timedelta = timedelta(minutes=15),
    ) -> None:
        self._store, self._team, self._catalogue, self._jobs, self._now = store, team, catalogue, jobs, now
        self._mailer, self._webhook, self._site, self._pace = mailer, webhook, site, pace

    @property
    def mails(self) -> bool:
        """Whether e-mail is configured."""
        return self._mailer is not None

    def queue_due(self) -> None:
        """Queue a job for every person with something to send, and for every event to post."""
        if self._mailer is not None:
            due = [notifications[0].id for login, notifications in self._waiting().items() if self._may_mail(login)]
            self._queue(JobKind.MAIL, due)
        if self._webhook is not None:
            self._queue(JobKind.WEBHOOK, [each.id for each in self._store.unposted(self._now() - _TOO_OLD)])

    def _queue(self, kind: JobKind, ids: Sequence[int]) -> None:
        latest = self._now() - _TRY_AGAIN
        failed = {each.number for each in self._jobs.failures() if each.kind is kind and each.at > latest}
        self._jobs.defer(kind, [each for each in ids if each not in failed][:_AT_ONCE])

    def mail(self, notification_id: int) -> None:
        """Send one e-mail with everything new for the person this notification is to. Raises FetchFailed."""
        if self._mailer is None:
            return
        login = self._store.notification(notification_id).to
        waiting, now = self._waiting().get(login, ()), self._now()
        if not waiting or not self._may_mail(login):
            return
        person = self._person(login)
        mailed = self._store.preferences(login).mailed
        to_mail = [
            known
            for each in waiting
            if person is not None and each.kind in mailed and (known := self._as_known(person, each)) is not None
        ]
        if person is not None and person.email and to_mail:
            self._mailer.send(digest(person, to_mail, self._site))
            self._store.record_mail(login, now)
        self._store.mark_mailed([each.id for each in waiting], now)

    def post(self, notification_id: int) -> None:
        """Post one notification to the webhook. Raises FetchFailed, BadRequest."""
        notification = self._store.notification(notification_id)
        if self._webhook is None or notification.posted_at is not None:
            return
        person = self._person(notification.to)
        known = None if person is None else self._as_known(person, notification)
        if person is not None and known is not None:
            self._webhook.post(webhook_event(known, person, self._site))
        self._store.mark_posted([notification_id], self._now())

    def _waiting(self) -> dict[str, list[Notification]]:
        """Login → what was not sent yet, oldest first."""
        found: dict[str, list[Notification]] = {}
        for each in self._store.unmailed(self._now() - _TOO_OLD):
            found.setdefault(each.to, []).append(each)
        return found

    def _may_mail(self, login: str) -> bool:
        last = self._store.last_mailed(login)
        return last is None or self._now() - last >= self._pace

    def _as_known(self, person: Teammate, notification: Notification) -> Notification | None:
        """As the person may see it now, None when they may not: roles are withdrawn, and documents change their
        project."""
        if notification.on is None:
            found = self._catalogue.documents_by_id(notification.documents).values()
            return as_seen(notification, {each.id: each.name for each in found if person.sees(on_document(each))})
        on = current_target(notification.on, self._catalogue)
        return notification if on is not None and person.sees(on) else None

    def _person(self, login: str) -> Teammate | None:
        team = self._team.teammates()
        if login == LOCAL_LOGIN and not team:
            return Teammate(login, "You")
        return next((each for each in team if each.login == login), None)


def digest(person: Teammate, notifications: Sequence[Notification], site: str) -> Mail:
    """One e-mail that tells all of these, by kind. site: the address of the product, "" when unknown."""
    order = list(_HEADINGS)
    sorted_ = sorted(notifications, key=lambda each: (order.index(each.kind), each.at))
    parts = [f"Hello {person.name},", ""]
    for kind, group in groupby(sorted_[:_MOST_IN_MAIL], key=lambda each: each.kind):
        parts += [_HEADINGS[kind], "-" * len(_HEADINGS[kind])]
        for each in group:
            parts += _lines(each, site)
    more = len(sorted_) - _MOST_IN_MAIL
    parts += [f"… and {more:,} more on Home.", ""] if more > 0 else []
    parts += ["You can choose what is sent to you on Settings, Notifications."]
    first = notifications[0]
    about = f"{first.title}: {first.on.name}" if first.on is not None else first.title
    subject = about if len(notifications) == 1 else f"{len(notifications)} things for you"
    return Mail(person.email, f"Fivefold – {_one_line(subject, 120)}", "\n".join(parts))


def _lines(notification: Notification, site: str) -> list[str]:
    about = f" – {notification.on.name}" if notification.on is not None else ""
    lines = [f"* {_one_line(notification.title + about, 200)}"]
    lines += [f"  {_one_line(notification.text, _LETTERS)}"] if notification.text else []
    lines += [f"  {site}{notification.path}"] if site else []
    return [*lines, ""]


def _one_line(text: str, letters: int) -> str:
    tidy = " ".join(text.split())
    return tidy if len(tidy) <= letters else f"{tidy[: letters - 1].rstrip()}…"


def webhook_event(notification: Notification, person: Teammate, site: str) -> dict[str, Any]:
    """The JSON object that is posted for a notification."""
    on = notification.on
    return {
        "event": notification.kind.value.replace(" ", "_"),
        "id": notification.id,
        "at": notification.at.isoformat(),
        "to": {"login": person.login, "name": person.name},
        "title": notification.title,
        "text": notification.text,
        "about": None if on is None else {"kind": on.kind.value, "name": on.name, "project": on.project},
        "url": f"{site}{notification.path}" if site else "",
    }
