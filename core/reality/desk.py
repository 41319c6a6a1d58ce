"""The desk of Reality tables: what is loaded, how it hangs together, and what can be asked of it. One desk serves one
tenant; project None is the whole library."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from core.documents import Document, TableRole, Truth
from core.errors import BadRequest, FivefoldError
from core.five_truths import Figure
from core.moments import right_now
from core.ports import Catalogue
from core.reality.ask import Asker
from core.reality.guard import checked
from core.reality.in_use import InUse, in_use
from core.reality.links import linked
from core.reality.store import TableStore, no_table
from core.search.route import read_route
from core.table_answers import TableAnswer
from core.table_queries import Rows, TableQuery
from core.tabular import Link, LinkState, ReadTable, RealityTable, Reject, TableDiff, TableHistory

__all__ = ["MOST_SQL_ROWS", "RealityDesk"]

MOST_SQL_ROWS = 1_000
_SQL_MS = 10_000
_MOST_CHANGES = 500
_NO_NUMBERS = frozenset(("regulatory_required", "policy", "explanation", "implementation", "best_practice"))


class RealityDesk:
    """Every method raises StoreFailed when the store does not answer."""

    def __init__(self, store: TableStore, catalogue: Catalogue, now: Callable[[], datetime] = right_now) -> None:
        self._store, self._catalogue, self._now = store, catalogue, now
        self._asker = Asker(store)

    # Loading

    def load(self, document: Document, tables: Sequence[ReadTable]) -> Sequence[int]:
        """Keep a document's tables and suggest their links; the ids of documents whose every table was replaced."""
        if not tables:
            self._store.forget(document.id)
            return ()
        loaded = self._store.load(document, tables, self._now())
        self._link(loaded)
        replaced = {
            older.document_id for table in loaded for older in self._store.versions(table.name) if not older.current
        }
        living = {table.document_id for table in self._store.tables()}
        return sorted(replaced - living - {document.id})

    def _link(self, fresh: Sequence[RealityTable]) -> None:
        """Suggest links from and to new tables; between the others nothing has changed."""
        names = {table.name for table in fresh}
        tables = self._store.tables()
        for table in tables:
            others = [other for other in tables if other.id != table.id and other.project in (None, table.project)]
            if table.name in names or any(other.name in names for other in others):
                links = linked(table, others, self._store.overlap)
                if links != table.links:
                    self._store.change(replace(table, links=links))

    def forget(self, document_id: int) -> Sequence[int]:
        """Drop a document's tables; the ids of documents whose tables are current again."""
        before = {table.document_id for table in self._store.tables()}
        self._store.forget(document_id)
        tables = self._store.tables()
        self._link(tables)
        return sorted({table.document_id for table in tables} - before)

    # The tables

    def tables(self, project: str | None = None) -> Sequence[RealityTable]:
        """The current tables a project sees, by name."""
        return [table for table in self._store.tables() if project is None or table.project in (None, project)]

    def asked(self, project: str | None = None) -> Sequence[RealityTable]:
        """The tables questions read: those of documents that state reality, and those an analyst added; a table of
        requirements or rules is a document, not data."""
        tables = self.tables(project)
        documents = self._catalogue.documents_by_id(sorted({table.document_id for table in tables}))
        return [table for table in tables if _is_asked(table, documents.get(table.document_id))]

    def table(self, name: str) -> RealityTable:
        """A current table. Raises NotFound."""
        for table in self._store.tables():
            if table.name == name:
                return table
        raise no_table(f"'{name}'")

    def versions(self, name: str) -> Sequence[RealityTable]:
        """All versions of a table, newest first."""
        return self._store.versions(name)

    def rejects(self, table: RealityTable) -> Sequence[Reject]:
        """The rows that were not loaded, at most 10,000."""
        return self._store.rejects(table.id)

    def diff(self, table: RealityTable, older: RealityTable) -> TableDiff:
        """What changed between two versions."""
        return self._store.diff(table, older, _MOST_CHANGES)

    def set_role(self, name: str, role: TableRole) -> RealityTable:
        """Say what a table is for."""
        return self._changed(replace(self.table(name), role=role, role_by="analyst"))

    def set_used(self, name: str, used: bool | None) -> RealityTable:
        """Say whether questions read a table; None leaves it to its document's truth."""
        return self._changed(replace(self.table(name), used=used))

    def set_called(self, name: str, words: Sequence[str]) -> RealityTable:
        """Say what the rows of a table are called, so that questions may call them so."""
        told = tuple(dict.fromkeys(" ".join(word.split()) for word in words if word.strip()))
        return self._changed(replace(self.table(name), called=told))

    def set_link(self, name: str, link: Link, state: LinkState) -> RealityTable:
        """Confirm or dismiss a link; one that is new is added. Raises BadRequest for columns that are not there."""
        table, other = self.table(name), self.table(link.other_table)
        if table.column(link.column) is None or other.column(link.other_column) is None:
            raise BadRequest("One of the two columns is not in its table.", "Choose both from the lists.")
        rest = [each for each in table.links if each.column != link.column]
        return self._changed(replace(table, links=(*rest, replace(link, state=state))))

    def _changed(self, table: RealityTable) -> RealityTable:
        self._store.change(table)
        return table

    def in_use(self, project: str | None = None) -> Sequence[InUse]:
        """Configured against in use, one comparison per link from records to a set-up table."""
        return in_use(self.asked(project), self._store.answer)

    # Asking

    def ask(self, question: str, project: str | None = None) -> TableAnswer:
        """Answer a question in words, or say why not."""
        return self._asker.ask(question.strip(), self.asked(project), self._now().date())

    def follow(self, question: str, query: TableQuery, project: str | None = None) -> TableAnswer:
        """Answer another reading of a question."""
        return self._asker.follow(question, query, self.asked(project))

    def rows(self, query: TableQuery, most_rows: int) -> Rows:
        """The rows of a query over any table, also of one questions do not read."""
        return self._store.answer(query, most_rows)

    def figures(self, question: str, project: str | None = None) -> Sequence[Figure]:
        """What the tables say to a question, for the answer of all five truths; none when they cannot answer, or when
        the question asks for a rule, a policy or an explanation, which no number is."""
        tables = {table.name: table for table in self.asked(project)}
        if read_route(question, self._now().date()).category in _NO_NUMBERS:
            return ()
        answer = self.ask(question, project)
        if answer.rows is None:
            return ()
        table = tables[answer.tables[0]]
        return (Figure(answer.reading, answer.headline, answer.rows.sql, table.name, answer.citation, table.rows),)

    def run_sql(self, sql: str, project: str | None = None) -> Rows:
        """Run a typed statement after it was checked, and remember it either way. Raises BadRequest for what is
        refused, wrong, or took too long."""
        names = [table.name for table in self.tables(project)]
        try:
            rows = self._store.run(checked(sql, names), MOST_SQL_ROWS, _SQL_MS)
        except FivefoldError as error:
            self._store.remember(TableHistory(sql.strip(), self._now(), 0, 0.0, error.message))
            raise
        self._store.remember(TableHistory(sql.strip(), self._now(), rows.total, rows.milliseconds))
        return rows

    def history(self, limit: int = 30) -> Sequence[TableHistory]:
        """Statements that were run, newest first, each once."""
        return self._store.history(limit)


def _is_asked(table: RealityTable, document: Document | None) -> bool:
    if table.used is not None or document is None:
        return bool(table.used)
    return document.labels.truth.value in (None, Truth.REALITY.value)
