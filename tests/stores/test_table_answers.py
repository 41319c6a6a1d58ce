"""What the store of tables answers: cases worked out by hand, and laws that hold for any question."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given, reject, settings
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
    Ordering,
    Related,
    Rows,
    TableQuery,
)
from core.domain.errors import BadRequest
from core.table_qa.store import TableStore
from storage.datasets.store import SqlTableStore
from tests.stores.tables import FILES, in_postgres, listed, random_queries

PAY, NAME = ColumnRef("employees", "pay_rate"), ColumnRef("employees", "name")


@pytest.fixture(scope="module")
def store(engine: Engine) -> TableStore:
    """Departments, employees and payments."""
    library = in_postgres(engine)
    for name, text in FILES.items():
        library.upload(name, text)
    return library.store


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
    def overlap(column: ColumnRef, key: ColumnRef) -> tuple[int, int]:
        (found,) = store.overlaps(column, [key])
        return found

    assert overlap(ColumnRef("payments", "employee"), ColumnRef("employees", "code")) == (5, 4)
    assert overlap(ColumnRef("employees", "department"), ColumnRef("departments", "code")) == (4, 3)
    assert overlap(ColumnRef("employees", "pay_rate"), ColumnRef("departments", "budget")) == (5, 0)
    with pytest.raises(BadRequest):
        overlap(ColumnRef("payments", "amount"), ColumnRef("employees", "code"))


def test_a_table_that_was_deleted_meanwhile_overlaps_with_nothing(store: TableStore) -> None:
    gone, here = ColumnRef("gone", "code"), ColumnRef("payments", "employee")
    assert store.overlaps(here, [gone]) == store.overlaps(gone, [here]) == [(0, 0)]
    codes = ColumnRef("employees", "code")
    assert store.overlaps(here, [codes, gone, codes] * 8) == [(5, 4), (0, 0), (5, 4)] * 8
    assert store.overlaps(here, []) == []


def test_columns_that_are_too_slow_to_compare_at_once_are_compared_one_by_one(
    store: TableStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = SqlTableStore._counted

    def slow(self: SqlTableStore, column: ColumnRef, keys: Sequence[ColumnRef]) -> Sequence[tuple[int, int]]:
        if len(keys) > 1:
            raise BadRequest("It took more than 20 seconds and was stopped.", "Ask for less.")
        return counted(self, column, keys)

    monkeypatch.setattr(SqlTableStore, "_counted", slow)
    codes = ColumnRef("employees", "code")
    assert store.overlaps(ColumnRef("payments", "employee"), [codes, codes]) == [(5, 4), (5, 4)]


COUNT = AggregateMeasure(Aggregation.COUNT)
AMOUNT, KIND, PAID = (ColumnRef("payments", name) for name in ("amount", "kind", "paid_on"))


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        (AggregateMeasure(Aggregation.COUNT), 8),
        (AggregateMeasure(Aggregation.COUNT, AMOUNT), 7),
        (AggregateMeasure(Aggregation.DISTINCT, AMOUNT), 5),
        (AggregateMeasure(Aggregation.SUM, AMOUNT), Decimal("342.475")),
        (AggregateMeasure(Aggregation.AVERAGE, AMOUNT), Decimal("48.925")),
        (AggregateMeasure(Aggregation.MEDIAN, AMOUNT), 33.33),
        (AggregateMeasure(Aggregation.LEAST, AMOUNT), Decimal(-4)),
        (AggregateMeasure(Aggregation.MOST, PAID), date(2024, 5, 1)),
        (AggregateMeasure(Aggregation.SHARE, of=(AnyOf((Condition(KIND, Comparison.IS, ("salary",)),)),)), 0.5),
    ],
)
def test_a_measure_leaves_empty_cells_out(store: TableStore, measure: AggregateMeasure, value: object) -> None:
    [[found]] = store.answer(TableQuery("payments", measures=(measure,)), 10).rows
    assert found == value


@pytest.mark.parametrize(
    ("part", "groups"),
    [
        (DatePart.YEAR, [(2023, 2), (2024, 5), (None, 1)]),
        (DatePart.QUARTER, [("2023-Q4", 2), ("2024-Q1", 4), ("2024-Q2", 1), (None, 1)]),
        (DatePart.MONTH, [("2023-12", 2), ("2024-01", 1), ("2024-02", 3), ("2024-05", 1), (None, 1)]),
    ],
)
def test_rows_are_grouped_by_parts_of_their_dates(
    store: TableStore, part: DatePart, groups: list[tuple[object, int]]
) -> None:
    query = TableQuery("payments", measures=(COUNT,), groups=(Grouping(PAID, part),))
    assert sorted(store.answer(query, 10).rows, key=str) == groups


# Laws. Each example asks the database several times, so half of the usual hundred examples are enough.

law = settings(max_examples=50)


def answered(store: TableStore, query: TableQuery, most_rows: int = 1000) -> Rows:
    """The answer; what no such column can be asked is no case."""
    try:
        return store.answer(query, most_rows)
    except BadRequest:
        reject()


def numbers(store: TableStore, query: TableQuery, *where: AnyOf | Related) -> set[object]:
    """The numbers of the rows that meet conditions."""
    listed = TableQuery(query.table, query.joins, where)
    return set(answered(store, listed).column("_row"))


@law
@given(query=random_queries())
def test_any_question_is_answered_or_refused_and_its_sql_gives_the_same(store: TableStore, query: TableQuery) -> None:
    whole = answered(store, query)
    assert store.run(whole.sql, 1000, 5000).rows == whole.rows
    cut = store.answer(query, 2)
    assert (cut.rows, cut.total, cut.truncated) == (whole.rows[:2], whole.total, whole.total > 2)


@law
@given(query=random_queries())
def test_conditions_only_take_rows_away_and_count_what_is_listed(store: TableStore, query: TableQuery) -> None:
    found = numbers(store, query, *query.where)
    assert found == numbers(store, query).intersection(*(numbers(store, query, each) for each in query.where))
    counted = TableQuery(query.table, query.joins, query.where, measures=(COUNT,))
    assert answered(store, counted).rows == ((len(found),),)


@law
@given(query=random_queries())
def test_a_condition_and_its_contrary_share_no_row(store: TableStore, query: TableQuery) -> None:
    """What compares with an empty cell is neither true nor false; every other row is in one of the two."""
    for clause in query.where:
        each = clause if isinstance(clause, Related) else clause.conditions[0]
        contrary = replace(each, negated=not each.negated)
        whether, not_at_all = (
            numbers(store, query, one if isinstance(one, Related) else AnyOf((one,))) for one in (each, contrary)
        )
        assert not whether & not_at_all
        if isinstance(each, Related) or each.test in (Comparison.IS, Comparison.HOLDS, Comparison.EMPTY):
            assert whether | not_at_all == numbers(store, query)


@law
@given(query=random_queries())
def test_either_of_two_conditions_is_enough(store: TableStore, query: TableQuery) -> None:
    for clause in query.where:
        if isinstance(clause, AnyOf):
            apart = [numbers(store, query, AnyOf((each,))) for each in clause.conditions]
            assert numbers(store, query, clause) == set().union(*apart)


@law
@given(query=random_queries("grouped"))
def test_groups_hold_every_row_once(store: TableStore, query: TableQuery) -> None:
    groups = replace(query, measures=(COUNT,), having=(), order=None, limit=None)
    rows = answered(store, groups).rows
    assert len({row[:-1] for row in rows}) == len(rows)
    assert sum(row[-1] for row in rows) == len(numbers(store, query, *query.where))


@law
@given(query=random_queries("rows", "distinct", "grouped"), limit=st.integers(1, 4))
def test_a_limit_keeps_the_first_rows_and_what_ties_with_the_last(
    store: TableStore, query: TableQuery, limit: int
) -> None:
    first, whole = (answered(store, replace(query, limit=each)).rows for each in (limit, None))
    assert set(first) <= set(whole)
    assert len(first) >= min(limit, len(whole)) or query.order is not None
    further = answered(store, replace(query, limit=limit + 1)).rows
    assert further[: len(first)] == first


@law
@given(query=random_queries("rows", "distinct"))
def test_different_rows_are_those_listed_each_once(store: TableStore, query: TableQuery) -> None:
    plain = replace(query, order=None, limit=None)
    every = answered(store, replace(plain, distinct=False)).rows
    different = answered(store, replace(plain, distinct=True)).rows
    assert len(set(different)) == len(different)
    assert set(different) == {row[1:] for row in every}
