"""What a question to tables gave: the reading in words, the rows with their SQL, other readings – or why it cannot be
answered."""

from dataclasses import dataclass

from core.table_queries import Rows, TableQuery

__all__ = ["OtherReading", "TableAnswer"]


@dataclass(frozen=True, slots=True)
class OtherReading:
    """Another thing the question may have meant. words: as TableAnswer.reading."""

    reading: str
    query: TableQuery


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """reading: what was understood, in words. headline: the answer in a few words ("12 employees"). tables: names of
    those read. citation: where the rows stand ("[employees.csv, rows 12–18]"). others: what else may have been meant.
    notes: what the reader should know (rows that were not loaded, words read as others). refusal: why there is no
    answer, "" when there is one; then query and rows are None."""

    question: str
    reading: str = ""
    headline: str = ""
    query: TableQuery | None = None
    rows: Rows | None = None
    tables: tuple[str, ...] = ()
    citation: str = ""
    others: tuple[OtherReading, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str = ""

    @property
    def answered(self) -> bool:
        """Whether the tables can answer."""
        return self.rows is not None
