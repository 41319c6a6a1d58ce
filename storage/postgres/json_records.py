"""Rows that store a whole value as JSON beside the columns that queries use.

Also helpers for every store: fresh ids, lists of ids as one parameter, inserts that skip conflicts, and upserts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from sqlalchemy import BigInteger, ColumnElement, Connection, Table, any_, delete, func, literal, select, update
from sqlalchemy import Sequence as IdSequence
from sqlalchemy.dialects.postgresql import ARRAY, insert

from core.domain.sanitize import storable_text

__all__ = ["JsonRecords", "any_of", "from_json", "insert_row", "next_id", "next_ids", "storable", "to_json", "upsert"]

T = TypeVar("T")
_ADAPTERS: dict[Any, Any] = {}


def _adapter(kind: Any) -> Any:
    """Reads and writes values of a type; created at first use, so that pydantic is not imported earlier."""
    from pydantic import TypeAdapter

    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def to_json(value: object) -> Any:
    """A value as JSON that PostgreSQL can store."""
    return storable(_adapter(type(value)).dump_python(value, mode="json"))


def from_json(kind: type[T], data: Any) -> T:
    """The value of this type that `to_json` wrote. Raises pydantic.ValidationError for anything else."""
    value: T = _adapter(kind).validate_python(data)
    return value


def storable(value: Any) -> Any:
    """JSON data with every text as PostgreSQL can store it; lengths stay the same."""
    if isinstance(value, str):
        return storable_text(value)
    if isinstance(value, Mapping):
        return {storable_text(key): storable(item) for key, item in value.items()}
    return [storable(item) for item in value] if isinstance(value, list | tuple) else value


def any_of(ids: Sequence[int]) -> Any:
    """These ids as one array parameter, to compare a column with, however many they are."""
    return any_(literal([int(each) for each in ids], ARRAY(BigInteger)))


def next_ids(connection: Connection, table: Table, count: int) -> list[int]:
    """That many fresh ids of a table, ascending."""
    numbers = func.generate_series(1, count).table_valued("number")
    sequence = cast(IdSequence, table.c.id.default)
    return sorted(connection.scalars(select(sequence.next_value()).select_from(numbers)).all())


def next_id(connection: Connection, table: Table) -> int:
    """A fresh id of a table."""
    return next_ids(connection, table, 1)[0]


def insert_row(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Add a row unless a unique constraint rejects it; returns whether it was added.

    Two inserts of the same key are safe: the second waits for the first, then adds nothing.
    """
    key = list(table.primary_key)[-1]
    return connection.scalar(insert(table).values(row).on_conflict_do_nothing().returning(key)) is not None


def upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, replacing those with the same primary key. Raises IntegrityError for a missing reference."""
    if not rows:
        return
    key = [column.name for column in table.primary_key]
    add = insert(table)
    changed = {name: add.excluded[name] for name in rows[0] if name not in key}
    connection.execute(add.on_conflict_do_update(index_elements=key, set_=changed), list(rows))


@dataclass(frozen=True, slots=True)
class JsonRecords(Generic[T]):
    """One tenant's rows in a table whose column `data` contains a whole value of this type as JSON."""

    table: Table
    kind: type[T]
    tenant: str

    def own(self, *conditions: ColumnElement[bool]) -> tuple[ColumnElement[bool], ...]:
        """The tenant's rows that meet the conditions."""
        return (self.table.c.tenant_id == self.tenant, *conditions)

    def all(
        self, connection: Connection, *conditions: ColumnElement[bool], order: Any = None, limit: int | None = None
    ) -> list[T]:
        """The values that meet the conditions, ordered by one or more columns; limit: at most so many."""
        columns = order if isinstance(order, tuple) else (order,)
        query = select(self.table.c.data).where(*self.own(*conditions)).order_by(*columns).limit(limit)
        return [from_json(self.kind, data) for data in connection.scalars(query)]

    def first(self, connection: Connection, *conditions: ColumnElement[bool], order: Any = None) -> T | None:
        """The first value that meets the conditions; None without one."""
        return next(iter(self.all(connection, *conditions, order=order, limit=1)), None)

    def add(self, connection: Connection, row: Mapping[str, Any], value: T) -> bool:
        """Add a value with its columns unless a unique constraint rejects it; returns whether it was added."""
        return insert_row(connection, self.table, {"tenant_id": self.tenant, **row, "data": to_json(value)})

    def change(
        self, connection: Connection, row: Mapping[str, Any], value: T, *conditions: ColumnElement[bool]
    ) -> bool:
        """Write a value with its columns into the rows that meet the conditions; returns whether there were any."""
        statement = update(self.table).where(*self.own(*conditions)).values({**row, "data": to_json(value)})
        return bool(connection.execute(statement).rowcount)

    def delete(self, connection: Connection, *conditions: ColumnElement[bool]) -> None:
        """Delete the rows that meet the conditions."""
        connection.execute(delete(self.table).where(*self.own(*conditions)))
