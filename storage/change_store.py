"""Changes made by hand, in PostgreSQL."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy import Sequence as Ids
from sqlalchemy.dialects.postgresql import insert

from core.changes import Change, ChangeSet, no_change_set
from storage.change_models import CHANGE_SETS, CHANGES
from storage.database import Database
from storage.json_values import read, written
from storage.rows import storable_text

__all__ = ["SqlChangeLog"]


class SqlChangeLog:
    """core.changes.ChangeLog."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def add(self, changed: ChangeSet) -> ChangeSet:
        """Store a set and give it back with its id."""
        with self._database.transaction("storing changes") as connection:
            new = replace(changed, id=connection.scalar(Ids("change_sets_id_seq").next_value()))
            own: dict[str, Any] = {"at": new.at, "who": storable_text(new.who), "what": storable_text(new.what)}
            own |= {"undone_at": new.undone_at, "undone_by": storable_text(new.undone_by)}
            connection.execute(insert(CHANGE_SETS).values(tenant_id=self._tenant, id=new.id, **own))
            rows = [
                {
                    "tenant_id": self._tenant,
                    "set_id": new.id,
                    "position": position,
                    "document_id": change.document_id,
                    "data": written(change),
                }
                for position, change in enumerate(new.changes)
            ]
            if rows:
                connection.execute(insert(CHANGES), rows)
        return new

    def find(self, set_id: int) -> ChangeSet:
        """Raises NotFound."""
        own = (CHANGE_SETS.c.tenant_id == self._tenant, CHANGE_SETS.c.id == set_id)
        with self._database.transaction("reading changes") as connection:
            rows = connection.execute(select(CHANGE_SETS).where(*own)).mappings().all()
            found = self._with_changes(connection, rows, None)
        if not found:
            raise no_change_set(set_id)
        return found[0]

    def newest(self, limit: int, document_id: int | None = None) -> Sequence[ChangeSet]:
        """The newest sets, newest first; of a document: those that changed it, with its own changes only."""
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
        held: dict[int, list[Change]] = defaultdict(list)
        query = select(CHANGES.c.set_id, CHANGES.c.data).where(*own).order_by(CHANGES.c.set_id, CHANGES.c.position)
        for set_id, data in connection.execute(query):
            held[set_id].append(read(Change, data))
        names = ("id", "at", "who", "what", "undone_at", "undone_by")
        return [ChangeSet(**{name: row[name] for name in names}, changes=tuple(held[row["id"]])) for row in rows]

    def mark_undone(self, set_id: int, who: str, at: datetime) -> None:
        """Raises NotFound."""
        own = (CHANGE_SETS.c.tenant_id == self._tenant, CHANGE_SETS.c.id == set_id)
        with self._database.transaction("storing what was taken back") as connection:
            change = update(CHANGE_SETS).where(*own).values(undone_at=at, undone_by=storable_text(who))
            if not connection.execute(change).rowcount:
                raise no_change_set(set_id)
