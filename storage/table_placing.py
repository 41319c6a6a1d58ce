"""Which name and version a newly read table gets, from what is registered already. Both stores ask here."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from core.documents import Document, TableRole
from core.ingest.tabular.names import table_name
from core.tabular import ReadTable, RealityTable

__all__ = ["placed", "unplaced"]

_SAME_TABLE = 0.5
"""Share of their columns that two versions of one table have in common, at least."""


def placed(
    new: RealityTable, had: Sequence[RealityTable], known: Sequence[RealityTable], *, sheets: int
) -> RealityTable:
    """The table as it will be registered: its name, version, and what an analyst once said about it.

    had: what the same document held before, so that reading it again moves nothing. known: the tables of all others,
    and those of this document placed so far. sheets: how many tables the document has.
    """
    taken = {(each.name, each.version) for each in known}
    before = next((each for each in had if each.label == new.label and (each.name, each.version) not in taken), None)
    if before is not None:
        current = all(each.version < before.version for each in known if each.name == before.name)
        return replace(_following(new, before), version=before.version, current=current)
    older = next((each for each in known if each.current and _same_table(each, new)), None)
    if older is not None:
        last = max(each.version for each in known if each.name == older.name)
        return replace(_following(new, older), version=last + 1)
    return replace(new, name=_free_name(new, {each.name for each in known}, sheets))


def unplaced(document: Document, table: ReadTable, now: datetime) -> RealityTable:
    """A table just read: without an id, a name, or anything an analyst said."""
    return RealityTable(
        id=0,
        name="",
        label=table.label,
        document_id=document.id,
        document_name=document.name,
        project=document.project,
        version=1,
        current=True,
        role=table.role or TableRole.RECORDS,
        rows=table.rows,
        rejected=table.rejected,
        columns=table.columns,
        loaded_at=now,
        left_out=table.left_out,
    )


def _following(new: RealityTable, older: RealityTable) -> RealityTable:
    """An analyst's word on the older one holds for the new one, and links from columns it still has."""
    role = older.role if older.role_by == "analyst" else new.role
    links = tuple(link for link in older.links if new.column(link.column))
    return replace(
        new, name=older.name, role=role, role_by=older.role_by, used=older.used, links=links, called=older.called
    )


def _free_name(new: RealityTable, taken: set[str], sheets: int) -> str:
    """Names that begin with pg_ are PostgreSQL's own: a question would be answered from its catalogue."""
    name = table_name(new.document_name, new.label.removeprefix("Sheet: ") if sheets > 1 else "")
    name = f"table_{name}" if name.startswith("pg_") else name
    free, number = name, 2
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _same_table(older: RealityTable, newer: RealityTable) -> bool:
    if (older.project, older.document_name, older.label) != (newer.project, newer.document_name, newer.label):
        return False
    names = [{column.name for column in table.columns} for table in (older, newer)]
    return len(names[0] & names[1]) >= _SAME_TABLE * max(len(names[0]), len(names[1]))
