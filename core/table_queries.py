"""Questions to Reality tables as values: what is asked of which rows, and what came back.

A query reads one table; each join follows a link from a column to another table's key, so that no row is counted twice.
Rows of a table that points here are only ever asked for by existence (`Related`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "AnyOf",
    "Condition",
    "DatePart",
    "Fold",
    "Grouping",
    "Having",
    "Join",
    "Measure",
    "Ordering",
    "Ref",
    "Related",
    "Rows",
    "TableQuery",
    "Test",
]


@dataclass(frozen=True, slots=True)
class Ref:
    """A column of the queried table, or of a joined one by its alias."""

    table: str
    column: str


class Test(StrEnum):
    """How a cell is compared. HOLDS: contains the text, whatever the capitals. EMPTY: NULL, or one of `values`."""

    IS = "is"
    LESS = "less than"
    AT_MOST = "at most"
    MORE = "more than"
    AT_LEAST = "at least"
    BETWEEN = "between"
    HOLDS = "holds"
    EMPTY = "empty"

    __test__ = False  # not a test of pytest's


@dataclass(frozen=True, slots=True)
class Condition:
    """One test of one column. values: as text that PostgreSQL reads as the column's type; IS: any of them.

    other: another column instead of values. average: compared with the column's average over the whole table.
    negated: an empty cell passes a negated IS or HOLDS.
    """

    ref: Ref
    test: Test
    values: tuple[str, ...] = ()
    negated: bool = False
    other: Ref | None = None
    average: bool = False


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Conditions of which one must hold."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """A table reached from `left`: its column `right`, a key, equals that cell. alias: how Refs name it."""

    table: str
    alias: str
    left: Ref
    right: str


@dataclass(frozen=True, slots=True)
class Related:
    """Whether rows of another table point here: their `column` equals this row's `here`, and `where` holds for them.
    joins: from that table on. negated: whether none does."""

    table: str
    column: str
    here: Ref
    where: tuple[AnyOf, ...] = ()
    joins: tuple[Join, ...] = ()
    negated: bool = False


class Fold(StrEnum):
    """What many cells become. SHARE: the part of the rows for which `of` holds, in [0, 1]."""

    COUNT = "count"
    DISTINCT = "distinct"
    SUM = "sum"
    AVERAGE = "average"
    MEDIAN = "median"
    LEAST = "least"
    MOST = "most"
    SHARE = "share"


@dataclass(frozen=True, slots=True)
class Measure:
    """One computed number. ref: None for COUNT of rows and SHARE."""

    fold: Fold
    ref: Ref | None = None
    of: "tuple[AnyOf | Related, ...]" = ()


class DatePart(StrEnum):
    """What of a date rows are grouped by."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Grouping:
    """Rows with the same value belong together."""

    ref: Ref
    part: DatePart | None = None


@dataclass(frozen=True, slots=True)
class Having:
    """A test of a group's measure."""

    measure: Measure
    test: Test
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ordering:
    """by: a measure of the query, or a column. Empty cells come last. An order is completed by row or group, so that
    equal questions give equal lists."""

    by: Measure | Ref
    descending: bool = True


@dataclass(frozen=True, slots=True)
class TableQuery:
    """columns: what is listed of each row; with `distinct`, each combination once. With measures, rows are folded: into
    one, or one per group. limit: at most so many, ties at the end included. counted: only how many groups there are."""

    table: str
    joins: tuple[Join, ...] = ()
    where: tuple[AnyOf | Related, ...] = ()
    columns: tuple[Ref, ...] = ()
    distinct: bool = False
    measures: tuple[Measure, ...] = ()
    groups: tuple[Grouping, ...] = ()
    having: tuple[Having, ...] = ()
    order: Ordering | None = None
    limit: int | None = None
    counted: bool = False

    @property
    def timed(self) -> bool:
        """Whether rows are put together by years, quarters or months, which have an order of their own."""
        return any(group.part is not None for group in self.groups)


@dataclass(frozen=True, slots=True)
class Rows:
    """What a query gave. rows: the first of `total`; cells: None, str, bool, int, float, Decimal, date or datetime."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    total: int
    milliseconds: float
    sql: str = ""
    truncated: bool = False

    @property
    def value(self) -> object:
        """The one cell of a one-cell answer; None otherwise."""
        return self.rows[0][0] if len(self.rows) == 1 and len(self.columns) == 1 else None

    def column(self, name: str) -> Sequence[object]:
        """The cells of one column."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]
