"""Saved searches, and each person's last visit to them, in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, ForeignKeyConstraint, Index, Integer, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from core.library.saved_search_alerts import SavedSearchAlert, no_alert
from core.library.saved_searches import SavedSearch, SavedSearchVisit, no_view, outdated_view, view_name_taken
from storage.postgres.database import Database
from storage.postgres.json_records import JsonRecords, next_id, storable, to_json, upsert
from storage.postgres.tables import BY_PROJECT, Base, JsonValue, allow, id_column, of_tenant, table_of

__all__ = [
    "SAVED_SEARCHES",
    "SAVED_SEARCH_ALERTS",
    "SAVED_SEARCH_VISITS",
    "SavedSearchAlertRow",
    "SavedSearchRow",
    "SavedSearchVisitRow",
    "SqlSavedSearchAlertStore",
    "SqlSavedSearchStore",
]


class SavedSearchRow(Base):
    """One saved search. Names are unique among the shared ones (owner "") of a project, and per owner. login, owner: as
    core.library.saved_searches.owner_of says."""

    __tablename__ = "saved_views"
    __table_args__ = (
        of_tenant(),
        Index(
            "saved_views_living_names",
            "tenant_id",
            "project",
            "login",
            "owner",
            "name",
            unique=True,
            postgresql_where=text("NOT retired"),
            postgresql_nulls_not_distinct=True,
        ),
        allow("SELECT, INSERT, UPDATE (project, owner, name, retired, version, data)", seen=BY_PROJECT),
    )

    id: Mapped[int] = id_column("saved_views_id_seq")
    project: Mapped[str | None]
    owner: Mapped[str]
    name: Mapped[str]
    retired: Mapped[bool]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]
    login: Mapped[str] = mapped_column(server_default=text("''"))


class SavedSearchVisitRow(Base):
    """One person's last visit to one saved search."""

    __tablename__ = "view_looks"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "view_id"], ["saved_views.tenant_id", "saved_views.id"], ondelete="CASCADE"),
        allow("SELECT, INSERT, UPDATE (at, data)", seen="view_id IN (SELECT id FROM saved_views)"),
    )

    login: Mapped[str] = mapped_column(primary_key=True, server_default=text("''"))
    who: Mapped[str] = mapped_column(primary_key=True)
    view_id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    data: Mapped[JsonValue]


class SavedSearchAlertRow(Base):
    """One person who follows one saved search."""

    __tablename__ = "saved_search_alerts"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "view_id"], ["saved_views.tenant_id", "saved_views.id"], ondelete="CASCADE"),
        Index("saved_search_alerts_people", "tenant_id", "view_id", "login", unique=True),
        allow("SELECT, INSERT, UPDATE (data), DELETE", seen="view_id IN (SELECT id FROM saved_views)"),
    )

    id: Mapped[int] = id_column("saved_search_alerts_id_seq")
    view_id: Mapped[int]
    login: Mapped[str]
    data: Mapped[JsonValue]


SAVED_SEARCHES = table_of(SavedSearchRow)
SAVED_SEARCH_ALERTS = table_of(SavedSearchAlertRow)
SAVED_SEARCH_VISITS = table_of(SavedSearchVisitRow)


class SqlSavedSearchStore:
    """Implements core.library.saved_searches.SavedSearchStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._searches = JsonRecords(SAVED_SEARCHES, SavedSearch, database.tenant)
        self._visits = JsonRecords(SAVED_SEARCH_VISITS, SavedSearchVisit, database.tenant)

    def views(self, *, retired: bool = False) -> Sequence[SavedSearch]:
        """Every saved search in use (or retired), oldest first."""
        with self._database.transaction("reading saved views") as connection:
            return self._searches.all(connection, SAVED_SEARCHES.c.retired.is_(retired), order=SAVED_SEARCHES.c.id)

    def view(self, view_id: int) -> SavedSearch:
        """One saved search. Raises NotFound."""
        with self._database.transaction("reading a saved view") as connection:
            existing = self._searches.first(connection, SAVED_SEARCHES.c.id == view_id)
        if existing is None:
            raise no_view(view_id)
        return existing

    def add_view(self, search: SavedSearch) -> SavedSearch:
        """Store a new saved search. Raises BadRequest when the name is in use."""
        with self._database.transaction("storing a saved view") as connection:
            new = replace(search, id=next_id(connection, SAVED_SEARCHES), version=1)
            if not self._searches.add(connection, {"id": new.id, "login": storable_text(new.login), **_row(new)}, new):
                raise view_name_taken(new)
        return new

    def change_view(self, search: SavedSearch) -> SavedSearch:
        """Store a changed saved search; returns it with its new version. Raises Outdated, BadRequest, NotFound."""
        new = replace(search, version=search.version + 1)
        own = SAVED_SEARCHES.c.id == new.id
        with self._database.transaction("storing a saved view") as connection:
            try:
                if self._searches.change(connection, _row(new), new, own, SAVED_SEARCHES.c.version == search.version):
                    return new
            except IntegrityError as error:
                raise view_name_taken(new) from error
            existing = self._searches.first(connection, own)
            raise no_view(new.id) if existing is None else outdated_view(existing)

    def visit(self, view_id: int, login: str, who: str) -> SavedSearchVisit | None:
        """This person's last visit to a saved search; None: never visited."""
        own = (*self._visits_of(login, who), SAVED_SEARCH_VISITS.c.view_id == view_id)
        with self._database.transaction("reading what was seen of a saved view") as connection:
            return self._visits.first(connection, *own)

    def last_visits(self, login: str, who: str) -> Mapping[int, datetime]:
        """Id of the saved search → time of this person's last visit."""
        query = select(SAVED_SEARCH_VISITS.c.view_id, SAVED_SEARCH_VISITS.c.at).where(*self._visits_of(login, who))
        with self._database.transaction("reading what was seen of saved views") as connection:
            return {row.view_id: row.at for row in connection.execute(query)}

    def _visits_of(self, login: str, who: str) -> tuple[ColumnElement[bool], ...]:
        visits = SAVED_SEARCH_VISITS.c
        person = (visits.login == storable_text(login), visits.who == storable_text(who))
        return visits.tenant_id == self._tenant, *person

    def save_visit(self, visit: SavedSearchVisit) -> None:
        """Store a visit. Raises NotFound for an unknown saved search."""
        row: dict[str, Any] = {"tenant_id": self._tenant, "login": storable_text(visit.login)}
        row |= {"who": storable_text(visit.who), "view_id": visit.view_id, "at": visit.at, "data": to_json(visit)}
        with self._database.transaction("keeping what was seen of a saved view") as connection:
            try:
                upsert(connection, SAVED_SEARCH_VISITS, [row])
            except IntegrityError as error:
                raise no_view(visit.view_id) from error


def _row(search: SavedSearch) -> dict[str, Any]:
    own = {
        "project": storable(search.project),
        "owner": storable_text(search.owner),
        "name": storable_text(search.name).lower(),
    }
    return own | {"retired": search.retired, "version": search.version}


class SqlSavedSearchAlertStore:
    """Implements core.library.saved_search_alerts.SavedSearchAlertStore."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = JsonRecords(SAVED_SEARCH_ALERTS, SavedSearchAlert, database.tenant)

    def alerts(self, login: str | None = None) -> Sequence[SavedSearchAlert]:
        """All alerts, or those of one person, oldest first."""
        own = [] if login is None else [SAVED_SEARCH_ALERTS.c.login == storable_text(login)]
        with self._database.transaction("reading who follows saved views") as connection:
            return self._records.all(connection, *own, order=SAVED_SEARCH_ALERTS.c.id)

    def alert(self, alert_id: int) -> SavedSearchAlert:
        """One alert. Raises NotFound."""
        with self._database.transaction("reading who follows a saved view") as connection:
            found = self._records.first(connection, SAVED_SEARCH_ALERTS.c.id == alert_id)
        if found is None:
            raise no_alert(alert_id)
        return found

    def save_alert(self, alert: SavedSearchAlert) -> SavedSearchAlert:
        """Store a new alert, or a changed one. Raises NotFound for an unknown saved search."""
        own = (
            SAVED_SEARCH_ALERTS.c.view_id == alert.view_id,
            SAVED_SEARCH_ALERTS.c.login == storable_text(alert.login),
        )
        with self._database.transaction("storing who follows a saved view") as connection:
            known = self._records.first(connection, *own)
            if known is not None:
                new = replace(alert, id=known.id)
                self._records.change(connection, {}, new, *own)
                return new
            if alert.id:
                raise no_alert(alert.id)  # unfollowed meanwhile
            new = replace(alert, id=next_id(connection, SAVED_SEARCH_ALERTS))
            row = {"id": new.id, "view_id": new.view_id, "login": storable_text(new.login)}
            try:
                self._records.add(connection, row, new)
            except IntegrityError as error:
                raise no_view(new.view_id) from error
        return new

    def delete_alert(self, view_id: int, login: str) -> None:
        """Delete a person's alert, if there is one."""
        own = (SAVED_SEARCH_ALERTS.c.view_id == view_id, SAVED_SEARCH_ALERTS.c.login == storable_text(login))
        with self._database.transaction("storing who follows a saved view") as connection:
            self._records.delete(connection, *own)
