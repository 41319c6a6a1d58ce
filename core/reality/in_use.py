"""What is configured against what is in use: the codes of a set-up table and the records that carry them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.documents import TableRole
from core.reality.reach import naming_column
from core.table_queries import Fold, Grouping, Measure, Ref, Rows, TableQuery
from core.tables.asking import asking
from core.tabular import Link, LinkState, RealityTable

__all__ = ["CodeUse", "InUse", "in_use"]

_MOST_CODES = 10_000
Answer = Callable[[TableQuery, int], Rows]


@dataclass(frozen=True, slots=True)
class CodeUse:
    """One code. says: what the set-up table calls it, "" when it does not know it. rows: records that carry it."""

    code: str
    says: str
    configured: bool
    rows: int

    @property
    def state(self) -> str:
        """In use, unused, or used but not configured."""
        if not self.configured:
            return "used, not configured"
        return "in use" if self.rows else "unused"


@dataclass(frozen=True, slots=True)
class InUse:
    """The codes of `setup` carried by `column` of `records`; empty: records without a code, or with a
    word that says so ("none")."""

    setup: str
    setup_document: str
    records: str
    records_document: str
    column: str
    codes: tuple[CodeUse, ...]
    empty: int

    def count(self, state: str) -> int:
        """How many codes are in a state."""
        return sum(code.state == state for code in self.codes)


def in_use(tables: Sequence[RealityTable], answer: Answer) -> list[InUse]:
    """One comparison per link from a table of records to a set-up table; dismissed links are left out."""
    by_name = {table.name: table for table in tables}
    found = []
    for records in tables:
        for link in records.links:
            setup = by_name.get(link.other_table)
            wanted = setup is not None and setup.role is TableRole.SETUP and records.role is TableRole.RECORDS
            if setup is not None and wanted and link.state is not LinkState.DISMISSED:
                found.append(_compared(setup, records, link, answer))
    return found


def _compared(setup: RealityTable, records: RealityTable, link: Link, answer: Answer) -> InUse:
    key, named = Ref(setup.name, link.other_column), naming_column(setup)
    shown = (key,) if named is None or named.name == link.other_column else (key, Ref(setup.name, named.name))
    configured = answer(TableQuery(setup.name, columns=shown), _MOST_CODES)
    says = {str(row[1]): str(row[2] or "") if len(row) > 2 else "" for row in configured.rows}
    grouped = TableQuery(
        records.name, groups=(Grouping(Ref(records.name, link.column)),), measures=(Measure(Fold.COUNT),)
    )
    counts = {row[0]: int(str(row[1])) for row in answer(grouped, _MOST_CODES).rows}
    used = {str(code): rows for code, rows in counts.items() if code is not None}
    nothing = [code for code in used if code.strip().lower() in asking().nothing and code not in says]
    codes = [CodeUse(code, words, True, used.get(code, 0)) for code, words in says.items()]
    codes += [CodeUse(code, "", False, rows) for code, rows in used.items() if code not in (*says, *nothing)]
    order = {"used, not configured": 0, "unused": 1, "in use": 2}
    codes.sort(key=lambda code: (order[code.state], -code.rows, code.code))
    empty = counts.get(None, 0) + sum(used[code] for code in nothing)
    names = (setup.name, setup.document_name, records.name, records.document_name, link.column)
    return InUse(*names, tuple(codes), empty)
