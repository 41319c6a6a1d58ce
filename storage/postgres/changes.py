"""The log of manual label edits in PostgreSQL."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, ForeignKeyConstraint, Index, Integer, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from core.library.bulk_edit.store import ChangeSet, LabelEdit, no_change_set
from storage.postgres.database import Database
from storage.postgres.document_projects import DOCUMENT_PROJECTS, KNOWN_DOCUMENTS, every_project
from storage.postgres.json_records import any_of, from_json, next_id, to_json
from storage.postgres.tables import (
    BY_LOGIN,
    Base,
    JsonValue,
    allow,
    id_column,
    login_column,
    of_tenant,
    table_of,
)

__all__ = ["CHANGES", "CHANGE_SETS", "ChangeRow", "ChangeSetRow", "SqlChangeLog"]


class ChangeSetRow(Base):
    """Edits that one person made at once."""

    __tablename__ = "change_sets"
    __table_args__ = (
        of_tenant(),
        allow(
            "SELECT, INSERT, UPDATE (undone_at, undone_by)", seen=f"{BY_LOGIN} OR id IN (SELECT set_id FROM changes)"
        ),
    )

    id: Mapped[int] = id_column("change_sets_id_seq")
    at: Mapped[datetime]
    who: Mapped[str]
    what: Mapped[str]
    undone_at: Mapped[datetime | None]
    undone_by: Mapped[str]
    login: Mapped[str] = login_column()


class ChangeRow(Base):
    """One edited field of one document, which it outlives; `data` is the whole value as JSON."""

    __tablename__ = "changes"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "set_id"], ["change_sets.tenant_id", "change_sets.id"], ondelete="CASCADE"),
        Index("changes_of_document", "tenant_id", "document_id", "set_id"),
        allow("SELECT, INSERT", seen=f"{BY_LOGIN} OR document_id IN {KNOWN_DOCUMENTS}"),
    )

    set_id: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(Integer(), primary_key=True)
    document_id: Mapped[int]
    data: Mapped[JsonValue]
    login: Mapped[str] = login_column()


CHANGE_SETS = table_of(ChangeSetRow)
CHANGES = table_of(ChangeRow)


class SqlChangeLog:
    """Implements core.library.bulk_edit.store.ChangeLog."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def add(self, changed: ChangeSet) -> ChangeSet:
        """Store a change set; returns it with its id."""
        with self._database.transaction("storing changes") as connection:
            new = replace(changed, id=next_id(connection, CHANGE_SETS))
            own: dict[str, Any] = {"at": new.at, "who": storable_text(new.who), "what": storable_text(new.what)}
            own |= {"undone_at": new.undone_at, "undone_by": storable_text(new.undone_by)}
            connection.execute(insert(CHANGE_SETS).values(tenant_id=self._tenant, id=new.id, **own))
            rows = [
                {
                    "tenant_id": self._tenant,
                    "set_id": new.id,
                    "position": position,
                    "document_id": change.document_id,
                    "data": to_json(change),
                }
                for position, change in enumerate(new.changes)
            ]
            if rows:
                connection.execute(insert(CHANGES), rows)
        return new

    def find(self, set_id: int) -> ChangeSet:
        """One change set. Raises NotFound."""
        own = (CHANGE_SETS.c.tenant_id == self._tenant, CHANGE_SETS.c.id == set_id)
        with self._database.transaction("reading changes") as connection:
            rows = connection.execute(select(CHANGE_SETS).where(*own)).mappings().all()
            sets = self._with_changes(connection, rows, None)
        if not sets:
            raise no_change_set(set_id)
        return sets[0]

    def newest(self, limit: int, document_id: int | None = None) -> Sequence[ChangeSet]:
        """The newest change sets, newest first; for a document, those that changed it, with only its own changes."""
        query = select(CHANGE_SETS).where(CHANGE_SETS.c.tenant_id == self._tenant)
        if document_id is not None:
            of_document = (CHANGES.c.tenant_id == self._tenant, CHANGES.c.document_id == document_id)
            query = query.where(CHANGE_SETS.c.id.in_(select(CHANGES.c.set_id).where(*of_document)))
        with self._database.transaction("reading changes") as connection:
            rows = connection.execute(query.order_by(CHANGE_SETS.c.id.desc()).limit(limit)).mappings().all()
            return self._with_changes(connection, rows, document_id)

    def _with_changes(self, connection: Connection, rows: Sequence[Any], document_id: int | None) -> list[ChangeSet]:
        own = [CHANGES.c.tenant_id == self._tenant, CHANGES.c.set_id.in_([row["id"] for row in rows])]
        if document_id is not None:
            own.append(CHANGES.c.document_id == document_id)
        edits: dict[int, list[LabelEdit]] = defaultdict(list)
        query = select(CHANGES.c.set_id, CHANGES.c.data).where(*own).order_by(CHANGES.c.set_id, CHANGES.c.position)
        for set_id, data in connection.execute(query):
            edits[set_id].append(from_json(LabelEdit, data))
        names = ("id", "at", "who", "what", "undone_at", "undone_by")
        hidden = self._hidden(connection, [row["id"] for row in rows])
        return [
            ChangeSet(
                **{name: row[name] for name in names}, changes=tuple(edits[row["id"]]), hidden=hidden.get(row["id"], 0)
            )
            for row in rows
        ]

    def _hidden(self, connection: Connection, set_ids: Sequence[int]) -> dict[int, int]:
        """Set → number of its changes to documents that are hidden from the person; sets without any may be absent."""
        of_documents = (
            select(CHANGES.c.set_id, func.count())
            .join(
                DOCUMENT_PROJECTS,
                (DOCUMENT_PROJECTS.c.tenant_id == CHANGES.c.tenant_id)
                & (DOCUMENT_PROJECTS.c.document_id == CHANGES.c.document_id),
            )
            .where(CHANGES.c.tenant_id == self._tenant, CHANGES.c.set_id == any_of(set_ids))
            .group_by(CHANGES.c.set_id)
        )
        seen = {row[0]: row[1] for row in connection.execute(of_documents)}
        with every_project(self._database, connection):
            stored = {row[0]: row[1] for row in connection.execute(of_documents)}
        return {each: number - seen.get(each, 0) for each, number in stored.items()}

    def mark_undone(self, set_id: int, who: str, at: datetime) -> None:
        """Mark a change set as undone. Raises NotFound."""
        own = (CHANGE_SETS.c.tenant_id == self._tenant, CHANGE_SETS.c.id == set_id)
        with self._database.transaction("storing what was taken back") as connection:
            change = update(CHANGE_SETS).where(*own).values(undone_at=at, undone_by=storable_text(who))
            if not connection.execute(change).rowcount:
                raise no_change_set(set_id)
