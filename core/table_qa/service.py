"""The Reality tables of one tenant: loading, links and questions. project None means the whole library."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice

from core.domain.dataset_queries import Rows, TableAnswer, TableQuery
from core.domain.datasets import (
    ROW_COLUMN,
    LinkState,
    ReadTable,
    RealityTable,
    Reject,
    TableDiff,
    TableHistory,
    TableLink,
)
from core.domain.documents import Document, TableRole, Truth
from core.domain.errors import BadRequest, FivefoldError, NotFound
from core.domain.five_truths import Figure
from core.ports.catalogue import Catalogue
from core.ports.models import LanguageModel
from core.search.query.route import question_category
from core.table_qa.answerer import TableAnswerer
from core.table_qa.configured_vs_used import ConfiguredVersusUsed, compare_configured_with_used
from core.table_qa.examples import candidates, tells_something
from core.table_qa.guided import GuidedForm, query_of_form
from core.table_qa.join_paths import suggest_links
from core.table_qa.query_description import limits_of
from core.table_qa.sql_guard import check_statement
from core.table_qa.sql_names import suggest_names, use_sql_names
from core.table_qa.sql_proposal import INSTRUCTION, SqlProposal, read_proposal, schema_text
from core.table_qa.store import TableStore, no_table
from core.table_qa.table_quality import no_data_reason

__all__ = ["MOST_SQL_ROWS", "TableService"]

MOST_SQL_ROWS = 1_000
"""Rows of a typed statement; a page shows no more."""
_SQL_MS = 10_000
"""Long enough for a scan of a large table, short enough not to hold up others."""
_MOST_CHANGES = 500
"""Rows of a comparison of versions; a page shows no more."""
_CATEGORIES_WITHOUT_NUMBERS = frozenset(
    ("regulatory_required", "policy", "explanation", "implementation", "best_practice")
)


class TableService:
    """Every method raises StoreFailed when the store does not answer. language_model: proposes statements on request;
    None for none.
    """

    def __init__(
        self,
        store: TableStore,
        catalogue: Catalogue,
        now: Callable[[], datetime],
        language_model: LanguageModel | None = None,
    ) -> None:
        self._store, self._catalogue, self._now = store, catalogue, now
        self._language_model = language_model
        self._answerer = TableAnswerer(store)

    # Loading

    def load(self, document: Document, tables: Sequence[ReadTable]) -> Sequence[int]:
        """Store a document's tables and suggest their links; returns the ids of documents whose every table was
        replaced.
        """
        if not tables:
            if self._store.forget(document.id):
                self._link(None)
            return ()
        before = self._store.tables()
        loaded = self._store.load(document, tables, self._now())
        self._link(_changed(before, self._store.tables()))
        replaced = {
            older.document_id for table in loaded for older in self._store.versions(table.name) if not older.current
        }
        current = {table.document_id for table in self._store.tables()}
        return sorted(replaced - current - {document.id})

    def _link(self, changed: Collection[str] | None) -> None:
        """Suggest links again from and to the tables of these names, which were added, removed or replaced; None: all.

        Only one upload at a time does so: another one would store links without those suggested meanwhile."""
        if changed is not None and not changed:
            return
        with self._store.linking():
            tables = self._store.tables()
            for table in tables:
                others = [other for other in tables if other.id != table.id and other.project in (None, table.project)]
                links = suggest_links(table, others, self._store.overlaps, changed)
                if links != table.links:
                    with suppress(NotFound):  # a table deleted meanwhile needs no links
                        self._store.change(table, partial(_relinked, before=table.links, links=links))

    def forget(self, document_id: int, before: Sequence[RealityTable] | None = None) -> Sequence[int]:
        """Delete a document's tables; returns the ids of documents whose tables become current again. before: the
        current tables before the document went, perhaps with its tables; None: it is still there."""
        before = self._store.tables() if before is None else before
        self._store.forget(document_id)
        after = self._store.tables()
        self._link(_changed(before, after))
        return sorted({table.document_id for table in after} - {table.document_id for table in before})

    def relink(self, before: Collection[int]) -> Sequence[int]:
        """Suggest links again after a document came back; returns the ids of those that had current tables before, and
        have none now."""
        tables = self._store.tables()
        self._link({table.name for table in tables if table.document_id not in before})
        return sorted(set(before) - {table.document_id for table in tables})

    def documents_moved(self, document_ids: Sequence[int]) -> None:
        """Documents changed their project: their tables are asked about, linked and replaced where they are now."""
        documents = self._catalogue.documents_by_id(list(document_ids))
        names = {table.name for table in self._store.tables() if table.document_id in documents}
        for table in (version for name in sorted(names) for version in self._store.versions(name)):
            if table.document_id in documents:
                self._store.change(table, partial(replace, project=documents[table.document_id].project))
        self._link(names)

    # The tables

    def tables(self, project: str | None = None) -> Sequence[RealityTable]:
        """The current tables visible in a project, by name."""
        return [table for table in self._store.tables() if project is None or table.project in (None, project)]

    def question_tables(self, project: str | None = None) -> Sequence[RealityTable]:
        """The tables used for questions: those of documents that state reality, and those an analyst added. A table of
        requirements or rules is a document, not data; nor is a dashboard or a list of links. None of an archived
        document.
        """
        tables = self.tables(project)
        documents = self._catalogue.documents_by_id(sorted({table.document_id for table in tables}))
        return [table for table in tables if _is_question_table(table, documents.get(table.document_id))]

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
        """Set what a table is for. Raises NotFound."""
        return self._store.change(self.table(name), lambda table: replace(table, role=role, role_by="analyst"))

    def set_used(self, name: str, used: bool | None) -> RealityTable:
        """Set whether questions use a table; None decides by its document's truth. Raises NotFound."""
        return self._store.change(self.table(name), lambda table: replace(table, used=used))

    def set_row_names(self, name: str, words: Sequence[str]) -> RealityTable:
        """Set what the rows of a table are called, so that questions can use these words. Raises NotFound."""
        called = tuple(dict.fromkeys(" ".join(word.split()) for word in words if word.strip()))
        return self._store.change(self.table(name), lambda table: replace(table, called=called))

    def set_link(self, name: str, link: TableLink, state: LinkState) -> RealityTable:
        """Confirm or dismiss a link; a new one is added. Raises BadRequest for unknown columns."""
        table, other = self.table(name), self.table(link.other_table)
        if table.column(link.column) is None or other.column(link.other_column) is None:
            raise BadRequest("One of the two columns is not in its table.", "Choose both from the lists.")
        return self._store.change(table, partial(_with_links, links=[replace(link, state=state)]))

    def configured_vs_used(self, project: str | None = None) -> Sequence[ConfiguredVersusUsed]:
        """Compare configured with used codes: one comparison per link from records to a set-up table."""
        return compare_configured_with_used(self.question_tables(project), self._store.answer)

    # Asking

    def ask(self, question: str, project: str | None = None) -> TableAnswer:
        """Answer a natural-language question, or explain the refusal."""
        return self._answerer.ask(question.strip(), self.question_tables(project), self._now().date())

    def examples(self, most: int, project: str | None = None) -> list[str]:
        """Questions that show what the tables can be asked; each is one that `ask` answers."""
        tables, today = self.question_tables(project), self._now().date()
        offered = (each for each in candidates(tables) if tells_something(self._answerer.ask(each, tables, today)))
        return list(islice(offered, most))

    def follow(self, question: str, query: TableQuery, project: str | None = None) -> TableAnswer:
        """Answer another reading of a question."""
        return self._answerer.follow(question, query, self.question_tables(project))

    def form(self, question: str, project: str | None = None) -> GuidedForm | None:
        """The guided form filled with what is understood of a question; None when no table is enabled."""
        return self._answerer.form(question.strip(), self.question_tables(project), self._now().date())

    def answer_form(self, form: GuidedForm, project: str | None = None) -> TableAnswer:
        """Answer a filled form. Raises BadRequest for a field that is missing or wrong, and NotFound."""
        return self.follow("", query_of_form(form, self.table(form.table)), project)

    @property
    def language_model(self) -> str:
        """The name of the language model that can propose statements; "" when none is configured."""
        return self._language_model.name if self._language_model else ""

    def propose_sql(self, question: str, project: str | None = None) -> SqlProposal:
        """Let the language model propose a statement, check it as a typed one, and run it as the same reader.

        The model is sent the question and the names of tables and columns. Raises BadRequest for a statement that is
        refused or wrong, and SynthesisFailed when the model does not answer.
        """
        if self._language_model is None:
            raise BadRequest("No language model is configured.", "Set FIVEFOLD_ANSWER_URL and FIVEFOLD_ANSWER_MODEL.")
        name = self._language_model.name
        text = self._language_model.write(INSTRUCTION, schema_text(question, self.question_tables(project)))
        sql, reading = read_proposal(text, name)
        return SqlProposal(question, reading, sql, self.run_sql(sql, project), name)

    def rows(self, query: TableQuery, most_rows: int) -> Rows:
        """The rows of a query over any table, also of one that questions do not use."""
        return self._store.answer(query, most_rows)

    def figures(self, question: str, project: str | None = None) -> Sequence[Figure]:
        """The tables' figures for an answer by all five truths; none when they cannot answer, or when the question asks
        for a rule, a policy or an explanation rather than a number.
        """
        tables = {table.name: table for table in self.question_tables(project)}
        if question_category(question).name in _CATEGORIES_WITHOUT_NUMBERS:
            return ()
        answer = self._answerer.ask(question.strip(), list(tables.values()), self._now().date())
        if answer.rows is None:
            return ()
        table, limits = tables[answer.tables[0]], limits_of(answer)
        return (
            Figure(answer.reading, answer.headline, answer.rows.sql, table.name, answer.citation, table.rows, limits),
        )

    def run_sql(self, sql: str, project: str | None = None) -> Rows:
        """Check and run a typed statement, and record it in the history either way. Names may be spelt as in the file.
        Raises BadRequest for a statement that is refused, wrong, or too slow.
        """
        tables = self.tables(project)
        try:
            columns = {table.name: [column.name for column in table.columns] + [ROW_COLUMN] for table in tables}
            checked = check_statement(use_sql_names(sql, tables), columns)
            rows = self._store.run(checked, MOST_SQL_ROWS, _SQL_MS)
        except FivefoldError as error:
            self._store.remember(TableHistory(sql.strip(), self._now(), 0, 0.0, error.message))
            if isinstance(error, BadRequest) and (suggestions := suggest_names(sql, tables)):
                raise BadRequest(error.message, f"{suggestions} {error.hint}".strip()) from error
            raise
        self._store.remember(TableHistory(sql.strip(), self._now(), rows.total, rows.milliseconds))
        return rows

    def history(self, limit: int = 30) -> Sequence[TableHistory]:
        """Statements that were run, newest first, each once."""
        return self._store.history(limit)


def _changed(before: Sequence[RealityTable], after: Sequence[RealityTable]) -> set[str]:
    """The names of tables that were added, removed or replaced."""
    there = {(table.name, table.id) for table in before}
    return {name for name, _ in there ^ {(table.name, table.id) for table in after}}


def _with_links(table: RealityTable, links: Sequence[TableLink]) -> RealityTable:
    """The table with these links in place of others from the same columns."""
    columns = {link.column for link in links}
    return replace(table, links=(*(each for each in table.links if each.column not in columns), *links))


def _relinked(table: RealityTable, before: Sequence[TableLink], links: Sequence[TableLink]) -> RealityTable:
    """The table with suggested links; those that an analyst set since it had the links before stay."""
    return _with_links(replace(table, links=tuple(links)), [link for link in table.links if link not in before])


def _is_question_table(table: RealityTable, document: Document | None) -> bool:
    if document is not None and document.archived:
        return False
    if table.used is not None or document is None:
        return bool(table.used)
    return document.labels.truth.value in (None, Truth.REALITY.value) and not no_data_reason(table)
