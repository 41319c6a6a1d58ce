"""Data: tables are asked in words, looked into, linked, held against their set-up, and read in SQL."""

import csv
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from io import BytesIO, StringIO

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.dataset_queries import AggregateMeasure, Aggregation, ColumnRef, DatePart, Grouping, Rows, TableQuery
from core.domain.datasets import LinkState
from core.domain.documents import TableRole
from core.table_qa.service import TableService
from pages.components.data import charts, rows
from pages.components.data.rows import ColumnLabel, column_labels, rows_csv, rows_xlsx
from pages.components.wording import plain
from tests.screens.conftest import Opened, Stack, words

STAFF = """employee_id,last_name,department,pay_rate,hire_date,plan
E1,Gaspari,Repair,24.50,2019-05-01,MED
E2,Abbotsen,Repair,30.25,2020-01-15,DEN
E3,=1+1,Shops,28.00,2020-07-01,MED
E4,:red[x],Shops,22.10,2021-03-09,OLD
E5,Jessop,Shops,26.00,2021-04-01,MED
"""
PLANS = "plan,description\nMED,Medical plan\nDEN,Dental plan\nVIS,Vision plan\n"
BROKEN = STAFF.replace("E5,Jessop,Shops,26.00", "E5,Jessop,Shops,27.00") + "E6,too,few\n"


@pytest.fixture
def counted(library: Stack) -> Stack:
    """A library of two linked tables that state reality."""
    for name, text in (("employees.csv", STAFF), ("plans.csv", PLANS)):
        number = library.add(name, text)
        library.workbench.documents.correct(number, "truth", "reality")
    desk = library.workbench.tables
    library.workbench.documents.set_table_role("plans", TableRole.SETUP)
    library.workbench.documents.set_table_role("employees", TableRole.RECORDS)
    assert [(link.column, link.other_table) for link in desk.table("employees").links] == [("plan", "plans")]
    return library


def reality(library: Stack) -> TableService:
    return library.workbench.tables


def pressed(screen: AppTest, label: str) -> AppTest:
    """Press the button of that label."""
    next(each for each in screen.button if each.label == label).click()
    screen.run()
    assert not screen.exception
    return screen


def shown(screen: AppTest, number: int = 0) -> list[list[object]]:
    """The cells of a table on the page."""
    cells: list[list[object]] = screen.dataframe[number].value.values.tolist()
    return cells


def test_without_tables_the_page_says_where_they_come_from(library: Stack, opened: Opened) -> None:
    text = words(opened("data.py"))
    assert "No tables yet" in text and "Upload tables" in text and "Load the sample library" in text


def test_while_files_are_read_the_page_says_how_far_and_draws_itself_again(library: Stack, opened: Opened) -> None:
    library.jobs.run = lambda number: None
    waiting = library.add("employees.csv", STAFF)
    screen = opened("data.py")
    assert "Files are still being read" in words(screen)
    assert "Reading: 0 of 1 document done" in screen.progress[0].text
    library.workbench.ingestion.ingest(waiting)
    screen.run()
    assert not screen.progress and "No tables yet" not in words(screen)


def test_a_question_in_the_url_is_answered_with_its_reading_and_place(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", q="How many employees are there?")
    text = words(screen)
    assert "# 5" in text and "Interpreted as:" in text and "rows\\]" in text
    assert screen.code[0].value.startswith("SELECT")


def test_listed_rows_have_readable_heads_and_hostile_cells_stay_text(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", q="employees where department is Shops")
    table = screen.dataframe[0].value
    assert list(table.columns)[:2] == ["Row", "Employee id"]
    assert {"=1+1", ":red[x]", "Jessop"} <= set(table["Last name"])
    assert ":red[x]" not in words(screen)


def test_groups_are_drawn_as_bars(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", q="employees by department")
    assert len(screen.get("plotly_chart")) == 1
    assert shown(screen) == [["Shops", 3], ["Repair", 2]]


def test_the_rows_a_number_was_made_of_are_shown(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", q="How many employees are there?", behind="true")
    assert len(shown(screen)) == 5


def test_another_reading_is_one_click_away_and_stands_in_the_url(counted: Stack, opened: Opened) -> None:
    question = "employees with plan MED"
    readings = [each.reading for each in reality(counted).ask(question).others]
    assert readings, "the question should have two readings"
    screen = opened("data.py", q=question)
    screen.button(key="data.reading.1").click().run()
    assert not screen.exception
    assert "1" in screen.query_params["reading"]
    assert screen.button(key="data.reading.0")
    screen.text_input(key="q").set_value("employees by department").run()
    assert "reading" not in screen.query_params


def test_a_refusal_says_why_and_what_to_do(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", q="How happy are the zebras?")
    text = words(screen)
    assert "No answer from the tables" in text and "happy" in text and "pay\\_rate" in text
    assert "Ask the documents on Search" in text
    assert not screen.error and not screen.warning


def test_examples_are_questions_that_are_answered(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py")
    offered = screen.get("button_group")[1]
    desk = reality(counted)
    known = desk.examples(6)
    assert offered.options == [plain(each) for each in known]
    assert len(known) > 1 and all(desk.ask(each).answered for each in known)
    screen.pills(key="data.example").set_value(known[1]).run()
    assert screen.text_input(key="q").value == known[1]
    assert "Interpreted as:" in words(screen)


def test_tables_that_are_not_asked_are_named_with_why(counted: Stack, opened: Opened) -> None:
    reality(counted).set_used("plans", False)
    assert "plans (disabled manually)" in words(opened("data.py")).replace("\\", "")
    reality(counted).set_used("employees", False)
    assert "No table enabled" in words(opened("data.py"))


def test_the_state_of_documents_decides_until_a_person_does(counted: Stack, opened: Opened) -> None:
    (plans,) = [each for each in counted.workbench.documents.list() if each.name == "plans.csv"]
    counted.workbench.documents.correct(plans.id, "truth", "intent")
    assert "its document is labelled intent" in words(opened("data.py"))
    screen = opened("data.py", view="Tables", table="plans")
    assert screen.toggle[0].value is False
    screen.toggle[0].set_value(True).run()
    assert reality(counted).table("plans").used is True
    assert "enabled manually" in words(screen)
    pressed(screen, "Reset to default")
    assert reality(counted).table("plans").used is None
    assert screen.toggle[0].value is False


def test_a_role_is_set_by_hand_and_passages_follow(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", view="Tables", table="employees")
    number = reality(counted).table("employees").id
    screen.segmented_control(key=f"data.role.{number}").set_value(TableRole.SETUP).run()
    changed = reality(counted).table("employees")
    assert (changed.role, changed.role_by) == (TableRole.SETUP, "analyst")
    assert "set by hand" in words(screen)
    assert TableRole.SETUP in {each.table_role for each in counted.workbench.documents.passages(changed.document_id)}


def test_a_profile_tells_keys_personal_data_and_links(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", view="Tables", table="employees")
    profile = screen.dataframe[1].value.set_index("Header")
    assert profile.loc["employee_id", "Is"] == "✓ key"
    assert "a name" in profile.loc["last_name", "Is"]
    assert profile.loc["plan", "Is"] == "→ plans"
    assert profile.loc["pay_rate", "Range"] == "22.10 – 30.25"
    assert "Personal data" in words(screen)


def test_first_rows_are_shown_also_of_tables_that_are_not_asked(counted: Stack, opened: Opened) -> None:
    for used in (True, False):
        reality(counted).set_used("employees", used)
        assert len(shown(opened("data.py", view="Tables", table="employees", part="Rows"), 1)) == 5


def test_what_a_row_is_called_can_be_said_and_asked(counted: Stack, opened: Opened) -> None:
    assert not reality(counted).ask("how many assemblers").answered
    screen = opened("data.py", view="Tables", table="employees")
    table = reality(counted).table("employees")
    screen.text_input(key=f"data.called.{table.id}").set_value("assembler, temp ").run()
    assert reality(counted).table("employees").called == ("assembler", "temp")
    assert reality(counted).ask("how many assemblers").headline == "5"


def test_links_are_confirmed_dismissed_and_added(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", view="Tables", table="employees", part="Links")
    assert "67%" in words(screen)
    pressed(screen, "Confirm")
    assert reality(counted).table("employees").links[0].state is LinkState.CONFIRMED
    pressed(screen, "Dismiss")
    assert reality(counted).table("employees").links[0].state is LinkState.DISMISSED
    screen.selectbox(key="data.link.column").set_value("department")
    pressed(screen, "Add")
    added = {link.column: link for link in reality(counted).table("employees").links}["department"]
    assert (added.other_table, added.other_column, added.state) == ("plans", "plan", LinkState.CONFIRMED)
    assert added.share == 0.0


def test_a_link_that_questions_do_not_follow_says_why(counted: Stack, opened: Opened) -> None:
    pressed(opened("data.py", view="Tables", table="employees", part="Links"), "Confirm")
    assert "Not followed" not in words(opened("data.py", view="Tables", table="employees", part="Links"))
    repeated = counted.add("plans.csv", f"{PLANS}MED,Another plan\n")
    counted.workbench.documents.correct(repeated, "truth", "reality")
    told = words(opened("data.py", view="Tables", table="employees", part="Links"))
    assert "Not followed: values there repeat or are missing" in told.replace("\\", "")
    there = words(opened("data.py", view="Tables", table="plans", part="Links"))
    assert "employees.plan (not followed)" in there.replace("\\", "")
    counted.workbench.documents.archive(repeated, archived=True)
    told = words(opened("data.py", view="Tables", table="employees", part="Links"))
    assert "Not followed: plans is not asked: its document is archived" in told.replace("\\", "")


def test_rejected_rows_and_versions_are_told(counted: Stack, opened: Opened) -> None:
    number = counted.add("employees.csv", BROKEN)
    counted.workbench.documents.correct(number, "truth", "reality")
    screen = opened("data.py", view="Tables", table="employees", part="Rejected rows")
    assert "1 row could not be read" in words(screen)
    assert shown(screen, 1)[0][0] == 6
    screen = opened("data.py", view="Tables", table="employees", part="Versions")
    metrics = {each.label: each.value for each in screen.metric}
    assert metrics == {"Rows": "5 → 5", "Added": "0", "Removed": "0", "Changed": "1"}
    what, key, column, before, after = shown(screen, 2)[0]
    assert (what, key, column) == ("≠ changed", "E5", "pay_rate")
    assert (Decimal(str(before)), Decimal(str(after))) == (26, 27)


def test_a_table_that_is_gone_is_said_to_be_gone(counted: Stack, opened: Opened) -> None:
    assert "Table not found" in words(opened("data.py", view="Tables", table="nothing"))


def test_configured_is_held_against_in_use(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", view="In use")
    metrics = {each.label: each.value for each in screen.metric}
    assert metrics == {"Configured": "3", "✓ In use": "2", "– Unused": "1", "⚠ Used, not configured": "1"}
    assert [row[0] for row in shown(screen)] == ["OLD", "VIS", "MED", "DEN"]
    screen.pills(key="data.use.0.states").set_value(["unused"]).run()
    assert [row[0] for row in shown(screen)] == ["VIS"]


def test_nothing_to_compare_says_how_roles_and_links_make_it(counted: Stack, opened: Opened) -> None:
    counted.workbench.documents.set_table_role("plans", TableRole.RECORDS)
    screen = opened("data.py", view="In use")
    assert "Nothing to compare yet" in words(screen) and "0 tables of set-up and 2 of records" in words(screen)
    pressed(screen, "Set roles and links under Tables")
    assert "select one to see" in words(screen)


def test_a_refused_statement_says_why_and_is_remembered(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", view="SQL", sql="drop table employees")
    pressed(screen, "Run")
    assert screen.warning and "drop" in screen.warning[0].value.lower()
    screen.text_area(key="sql").set_value("select count(*) from employees")
    pressed(screen, "Run")
    assert not screen.warning and shown(screen) == [[5]]
    pressed(screen, "drop table employees")
    assert screen.text_area(key="sql").value == "drop table employees"


def test_a_result_is_a_table_a_chart_and_two_files(
    counted: Stack, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.table_qa.service.MOST_SQL_ROWS", 2)
    screen = opened("data.py", view="SQL", sql="select last_name as dept, 3 as n, 1 as n from employees order by _row")
    pressed(screen, "Run")
    assert "**The first 2 rows**; there are more" in words(screen)
    assert list(screen.dataframe[0].value.columns) == ["dept", "n", "n (2)"]
    assert {"data.result.csv", "data.result.xlsx"} <= {each.key for each in screen.download_button}
    screen.segmented_control(key="data.show").set_value("Chart").run()
    assert len(screen.get("plotly_chart")) == 1


def test_a_click_on_a_name_inserts_it(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", view="SQL", sql="select")
    number = reality(counted).table("employees").id
    screen.pills(key=f"data.names.{number}").set_value("pay_rate").run()
    assert not screen.exception
    assert screen.text_area(key="sql").value == "select pay_rate "


def test_an_answer_goes_on_in_sql(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", q="employees by department")
    pressed(screen, "Open in SQL")
    assert "department" in screen.text_area(key="sql").value


def test_a_project_sees_its_own_tables_and_those_of_all(counted: Stack, opened: Opened) -> None:
    counted.add("lines.csv", STAFF.replace("employee_id", "line_id"), project="Tallgrass")
    assert {row[0] for row in shown(opened("data.py", view="Tables"))} == {"employees", "plans", "lines"}
    counted.add("other.csv", PLANS, project="Elsewhere")
    screen = opened("data.py", view="Tables", project="Elsewhere")
    assert "lines" not in {row[0] for row in shown(screen)}
    assert not screen.warning


def test_a_project_of_the_address_that_is_not_there_is_named(counted: Stack, opened: Opened) -> None:
    screen = opened("data.py", view="Tables", project="Tallgras")
    assert [each.value.replace("\\", "") for each in screen.warning] == [
        "There is no project “Tallgras” here, so this page shows the whole library."
    ]
    assert {row[0] for row in shown(screen)} == {"employees", "plans"}


# What the room is made of.

QUERY = TableQuery(
    "employees",
    groups=(Grouping(ColumnRef("employees", "hire_date"), DatePart.YEAR),),
    measures=(AggregateMeasure(Aggregation.AVERAGE, ColumnRef("employees", "pay_rate")),),
)


def test_groups_in_time_stand_in_the_order_of_time() -> None:
    figure = charts.group_bars(QUERY, Rows(("y", "pay"), ((2021, Decimal(3)), (2019, Decimal("1.5"))), 2, 1.0))
    assert list(figure.data[0].y) == [1.5, 3.0]
    assert list(figure.layout.xaxis.ticktext) == ["2019", "2021"]


def test_names_in_charts_are_text() -> None:
    figure = charts.picked_chart(Rows(("a", "n"), (("<b>x</b>", 2), ("y", None)), 2, 1.0), "Bars", "a", "n")
    assert list(figure.data[0].x) == ["&lt;b&gt;x&lt;/b&gt;"]


def test_heads_say_what_was_computed(counted: Stack) -> None:
    found = Rows(("year_of_hire_date", "average_pay_rate"), ((2020, Decimal(1)),), 1, 1.0)
    heads = column_labels(QUERY, found, reality(counted).tables())
    assert [head.words for head in heads] == ["Year of hire date", "Average pay rate"]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ((1, None, 3), [1, None, 3]),
        ((Decimal("1.5"), 2), [1.5, 2.0]),
        ((2**60, 1), [str(2**60), "1"]),
        ((True, None), ["yes", None]),
        ((date(2024, 1, 2), None), [date(2024, 1, 2), None]),
        (("a", 1), ["a", "1"]),
        ((None, None), [None, None]),
    ],
)
def test_cells_of_a_column_are_of_one_kind(cells: Sequence[object], expected: list[object]) -> None:
    found = Rows(("a",), tuple((cell,) for cell in cells), len(cells), 1.0)
    assert rows.columns_of(found, [ColumnLabel("a")]) == {"a": expected}


def test_files_hold_no_formula() -> None:
    import openpyxl

    cells = [("=1+1", Decimal("2.50"), date(2024, 1, 2), None), ("@x", -3, "a\x00b", True)]
    reported = list(csv.reader(StringIO(rows_csv(("=h", "n", "d", "e"), cells))))
    assert reported == [["'=h", "n", "d", "e"], ["'=1+1", "2.50", "2024-01-02", ""], ["'@x", "-3", "a\x00b", "true"]]
    sheet = openpyxl.load_workbook(BytesIO(rows_xlsx(("=h", "n", "d", "e"), cells))).active
    assert sheet is not None
    lines = [[cell.value for cell in row] for row in sheet.iter_rows()]
    assert lines[0][0] == "'=h" and lines[1][0] == "'=1+1" and lines[1][1] == 2.5 and lines[2][2] == "a b"
    assert all(cell.data_type != "f" for row in sheet.iter_rows() for cell in row)
