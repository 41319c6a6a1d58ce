"""What the rooms of the Data page share: the desk, the tables in sight, and what was worked out of them before."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import streamlit as st

from core.documents import Document
from core.errors import FivefoldError
from core.reality.desk import RealityDesk
from core.reality.in_use import InUse
from core.table_queries import Ref, Rows, TableQuery
from core.tabular import RealityTable
from pages.parts import notices, session

__all__ = [
    "Sight",
    "compared",
    "go",
    "looked_into",
    "open_table",
    "reality",
    "remembered",
    "sight",
    "told",
    "try_to",
]

_Worked = TypeVar("_Worked")


@dataclass(frozen=True, slots=True)
class Sight:
    """The tables a project sees. asked: those that questions read. documents: what the tables were read from, by id."""

    project: str | None
    tables: tuple[RealityTable, ...]
    asked: tuple[RealityTable, ...]
    documents: Mapping[int, Document]

    @property
    def mark(self) -> Hashable:
        """Equal as long as no table was loaded, replaced, or given another role, use or link."""
        asked = {table.id for table in self.asked}
        return self.project, tuple(
            (each.id, each.role, each.used, each.links, each.called, each.id in asked) for each in self.tables
        )

    def table(self, name: str) -> RealityTable | None:
        """A table by its name."""
        return next((table for table in self.tables if table.name == name), None)

    def is_asked(self, table: RealityTable) -> bool:
        """Whether questions read it."""
        return any(each.id == table.id for each in self.asked)

    def why(self, table: RealityTable) -> str:
        """Why questions read a table, or why not."""
        if table.used is not None:
            return "switched on by hand" if table.used else "switched off by hand"
        document = self.documents.get(table.document_id)
        truth = document.labels.truth.value if document else None
        return f"its document states {truth}" if truth else "nothing says yet what its document states"


def reality() -> RealityDesk:
    """Where tables are kept and asked."""
    return session.workbench().reality


def sight(project: str | None) -> Sight:
    """What stands on the shelf now."""
    documents = {document.id: document for document in session.workbench().documents()}
    return Sight(project, tuple(reality().tables(project)), tuple(reality().asked(project)), documents)


def remembered(name: str, mark: Hashable, work: Callable[[], _Worked]) -> _Worked:
    """What was worked out under this name as long as the mark is the same; else it is worked out again."""
    kept: dict[str, tuple[Hashable, Any]] = st.session_state.setdefault("data.kept", {})
    if name not in kept or kept[name][0] != mark:
        kept[name] = (mark, work())
    found: _Worked = kept[name][1]
    return found


def compared(seen: Sight) -> Sequence[InUse]:
    """Configured against in use; counted again only when a table has changed."""
    return remembered("in use", seen.mark, lambda: reality().in_use(seen.project))


def looked_into(table: RealityTable, *, limit: int) -> Rows:
    """The first rows of a table as they were loaded."""
    columns = tuple(Ref(table.name, column.name) for column in table.columns)
    return reality().rows(TableQuery(table.name, columns=columns, limit=limit), limit)


def go(view: str, **fields: str) -> None:
    """Open another room of the page, its fields filled in; a callback of buttons."""
    st.query_params["view"] = view
    st.session_state.update(fields)


def open_table(name: str) -> None:
    """Show one table of the room Tables, and say so in the URL; "" closes it."""
    if name:
        st.query_params["table"] = name
    elif "table" in st.query_params:
        del st.query_params["table"]


def try_to(work: Callable[[], object], said: str = "") -> None:
    """Change something in a callback; what went wrong, or `said`, is told when the page is drawn."""
    try:
        work()
        st.session_state["data.said"] = said
    except FivefoldError as problem:
        st.session_state["data.problem"] = problem


def told() -> None:
    """Tell what became of the last change."""
    if problem := st.session_state.pop("data.problem", None):
        notices.error(problem)
    if said := st.session_state.pop("data.said", ""):
        st.toast(said, icon=":material/check:")
