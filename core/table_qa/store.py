"""The port of the store of Reality tables, and the error for a missing table."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from core.domain.dataset_queries import ColumnRef, Rows, TableQuery
from core.domain.datasets import ReadTable, RealityTable, Reject, TableDiff, TableHistory
from core.domain.documents import Document
from core.domain.errors import NotFound

__all__ = ["TableStore", "no_table"]


class TableStore(Protocol):
    """One tenant's Reality tables. Every method raises StoreFailed when the store does not answer."""

    def load(self, document: Document, tables: Sequence[ReadTable], now: datetime) -> Sequence[RealityTable]:
        """Store a document's tables, all or none; loading again replaces the document's tables.

        When another document has a table of the same name and project, with at least half its columns, the new table
        becomes its next version; the older version stays stored, but is no longer current.
        """
        ...

    def forget(self, document_id: int) -> bool:
        """Delete a document's tables, if there are any; their previous versions become current again."""
        ...

    def linking(self) -> AbstractContextManager[None]:
        """A lock: one program at a time changes links. Raises StoreFailed."""
        ...

    def tables(self) -> Sequence[RealityTable]:
        """The current tables, by name."""
        ...

    def versions(self, name: str) -> Sequence[RealityTable]:
        """All versions of a table, newest first."""
        ...

    def change(self, table: RealityTable, edit: Callable[[RealityTable], RealityTable]) -> RealityTable:
        """Store and return what an edit of its role, use, links or row names makes of a table as it is stored now,
        whatever else changed since it was read; other edits wait. Raises NotFound."""
        ...

    def rejects(self, table_id: int) -> Sequence[Reject]:
        """The rows that were not loaded, at most 10,000. Raises NotFound."""
        ...

    def diff(self, newer: RealityTable, older: RealityTable, most_rows: int) -> TableDiff:
        """The differences of two versions, row by row: by a shared key, else by whole rows."""
        ...

    def answer(self, query: TableQuery, most_rows: int) -> Rows:
        """The rows of a query, with its SQL. Raises BadRequest for unknown names, or a query that took too long."""
        ...

    def find(self, table: str, column: str, phrases: Sequence[str]) -> Sequence[str]:
        """The values of a text column equal to one of the lower-case phrases, ignoring case."""
        ...

    def overlaps(self, column: ColumnRef, keys: Sequence[ColumnRef]) -> Sequence[tuple[int, int]]:
        """For each of the other columns the number of distinct values of a column, and how many of them it contains;
        none when one of the two tables was deleted meanwhile."""
        ...

    def run(self, sql: str, most_rows: int, timeout_ms: int) -> Rows:
        """Run one statement typed by an analyst, as a login that can only read this tenant's tables.

        Raises BadRequest for what is refused, wrong, or took too long.
        """
        ...

    def remember(self, entry: TableHistory) -> None: ...

    def history(self, limit: int) -> Sequence[TableHistory]:
        """Statements that were run, newest first, each once."""
        ...


def no_table(what: object) -> NotFound:
    """The error for a table that does not exist."""
    return NotFound(f"There is no table {what}.", "It was deleted or replaced; look at the list of tables.")
