"""Queries over uploaded tables, and their answers: rows with their SQL, other readings, or a refusal."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "AggregateMeasure",
    "Aggregation",
    "AnyOf",
    "ColumnRef",
    "Comparison",
    "Condition",
    "DatePart",
    "Grouping",
    "Having",
    "Join",
    "Ordering",
    "OtherReading",
    "Related",
    "Rows",
    "TableAnswer",
    "TableQuery",
]


@dataclass(frozen=True, slots=True)
class ColumnRef:
    """A column of the queried table, or of a joined one by its alias."""

    table: str
    column: str


class Comparison(StrEnum):
    """Comparison operators. HOLDS: contains the text, ignoring case. EMPTY: NULL, or one of `values`."""

    IS = "is"
    LESS = "less than"
    AT_MOST = "at most"
    MORE = "more than"
    AT_LEAST = "at least"
    BETWEEN = "between"
    HOLDS = "holds"
    EMPTY = "empty"

    __test__ = False  # not a pytest class


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one column. values: as text that PostgreSQL casts to the column's type; IS: any of them.

    other: a column to compare with instead of values. average: compare with the column's average over the whole table.
    negated: an empty cell passes a negated IS or HOLDS.
    """

    ref: ColumnRef
    test: Comparison
    values: tuple[str, ...] = ()
    negated: bool = False
    other: ColumnRef | None = None
    average: bool = False


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Conditions joined by OR."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """A join from `left` to a table whose key column `right` equals that cell. alias: used by ColumnRef."""

    table: str
    alias: str
    left: ColumnRef
    right: str


@dataclass(frozen=True, slots=True)
class Related:
    """EXISTS: rows of another table whose `column` equals this row's `here` and that satisfy `where`. joins: from that
    table on. negated: NOT EXISTS."""

    table: str
    column: str
    here: ColumnRef
    where: tuple[AnyOf, ...] = ()
    joins: tuple[Join, ...] = ()
    negated: bool = False


class Aggregation(StrEnum):
    """Aggregate functions. SHARE: the share of rows that satisfy `of`, in [0, 1]."""

    COUNT = "count"
    DISTINCT = "distinct"
    SUM = "sum"
    AVERAGE = "average"
    MEDIAN = "median"
    LEAST = "least"
    MOST = "most"
    SHARE = "share"


@dataclass(frozen=True, slots=True)
class AggregateMeasure:
    """One aggregated value. ref: None for COUNT of rows and SHARE."""

    aggregation: Aggregation
    ref: ColumnRef | None = None
    of: "tuple[AnyOf | Related, ...]" = ()


class DatePart(StrEnum):
    """Part of a date to group by."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"


@dataclass(frozen=True, slots=True)
class Grouping:
    """A GROUP BY key."""

    ref: ColumnRef
    part: DatePart | None = None


@dataclass(frozen=True, slots=True)
class Having:
    """A HAVING condition on a measure."""

    measure: AggregateMeasure
    test: Comparison
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ordering:
    """by: a measure of the query, or a column. NULLs last. Ties are broken by row or group, so that the same query
    always returns the same order."""

    by: AggregateMeasure | ColumnRef
    descending: bool = True


@dataclass(frozen=True, slots=True)
class TableQuery:
    """columns: selected columns; with `distinct`, each combination once. With measures, rows are aggregated into one,
    or into one per group. limit: maximum number of rows, plus ties at the end. counted: return only the number of
    groups. asked: those of `columns` that answer the question; the others identify a row or explain it."""

    table: str
    joins: tuple[Join, ...] = ()
    where: tuple[AnyOf | Related, ...] = ()
    columns: tuple[ColumnRef, ...] = ()
    distinct: bool = False
    measures: tuple[AggregateMeasure, ...] = ()
    groups: tuple[Grouping, ...] = ()
    having: tuple[Having, ...] = ()
    order: Ordering | None = None
    limit: int | None = None
    counted: bool = False
    requested: tuple[ColumnRef, ...] = ()

    @property
    def timed(self) -> bool:
        """Whether rows are grouped by year, quarter or month, which have a natural order."""
        return any(group.part is not None for group in self.groups)


@dataclass(frozen=True, slots=True)
class Rows:
    """A query result. rows: the first of `total`; cells: None, str, bool, int, float, Decimal, date or datetime."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    total: int
    milliseconds: float
    sql: str = ""
    truncated: bool = False

    @property
    def value(self) -> object:
        """The cell of a 1 × 1 result; None otherwise."""
        return self.rows[0][0] if len(self.rows) == 1 and len(self.columns) == 1 else None

    def column(self, name: str) -> Sequence[object]:
        """The cells of one column."""
        at = self.columns.index(name)
        return [row[at] for row in self.rows]


@dataclass(frozen=True, slots=True)
class OtherReading:
    """Another interpretation of the question. words: as TableAnswer.reading."""

    reading: str
    query: TableQuery


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """reading: how the question was interpreted, as text. headline: the short answer ("12 employees"). tables: names of
    the tables read. citation: source of the rows ("[employees.csv, rows 12–18]"). others: other interpretations. notes:
    for the reader (rows that were not loaded, words interpreted as others). unused: words of the question that added
    nothing to the reading. refusal: why there is no answer, "" when
    there is one; query and rows are None with it."""

    question: str
    reading: str = ""
    headline: str = ""
    query: TableQuery | None = None
    rows: Rows | None = None
    tables: tuple[str, ...] = ()
    citation: str = ""
    others: tuple[OtherReading, ...] = ()
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return self.rows is not None
