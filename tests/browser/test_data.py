"""An analyst's day with data: files become tables, tables are asked, looked into, corrected, and found by Search."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

STATES = ("TX", "CA", "OH")
DEPARTMENTS = ("Rigging", "Engines", "Canopy")
CODES = {"REG": "Regular pay", "OT": "Overtime pay", "NGT": "Night premium"}
TEXANS = 8
"""Active employees in Texas, among those `staff` writes."""


def staff() -> Iterator[list[str]]:
    """Twenty-four people: their number, name, department, state, status and pay, by rule."""
    yield ["employee_id", "last_name", "department", "state", "status", "pay_rate"]
    for number in range(24):
        department, state = DEPARTMENTS[number // 8], STATES[number % 2 if number < 16 else 0]
        status = "terminated" if number in (2, 4, 6, 8, 16, 17, 18, 19) else "active"
        yield [f"E{number:03}", f"Harrow{number:02}", department, state, status, f"{20 + number}.50"]


def hours() -> Iterator[list[str]]:
    """What they worked, by code. BON is nowhere configured; NGT is on no row; two rows cannot be read."""
    yield ["entry", "employee_id", "code", "hours", "work_date"]
    for number in range(60):
        code = "BON" if number % 20 == 0 else "OT" if number % 4 == 0 else "REG"
        yield [f"H{number:03}", f"E{number % 24:03}", code, str(1 + number % 8), f"2024-03-{1 + number % 28:02}"]
    yield ["H060", "E001", "REG", "many", "2024-03-30"]
    yield ["H061", "E002", "REG"]


def csv_of(rows: Iterator[list[str]]) -> str:
    """Rows as a CSV file."""
    return "".join(",".join(row) + "\n" for row in rows)


@pytest.mark.slow
def test_files_become_tables_that_are_asked_corrected_compared_and_found(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    codes = [{"code": code, "description": says, "active": "Y"} for code, says in CODES.items()]
    for name, text in (
        ("employees.csv", csv_of(staff())),
        ("time_entries.csv", csv_of(hours())),
        ("earning_codes.json", json.dumps(codes)),
    ):
        (tmp_path / name).write_text(text, "utf-8")

    tab.upload(*(tmp_path / name for name in ("employees.csv", "time_entries.csv", "earning_codes.json")))
    tab.go("data")
    tab.wait_for("Searching 3 tables")  # drawn again by itself once the files are read
    app.read_by_now(3)
    tab.go("data", view="Tables")
    tab.wait_for("3 tables", "87 rows", "2 rows could not be read")

    asks_in_words(tab)
    says_what_the_tables_are(tab)
    is_kept_in_by_the_sql_box(tab)

    tab.go("data", view="In use")
    tab.wait_for("earning_codes ← time_entries.code", "Configured 3", "In use 2", "Unused 1", "Used, not configured 1")

    raised = csv_of(staff()).replace("E000,Harrow00,Rigging,TX,active,20.50", "E000,Harrow00,Rigging,TX,active,31.00")
    (tmp_path / "employees.csv").write_text(raised + "E024,Newcome,Canopy,TX,active,44.00\n", "utf-8")
    tab.upload(tmp_path / "employees.csv")
    app.read_by_now(3)  # the older one has left the library
    tab.go("data", view="Tables", table="employees", part="Versions")
    tab.wait_for("Rows 24 → 25 Added 1 Removed 0 Changed 1", "Rows are matched by employee_id", "2 rows that differ")
    tab.go("data", q="How many active employees are in Texas?")
    tab.wait_for(f"{TEXANS + 1} Interpreted as:")

    is_found_by_search(tab)
    assert not tab.complains()


def asks_in_words(tab: Window) -> None:
    """A number, a chart, and a refusal."""
    tab.go("data")
    ask(tab, "How many active employees are in Texas?")
    tab.wait_for(f"{TEXANS} Interpreted as:", "[employees.csv, 24 rows]", "SQL")
    ask(tab, "active employees by department")
    tab.wait_for("Interpreted as:", *DEPARTMENTS)
    bars = tab.page.locator("[data-testid=stPlotlyChart] .barlayer .point")
    bars.nth(len(DEPARTMENTS) - 1).wait_for()
    assert bars.count() == len(DEPARTMENTS)
    ask(tab, "How happy are the zebras?")
    tab.wait_for("No answer from the tables", "zebras", "Ask the documents on Search")


def says_what_the_tables_are(tab: Window) -> None:
    """The role there and back, the rows that were not read, a link confirmed."""
    tab.go("data", view="Tables", table="time_entries")
    for role in ("Set-up", "Records"):
        tab.page.get_by_role("radio", name=role).click()
        toast(tab, f"Content set to {role.lower()}.")
        tab.wait_for("set by hand")
    tab.page.get_by_role("radio", name="Rejected rows").click()
    tab.wait_for("2 rows could not be read", "They are not counted in any answer")
    tab.page.get_by_role("radio", name="Links").click()
    tab.wait_for("code → earning_codes.code 67% of its different values are found there", "suggested")
    tab.page.get_by_role("button", name="Confirm").first.click()
    toast(tab, "Link confirmed.")
    tab.wait_for("check_circle confirmed")


def is_kept_in_by_the_sql_box(tab: Window) -> None:
    """A statement that reads gives rows; those that must not run say why not, and the next one runs again."""
    tab.go("data", view="SQL")
    counting = "SELECT state, count(*) FROM employees GROUP BY state ORDER BY state"
    run(tab, counting)
    tab.wait_for("2 rows in")
    for statement, named in (
        ("DROP TABLE employees", "DROP"),
        ("SELECT pg_sleep(60)", "pg_sleep"),
        ("SELECT * FROM documents", "documents"),
    ):
        run(tab, statement)
        tab.page.locator("[data-testid=stAlert]", has_text=named).wait_for()
        assert "rows in" not in tab.read()
    run(tab, counting)
    tab.wait_for("2 rows in")


def is_found_by_search(tab: Window) -> None:
    """A row as a result of reality with the rows it stands in, and a number among the five truths."""
    tab.go("search", q="Night premium NGT")
    found = tab.wait_for("Reality", "earning_codes.json, row")
    assert "Night premium" in found
    tab.page.get_by_role("button", name="Cite").first.click()
    tab.page.locator("[data-testid=stPopoverBody]", has_text="[earning_codes.json, row").wait_for()
    tab.go("search", q="How many active employees are in Texas?", view="five")
    tab.wait_for("Missing for a complete", "Ask the tables", f"{TEXANS + 1} Number of", "[employees.csv, 25 rows]")


def toast(tab: Window, words: str) -> None:
    """Wait until the page says so in passing."""
    tab.page.locator("[data-testid=stToast]", has_text=words).first.wait_for()


def ask(tab: Window, question: str) -> None:
    """Type a question on the Data page."""
    box = tab.page.get_by_label("Question", exact=True)
    box.fill(question)
    box.press("Enter")


def run(tab: Window, statement: str) -> None:
    """Type a statement and run it."""
    tab.page.get_by_label("Statement").fill(statement)
    tab.page.get_by_role("button", name="Run", exact=True).click()
    tab.settle()
