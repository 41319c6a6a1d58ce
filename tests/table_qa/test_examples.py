"""Example questions show what tables can be asked, and each of them is answered."""

import pytest

from core.table_qa.table_quality import good_amounts
from tests.table_qa.domains import OFFICES, Office, office

VISITS = "Visit,Ward,Arrived,Wait (min)\nV1,A,2024-01-02,5\nV2,A,2024-02-03,9\nV3,B,2024-05-04,30\nV4,B,2024-06-05,7\n"


def test_a_rate_a_superlative_a_comparison_and_a_group_come_before_a_count() -> None:
    assert office("staff").desk.examples(5) == [
        "attrition rate by department",
        "Who is the oldest employee?",
        "Who has the highest hourly rate?",
        "average hourly rate by job role",
        "Which department has the most staff?",
    ]


def test_a_trend_goes_by_month_where_the_dates_stretch_over_months_and_units_are_not_named() -> None:
    offered = Office({"visits.csv": VISITS}).desk.examples(9)
    assert "visits by arrived month" in offered
    assert "average wait by ward" in offered
    assert offered[-1] == "How many visits are there?"


def test_a_number_that_stands_for_a_person_is_no_amount() -> None:
    rows = "".join(f"{n * n % 9973},{n * 7 % 90},12\n" for n in [*range(3, 200), 5, 9])
    (table,) = Office({"timesheet.csv": f"employee,hours,period\n{rows}"}).desk.tables()
    assert [each.name for each in good_amounts(table)] == ["hours"]


@pytest.mark.parametrize("name", sorted(OFFICES))
def test_every_example_is_answered_with_rows(name: str) -> None:
    desk = office(name).desk
    offered = desk.examples(6)
    assert len(offered) >= 3
    answers = [desk.ask(each) for each in offered]
    assert all(answer.rows is not None and answer.rows.total for answer in answers)
    assert len({answer.reading for answer in answers}) == len(answers)


def test_without_tables_there_are_no_examples() -> None:
    assert Office().desk.examples(6) == []
