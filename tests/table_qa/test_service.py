"""The desk of tables: what an analyst says of them stays said, and what questions may read."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import replace
from datetime import date
from random import Random
from typing import Any, cast

import pytest

from core.domain.dataset_queries import ColumnRef
from core.domain.datasets import LinkState, RealityTable, TableLink
from core.domain.documents import TableRole, Truth
from core.domain.errors import BadRequest, NotFound
from core.table_qa import answerer as answerer_module
from core.table_qa import service as service_module
from core.table_qa.answerer import TableAnswerer
from core.table_qa.configured_vs_used import ConfiguredVersusUsed
from core.table_qa.join_paths import suggest_links
from core.table_qa.store import TableStore
from tests.label_edits import store_labels
from tests.stores.libraries import document
from tests.table_qa.domains import COURSES, DEPARTMENTS, EMPLOYEES, HR, PURCHASE_ORDERS, TRAINED, TRAINING, Office

SHORTER = "".join(EMPLOYEES.splitlines(keepends=True)[:-1])


def links(office: Office, table: str) -> dict[str, tuple[str, LinkState]]:
    return {
        link.column: (f"{link.other_table}.{link.other_column}", link.state) for link in office.desk.table(table).links
    }


# Links


def test_links_are_suggested_from_columns_to_the_keys_whose_values_they_hold() -> None:
    hr = Office(HR)
    assert links(hr, "employees") == {
        "department_code": ("departments.department_code", LinkState.SUGGESTED),
        "manager_id": ("employees.employee_id", LinkState.SUGGESTED),
    }
    assert links(hr, "leave_requests") == {"employee_id": ("employees.employee_id", LinkState.SUGGESTED)}
    assert links(hr, "departments") == {}


def test_a_table_that_comes_later_is_linked_with_those_that_wait_for_it() -> None:
    late = Office({"employees.csv": EMPLOYEES})
    assert set(links(late, "employees")) == {"manager_id"}
    late.add("departments.csv", DEPARTMENTS)
    assert links(late, "employees")["department_code"] == ("departments.department_code", LinkState.SUGGESTED)


@pytest.mark.parametrize("seed", range(4))
def test_links_are_those_of_comparing_all_tables_whatever_came_first_changed_or_went(seed: int) -> None:
    """Upload compares only what changed."""
    order = Random(seed)
    waiting = [*HR.items(), ("all departments.csv", DEPARTMENTS)]
    order.shuffle(waiting)
    office, documents = Office({}), []
    for name, rows in (*waiting, ("employees.csv", SHORTER), *waiting[:2]):
        documents.append(office.add(name, rows))
        assert_linked_with_all(office)
    for each in order.sample(documents, 4):
        office.desk.forget(each.id)
        assert_linked_with_all(office)


def assert_linked_with_all(office: Office) -> None:
    tables = office.desk.tables()
    for table in tables:
        others = [each for each in tables if each.id != table.id]
        bare = replace(table, links=())
        assert set(table.links) == set(suggest_links(bare, others, office.store.overlaps)), table.name


def test_links_are_suggested_one_file_after_the_other() -> None:
    """Of two that saw the same tables, the second would take back what the first linked."""
    office = Office({"departments.csv": DEPARTMENTS})
    added = office.catalogue.add_document(document("employees.csv", sha256="e" * 64))
    with ThreadPoolExecutor(1) as pool:
        with office.store.linking():
            loading = pool.submit(office.load, added, EMPLOYEES)
            assert not wait([loading], timeout=1).done
        loading.result()
    assert_linked_with_all(office)


def meanwhile(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let somebody act once while links of the table of employees are being suggested."""
    waiting = [act]

    def suggested(table: RealityTable, *given: Any) -> tuple[TableLink, ...]:
        found = suggest_links(table, *given)
        if table.name == "employees" and waiting:
            waiting.pop()()
        return found

    monkeypatch.setattr(service_module, "suggest_links", suggested)


def test_what_an_analyst_sets_while_links_are_suggested_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    office = Office({"employees.csv": EMPLOYEES})
    by_hand = TableLink("state", "departments", "city", 0.0, LinkState.CONFIRMED)

    def act() -> None:
        office.desk.set_role("employees", TableRole.SETUP)
        office.desk.set_used("employees", False)
        office.desk.set_row_names("employees", ["colleague"])
        office.desk.set_link("employees", by_hand, by_hand.state)
        manager = next(each for each in office.desk.table("employees").links if each.column == "manager_id")
        office.desk.set_link("employees", manager, LinkState.DISMISSED)

    meanwhile(monkeypatch, act)
    office.add("departments.csv", DEPARTMENTS)
    table = office.desk.table("employees")
    assert (table.role, table.role_by, table.used, table.called) == (TableRole.SETUP, "analyst", False, ("colleague",))
    assert links(office, "employees") == {
        "department_code": ("departments.department_code", LinkState.SUGGESTED),
        "state": ("departments.city", LinkState.CONFIRMED),
        "manager_id": ("employees.employee_id", LinkState.DISMISSED),
    }


def test_a_table_deleted_while_links_are_suggested_keeps_no_other_from_being_linked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    office = Office({"employees.csv": EMPLOYEES, "visits.csv": "visit_id,department_code\nV1,FIN\nV2,RND\nV3,OPS\n"})
    employees = office.desk.table("employees").document_id
    meanwhile(monkeypatch, lambda: office.store.forget(employees))
    office.add("departments.csv", DEPARTMENTS)
    assert [table.name for table in office.desk.tables()] == ["departments", "visits"]
    assert links(office, "visits")["department_code"] == ("departments.department_code", LinkState.SUGGESTED)


def test_a_file_read_again_without_its_table_makes_the_version_before_current_and_linked() -> None:
    codes = [f"P{number},Part {number}\n" for number in range(8)]
    shop = Office({"parts.csv": "part_code,part\n" + "".join(codes)})
    shop.add("orders.csv", "order_id,part_code\n" + "".join(f"{n},P{n % 8}\n" for n in range(20)))
    newer = shop.add("parts.csv", "part_code,part\n" + "".join(codes[:6]))
    assert [link.share for link in shop.desk.table("orders").links] == [0.75]
    assert shop.desk.load(newer, ()) == ()
    assert [link.share for link in shop.desk.table("orders").links] == [1.0]


def test_a_column_whose_linked_table_is_not_there_is_compared_with_all() -> None:
    hr = Office(HR)
    gone = (TableLink("department_code", "gone", "department_code", 1.0),)
    employees = replace(hr.desk.table("employees"), links=gone)
    (found,) = suggest_links(employees, [hr.desk.table("departments")], hr.store.overlaps, {"others"})
    assert found.other_table == "departments"


@pytest.mark.parametrize("state", [LinkState.CONFIRMED, LinkState.DISMISSED])
def test_a_link_made_by_hand_keeps_no_other_from_being_suggested(state: LinkState) -> None:
    numbers = range(1, 30)
    office = Office(
        {
            "visits.csv": "visit_code,partner\n" + "".join(f"V{n},{n}\n" for n in numbers),
            "customers.csv": "customer_id,town\n" + "".join(f"{n},T{n}\n" for n in numbers),
        }
    )
    assert links(office, "visits") == {}
    office.desk.set_link("visits", TableLink("partner", "customers", "customer_id", 1.0), state)
    office.add("partners.csv", "partner_id,street\n" + "".join(f"{n},S{n}\n" for n in range(1, 25)))
    assert links(office, "visits") == {"partner": ("partners.partner_id", LinkState.SUGGESTED)}


def test_columns_that_cannot_hold_enough_of_the_values_are_not_compared() -> None:
    many = "".join(f"C{n:05}\n" for n in range(2_500))
    few = "".join(f"C{n:05},{n}\n" for n in range(1_200))
    office = Office({"codes.csv": f"client_code,size\n{few}"})
    asked: list[ColumnRef] = []

    def overlaps(column: ColumnRef, keys: Sequence[ColumnRef]) -> Sequence[tuple[int, int]]:
        asked.extend(keys)
        return office.store.overlaps(column, keys)

    office.add("visits.csv", f"client_code\n{many}")
    visits, codes = office.desk.table("visits"), office.desk.table("codes")
    assert suggest_links(visits, [codes], overlaps) == () and asked == []
    (link,) = suggest_links(codes, [visits], overlaps)
    assert (link.other_table, link.share, len(asked)) == ("visits", 1.0, 1)


def test_numbers_that_coincide_are_no_link() -> None:
    rows = "".join(f"{n},{n * 3}\n" for n in range(1, 30))
    shop = Office({"parts.csv": f"part_id,weight\n{rows}", "visits.csv": f"visit_id,duration\n{rows}"})
    assert links(shop, "visits") == links(shop, "parts") == {}


@pytest.mark.parametrize("state", [LinkState.CONFIRMED, LinkState.DISMISSED])
def test_what_was_said_of_a_link_holds_for_the_next_version(state: LinkState) -> None:
    hr = Office(HR)
    link = next(each for each in hr.desk.table("employees").links if each.column == "department_code")
    hr.desk.set_link("employees", link, state)
    hr.add("employees.csv", SHORTER)
    assert hr.desk.table("employees").version == 2
    assert links(hr, "employees") == {
        "department_code": ("departments.department_code", state),
        "manager_id": ("employees.employee_id", LinkState.SUGGESTED),
    }
    hr.add("departments.csv", DEPARTMENTS + "NEW,New things,Austin,1\n")
    assert links(hr, "employees")["department_code"] == ("departments.department_code", state)


def test_a_dismissed_link_is_not_followed() -> None:
    hr = Office(HR)
    assert hr.desk.ask("employees in the finance department").headline == "Ann Lee; Bo Ray; Cy Fox"
    link = next(each for each in hr.desk.table("employees").links if each.column == "department_code")
    hr.desk.set_link("employees", link, LinkState.DISMISSED)
    answer = hr.desk.ask("average salary by department name")
    assert "departments" not in answer.tables


def test_a_link_made_by_hand_is_kept_although_its_values_differ() -> None:
    hr = Office(HR)
    hr.desk.set_link("departments", TableLink("city", "employees", "state", 0.0), LinkState.CONFIRMED)
    hr.add("departments.csv", DEPARTMENTS + "NEW,New things,Austin,1\n")
    assert links(hr, "departments") == {"city": ("employees.state", LinkState.CONFIRMED)}


def test_a_link_to_what_is_not_there_is_refused() -> None:
    hr = Office(HR)
    with pytest.raises(BadRequest, match="not in its table"):
        hr.desk.set_link(
            "employees", TableLink("shoe_size", "departments", "department_code", 1.0), LinkState.CONFIRMED
        )
    with pytest.raises(NotFound, match="no table 'offices'"):
        hr.desk.set_link("employees", TableLink("state", "offices", "state", 1.0), LinkState.CONFIRMED)


# Versions


def test_a_changed_file_of_the_same_name_is_the_next_version_and_replaces_the_older_document() -> None:
    hr = Office(HR)
    older = hr.desk.table("employees").document_id
    newer = hr.add("employees.csv", SHORTER)
    assert [(each.version, each.current) for each in hr.desk.versions("employees")] == [(2, True), (1, False)]
    assert hr.desk.ask("how many employees").headline == "11"
    assert hr.load(newer, SHORTER) == (older,)
    assert hr.desk.table("employees").version == 2
    assert hr.desk.forget(newer.id) == [older]
    assert hr.desk.ask("how many employees").headline == "12"


def test_a_diff_tells_rows_apart_by_their_key() -> None:
    hr = Office(HR)
    hr.add(
        "employees.csv",
        SHORTER.replace("52000", "53000") + "E113,Max,Orme,M,RND,Chemist,TX,2026-02-02,90000,0,active,E101,N,\n",
    )
    newer, older = hr.desk.versions("employees")
    diff = hr.desk.diff(newer, older)
    assert (diff.before, diff.after, diff.by) == (12, 12, "employee_id")
    assert (diff.added, diff.removed, diff.changed) == (1, 1, 1)
    changed = next(row for row in diff.rows if row.kind == "changed")
    assert (changed.key, changed.before, changed.after) == ("E105", {"salary": "52000"}, {"salary": "53000"})


def test_a_document_without_tables_forgets_those_it_had() -> None:
    hr = Office(HR)
    document = hr.catalogue.document(hr.desk.table("leave_requests").document_id)
    assert hr.desk.load(document, ()) == ()
    assert [table.name for table in hr.desk.tables()] == ["departments", "employees"]


# Roles, use and projects


def test_a_role_set_by_hand_holds_for_the_next_version() -> None:
    hr = Office(HR)
    assert hr.desk.table("departments").role is TableRole.RECORDS
    hr.desk.set_role("departments", TableRole.SETUP)
    hr.add("departments.csv", DEPARTMENTS + "NEW,New things,Austin,1\n")
    table = hr.desk.table("departments")
    assert (table.version, table.role, table.role_by) == (2, TableRole.SETUP, "analyst")


@pytest.mark.parametrize("truth", [each for each in Truth if each is not Truth.REALITY])
def test_a_table_in_a_document_of_another_truth_is_not_asked_until_an_analyst_says_so(truth: Truth) -> None:
    hr = Office({"employees.csv": EMPLOYEES})
    hr.add("fees.csv", "fee_code,fee\nA1,10\nB2,20\nC3,30\n", truth=truth)
    assert [table.name for table in hr.desk.tables()] == ["employees", "fees"]
    assert [table.name for table in hr.desk.question_tables()] == ["employees"]
    assert hr.desk.ask("total fee").refusal == "Not found in the tables: 'fee'."
    hr.desk.set_used("fees", True)
    assert hr.desk.ask("total fee").headline == "60"
    hr.desk.set_used("fees", None)
    assert not hr.desk.ask("total fee").answered


def test_a_table_of_reality_is_asked_unless_an_analyst_says_no() -> None:
    hr = Office()
    hr.add("employees.csv", EMPLOYEES, truth=Truth.REALITY)
    assert hr.desk.ask("how many employees").headline == "12"
    hr.desk.set_used("employees", False)
    assert hr.desk.ask("how many employees").refusal == "There is no table to ask."


def test_a_project_sees_its_own_tables_and_the_shared_ones() -> None:
    shared = Office({"departments.csv": DEPARTMENTS})
    shared.add("employees.csv", EMPLOYEES, project="north")
    shared.add("employees.csv", SHORTER, project="south")
    assert [table.name for table in shared.desk.tables()] == ["departments", "employees", "employees_2"]
    assert [table.name for table in shared.desk.tables("south")] == ["departments", "employees_2"]
    assert shared.desk.ask("how many employees", "north").headline == "12"
    assert shared.desk.ask("how many employees", "south").headline == "11"
    assert shared.desk.ask("employees in the finance department", "south").headline == "Ann Lee; Bo Ray; Cy Fox"
    assert shared.desk.ask("how many departments", "west").headline == "5"
    assert not shared.desk.ask("how many employees", "west").answered
    assert links(shared, "employees_2")["manager_id"][0] == "employees_2.employee_id"


def test_a_table_of_an_archived_document_is_not_asked() -> None:
    hr = Office()
    added = hr.add("employees.csv", EMPLOYEES, truth=Truth.REALITY)
    hr.desk.set_used("employees", True)
    store_labels(hr.catalogue, replace(hr.catalogue.document(added.id), archived=True), ())
    assert hr.desk.ask("how many employees").refusal == "There is no table to ask."


def test_tables_move_with_their_document() -> None:
    office = Office({"departments.csv": DEPARTMENTS})
    moved = office.add("employees.csv", EMPLOYEES, project="north")
    store_labels(office.catalogue, replace(office.catalogue.document(moved.id), project="south"), ())
    office.desk.documents_moved([moved.id])
    assert office.desk.ask("how many employees", "south").headline == "12"
    assert not office.desk.ask("how many employees", "north").answered
    later = office.catalogue.add_document(document("employees.csv", sha256="f" * 64, project="north"))
    assert office.load(later, SHORTER) == ()
    assert office.desk.ask("how many employees", "north").headline == "11"
    assert office.desk.ask("how many employees", "south").headline == "12"


def test_a_confirmed_link_is_not_followed_to_a_column_whose_values_repeat() -> None:
    """Each row that is joined twice would be counted twice."""
    hr = Office(HR)
    (link,) = (each for each in hr.desk.table("employees").links if each.other_table == "departments")
    hr.desk.set_link("employees", link, LinkState.CONFIRMED)
    asked = "how many employees are in the finance department"
    assert hr.desk.ask(asked).headline == "3"
    hr.add("departments.csv", f"{DEPARTMENTS}FIN,Finance,Albany,100000\n")
    assert links(hr, "employees")["department_code"][1] is LinkState.CONFIRMED
    assert not hr.desk.ask(asked).answered


# Configured against in use


def compared(office: Office) -> ConfiguredVersusUsed:
    (found,) = office.desk.configured_vs_used()
    return found


def test_codes_that_are_configured_are_held_against_the_records_that_carry_them() -> None:
    found = compared(Office(TRAINED))
    assert (found.setup, found.records, found.column, found.empty) == ("courses", "trn_recs", "crs_cd", 0)
    assert [(code.code, code.says, code.rows, code.state) for code in found.codes] == [
        ("LEAD3", "Leading a team", 0, "unused"),
        ("DATA1", "Data protection", 2, "in use"),
        ("FIRE1", "Fire safety basics", 2, "in use"),
        ("FORK2", "Forklift operation", 2, "in use"),
    ]


def test_records_without_a_code_and_with_an_unknown_one_are_told() -> None:
    rows = "70017,Vera Winn,OLD9,2021-01-01,2023-01-01,70,Y,NORTH\n70018,Will Yost,,2021-01-01,2023-01-01,70,Y,NORTH\n"
    nothing = "70019,Xena Zane,none,2021-01-01,2023-01-01,70,Y,NORTH\n"
    found = compared(Office({"COURSES.csv": COURSES, "TRN_RECS.csv": TRAINING + rows + nothing}))
    assert found.codes[0].code == "OLD9"
    assert (found.codes[0].says, found.codes[0].rows, found.codes[0].state) == ("", 1, "used, not configured")
    assert {state: found.count(state) for state in ("used, not configured", "unused", "in use")} == {
        "used, not configured": 1,
        "unused": 1,
        "in use": 3,
    }
    assert found.empty == 2


def test_nothing_is_compared_without_a_setup_table_or_over_a_dismissed_link() -> None:
    assert Office(HR).desk.configured_vs_used() == []
    training = Office(TRAINED)
    (link,) = training.desk.table("trn_recs").links
    training.desk.set_link("trn_recs", link, LinkState.DISMISSED)
    assert training.desk.configured_vs_used() == []


# Figures and history


def test_a_figure_says_what_was_counted_and_where_it_stands() -> None:
    (figure,) = Office(HR).desk.figures("How many employees are in Texas?")
    assert (figure.words, figure.value, figure.rows) == ("Number of rows of employees where state is 'TX'", "3", 12)
    assert (figure.table, figure.citation) == ("employees", "[employees.csv, 12 rows]")
    assert figure.sql.startswith("SELECT")


def test_a_figure_cites_every_table_it_was_counted_from_and_says_what_limits_it() -> None:
    hr = Office({"departments.csv": DEPARTMENTS, "employees.csv": f"{EMPLOYEES}E999,only,four,cells\n"})
    (figure,) = hr.desk.figures("How many employees are in the finance department?")
    answer = hr.desk.ask("How many employees are in the finance department?")
    assert figure.citation == answer.citation
    assert {name for name in ("employees.csv", "departments.csv") if name in figure.citation} == {
        f"{table}.csv" for table in answer.tables
    }
    assert len(answer.tables) == 2
    assert figure.notes == ("1 of the rows of employees.csv could not be read and are not counted.",)


def test_what_the_tables_cannot_answer_has_no_figure() -> None:
    desk = Office({"Purchase Orders.csv": PURCHASE_ORDERS}).desk
    assert desk.figures("how many unicorns") == ()
    assert desk.figures("why was PO-2003 rejected") == ()


def test_statements_are_remembered_newest_first_each_once_with_what_went_wrong() -> None:
    hr = Office(HR)
    for typed in ("drop table employees", "select 1", " drop table employees "):
        with nullcontext() if typed == "select 1" else pytest.raises(BadRequest):
            hr.desk.run_sql(typed)
    assert [entry.sql for entry in hr.desk.history()] == ["drop table employees", "select 1"]
    assert "drop" in hr.desk.history()[0].error
    assert hr.desk.history()[1].error == ""
    assert [entry.sql for entry in hr.desk.history(limit=1)] == ["drop table employees"]


def test_a_table_that_is_not_there_is_not_found() -> None:
    hr = Office(HR)
    with pytest.raises(NotFound, match="no table 'wages'"):
        hr.desk.table("wages")
    with pytest.raises(NotFound):
        hr.desk.rejects(replace(hr.desk.table("employees"), id=999))


@pytest.mark.parametrize(
    "statement",
    [
        "select count(*) from purchase_orders where \"Order Status\" = 'Approved'",
        "select count(*) from \"Purchase Orders.csv\" where OrderStatus = 'Approved'",
        "select count(*) from purchase_orders where order_status = 'Approved'",
    ],
)
def test_sql_takes_the_spelling_of_the_file(statement: str) -> None:
    assert Office({"Purchase Orders.csv": PURCHASE_ORDERS}).desk.run_sql(statement).value == 5


def test_sql_suggests_what_a_misspelt_name_may_have_meant() -> None:
    desk = Office({"Purchase Orders.csv": PURCHASE_ORDERS}).desk
    with pytest.raises(BadRequest) as refused:
        desk.run_sql("select ordr_status from purchase_orders where buyer = 'order_statu'")
    assert "Did you mean order_status?" in refused.value.hint


def test_values_of_tables_that_are_gone_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answerer_module, "_MOST_TABLES", 4)
    tables, answerer = Office(HR).desk.tables(), TableAnswerer(cast(TableStore, None))
    assert len(tables) > 1
    for version in range(20):
        newer = [replace(each, id=100 * version + each.id) for each in tables]
        answerer.form(f"how many {tables[0].name}", newer, date(2026, 1, 1))
    assert 0 < len(answerer._values) <= 3 * len(tables)
