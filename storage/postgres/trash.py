"""The trash in PostgreSQL: each row that belonged to a deleted document is kept as JSON and goes back as it was.

Which rows belong to a document follows from the foreign keys, so that a new table needs nothing here. Deleting for good
switches to a role of its own: it may take quotes out of stored values that the application may otherwise only add to,
and it alone sees, by a policy, whether a document of another tenant uses the same original.
"""
# Over 300 lines: what moves rows out, moves them back and deletes them follows the same foreign keys.

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    ForeignKeyConstraint,
    Integer,
    Table,
    Text,
    and_,
    cast,
    delete,
    func,
    insert,
    literal,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSON, JSONB
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.errors import BadRequest, NotFound
from core.library.trash import TrashedDocument, without_answers, without_quotes
from storage.datasets.access import TableAccess
from storage.datasets.loading import REALITY, TableLoader, known_tables, parked_name, stored_name
from storage.postgres.database import EVERYTHING, PURGE_ROLE, Database
from storage.postgres.documents import DOCUMENTS, lock_original
from storage.postgres.evaluation import QUESTIONS
from storage.postgres.insights import SqlInsightStore
from storage.postgres.passages import CHUNKS
from storage.postgres.tables import BY_PROJECT, Base, JsonValue, TenantRow, allow, of_tenant, table_of
from storage.postgres.usage import DOCUMENT_USES, USE_EVENTS

__all__ = ["CONTENTS", "TRASH", "SqlTrash", "TrashContentRow", "TrashRow", "quoting_columns"]


class TrashRow(Base):
    """A document in the trash; `core.library.trash.TrashedDocument` describes the columns."""

    __tablename__ = "trash"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT, UPDATE (contents, purging), DELETE", seen=BY_PROJECT))

    document_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    sha256: Mapped[str]
    readable: Mapped[str]
    size_bytes: Mapped[int]
    project: Mapped[str | None]
    who: Mapped[str]
    at: Mapped[datetime]
    contents: Mapped[JsonValue]
    earlier: Mapped[int | None]
    later: Mapped[int | None]
    purging: Mapped[bool]


class TrashContentRow(Base):
    """One row of another table that belonged to a document in the trash."""

    __tablename__ = "trash_contents"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "document_id"], ["trash.tenant_id", "trash.document_id"], ondelete="CASCADE"
        ),
        allow("SELECT, INSERT, DELETE", seen="document_id IN (SELECT document_id FROM trash)"),
    )

    document_id: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(Integer(), primary_key=True)
    origin: Mapped[str]
    data: Mapped[JsonValue]


TRASH = table_of(TrashRow)
CONTENTS = table_of(TrashContentRow)

_BESIDE = (DOCUMENT_USES, USE_EVENTS)
"""Tables whose rows belong to a document without a foreign key."""
_COUNTED = {"passage": CHUNKS, "table": REALITY}
"""What people are told that goes with a document, besides comments."""
_UNTOUCHED = frozenset({"audit_log", "trash", "trash_contents"})
"""Tables whose values stay as they are: the audit log names documents and quotes none."""
_PURGE_LOCK = 5_008
"""Arbitrary; differs from every other advisory lock of the program."""
_USED = """
SELECT asked FROM unnest(CAST(:names AS text[])) AS asked
WHERE EXISTS (SELECT FROM documents WHERE sha256 = asked OR readable = asked)
    OR EXISTS (SELECT FROM trash WHERE (sha256 = asked OR readable = asked) AND NOT (purging AND :settled))
"""


class SqlTrash:
    """Implements core.library.trash.TrashStore for one tenant. A person with some projects sees theirs only; what
    belongs to a document moves as a whole, also what others wrote."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._unscoped = replace(database, scope=EVERYTHING)
        self._access = TableAccess(self._unscoped)

    # Looking

    def listed(self) -> Sequence[TrashedDocument]:
        """What is in the trash, the last deleted first."""
        query = select(TRASH).where(self._own(TRASH)).order_by(TRASH.c.at.desc(), TRASH.c.document_id.desc())
        with self._database.transaction("reading the trash") as connection:
            return [_trashed(row) for row in connection.execute(query).mappings()]

    def find(self, document_id: int) -> TrashedDocument:
        """One document. Raises NotFound."""
        query = select(TRASH).where(self._own(TRASH, document_id))
        with self._database.transaction("reading the trash") as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise _not_there(document_id)
        return _trashed(row)

    def texts(self, document_id: int) -> Sequence[str]:
        """The texts of its passages."""
        query = select(CONTENTS.c.data["text"].astext).where(
            self._own(CONTENTS, document_id), CONTENTS.c.origin == CHUNKS.name
        )
        with self._database.transaction("reading the trash") as connection:
            return list(connection.scalars(query))

    # In and out

    def put(
        self, document_id: int, who: str, at: datetime, earlier: int | None = None, later: int | None = None
    ) -> TrashedDocument:
        """Move a document with all its rows and tables into the trash, in one transaction. Raises NotFound."""
        with self._moving("moving a document to the trash") as connection:
            own = and_(DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == document_id)
            row = connection.execute(select(DOCUMENTS).where(own).with_for_update()).mappings().first()
            if row is None:
                message = f"Document {document_id} is not in the library."
                raise NotFound(message, "It was deleted; go back to the library.")
            columns = {name: row[name] for name in ("name", "sha256", "readable", "size_bytes", "project")}
            values = {"tenant_id": self._tenant, "document_id": document_id, **columns, "who": who, "at": at}
            values |= {"earlier": earlier, "later": later, "purging": False}
            connection.execute(insert(TRASH).values(values | {"contents": {}}))
            counts = self._keep_rows(connection, document_id)
            contents = {noun: counts[table.name] for noun, table in _COUNTED.items() if counts.get(table.name)}
            contents |= {"comment": counts["comments"]} if counts.get("comments") else {}
            if counts.get(REALITY.name):
                TableLoader(self._access, connection).park(document_id)
            for table in _BESIDE:
                connection.execute(delete(table).where(*_rows_of(table, self._tenant, document_id)))
            connection.execute(delete(DOCUMENTS).where(own))
            connection.execute(_count_contents(self._own(TRASH, document_id), contents))
        return TrashedDocument(contents=contents, **{k: v for k, v in values.items() if k != "tenant_id"})

    def _keep_rows(self, connection: Connection, document_id: int) -> dict[str, int]:
        """Copy every row that belongs to a document; table → rows."""
        counts: dict[str, int] = {}
        count = 0
        for table in _belonging():
            rows = select(
                literal(self._tenant),
                literal(document_id),
                func.row_number().over() + count,
                literal(table.name),
                func.row_to_json(literal_column(table.name)),
            ).where(*_rows_of(table, self._tenant, document_id))
            columns = ["tenant_id", "document_id", "position", "origin", "data"]
            added = insert(CONTENTS).from_select(columns, rows).returning(CONTENTS.c.position)
            counts[table.name] = len(connection.scalars(added).all())
            count += counts[table.name]
        return counts

    def take_back(self, document_id: int) -> TrashedDocument:
        """Move a document back with all its rows and tables, in one transaction. Raises NotFound, BadRequest."""
        with self._moving("restoring a document") as connection:
            query = select(TRASH).where(self._own(TRASH, document_id)).with_for_update()
            row = connection.execute(query).mappings().first()
            if row is None or row["purging"]:
                raise _not_there(document_id)
            trashed = _trashed(row)
            own = self._own(CONTENTS, document_id)
            tables = connection.scalars(
                select(CONTENTS.c.data).where(own, CONTENTS.c.origin == REALITY.name).order_by(CONTENTS.c.position)
            ).all()
            for table in _belonging():
                if (
                    table is not REALITY
                    and not self._restore_rows(connection, table, document_id)
                    and table is DOCUMENTS
                ):
                    raise BadRequest(
                        f"'{trashed.name}' cannot be restored: the same file is in the library again.",
                        "Delete that one first, or delete this one for good.",
                    )
            if tables:
                TableLoader(self._access, connection).bring_back(tables)
            connection.execute(delete(TRASH).where(self._own(TRASH, document_id)))
        return trashed

    def _restore_rows(self, connection: Connection, table: Table, document_id: int) -> int:
        """Copy the rows of one table back; those are left out whose other document is gone by now. Columns that came
        later get their defaults."""
        stored = (self._own(CONTENTS, document_id), CONTENTS.c.origin == table.name)
        first = connection.scalar(select(CONTENTS.c.data).where(*stored).limit(1))
        if first is None:
            return 0
        names = ", ".join(
            f'"{column.name}"' for column in table.columns if column.name in first and not column.computed
        )
        conditions = " AND ".join(["true", *_references(table)])
        statement = f"""
            INSERT INTO {table.name} ({names}) SELECT {names} FROM (
                SELECT back.* FROM trash_contents AS kept, json_populate_record(NULL::{table.name}, kept.data) AS back
                WHERE kept.tenant_id = :tenant AND kept.document_id = :document AND kept.origin = :origin
                ORDER BY kept.position
            ) AS back WHERE {conditions} ON CONFLICT DO NOTHING
        """
        given = {"tenant": self._tenant, "document": document_id, "origin": table.name}
        return connection.execute(text(statement), given).rowcount

    @contextmanager
    def _moving(self, doing: str) -> Iterator[Connection]:
        """A transaction that may move tables of uploaded data too, where there are any."""
        entered = self._access.owning(doing) if self._access.exists() else self._unscoped.transaction(doing)
        with entered as connection:
            yield connection

    # For good

    def begin_purge(self, document_id: int) -> TrashedDocument:
        """Mark a document as being deleted for good. Raises NotFound."""
        mark = update(TRASH).where(self._own(TRASH, document_id)).values(purging=True).returning(*TRASH.c)
        with self._database.transaction("deleting for good") as connection:
            row = connection.execute(mark).mappings().first()
        if row is None:
            raise _not_there(document_id)
        return _trashed(row)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete their rows and tables, and what other rows quote from them."""
        self._redact(document_ids)
        self._redact_answers(document_ids)
        notes = SqlInsightStore(self._unscoped)
        for document_id in document_ids:
            notes.renew_words(document_id)
            self._delete_rows(document_id)

    def _delete_rows(self, document_id: int) -> None:
        with self._moving("deleting for good") as connection:
            query = select(CONTENTS.c.data["id"].astext).where(
                self._own(CONTENTS, document_id), CONTENTS.c.origin == REALITY.name
            )
            parked = [parked_name(int(each)) for each in connection.scalars(query)]
            if parked:
                TableLoader(self._access, connection).drop(parked)
            connection.execute(delete(CONTENTS).where(self._own(CONTENTS, document_id)))

    def _redact(self, document_ids: Sequence[int]) -> None:
        """Take their words out of every stored value that names one of them. No index finds these values, so that each
        table is read through, once for all documents."""
        ids = sorted(map(int, document_ids))
        named = f'"document_id": ?({"|".join(map(str, ids))})\\M'
        for table, names in quoting_columns().items():
            naming = or_(*(cast(table.c[name], Text).op("~")(named) for name in names))
            found = select(*table.primary_key).where(table.c.tenant_id == self._tenant, naming)
            with self._unscoped.transaction("deleting for good", PURGE_ROLE) as connection:
                for key in connection.execute(found).all():
                    own = and_(*(column == value for column, value in zip(table.primary_key, key, strict=True)))
                    _redact_row(connection, table, own, names, ids)

    def _redact_answers(self, document_ids: Sequence[int]) -> None:
        """Take their words out of known answers of questions, which name a file by its SHA-256, unless the file is in
        the library or in the trash once more."""
        named = select(TRASH.c.sha256).where(self._own(TRASH), TRASH.c.document_id.in_(document_ids))
        used = (
            select(DOCUMENTS.c.sha256)
            .where(self._own(DOCUMENTS))
            .union(select(TRASH.c.sha256).where(self._own(TRASH), ~TRASH.c.purging))
        )
        with self._unscoped.transaction("deleting for good") as connection:
            files = set(connection.scalars(named.where(TRASH.c.sha256.not_in(used))))
        if not files:
            return
        with self._unscoped.transaction("deleting for good", PURGE_ROLE) as connection:
            naming = or_(*(cast(QUESTIONS.c.data, Text).contains(each, autoescape=True) for each in files))
            found = select(QUESTIONS.c.id, QUESTIONS.c.data).where(self._own(QUESTIONS), naming).with_for_update()
            for number, data in connection.execute(found).all():
                own = and_(self._own(QUESTIONS), QUESTIONS.c.id == number)
                connection.execute(update(QUESTIONS).where(own).values(data=without_answers(data, files)))

    @contextmanager
    def unreferenced(self, sha256: str) -> Iterator[bool]:
        """Whether no document of any tenant uses these bytes, besides those being deleted for good."""
        with self._unscoped.transaction("deleting an original", PURGE_ROLE) as connection:
            lock_original(connection, sha256, alone=True)
            yield not connection.scalars(text(_USED), {"names": [sha256], "settled": True}).all()

    def unused_originals(self, names: Sequence[str]) -> Sequence[str]:
        """Those that no document of any tenant uses, in the library or in the trash."""
        with self._unscoped.transaction("looking for originals nobody uses", PURGE_ROLE) as connection:
            used = set(connection.scalars(text(_USED), {"names": list(names), "settled": False}))
        return [each for each in names if each not in used]

    def finish(self, document_id: int) -> None:
        """Delete its entry."""
        with self._database.transaction("deleting for good") as connection:
            connection.execute(delete(TRASH).where(self._own(TRASH, document_id)))

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether this program alone empties the trash now; others are told so until the context ends."""
        query = text(f"SELECT pg_try_advisory_xact_lock({_PURGE_LOCK}, hashtext(:tenant))")
        with self._unscoped.transaction("emptying the trash") as connection:
            yield bool(connection.scalar(query, {"tenant": self._tenant}))

    # What is left over

    def leftover_tables(self) -> Sequence[str]:
        """Stored tables of uploaded data that belong to no document."""
        if not self._access.exists():
            return ()
        stored_tables = select(CONTENTS.c.data["id"].astext).where(
            CONTENTS.c.tenant_id == self._tenant, CONTENTS.c.origin == REALITY.name
        )
        query = text("SELECT tablename FROM pg_tables WHERE schemaname = :schema ORDER BY tablename")
        with self._unscoped.transaction("looking for tables nobody uses") as connection:
            stored = connection.scalars(query, {"schema": self._access.schema}).all()
            known = known_tables(connection, self._tenant)
            used = {each.name if each.current else stored_name(each.name, each.version) for each in known}
            used |= {parked_name(int(each)) for each in connection.scalars(stored_tables)}
        return [each for each in stored if each not in used]

    def drop_leftover_tables(self) -> None:
        """Drop them."""
        if names := self.leftover_tables():
            with self._access.owning("dropping tables nobody uses") as connection:
                TableLoader(self._access, connection).drop(names)

    def _own(self, table: Table, document_id: int | None = None) -> ColumnElement[bool]:
        own = table.c.tenant_id == self._tenant
        return own if document_id is None else and_(own, table.c.document_id == document_id)


def _redact_row(
    connection: Connection, table: Table, own: ColumnElement[bool], names: Sequence[str], document_ids: Sequence[int]
) -> None:
    """Take the words of these documents out of a row as it is now: it may have changed since it was found."""
    query = select(*(table.c[name] for name in names)).where(own).with_for_update()
    row = connection.execute(query).mappings().first()
    if row is None:
        return
    values = {name: without_quotes(row[name], document_ids) for name in names}
    if changed := {name: value for name, value in values.items() if value != row[name]}:
        connection.execute(update(table).where(own).values(changed))


def _count_contents(own: ColumnElement[bool], contents: Mapping[str, int]) -> Any:
    return update(TRASH).where(own).values(contents=dict(contents))


def _trashed(row: Mapping[Any, Any]) -> TrashedDocument:
    return TrashedDocument(**{name: row[name] for name in TRASH.c.keys() if name != "tenant_id"})  # noqa: SIM118


def _not_there(document_id: int) -> NotFound:
    return NotFound(
        f"Document {document_id} is not in the trash.", "It was restored or deleted for good; look at the trash again."
    )


def _belonging() -> list[Table]:
    """The tables with rows that belong to documents, in the order in which rows can be added."""
    tables = [each for each in Base.metadata.sorted_tables if _condition(each, literal(0)) is not None]
    return [*tables, *_BESIDE]


def _rows_of(table: Table, tenant: str, document_id: int) -> tuple[ColumnElement[bool], ...]:
    """The condition on the rows of a table that belong to a document."""
    found = table.c.document_id == document_id if table in _BESIDE else _condition(table, literal(document_id))
    assert found is not None
    return table.c.tenant_id == tenant, found


def _condition(table: Table, document_id: ColumnElement[Any]) -> ColumnElement[bool] | None:
    """Follows foreign keys up to the document; None for a table that belongs to no document."""
    if table is DOCUMENTS:
        return DOCUMENTS.c.id == document_id
    found: list[ColumnElement[bool]] = []
    for key in table.foreign_key_constraints:
        above = key.referred_table
        if above is table or above is table_of(TenantRow):
            continue
        inner = _condition(above, document_id)
        if inner is not None:
            here, there = _link(key)
            same = above.c.tenant_id == table.c.tenant_id
            found.append(here.in_(select(there).where(same, inner)) if above is not DOCUMENTS else here == document_id)
    return or_(*found) if found else None


def _link(key: ForeignKeyConstraint) -> tuple[Any, Any]:
    """The column of a foreign key beside the tenant, and the one it refers to."""
    (element,) = (each for each in key.elements if each.parent.name != "tenant_id")
    return element.parent, element.column


def _references(table: Table) -> Iterator[str]:
    """What must still be there for a row to come back: all it refers to."""
    for key in table.foreign_key_constraints:
        if key.referred_table is not table and key.referred_table is not table_of(TenantRow):
            here, there = _link(key)
            yield (
                f"(back.{here.name} IS NULL OR EXISTS (SELECT FROM {there.table.name} AS above"
                f" WHERE above.tenant_id = back.tenant_id AND above.{there.name} = back.{here.name}))"
            )


def quoting_columns() -> Mapping[Table, tuple[str, ...]]:
    """Table → its columns with whole values that may quote documents and outlive them."""
    found = {}
    for table in Base.metadata.sorted_tables:
        names = tuple(each.name for each in table.columns if isinstance(each.type, JSON | JSONB))
        if names and table.name not in _UNTOUCHED and _condition(table, literal(0)) is None:
            found[table] = names
    return found
