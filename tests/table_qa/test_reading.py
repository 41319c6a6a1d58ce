"""Questions in the words people use: what they are read as, and what the tables answer."""

import tomllib
from pathlib import Path

import pytest

from core.table_qa.service import TableService
from tests.table_qa.conftest import Loaded
from tests.table_qa.domains import OFFICES, TRAINED, Office, office

READINGS = [
    pytest.param(name, question, *expected, id=f"{name}: {question}")
    for name, constructs in tomllib.loads((Path(__file__).parent / "readings.toml").read_text("utf-8")).items()
    for questions in constructs.values()
    for question, expected in questions.items()
]


@pytest.mark.parametrize(("name", "question", "reading", "headline"), READINGS)
def test_a_question_is_read_as_it_was_meant(name: str, question: str, reading: str, headline: str) -> None:
    answer = office(name).desk.ask(question)
    assert (answer.reading or answer.refusal, answer.headline) == (reading, headline)
    assert answer.notes == ()


@pytest.mark.parametrize("name", sorted(OFFICES))
def test_the_database_answers_each_question_as_the_memory_does(name: str, desk_for: Loaded, tmp_path: Path) -> None:
    for file, text in OFFICES[name].items():
        (tmp_path / file).write_text(text, "utf-8")
    desk: TableService = desk_for(tmp_path)
    for shown_text, question, *page_text in (each.values for each in READINGS):
        if shown_text == name:
            answer = desk.ask(str(question))
            assert [answer.reading, answer.headline] == page_text


@pytest.mark.parametrize(
    ("name", "question", "cells"),
    [
        ("hr", "number of employees by state", {"TX": 3, "OH": 3, "KY": 2, "CA": 2, "NY": 2}),
        ("hr", "average salary by gender", {"F": 120750, "M": 71333.33}),
        ("procurement", "total amount by country", {"Italy": 9800, "Germany": 8420, "Poland": 7700}),
        ("procurement", "orders per month in 2024", {"2024-01": 1, "2024-02": 2, "2024-05": 1}),
        ("training", "total hours by category", {"Safety": 20, "Compliance": 2, "Leadership": 24}),
        ("training", "number of records by course category", {"Safety": 4, "Compliance": 2}),
    ],
)
def test_groups_hold_what_a_hand_would_count(name: str, question: str, cells: dict[str, float]) -> None:
    rows = office(name).desk.ask(question).rows
    assert rows is not None
    assert {row[0]: pytest.approx(float(str(row[-1])), abs=0.01) for row in rows.rows} == cells


@pytest.mark.parametrize(
    ("name", "question", "rows"),
    [
        ("hr", "employees who earn more than their manager", [9, 11]),
        ("hr", "employees without a bonus", [3, 10, 12]),
        ("hr", "who was hired first?", [4]),
        ("hr", "top 3 employees by salary", [11, 9, 1]),
        ("procurement", "orders delivered after the due date", [2, 5]),
        ("procurement", "suppliers without orders", [5]),
        ("training", "courses without training records", [4]),
    ],
)
def test_a_list_holds_the_rows_a_hand_would_pick(name: str, question: str, rows: list[int]) -> None:
    answer = office(name).desk.ask(question)
    assert answer.rows is not None
    assert answer.rows.column("_row") == rows


def test_a_list_says_on_which_rows_it_stands_and_a_number_on_how_many() -> None:
    desk = office("hr").desk
    assert desk.ask("employees in Texas").citation == "[employees.csv, rows 1–2, 12]"
    assert desk.ask("employees with no department").citation == "[employees.csv, row 12]"
    assert desk.ask("average salary").citation == "[employees.csv, 12 rows]"
    assert desk.ask("employees whose bonus is more than their salary").citation == "[employees.csv, none of 12 rows]"


@pytest.mark.parametrize(
    ("name", "question", "reading", "notes"),
    [
        (
            "hr",
            "emplyees in Ohio",
            "Rows of employees where state is 'OH'",
            ["'emplyees' was read as 'employees'."],
        ),
        (
            "hr",
            "terminatd employees",
            "Rows of employees where status is 'terminated'",
            ["'terminatd' was read as 'terminated'."],
        ),
        (
            "hr",
            "inactive employees",
            "Rows of employees where status is not 'active'",
            ["'inactive' was read as 'not active'."],
        ),
        (
            "hr",
            "nonremote employees",
            "Rows of employees where is_remote is no",
            ["'nonremote' was read as 'not remote'."],
        ),
        (
            "procurement",
            "supliers in Germnay",
            "Rows of suppliers where Country is 'Germany'",
            ["'supliers' was read as 'suppliers'.", "'germnay' was read as 'germany'."],
        ),
        ("hr", "average salery", "Average salary in employees", []),
    ],
)
def test_a_misspelt_word_is_read_as_the_nearest_one_and_told(
    name: str, question: str, reading: str, notes: list[str]
) -> None:
    answer = office(name).desk.ask(question)
    assert (answer.reading or answer.refusal, list(answer.notes)) == (reading, notes)


def test_another_reading_is_offered_and_can_be_followed() -> None:
    desk = office("procurement").desk
    answer = desk.ask("average amount by country")
    assert answer.reading == "Average Total Amount in purchase_orders by suppliers' Country"
    other = next(each for each in answer.others if "Shipping Cost" in each.reading)
    followed = desk.follow(answer.question, other.query)
    assert (followed.question, followed.reading) == (answer.question, other.reading)
    assert followed.rows is not None and followed.rows.total == 3


def test_what_an_analyst_calls_the_rows_is_understood() -> None:
    desk = Office(TRAINED).desk
    assert desk.ask("how many certificates are there").refusal == "Not found in the tables: 'certificates'."
    desk.set_row_names("trn_recs", ["certificate", " certificate ", "", "safety  card"])
    assert desk.table("trn_recs").called == ("certificate", "safety card")
    assert desk.ask("how many certificates are there").reading == "Number of rows of trn_recs"
    assert desk.ask("certificates that expire in 2026").headline == "70011; 70012; 70013"


def test_rows_that_were_not_loaded_are_told_beside_the_answer() -> None:
    shop = Office({"stock.csv": "item,quantity\n" + "".join(f"A{n},{n}\n" for n in range(1, 60)) + "A60,many\n"})
    answer = shop.desk.ask("total quantity")
    assert answer.headline == "1,770"
    assert answer.notes == ("1 of the rows of stock.csv could not be read and are not counted.",)
