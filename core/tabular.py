"""Reality tables: what is stored about them. What is asked of them is in core.table_queries."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from core.documents import TableRole

__all__ = [
    "ROW_COLUMN",
    "Column",
    "ColumnType",
    "Link",
    "LinkState",
    "ReadTable",
    "RealityTable",
    "Reject",
    "RowChange",
    "TableDiff",
    "TableHistory",
]

ROW_COLUMN = "_row"
"""Every stored table's first column: the 1-based number of the row in its file's table, as citations name it."""


class ColumnType(StrEnum):
    """What the values of a column are. Codes, numbers with leading zeros and postal codes are text."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"

    @property
    def numeric(self) -> bool:
        """Whether values can be added up."""
        return self in (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.MONEY)

    @property
    def dated(self) -> bool:
        """Whether values are points in time."""
        return self in (ColumnType.DATE, ColumnType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Column:
    """One column and its profile.

    name: as SQL knows it. header: as the file writes it. filled, distinct: counts over the loaded rows.
    least, most: the range, as text. top: the commonest values with their counts, at most ten. values: every distinct
    value with its count, for text of at most 2,000 different ones, none longer than 200 letters. key: filled and
    different in every row. personal: why it holds personal data, or "". note: how values were read ("month before
    day").
    """

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
    """A row that was not loaded, and why. row: 1-based, as in the file's table."""

    row: int
    reason: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadTable:
    """One table of a file, typed and ready to be loaded.

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
    """Whether an analyst has looked at a link."""

    SUGGESTED = "suggested"
    CONFIRMED = "confirmed"
    DISMISSED = "dismissed"


@dataclass(frozen=True, slots=True)
class Link:
    """Values of one column that name rows of another table. share: of its distinct values found there, in [0, 1]."""

    column: str
    other_table: str
    other_column: str
    share: float
    state: LinkState = LinkState.SUGGESTED


@dataclass(frozen=True, slots=True)
class RealityTable:
    """One stored table.

    name: as SQL knows it, unique among the current tables of a tenant. version: 1-based; `current` is false for one
    that a later upload replaced. role: records or set-up; `role_by` is "analyst" when set by hand. used: whether
    questions read it; None leaves that to its document's truth. links: from its columns to other tables' keys.
    called: what an analyst calls its rows ("shipment"), beside the words of its name.
    """

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
    links: tuple[Link, ...] = ()
    warnings: tuple[str, ...] = ()
    called: tuple[str, ...] = ()

    def column(self, name: str) -> Column | None:
        """A column by its SQL name."""
        return next((column for column in self.columns if column.name == name), None)

    @property
    def key(self) -> Column | None:
        """The column that names its rows, if there is one."""
        return next((column for column in self.columns if column.key), None)


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row that differs between two versions. key: its values in the comparing column; before, after: column → text
    of the cells that differ, None in a row that is not there."""

    key: str
    kind: str
    before: Mapping[str, str | None]
    after: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class TableDiff:
    """What an upload changed. by: the column rows are told apart by, "" when whole rows are compared.
    added, removed, changed: true counts; `rows` holds the first of them. columns_added, columns_removed: names."""

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
    """A statement that was run in the SQL box. error: its message when it failed."""

    sql: str
    at: datetime
    rows: int
    milliseconds: float
    error: str = ""
