"""What every core.table_qa.store.TableStore answers, and that all of them answer alike."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given, settings
from sqlalchemy import Engine

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Grouping,
    Ordering,
    Related,
    Rows,
    TableQuery,
)
from core.domain.errors import BadRequest
from core.table_qa.store import TableStore
from tests.stores.tables import FILES, in_memory, in_postgres, listed, random_queries

PAY, NAME = ColumnRef("employees", "pay_rate"), ColumnRef("employees", "name")


@pytest.fixture(scope="module")
def both(engine: Engine) -> tuple[TableStore, TableStore]:
    """The same tables in PostgreSQL and in memory."""
    libraries = in_postgres(engine), in_memory()
    for library in libraries:
        for name, text in FILES.items():
            library.upload(name, text)
    return libraries[0].store, libraries[1].store


@pytest.fixture(scope="module", params=["memory", "postgres"])
def store(request: pytest.FixtureRequest, both: tuple[TableStore, TableStore]) -> TableStore:
    """Departments, employees and payments, in each kind of store."""
    return both[request.param == "memory"]


@pytest.mark.parametrize("columns", [(NAME,), (NAME, PAY), (PAY, NAME)])
def test_ties_at_the_end_of_a_limited_list_are_included_in_the_order_of_their_rows(
    store: TableStore, columns: tuple[ColumnRef, ...]
) -> None:
    found = store.answer(TableQuery("employees", columns=columns, order=Ordering(PAY), limit=3), 1000)
    assert found.column("_row") == [1, 6, 2, 3]
    assert found.columns == ("_row", *(ref.column for ref in columns))


def test_a_limit_holds_without_an_order_too(store: TableStore) -> None:
    assert listed(store, "employees", "code", limit=2) == [("007",), ("008",)]
    count, kind = AggregateMeasure(Aggregation.COUNT), Grouping(ColumnRef("payments", "kind"))
    grouped = TableQuery("payments", measures=(count,), groups=(kind,), limit=1)
    assert store.answer(grouped, 10).rows == (("salary", 4),)


def test_a_table_that_points_to_itself_is_asked_of_its_other_rows(store: TableStore) -> None:
    code = ColumnRef("employees", "code")
    query = TableQuery("employees", columns=(code,), where=(Related("employees", "boss", code),))
    assert store.answer(query, 100).column("code") == ["007", "008", "009", "010"]
    bosses_of_the_inactive = Related(
        "employees", "boss", code, (AnyOf((Condition(ColumnRef("employees", "active"), Comparison.IS, ("false",)),)),)
    )
    found = store.answer(replace(query, where=(bosses_of_the_inactive,)), 100)
    assert found.column("code") == ["007", "010"]


def test_what_is_cut_says_how_much_there_is(store: TableStore) -> None:
    query = TableQuery("employees", columns=(NAME,))
    cut, whole = store.answer(query, 3), store.answer(query, 7)
    assert (len(cut.rows), cut.total, cut.truncated) == (3, 7, True)
    assert (len(whole.rows), whole.total, whole.truncated) == (7, 7, False)
    assert "SELECT" in cut.sql


@pytest.mark.parametrize(
    "query",
    [
        TableQuery("nothing"),
        TableQuery("employees", columns=(ColumnRef("employees", "nothing"),)),
        TableQuery("employees", measures=(AggregateMeasure(Aggregation.SUM, NAME),)),
        TableQuery("employees", columns=(NAME,), distinct=True, order=Ordering(PAY)),
        *(
            TableQuery("employees", where=(AnyOf((Condition(ref, Comparison.MORE, (value,)),)),))
            for ref, value in (
                (PAY, "much"),
                (PAY, "NaN"),
                (PAY, "1e999999999"),
                (ColumnRef("employees", "hired"), "soon"),
            )
        ),
    ],
)
def test_what_cannot_be_asked_is_a_bad_request(store: TableStore, query: TableQuery) -> None:
    with pytest.raises(BadRequest):
        store.answer(query, 10)


def test_values_are_found_whatever_their_capitals(store: TableStore) -> None:
    assert list(store.find("employees", "name", ["zoë ωmega", "nobody", "ann"])) == ["Zoë Ωmega", "ann"]
    assert list(store.find("payments", "kind", ["salary"])) == ["Salary", "salary"]
    assert list(store.find("payments", "kind", [])) == []
    for column in ("nothing", "amount"):
        with pytest.raises(BadRequest):
            store.find("payments", column, ["x"])


def test_overlap_counts_different_values_and_those_the_other_column_holds(store: TableStore) -> None:
    overlap = store.overlap
    assert overlap(ColumnRef("payments", "employee"), ColumnRef("employees", "code")) == (5, 4)
    assert overlap(ColumnRef("employees", "department"), ColumnRef("departments", "code")) == (4, 3)
    assert overlap(ColumnRef("employees", "pay_rate"), ColumnRef("departments", "budget")) == (5, 0)
    with pytest.raises(BadRequest):
        overlap(ColumnRef("payments", "amount"), ColumnRef("employees", "code"))


def outcome(store: TableStore, query: TableQuery) -> Rows | None:
    """The answer; None for a refusal."""
    try:
        return store.answer(query, 5)
    except BadRequest:
        return None


def told(rows: Rows) -> list[object]:
    """The cells in order; numbers with nine digits, whichever type they have."""
    cells = [cell for row in rows.rows for cell in row]
    return [
        f"{float(cell):.9g}" if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) else cell
        for cell in cells
    ]


@settings(max_examples=200, deadline=None)
@given(query=random_queries())
def test_any_question_has_the_same_answer_in_the_database_and_in_memory(
    both: tuple[TableStore, TableStore], query: TableQuery
) -> None:
    in_database, here = (outcome(store, query) for store in both)
    assert (in_database is None) == (here is None)
    if in_database is not None and here is not None:
        assert (here.columns, here.total, here.truncated) == (
            in_database.columns,
            in_database.total,
            in_database.truncated,
        )
        assert told(here) == told(in_database)
