"""Stored Reality tables and their columns. Queries on them are in core.domain.dataset_queries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.domain.documents import TableRole

__all__ = [
    "ROW_COLUMN",
    "Column",
    "ColumnType",
    "LinkState",
    "ReadTable",
    "RealityTable",
    "Reject",
    "RowChange",
    "TableDiff",
    "TableHistory",
    "TableLink",
]

ROW_COLUMN = "_row"
"""Every stored table's first column: the 1-based number of the row in its file's table, as citations name it."""


class ColumnType(StrEnum):
    """Type of a column. Codes, numbers with leading zeros and postal codes are text."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"

    @property
    def numeric(self) -> bool:
        """Whether values can be summed."""
        return self in (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.MONEY)

    @property
    def dated(self) -> bool:
        """Whether values are dates or times."""
        return self in (ColumnType.DATE, ColumnType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Column:
    """One column and its profile.

    name: in SQL. header: in the file. filled, distinct: counts over the loaded rows. least, most: the range, as text.
    top: the most frequent values with their counts, at most ten. values: every distinct value with its count, for text
    with at most 2,000 distinct values of at most 200 characters. key: non-empty and unique in every row. personal: why
    it is personal data, or "". note: how values were parsed ("month before day")."""

    name: str
    header: str
    type: ColumnType
    filled: int = 0
    distinct: int = 0
    least: str = ""
    most: str = ""
    top: tuple[tuple[str, int], ...] = ()
    values: Mapping[str, int] = field(default_factory=dict)
    key: bool = False
    personal: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that was not loaded, and why. row: 1-based, in the file's table."""

    row: int
    reason: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadTable:
    """One typed table of a file, ready to load.

    path: a UTF-8 CSV without header, each line the row number and then the columns; an empty unquoted field is NULL.
    rejects: the first 10,000; rejected counts all. left_out: totals rows, as (row, text).
    """

    label: str
    columns: tuple[Column, ...]
    rows: int
    path: str
    rejects: tuple[Reject, ...] = ()
    rejected: int = 0
    left_out: tuple[tuple[int, str], ...] = ()
    role: TableRole | None = None


class LinkState(StrEnum):
    """Whether an analyst has reviewed a link."""

    SUGGESTED = "suggested"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class TableLink:
    """A foreign key from one column to another table. share: of its distinct values found there, in [0, 1]."""

    column: str
    other_table: str
    other_column: str
    share: float
    state: LinkState = LinkState.SUGGESTED


@dataclass(frozen=True, slots=True)
class RealityTable:
    """One stored table.

    name: in SQL, unique among the current tables of a tenant. version: 1-based; `current` is false once a later upload
    replaced it. role: records or configuration; `role_by` is "analyst" when set manually. used: whether questions use
    it; None: decided by its document's truth. links: foreign keys to other tables. called: an analyst's word for its
    rows ("shipment"), in addition to the words of its name."""

    id: int
    name: str
    label: str
    document_id: int
    document_name: str
    project: str | None
    version: int
    current: bool
    role: TableRole
    rows: int
    rejected: int
    columns: tuple[Column, ...]
    loaded_at: datetime
    role_by: str = "suggested"
    used: bool | None = None
    left_out: tuple[tuple[int, str], ...] = ()
    links: tuple[TableLink, ...] = ()
    warnings: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    def column(self, name: str) -> Column | None:
        """A column by its SQL name."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def key(self) -> Column | None:
        """The column that names its rows; None without one."""
        return next((column for column in self.columns if column.key), None)


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row that differs between two versions. key: its values in the key column; before, after: column → text of the
    changed cells, None where the row does not exist."""

    key: str
    kind: str
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class TableDiff:
    """Differences made by an upload. by: the key column used to match rows, "" when whole rows are compared. added,
    removed, changed: full counts; `rows` holds the first of them. columns_added, columns_removed: names."""

    table: str
    before: int
    after: int
    by: str
    added: int
    removed: int
    changed: int
    rows: tuple[RowChange, ...] = ()
    columns_added: tuple[str, ...] = ()
    columns_removed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableHistory:
    """A statement run in the SQL box. error: its message when it failed."""

    sql: str
    at: datetime
    rows: int
    milliseconds: float
    error: str = ""
