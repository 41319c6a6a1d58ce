"""Notifications, and what people want by e-mail, in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Index, cast, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import JSON, JSONB, insert
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.collaboration.notifications import (
    MOST_LISTED,
    Notification,
    NotificationPreferences,
    no_notification,
)
from core.domain.errors import NotFound
from core.domain.sanitize import storable_text
from storage.postgres.comments import BY_TARGET, target_values
from storage.postgres.database import Database
from storage.postgres.json_records import any_of, from_json, next_id, to_json, upsert
from storage.postgres.tables import BY_LOGIN, Base, JsonValue, allow, id_column, of_document, of_tenant, table_of

__all__ = ["NOTIFICATIONS", "NOTIFICATION_PREFERENCES", "NotificationPreferenceRow", "NotificationRow",
           "SqlNotificationStore"]  # fmt: skip


class NotificationRow(Base):
    """One notification of one person. A person has one with a subject at most. read_at, mailed_at and posted_at count,
    not those inside data."""

    __tablename__ = "notifications"
    __table_args__ = (
        of_tenant(),
        of_document(),
        Index("notifications_subjects", "tenant_id", "login", "subject", unique=True),
        Index("notifications_unmailed", "tenant_id", "id", postgresql_where=text("mailed_at IS NULL")),
        Index("notifications_unposted", "tenant_id", "id", postgresql_where=text("posted_at IS NULL")),
        allow("SELECT, INSERT, UPDATE, DELETE", seen=f"{BY_TARGET} OR (about_search AND {BY_LOGIN})"),
    )

    id: Mapped[int] = id_column("notifications_id_seq")
    document_id: Mapped[int | None]
    project: Mapped[str | None]
    about_search: Mapped[bool]
    login: Mapped[str]
    subject: Mapped[str]
    at: Mapped[datetime]
    read_at: Mapped[datetime | None]
    mailed_at: Mapped[datetime | None]
    posted_at: Mapped[datetime | None]
    data: Mapped[JsonValue]


class NotificationPreferenceRow(Base):
    """What one person wants by e-mail, and when their latest e-mail was sent."""

    __tablename__ = "notification_preferences"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT, UPDATE (mailed_at, data)", seen=BY_LOGIN))

    login: Mapped[str] = mapped_column(primary_key=True)
    mailed_at: Mapped[datetime | None]
    data: Mapped[JsonValue]


NOTIFICATIONS, NOTIFICATION_PREFERENCES = table_of(NotificationRow), table_of(NotificationPreferenceRow)


class SqlNotificationStore:
    """Implements core.collaboration.notifications.NotificationStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def save_notification(self, notification: Notification) -> Notification:
        """Store a notification as unread and unsent, in place of the person's earlier one with its key."""
        new = replace(notification, read_at=None, mailed_at=None, posted_at=None)
        with self._database.transaction("storing a notification") as connection:
            new = replace(new, id=next_id(connection, NOTIFICATIONS))
            row = target_values(new.on) | {
                "about_search": new.on is None,
                "id": new.id,
                "at": new.at,
                "data": to_json(new),
            }
            row |= dict.fromkeys(("read_at", "mailed_at", "posted_at"))
            key = {
                "tenant_id": self._tenant,
                "login": storable_text(new.to),
                "subject": storable_text(new.key),
            }
            add = insert(NOTIFICATIONS).values(key | row)
            try:
                connection.execute(add.on_conflict_do_update(index_elements=list(key), set_=row))
            except IntegrityError as error:
                raise NotFound("What this is about is no longer in the library.", "Load the page again.") from error
        return new

    def notification(self, notification_id: int) -> Notification:
        """One notification. Raises NotFound."""
        found = self._read("reading a notification", NOTIFICATIONS.c.id == notification_id)
        if not found:
            raise no_notification(notification_id)
        return found[0]

    def notifications_of(self, login: str, *, unread: bool = False, limit: int = MOST_LISTED) -> Sequence[Notification]:
        """A person's notifications, newest first."""
        own = [NOTIFICATIONS.c.login == storable_text(login)]
        own += [NOTIFICATIONS.c.read_at.is_(None)] if unread else []
        newest = (NOTIFICATIONS.c.at.desc(), NOTIFICATIONS.c.id.desc())
        return self._read("reading notifications", *own, order=newest, limit=limit)

    def unread_count(self, login: str) -> int:
        """How many a person has not read."""
        own = self._own(NOTIFICATIONS.c.login == storable_text(login), NOTIFICATIONS.c.read_at.is_(None))
        with self._database.transaction("counting notifications") as connection:
            return int(connection.scalar(select(func.count()).select_from(NOTIFICATIONS).where(*own)) or 0)

    def mark_read(self, login: str, at: datetime, ids: Sequence[int] | None = None) -> None:
        """Record that a person has read these (None: all) of their notifications."""
        own = [NOTIFICATIONS.c.login == storable_text(login), NOTIFICATIONS.c.read_at.is_(None)]
        own += [] if ids is None else [NOTIFICATIONS.c.id == any_of(ids)]
        self._mark("storing what was read", {"read_at": at}, *own)

    def delete_notifications(self, login: str, key: str) -> None:
        """Delete a person's notification with a key."""
        own = (NOTIFICATIONS.c.login == storable_text(login), NOTIFICATIONS.c.subject == storable_text(key))
        with self._database.transaction("deleting a notification") as connection:
            connection.execute(delete(NOTIFICATIONS).where(*self._own(*own)))

    def reword_notifications(self, key: str, text: str) -> None:
        """Change the text of everybody's notifications with a key; they stay read and sent."""
        data = cast(cast(NOTIFICATIONS.c.data, JSONB) + cast({"text": storable_text(text)}, JSONB), JSON)
        self._mark("changing a notification", {"data": data}, NOTIFICATIONS.c.subject == storable_text(key))

    def unmailed(self, since: datetime) -> Sequence[Notification]:
        """All since then that were neither read nor sent by e-mail, oldest first."""
        column = NOTIFICATIONS.c
        unsent = (column.mailed_at.is_(None), column.read_at.is_(None), column.at >= since)
        return self._read("reading what is to be mailed", *unsent)

    def unposted(self, since: datetime) -> Sequence[Notification]:
        """All since then that were not posted to the webhook, oldest first."""
        unsent = (NOTIFICATIONS.c.posted_at.is_(None), NOTIFICATIONS.c.at >= since)
        return self._read("reading what is to be posted", *unsent)

    def last_mailed(self, login: str) -> datetime | None:
        """When a person's latest e-mail was sent; None: never."""
        query = select(NOTIFICATION_PREFERENCES.c.mailed_at).where(*self._chosen_by(login))
        with self._database.transaction("reading when an e-mail was sent") as connection:
            return connection.scalar(query)

    def record_mail(self, login: str, at: datetime) -> None:
        """Record when a person's latest e-mail was sent."""
        row = self._preference_row(NotificationPreferences(login)) | {"mailed_at": at}
        add = insert(NOTIFICATION_PREFERENCES).values(row)
        with self._database.transaction("storing when an e-mail was sent") as connection:
            connection.execute(add.on_conflict_do_update(index_elements=["tenant_id", "login"], set_={"mailed_at": at}))

    def mark_mailed(self, ids: Sequence[int], at: datetime) -> None:
        """Record that notifications were sent by e-mail, or need not be."""
        self._mark("storing what was mailed", {"mailed_at": at}, NOTIFICATIONS.c.id == any_of(ids))

    def mark_posted(self, ids: Sequence[int], at: datetime) -> None:
        """Record that notifications were posted to the webhook, or need not be."""
        self._mark("storing what was posted", {"posted_at": at}, NOTIFICATIONS.c.id == any_of(ids))

    def preferences(self, login: str) -> NotificationPreferences:
        """What a person wants; the default until they chose."""
        query = select(NOTIFICATION_PREFERENCES.c.data).where(*self._chosen_by(login))
        with self._database.transaction("reading what a person wants by e-mail") as connection:
            data = connection.scalar(query)
        return NotificationPreferences(login) if data is None else from_json(NotificationPreferences, data)

    def save_preferences(self, preferences: NotificationPreferences) -> None:
        """Store what a person wants."""
        with self._database.transaction("storing what a person wants by e-mail") as connection:
            upsert(connection, NOTIFICATION_PREFERENCES, [self._preference_row(preferences)])

    def _preference_row(self, preferences: NotificationPreferences) -> dict[str, Any]:
        return {"tenant_id": self._tenant, "login": storable_text(preferences.login), "data": to_json(preferences)}

    def _chosen_by(self, login: str) -> tuple[ColumnElement[bool], ...]:
        preferences = NOTIFICATION_PREFERENCES.c
        return preferences.tenant_id == self._tenant, preferences.login == storable_text(login)

    def _own(self, *conditions: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
        return (NOTIFICATIONS.c.tenant_id == self._tenant, *conditions)

    def _read(
        self, doing: str, *conditions: ColumnElement[bool], order: Any = (), limit: int | None = None
    ) -> list[Notification]:
        column = NOTIFICATIONS.c
        query = select(column.data, column.read_at, column.mailed_at, column.posted_at).where(*self._own(*conditions))
        with self._database.transaction(doing) as connection:
            rows = connection.execute(query.order_by(*(order or (column.id,))).limit(limit)).all()
        return [
            replace(
                from_json(Notification, row.data),
                read_at=row.read_at,
                mailed_at=row.mailed_at,
                posted_at=row.posted_at,
            )
            for row in rows
        ]

    def _mark(self, doing: str, values: dict[str, Any], *conditions: ColumnElement[bool]) -> None:
        with self._database.transaction(doing) as connection:
            connection.execute(update(NOTIFICATIONS).where(*self._own(*conditions)).values(values))
