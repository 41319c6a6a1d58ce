"""What the views of the Data page share: the service, the tables a project sees, and results kept in the session."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st

from core.domain.dataset_queries import ColumnRef, Rows, TableQuery
from core.domain.datasets import RealityTable
from core.domain.documents import Document
from core.table_qa.configured_vs_used import ConfiguredVersusUsed
from core.table_qa.service import TableService
from core.table_qa.table_quality import no_data_reason
from pages.components import notices, session

__all__ = [
    "TablesView",
    "apply_change",
    "cached",
    "comparisons",
    "first_rows",
    "open_table",
    "open_view",
    "show_outcome",
    "table_service",
    "tables_view",
]

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class TablesView:
    """The tables a project sees. asked: those that questions read. documents: what the tables were read from, by id."""

    project: str | None
    tables: tuple[RealityTable, ...]
    in_use: tuple[RealityTable, ...]
    documents: Mapping[int, Document]

    @property
    def mark(self) -> Hashable:
        """Equal as long as no table was loaded, replaced, or given another role, use or link."""
        in_use = {table.id for table in self.in_use}
        return self.project, tuple(
            (each.id, each.role, each.used, each.links, each.called, each.id in in_use) for each in self.tables
        )

    def table(self, name: str) -> RealityTable | None:
        """A table by its name."""
        return next((table for table in self.tables if table.name == name), None)

    def is_in_use(self, table: RealityTable) -> bool:
        """Whether questions read it."""
        return any(each.id == table.id for each in self.in_use)

    def why(self, table: RealityTable) -> str:
        """Why questions read a table, or why not."""
        document = self.documents.get(table.document_id)
        if document is not None and document.archived:
            return "its document is archived"
        if table.used is not None:
            return "enabled manually" if table.used else "disabled manually"
        if reason := no_data_reason(table):
            return reason
        truth = document.labels.truth.value if document else None
        return f"its document is labelled {truth}" if truth else "its document has no label yet"


def table_service() -> TableService:
    """The service of Reality tables."""
    return session.workbench().tables


def tables_view(project: str | None) -> TablesView:
    """The tables a project sees now."""
    tables = table_service().tables(project)
    documents = session.workbench().document_list.by_id(sorted({table.document_id for table in tables}))
    return TablesView(
        project,
        tuple(tables),
        tuple(table_service().question_tables(project)),
        {document.id: document for document in documents},
    )


def cached(name: str, mark: Hashable, work: Callable[[], _Result]) -> _Result:
    """A result kept in the session under a name; it is computed again when the mark changes."""
    return session.cached("data.kept", name, mark, work)


def comparisons(seen: TablesView) -> Sequence[ConfiguredVersusUsed]:
    """What is configured against what is used; computed again only when a table changed."""
    return cached("in use", seen.mark, lambda: table_service().configured_vs_used(seen.project))


def first_rows(table: RealityTable, *, limit: int) -> Rows:
    """The first rows of a table as they were loaded."""
    columns = tuple(ColumnRef(table.name, column.name) for column in table.columns)
    return table_service().rows(TableQuery(table.name, columns=columns, limit=limit), limit)


def open_view(view: str, **fields: str) -> None:
    """Open another view of the page with its fields filled in; a callback of buttons."""
    st.query_params["view"] = view
    st.session_state.update(fields)


def open_table(name: str) -> None:
    """Show one table of the view Tables and name it in the URL; "" closes it."""
    if name:
        st.query_params["table"] = name
    elif "table" in st.query_params:
        del st.query_params["table"]


def apply_change(change: Callable[[], object], message: str = "") -> None:
    """Run a change in a callback; `show_outcome` shows what came of it."""
    notices.apply_change("data", change, message)


def show_outcome() -> None:
    """Show the outcome of the last change."""
    notices.show_outcome("data")
