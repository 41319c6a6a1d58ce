"""Compares configured codes with used ones: the codes of a set-up table, and the records that carry them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.domain.dataset_queries import AggregateMeasure, Aggregation, ColumnRef, Grouping, Rows, TableQuery
from core.domain.datasets import LinkState, RealityTable, TableLink
from core.domain.documents import TableRole
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import name_column

__all__ = ["CodeUse", "ConfiguredVersusUsed", "compare_configured_with_used"]

_MOST_CODES = 10_000
"""Codes read of either side; nobody would review a longer list. Chosen by hand."""
_STATES = ("used, not configured", "unused", "in use")
"""In the order of attention they need."""
Answer = Callable[[TableQuery, int], Rows]


@dataclass(frozen=True, slots=True)
class CodeUse:
    """One code. says: its name in the set-up table, "" when it is not there. rows: number of records that carry it."""

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
class ConfiguredVersusUsed:
    """The codes of `setup` and those in `column` of `records`. empty: records without a code, or with a word for none
    ("none").
    """

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


def compare_configured_with_used(tables: Sequence[RealityTable], answer: Answer) -> list[ConfiguredVersusUsed]:
    """One comparison per link from a table of records to a set-up table; dismissed links are left out.

    answer: as `TableStore.answer`.
    """
    setups = {table.name: table for table in tables if table.role is TableRole.SETUP}
    return [
        _compare(setups[link.other_table], records, link, answer)
        for records in tables
        for link in records.links
        if records.role is TableRole.RECORDS and link.other_table in setups and link.state is not LinkState.DISMISSED
    ]


def _compare(setup: RealityTable, records: RealityTable, link: TableLink, answer: Answer) -> ConfiguredVersusUsed:
    key, named = ColumnRef(setup.name, link.other_column), name_column(setup)
    columns = (key,) if named is None or named.name == link.other_column else (key, ColumnRef(setup.name, named.name))
    configured = answer(TableQuery(setup.name, columns=columns), _MOST_CODES)
    says = {str(row[1]): str(row[2] or "") if len(row) > 2 else "" for row in configured.rows}
    grouped = TableQuery(
        records.name,
        groups=(Grouping(ColumnRef(records.name, link.column)),),
        measures=(AggregateMeasure(Aggregation.COUNT),),
    )
    counts = {row[0]: int(str(row[1])) for row in answer(grouped, _MOST_CODES).rows}
    used = {str(code): rows for code, rows in counts.items() if code is not None}
    nothing = [code for code in used if code.strip().lower() in asking().nothing and code not in says]
    codes = [CodeUse(code, words, True, used.get(code, 0)) for code, words in says.items()]
    codes += [CodeUse(code, "", False, rows) for code, rows in used.items() if code not in (*says, *nothing)]
    codes.sort(key=lambda code: (_STATES.index(code.state), -code.rows, code.code))
    empty = counts.get(None, 0) + sum(used[code] for code in nothing)
    names = (setup.name, setup.document_name, records.name, records.document_name, link.column)
    return ConfiguredVersusUsed(*names, tuple(codes), empty)
