"""What the store of tables keeps: tables, their versions, their rejected rows, and what was run."""

from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import Engine

from core.domain.datasets import LinkState, RealityTable, RowChange, TableHistory, TableLink
from core.domain.documents import TableRole
from core.domain.errors import BadRequest, NotFound
from core.ingestion.parsers import extract
from tests.stores.libraries import MOMENT
from tests.stores.tables import EMPLOYEES, FILES, Library, in_postgres, listed


@pytest.fixture
def library(engine: Engine) -> Library:
    """An empty library."""
    return in_postgres(engine)


@pytest.fixture
def filled(library: Library) -> Library:
    """A library that holds departments, employees and payments."""
    for name, text in FILES.items():
        library.upload(name, text)
    return library


def codes(library: Library, name: str = "employees") -> list[object]:
    return [code for (code,) in listed(library.store, name, "code")]


# Loading


def test_cells_come_back_as_what_they_are(filled: Library) -> None:
    columns = ("code", "name", "boss", "hired", "seen_at", "pay_rate", "hours", "active")
    rows = listed(filled.store, "employees", *columns)
    first = ("007", "Zoë Ωmega", None, date(2020, 1, 15), datetime(2024, 3, 1, 10, 5), Decimal("1200.50"), 40, True)
    assert rows[0] == first
    assert rows[1][1] == 'O\'Neill, "Jo" 50%'
    assert rows[3][4:] == (datetime(2023, 12, 31, 23, 59, 59), None, 40, None)
    assert rows[4][0] == "0011"


def test_tables_are_listed_by_name_with_what_the_file_said(filled: Library) -> None:
    departments, employees, payments = filled.store.tables()
    assert [departments.name, employees.name, payments.name] == ["departments", "employees", "payments"]
    assert (departments.role, employees.role) == (TableRole.SETUP, TableRole.RECORDS)
    assert (employees.rows, employees.version, employees.current, employees.loaded_at) == (7, 1, True, MOMENT)
    assert employees.key is not None and employees.key.name == "code"
    assert list(filled.store.versions("employees")) == [employees]


def test_rows_that_do_not_fit_are_kept_apart_with_their_reason(library: Library) -> None:
    lines = [f"{number},{number}" for number in range(1, 40)]
    table = library.upload("hours.csv", "\n".join(["Number,Hours", *lines, "40,ünknown hours", "41,1,9"]))
    wrong, long = library.store.rejects(table.id)
    assert (table.rows, table.rejected) == (39, 2)
    assert (wrong.row, wrong.cells) == (40, ("40", "ünknown hours")) and "not a whole number" in wrong.reason
    assert (long.row, long.cells) == (41, ("41", "1", "9"))
    with pytest.raises(NotFound):
        library.store.rejects(10**9)


def test_a_file_of_the_same_name_becomes_the_next_version(library: Library) -> None:
    first = library.upload("employees.csv", EMPLOYEES)
    second = library.upload("employees.csv", EMPLOYEES + "014,bo,FIN,,,,,,\n")
    assert (second.name, second.version) == (first.name, 2)
    assert list(library.store.tables()) == [second]
    assert list(library.store.versions("employees")) == [second, replace(first, current=False)]
    assert codes(library)[-1] == "014"


def test_the_same_file_in_another_project_is_another_table(library: Library) -> None:
    names = [library.upload("employees.csv", EMPLOYEES, project).name for project in (None, "north", "south")]
    assert names == ["employees", "employees_2", "employees_3"]


def test_a_file_of_the_same_name_with_other_columns_is_another_table(library: Library) -> None:
    library.upload("employees.csv", EMPLOYEES)
    other = library.upload("employees.csv", "Code,Colour\n1,red wine\n2,green tea\n")
    assert (other.name, other.version) == ("employees_2", 1)
    assert len(library.store.tables()) == 2


def test_a_name_of_the_databases_own_is_not_taken(library: Library) -> None:
    table = library.upload("pg_class.csv", EMPLOYEES)
    assert len(listed(library.store, table.name, "code")) == 7


def test_loading_a_document_again_moves_nothing_and_keeps_what_an_analyst_said(library: Library) -> None:
    first = library.upload("employees.csv", EMPLOYEES)
    library.store.change(first, lambda table: replace(table, role=TableRole.SETUP, role_by="analyst", used=True))
    again = library.upload("employees.csv", EMPLOYEES)
    statement = (TableRole.SETUP, "analyst", True)
    assert (again.version, again.role, again.role_by, again.used) == (1, *statement)
    newer = library.upload("employees.csv", EMPLOYEES.replace("ann", "Ann"))
    assert (newer.version, newer.role, newer.role_by, newer.used) == (2, *statement)
    library.upload("employees.csv", EMPLOYEES)
    library.upload("employees.csv", EMPLOYEES.replace("ann", "Ann"))
    assert [(each.version, each.current) for each in library.store.versions("employees")] == [(2, True), (1, False)]
    assert listed(library.store, "employees", "name")[-1] == ("Ann",)


def test_all_of_a_documents_tables_are_loaded_or_none(library: Library, tmp_path: Path) -> None:
    library.upload("employees.csv", EMPLOYEES)
    (good,) = extract("b.csv", EMPLOYEES.encode(), tmp_path).tables
    with pytest.raises(OSError):
        library.store.load(library.document("employees.csv", "new"), [good, replace(good, path="/nowhere.csv")], MOMENT)
    assert [(table.name, table.version) for table in library.store.tables()] == [("employees", 1)]


def test_a_forgotten_version_makes_the_one_before_current_again(library: Library) -> None:
    texts = [EMPLOYEES, EMPLOYEES + "014,bo,FIN,,,,,,\n", EMPLOYEES + "015,cy,FIN,,,,,,\n"]
    first, second, third = (library.upload("employees.csv", text) for text in texts)
    library.store.forget(second.document_id)
    assert codes(library)[-1] == "015"
    library.store.forget(third.document_id)
    assert list(library.store.versions("employees")) == [first]
    assert codes(library)[-1] == "013"
    library.store.forget(first.document_id)
    library.store.forget(first.document_id)
    assert list(library.store.tables()) == []
    with pytest.raises(BadRequest, match="no table 'employees'"):
        codes(library)


def test_a_change_is_kept_and_a_table_that_is_gone_is_told(filled: Library) -> None:
    table = filled.store.versions("payments")[0]
    link = TableLink("employee", "employees", "code", 1 / 3, LinkState.CONFIRMED)
    changed = replace(table, role=TableRole.SETUP, role_by="analyst", used=False, links=(link,), warnings=("Überall",))
    assert filled.store.change(table, lambda _: changed) == changed
    assert list(filled.store.versions("payments")) == [changed]
    with pytest.raises(NotFound, match="payments"):
        filled.store.change(replace(changed, id=10**9), lambda table: table)


def test_a_change_edits_the_table_as_it_is_stored_now(filled: Library) -> None:
    table = filled.store.versions("payments")[0]
    filled.store.change(table, lambda now: replace(now, used=True))
    changed = filled.store.change(table, lambda now: replace(now, called=("payment",)))
    assert (changed.used, changed.called) == (True, ("payment",))
    assert list(filled.store.versions("payments")) == [changed]


def test_changes_of_a_table_wait_for_each_other(filled: Library) -> None:
    table = filled.store.versions("payments")[0]
    with ThreadPoolExecutor(1) as pool:
        others: list[Future[RealityTable]] = []

        def edit(now: RealityTable) -> RealityTable:
            others.append(pool.submit(filled.store.change, table, lambda later: replace(later, used=True)))
            assert not wait(others, timeout=1).done
            return replace(now, called=("payment",))

        filled.store.change(table, edit)
        assert (others[0].result().used, others[0].result().called) == (True, ("payment",))


def test_tenants_never_see_each_other(filled: Library, engine: Engine) -> None:
    other = in_postgres(engine)
    other.store.forget(filled.store.tables()[0].document_id)
    assert list(other.store.tables()) == [] and len(filled.store.tables()) == 3
    assert list(other.store.history(5)) == []
    with pytest.raises(NotFound):
        other.store.rejects(filled.store.tables()[0].id)


# Comparing


def test_versions_are_compared_by_their_key(library: Library) -> None:
    older = library.upload("staff.csv", "Code,Name,Pay,Old\nA1,Ann,10.50,x\nA2,Bo,20.00,x\nA3,Cy,30.00,x\nA4,Di,,x\n")
    newer = library.upload("staff.csv", "Code,Name,Pay,New\nA4,Di,5,y\nA2,Bo,20,y\nA1,Änn,10.5,y\nA9,Eve,30,y\n")
    diff = library.store.diff(newer, older, 10)
    assert (diff.table, diff.by, diff.before, diff.after) == ("staff", "code", 4, 4)
    assert (diff.added, diff.removed, diff.changed) == (1, 1, 2)
    assert (diff.columns_added, diff.columns_removed) == (("new",), ("old",))
    assert diff.rows == (
        RowChange("A9", "added", {}, {"name": "Eve", "pay": "30"}),
        RowChange("A1", "changed", {"name": "Ann"}, {"name": "Änn"}),
        RowChange("A4", "changed", {"pay": None}, {"pay": "5"}),
        RowChange("A3", "removed", {"name": "Cy", "pay": "30"}, {}),
    )
    assert library.store.diff(newer, older, 2) == replace(diff, rows=diff.rows[:2])
    back = library.store.diff(older, newer, 10)
    assert (back.added, back.removed, back.changed, back.before) == (1, 1, 2, 4)
    with pytest.raises(NotFound):
        library.store.diff(newer, replace(older, id=10**9), 10)


def test_versions_without_a_key_are_compared_by_whole_rows_as_often_as_they_stand_there(library: Library) -> None:
    older = library.upload("log.csv", "Kind,Amount\nbonus,1.0\nbonus,1\nbonus,2\nfee,\n")
    newer = library.upload("log.csv", "Kind,Amount\nbonus,1\nbonus,3\nbonus,2.00\nfee,\nfee,\n")
    diff = library.store.diff(newer, older, 10)
    assert (diff.by, diff.added, diff.removed, diff.changed) == ("", 2, 1, 0)
    assert diff.rows == (
        RowChange("", "added", {}, {"kind": "bonus", "amount": "3"}),
        RowChange("", "added", {}, {"kind": "fee", "amount": None}),
        RowChange("", "removed", {"kind": "bonus", "amount": "1"}, {}),
    )
    assert library.store.diff(newer, older, 1).rows == diff.rows[:1]


def test_history_gives_each_statement_once_where_it_was_last_run(library: Library) -> None:
    statements = ["a", "b", "ü\n'quoted'", "a", "c", *["c"] * 30]
    for number, sql in enumerate(statements):
        library.store.remember(TableHistory(sql, MOMENT + timedelta(number), number, 0.5, "wrong" * (sql == "b")))
    assert [entry.sql for entry in library.store.history(10)] == ["c", "a", "ü\n'quoted'", "b"]
    assert [entry.rows for entry in library.store.history(2)] == [34, 3]
    assert library.store.history(4)[-1] == TableHistory("b", MOMENT + timedelta(1), 1, 0.5, "wrong")
