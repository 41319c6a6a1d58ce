"""The seam to where Reality tables are kept, and how its refusals read."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.documents import Document
from core.errors import NotFound
from core.table_queries import Ref, Rows, TableQuery
from core.tabular import ReadTable, RealityTable, Reject, TableDiff, TableHistory

__all__ = ["TableStore", "no_table"]


class TableStore(Protocol):
    """One tenant's Reality tables. Raises StoreFailed when the store does not answer."""

    def load(self, document: Document, tables: Sequence[ReadTable], now: datetime) -> Sequence[RealityTable]:
        """Keep a document's tables, all or none; loading again replaces what the document had.

        A table that another document of the same name and project held, with at least half its columns, becomes the
        next version of that one; the older version is kept, and no longer current.
        """
        ...

    def forget(self, document_id: int) -> None:
        """Drop a document's tables; the version before one of them becomes current again."""
        ...

    def tables(self) -> Sequence[RealityTable]:
        """The current tables, by name."""
        ...

    def versions(self, name: str) -> Sequence[RealityTable]:
        """All versions of a table, newest first."""
        ...

    def change(self, table: RealityTable) -> None:
        """Store a table's role, use and links as they are now. Raises NotFound."""
        ...

    def rejects(self, table_id: int) -> Sequence[Reject]:
        """The rows that were not loaded, at most 10,000. Raises NotFound."""
        ...

    def diff(self, newer: RealityTable, older: RealityTable, most_rows: int) -> TableDiff:
        """What changed between two versions, row by row: by a key both have, else by whole rows."""
        ...

    def answer(self, query: TableQuery, most_rows: int) -> Rows:
        """What a query gives, its SQL beside it. Raises BadRequest for what is not there, or took too long."""
        ...

    def find(self, table: str, column: str, phrases: Sequence[str]) -> Sequence[str]:
        """The values of a text column that equal one of the lower-case phrases, whatever their capitals."""
        ...

    def overlap(self, column: Ref, key: Ref) -> tuple[int, int]:
        """How many different values a column has, and how many of them the other column holds."""
        ...

    def run(self, sql: str, most_rows: int, timeout_ms: int) -> Rows:
        """Run one statement typed by an analyst, as a login that can only read this tenant's tables.

        Raises BadRequest for what is refused, wrong, or took too long.
        """
        ...

    def remember(self, entry: TableHistory) -> None: ...

    def history(self, limit: int) -> Sequence[TableHistory]:
        """What was run, newest first, each statement once."""
        ...


def no_table(what: object) -> NotFound:
    """The refusal to speak of a table that is not there."""
    return NotFound(f"There is no table {what}.", "It was deleted or replaced; look at the list of tables.")
