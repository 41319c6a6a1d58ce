"""Superlatives: what describes rows answers with the row, a number named right behind it with the number."""

import pytest

from tests.table_qa.domains import Office, office

LAPTOPS = """Asset tag,Model,Year,Next service,Price,Weight kg,Leased,User
LT1,X1,2019,2026-03-01,"$1,900.00",1.4,Yes,Ann Lee
LT2,MacBook,2021,2026-01-15,"$2,400.00",1.6,No,Bo Ray
LT3,MacBook,2021,2026-09-09,"$2,100.00",1.3,Yes,
LT4,Latitude,2018,2026-05-05,"$2,400.00",2.2,No,Cy Fox
"""
LOANS = """Loan no,Customer,Principal,Rate,Term (months)
1,Ann Lee,9000,4.5,24
2,Bo Ray,12000,3.1,120
3,Cy Fox,7000,6.0,60
"""
SESSIONS = """Session,Trainer,Hours,Average rating
S1,Moss,2,4.0
S2,Moss,8,2.0
S3,Perez,4,3.5
S4,Perez,4,3.6
"""


@pytest.mark.parametrize(
    ("question", "headline"),
    [
        ("most expensive MacBook", "LT2: 2,400"),
        ("most expensive laptop", "LT2: 2,400; LT4: 2,400"),
        ("cheapest laptop", "LT1: 1,900"),
        ("lightest leased laptop", "LT3: 1.3"),
        ("oldest laptop", "LT4: 2018"),
        ("newest MacBook", "LT2: 2021; LT3: 2021"),
        ("who has the lightest laptop?", "(empty): 1.3"),
        ("What is the highest price?", "2,400"),
        ("highest price of a MacBook", "2,400"),
        ("how heavy is the heaviest laptop", "2.2"),
        ("laptops with the highest price", "LT2: 2,400; LT4: 2,400"),
    ],
)
def test_a_superlative_answers_with_rows_or_with_the_number(question: str, headline: str) -> None:
    answer = Office({"laptops.csv": LAPTOPS}).desk.ask(question)
    assert answer.headline == headline, answer.refusal


@pytest.mark.parametrize(
    ("name", "question", "headline"),
    [
        ("staff", "Who is the oldest employee?", "9: 59"),
        ("staff", "how old is the oldest employee?", "59"),
        ("hr", "longest serving employee", "Dee Orr: 2012-01-09"),
        ("hr", "newest employee", "Lou Finch: 2024-04-08"),
        ("hr", "What is the highest salary?", "160,000"),
        ("hr", "the latest hire date", "2024-04-08"),
    ],
)
def test_people_are_named_and_their_numbers_are_not_asked_for(name: str, question: str, headline: str) -> None:
    answer = office(name).desk.ask(question)
    assert answer.headline == headline, answer.refusal


def test_people_are_not_as_old_as_their_contract() -> None:
    answer = office("hr").desk.ask("Who is the oldest employee?")
    assert answer.refusal == "No column says how old they are."


@pytest.mark.parametrize(
    ("table", "question", "headline"),
    [
        (LOANS, "longest loan", "2: 120"),
        (LOANS, "loans longer than 4 years", "2; 3"),
        (SESSIONS, "longest session", "S2: 8"),
        (SESSIONS, "which trainer has the best rating on average", "Perez: 3.55"),
    ],
)
def test_a_superlative_compares_what_its_word_is_about(table: str, question: str, headline: str) -> None:
    name = table.partition(",")[0].partition(" ")[0].lower()
    answer = Office({f"{name}s.csv": table}).desk.ask(question)
    assert answer.headline == headline, answer.refusal


@pytest.mark.parametrize(
    ("table", "question", "choices"),
    [
        (LOANS, "largest loan", ["Principal", "Rate", "Term (months)"]),
        (SESSIONS, "which trainer has the best rating", ["Highest Average rating", "Average Average rating"]),
        (LAPTOPS, "which model is the most expensive", ["Highest Price", "Average Price"]),
    ],
)
def test_a_superlative_that_fits_several_amounts_is_handed_back(table: str, question: str, choices: list[str]) -> None:
    name = {LOANS: "loans", SESSIONS: "sessions", LAPTOPS: "laptops"}[table]
    answer = Office({f"{name}.csv": table}).desk.ask(question)
    assert not answer.answered
    assert len(answer.others) == len(choices)
    assert all(part in other.reading for part, other in zip(choices, answer.others, strict=True))


def test_many_equal_rows_are_counted_with_their_value() -> None:
    table = "Loan no,Term (months)\n" + "".join(f"{number},24\n" for number in range(1, 6)) + "6,12\n"
    assert Office({"loans.csv": table}).desk.ask("longest loan").headline == "5 rows tie at 24"


@pytest.mark.parametrize("question", ["fastest loan", "heaviest loan", "longest customer"])
def test_a_superlative_about_what_no_column_holds_is_refused(question: str) -> None:
    assert not Office({"loans.csv": LOANS}).desk.ask(question).answered


@pytest.mark.parametrize(
    ("question", "headline"),
    [
        ("which department has the most employees", "Sales: 2"),
        ("top 2 departments by number of employees", "Sales: 2; Legal: 1"),
        ("which department has the highest average salary", "Legal: 60"),
    ],
)
def test_rows_without_a_department_are_no_department(question: str, headline: str) -> None:
    rows = ("Ann,Sales,40", "Bo,Sales,50", "Cy,,90", "Dee,,90", "Eli,,90", "Fay,Legal,60")
    desk = Office({"employees.csv": "\n".join(("Employee,Department,Salary", *rows))}).desk
    assert desk.ask(question).headline == headline
