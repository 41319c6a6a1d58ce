"""Three small tables that point at each other, and questions to them made at random."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp

from hypothesis import strategies as st
from sqlalchemy import Engine

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    DatePart,
    Grouping,
    Having,
    Join,
    Ordering,
    Related,
    TableQuery,
)
from core.domain.datasets import RealityTable
from core.domain.documents import Document
from core.ingestion.parsers import extract
from core.ports.catalogue import Catalogue
from core.table_qa.store import TableStore
from storage.datasets.store import SqlTableStore
from storage.postgres.catalogue import SqlCatalogue
from tests.database import new_tenant
from tests.stores.libraries import MOMENT, document

DEPARTMENTS = """Code,Title,Budget
FIN,Finance and tax,"$1,200,000.50"
OPS,Operations abroad,900000
LAW,Legal affairs,
HR,People and culture,900000.00
"""
EMPLOYEES = """Code,Name,Department,Boss,Hired,Seen At,Pay Rate,Hours,Active
007,Zoë Ωmega,FIN,,1/15/2020,2024-03-01 10:05,"$1,200.50",40,yes
008,"O'Neill, ""Jo"" 50%",OPS,007,2/20/2020,2024-03-01 10:05:30,900.5,38,no
009,残業 太郎,OPS,007,2/20/2020,,900.50,,yes
010,İpek under_score,LAW,009,7/4/2021,2023-12-31 23:59:59,,40,
0011,back\\slash,,010,,2024-01-01 00:00,300,-3,no
012,zoë ωΜΕΓΑ,XXX,007,12/31/2021,2020-02-20 00:00,1000,0,yes
013,ann,FIN,008,1/15/2020,,-20.25,40,yes
"""
PAYMENTS = """Number,Employee,Paid On,Amount,Kind
1001,007,2024-01-31,100.10,salary
1002,007,2024-02-29,100.10,salary
1003,008,2024-02-29,,bonus
1004,009,2023-12-31,33.33,bonus
1005,999,2023-12-31,0.5,salary
1006,,2024-02-29,-4,
1007,009,,12.345,salary
1008,0011,2024-05-01,100.1,Salary
"""
FILES = {"departments.csv": DEPARTMENTS, "employees.csv": EMPLOYEES, "payments.csv": PAYMENTS}


@dataclass(frozen=True, slots=True)
class Library:
    """A catalogue and the table store beside it, of one tenant."""

    catalogue: Catalogue
    store: TableStore

    def document(self, name: str, text: str, project: str | None = None) -> Document:
        digest = sha256(f"{name}\n{text}".encode()).hexdigest()
        return self.catalogue.add_document(document(name, sha256=digest, project=project))

    def upload(self, name: str, text: str, project: str | None = None) -> RealityTable:
        """Read a CSV and load its one table."""
        read = extract(name, text.encode(), Path(mkdtemp()))
        (table,) = self.store.load(self.document(name, text, project), read.tables, MOMENT)
        return table


def in_postgres(engine: Engine) -> Library:
    database = new_tenant(engine)
    return Library(SqlCatalogue(database), SqlTableStore(database))


def listed(store: TableStore, table: str, *columns: str, limit: int | None = None) -> list[tuple[object, ...]]:
    """The cells of each row, without its number."""
    query = TableQuery(table, columns=tuple(ColumnRef(table, column) for column in columns), limit=limit)
    return [row[1:] for row in store.answer(query, 1000).rows]


_POOLS: dict[str, tuple[str, ...]] = {
    "departments.code": ("FIN", "OPS", "fin", "XXX"),
    "departments.title": ("Legal affairs", "and", "A", ""),
    "departments.budget": ("900000", "1200000.5", "1"),
    "employees.code": ("007", "7", "0011", "1"),
    "employees.name": ("ann", "ZOË", "ω", "%", "_", "\\", "'", "i", "残業", '"jo"', "-- /*\n"),
    "employees.department": ("FIN", "OPS", "", "XXX"),
    "employees.boss": ("007", "008"),
    "employees.hired": ("2020-01-15", "2020-02-20", "2021-12-31", "1999-01-01"),
    "employees.seen_at": ("2024-03-01 10:05:00", "2024-01-01", "2023-12-31 23:59:59"),
    "employees.pay_rate": ("900.5", "1000", "-20.25", "0", "1e3"),
    "employees.hours": ("40", "0", "-3", "38.5"),
    "employees.active": ("true", "false"),
    "payments.number": ("1001", "1005", "1e9"),
    "payments.employee": ("007", "999"),
    "payments.paid_on": ("2024-02-29", "2023-12-31"),
    "payments.amount": ("100.1", "0", "33.33"),
    "payments.kind": ("salary", "SALARY", "bonus"),
    "payments._row": ("1", "3", "7"),
}
_JOINS = {
    "departments": (),
    "employees": (Join("departments", "departments", ColumnRef("employees", "department"), "code"),),
    "payments": (
        Join("employees", "employees", ColumnRef("payments", "employee"), "code"),
        Join("departments", "departments", ColumnRef("employees", "department"), "code"),
    ),
}
_POINTERS = {
    "departments": (("employees", "department", "code"),),
    "employees": (("payments", "employee", "code"), ("employees", "boss", "code"), ("payments", "amount", "pay_rate")),
    "payments": (("employees", "code", "employee"), ("payments", "number", "_row")),
}
_EITHER = st.booleans()


def _refs(tables: Sequence[str]) -> list[ColumnRef]:
    return [ColumnRef(*name.split(".")) for name in _POOLS if name.split(".")[0] in tables]


@st.composite
def _conditions(draw: st.DrawFn, tables: Sequence[str]) -> Condition:
    """Most make sense; now and then names are added up or dates searched for words, which is refused."""
    ref = draw(st.sampled_from(_refs(tables)))
    test = draw(st.sampled_from(Comparison))
    pool = st.sampled_from(_POOLS[f"{ref.table}.{ref.column}"])
    least, most = {
        Comparison.EMPTY: (0, 1),
        Comparison.BETWEEN: (2, 2),
        Comparison.IS: (1, 3),
        Comparison.HOLDS: (1, 2),
    }.get(test, (1, 1))
    values = tuple(draw(st.lists(pool, min_size=least, max_size=most)))
    condition = Condition(ref, test, values, negated=draw(_EITHER))
    if test in (Comparison.LESS, Comparison.AT_MOST, Comparison.MORE, Comparison.AT_LEAST):
        against = draw(st.sampled_from(("values", "values", "other", "average")))
        if against == "other":
            return Condition(ref, test, (), condition.negated, draw(st.sampled_from(_refs(tables))))
        if against == "average":
            return Condition(ref, test, (), condition.negated, average=True)
    return condition


def _any_of(tables: Sequence[str]) -> st.SearchStrategy[AnyOf]:
    return st.lists(_conditions(tables), min_size=1, max_size=2).map(tuple).map(AnyOf)


@st.composite
def _related(draw: st.DrawFn, table: str) -> Related:
    other, column, here = draw(st.sampled_from(_POINTERS[table]))
    joins = _JOINS[other] if draw(_EITHER) else ()
    tables = [other, *(join.alias for join in joins)]
    where = tuple(draw(st.lists(_any_of(tables), max_size=1)))
    return Related(other, column, ColumnRef(table, here), where, joins, draw(_EITHER))


@st.composite
def _measures(draw: st.DrawFn, tables: Sequence[str]) -> AggregateMeasure:
    fold = draw(st.sampled_from(Aggregation))
    if fold is Aggregation.SHARE:
        return AggregateMeasure(
            fold, of=tuple(draw(st.lists(_any_of(tables) | _related(tables[0]), min_size=1, max_size=2)))
        )
    number = [ref for ref in _refs(tables) if ref.column in ("pay_rate", "hours", "amount", "budget", "number")]
    some = st.sampled_from(number) | st.sampled_from(number) | st.sampled_from(_refs(tables))
    return AggregateMeasure(fold, draw(st.none() | some if fold is Aggregation.COUNT else some))


@st.composite
def random_queries(draw: st.DrawFn, *shapes: str) -> TableQuery:
    """Any question: rows, different values, or measures of all rows or of groups. shapes: only these of them."""
    table = draw(st.sampled_from(sorted(_JOINS)))
    joins = _JOINS[table] if draw(_EITHER) else ()
    tables = [table, *(join.alias for join in joins)]
    refs = st.sampled_from(_refs(tables))
    where = tuple(draw(st.lists(_any_of(tables) | _related(table), max_size=2)))
    limit = draw(st.none() | st.integers(1, 4))
    shape = draw(st.sampled_from(shapes or ("rows", "distinct", "folded", "grouped")))
    columns = tuple(draw(st.lists(refs, min_size=1, max_size=3, unique=True)))
    if shape in ("rows", "distinct"):
        order = draw(st.none() | st.builds(Ordering, refs | st.sampled_from(columns), _EITHER))
        listed = TableQuery(table, joins, where, columns, distinct=shape == "distinct")
        return TableQuery(table, joins, where, columns, listed.distinct, order=order, limit=limit)
    measures = tuple(draw(st.lists(_measures(tables), min_size=1, max_size=2)))
    if shape == "folded":
        return TableQuery(table, joins, where, measures=measures)
    dated = [ref for ref in _refs(tables) if ref.column in ("hired", "seen_at", "paid_on")]
    parts = st.builds(Grouping, st.sampled_from(dated or _refs(tables)), st.sampled_from(DatePart))
    groups = tuple(draw(st.lists(st.builds(Grouping, refs) | parts, min_size=1, max_size=2)))
    counted = st.sampled_from(((Comparison.MORE, ("1",)), (Comparison.IS, ("2",)), (Comparison.BETWEEN, ("1", "100"))))
    having = tuple(Having(draw(_measures(tables)), *draw(counted)) for _ in range(draw(st.integers(0, 1))))
    plain = [group.ref for group in groups if group.part is None]
    by = st.sampled_from([*measures, *plain])
    order = draw(st.none() | st.builds(Ordering, by, _EITHER))
    return TableQuery(table, joins, where, (), False, measures, groups, having, order, limit)
