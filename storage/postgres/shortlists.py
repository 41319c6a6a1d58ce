"""Shortlists in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Index, Integer, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from core.library.shortlists import Shortlist, no_shortlist, outdated_shortlist, shortlist_name_taken
from storage.postgres.database import Database
from storage.postgres.document_projects import KNOWN_DOCUMENTS, redact_purged
from storage.postgres.json_records import JsonRecords, next_id
from storage.postgres.tables import BY_LOGIN, Base, JsonValue, allow, id_column, login_column, of_tenant, table_of

__all__ = ["SHORTLISTS", "ShortlistRow", "SqlShortlistStore"]

_SEEN = (
    f"{BY_LOGIN} OR NOT EXISTS (SELECT FROM json_array_elements(data -> 'items') AS item"
    f" WHERE (item ->> 'document_id')::bigint NOT IN {KNOWN_DOCUMENTS})"
)
"""One's own shortlists, and those that quote documents of the person's projects and of all projects only."""


class ShortlistRow(Base):
    """One shortlist with its items. Names are unique among those in use."""

    __tablename__ = "shortlists"
    __table_args__ = (
        of_tenant(),
        Index("shortlists_living_names", "tenant_id", "name", unique=True, postgresql_where=text("NOT retired")),
        allow("SELECT, INSERT, UPDATE (name, retired, version, data)", seen=_SEEN),
    )

    id: Mapped[int] = id_column("shortlists_id_seq")
    name: Mapped[str]
    retired: Mapped[bool]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]
    login: Mapped[str] = login_column()


SHORTLISTS = table_of(ShortlistRow)


class SqlShortlistStore:
    """Implements core.library.shortlists.ShortlistStore."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = JsonRecords(SHORTLISTS, Shortlist, database.tenant)

    def shortlists(self) -> Sequence[Shortlist]:
        """All shortlists in use, oldest first."""
        with self._database.transaction("reading shortlists") as connection:
            return self._records.all(connection, SHORTLISTS.c.retired.is_(False), order=SHORTLISTS.c.id)

    def shortlist(self, shortlist_id: int) -> Shortlist:
        """One shortlist. Raises NotFound."""
        with self._database.transaction("reading a shortlist") as connection:
            existing = self._records.first(connection, SHORTLISTS.c.id == shortlist_id)
        if existing is None:
            raise no_shortlist(shortlist_id)
        return existing

    def add_shortlist(self, shortlist: Shortlist) -> Shortlist:
        """Store a new shortlist. Raises BadRequest when the name is in use."""
        with self._database.transaction("storing a shortlist") as connection:
            (known,) = redact_purged(self._database, connection, [shortlist])
            new = replace(known, id=next_id(connection, SHORTLISTS), version=1)
            if not self._records.add(connection, {"id": new.id, **_row(new)}, new):
                raise shortlist_name_taken(new)
        return new

    def change_shortlist(self, shortlist: Shortlist) -> Shortlist:
        """Store a changed shortlist; returns it with its new version. Raises Outdated, BadRequest, NotFound."""
        own = SHORTLISTS.c.id == shortlist.id
        with self._database.transaction("storing a shortlist") as connection:
            (known,) = redact_purged(self._database, connection, [shortlist])
            new = replace(known, version=shortlist.version + 1)
            try:
                if self._records.change(connection, _row(new), new, own, SHORTLISTS.c.version == shortlist.version):
                    return new
            except IntegrityError as error:
                raise shortlist_name_taken(new) from error
            existing = self._records.first(connection, own)
            raise no_shortlist(new.id) if existing is None else outdated_shortlist(existing)


def _row(shortlist: Shortlist) -> dict[str, Any]:
    name = storable_text(shortlist.name).lower()
    return {"name": name, "retired": shortlist.retired, "version": shortlist.version}
