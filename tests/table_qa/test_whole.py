"""A question is answered only when it was understood whole: telling words are used, named as unused, or refused."""

import pytest

from core.table_qa.service import TableService
from tests.table_qa.domains import STAFFED, Office, office


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("voyage", "average attempts by class"),
        ("voyage", "total attempts"),
        ("voyage", "how many passengers had more than 3 attempts?"),
    ],
)
def test_a_word_that_names_two_columns_alike_is_handed_back_as_a_choice(name: str, question: str) -> None:
    desk = office(name).desk
    answer = desk.ask(question)
    assert not answer.answered
    assert "more than one way" in answer.refusal
    assert len(answer.others) == 2
    assert desk.follow(question, answer.others[1].query).answered


@pytest.mark.parametrize(
    ("name", "question", "word"),
    [
        ("staff", "only employees in Sales", "only"),
        ("staff", "which department has the same number of employees as Sales?", "same"),
        ("staff", "employees who work overtime again", "again"),
        ("hr", "how many other employees are in Texas", "other"),
        ("hr", "employees in Texas once more", "once"),
        ("staff", "attrition cost by department", "cost"),
        ("staff", "how many employees won in Sales", "won"),
        ("hr", "how many servings are in Texas", "servings"),
        ("hr", "how often were employees in Texas hired", "often"),
    ],
)
def test_a_word_that_changes_the_question_is_never_dropped(name: str, question: str, word: str) -> None:
    answer = office(name).desk.ask(question)
    assert not answer.answered
    assert word in answer.refusal


def test_a_word_that_only_links_is_named_as_not_used() -> None:
    answer = office("hr").desk.ask("how many people work in Texas?")
    assert (answer.headline, answer.unused) == ("3", ("work",))


@pytest.mark.parametrize(
    "question",
    [
        "is attrition high?",
        "hourly percentage of executives",
        "staff percentage in Sales",
        "average rate by department",
        "do women earn more than men?",
        "what is the youngest department?",
        "daily rate of executives",
        "the last executive",
    ],
)
def test_what_is_not_understood_whole_is_refused(question: str) -> None:
    answer = office("staff").desk.ask(question)
    assert not answer.answered
    assert answer.refusal


def test_a_share_of_a_single_named_row_is_refused() -> None:
    assert not office("voyage").desk.ask("percentage of passengers in Dee").answered


def test_a_list_does_not_answer_a_question_for_one_number() -> None:
    answer = office("staff").desk.ask("daily rate of executives")
    assert "3 rows" in answer.refusal
    assert answer.others[0].reading == "Rows of staff where JobRole is 'Executive'"


def test_equal_answers_need_no_choice() -> None:
    desk: TableService = Office(STAFFED | {"people.csv": "Name,Town\nAnn,Oslo\nBo,Rome\n"}).desk
    assert desk.ask("how many employees in Sales").headline == "4"


CALLS = """Call,Caller role,Opened,Closed,Minutes spent,Cost,Fee,Escalated
C1,Desk,2024-03-04,2024-04-05,90,$10,$1,Yes
C2,Field,2024-04-03,2024-05-05,200,$20,$3,No
C3,Desk,2023-12-25,,30,$30,$2,
"""


@pytest.mark.parametrize(
    ("question", "readings"),
    [
        ("calls in 2024", ["Opened is from 2024-01-01", "Closed is from 2024-01-01"]),
        ("calls per month", ["by month of Opened", "by month of Closed"]),
        ("calls opened on 03/04/2024", ["Opened is from 2024-03-04", "Opened is from 2024-04-03"]),
        ("average call", ["Average Cost", "Average Fee"]),
        ("calls over $15", ["Cost is more than 15", "Fee is more than 15"]),
    ],
)
def test_what_can_be_read_in_two_ways_is_handed_back_with_both(question: str, readings: list[str]) -> None:
    desk = Office({"calls.csv": CALLS}).desk
    answer = desk.ask(question)
    assert not answer.answered
    assert len(answer.others) == len(readings)
    assert all(part in other.reading for part, other in zip(readings, answer.others, strict=True))


@pytest.mark.parametrize(
    ("question", "headline"),
    [
        ("calls opened on 25/12/2023", "C3"),
        ("calls over 3 hours", "C2"),
        ("calls of less than an hour", "C3"),
        ("escalation rate", "50.0%"),
        ("unclosed calls", "C3"),
        ("fee of desk vs field calls", "Desk: 3; Field: 3"),
    ],
)
def test_units_dates_and_nouns_of_a_flag_are_understood(question: str, headline: str) -> None:
    answer = Office({"calls.csv": CALLS}).desk.ask(question)
    assert answer.headline == headline, answer.refusal


@pytest.mark.parametrize(
    ("question", "refusal"),
    [
        ("cost over 3 hours", "'Cost' is not measured in hours."),
        ("who opened C2", "No column says who."),
        ("calls sorted by cost", "sorted"),
        ("open calls", "It is not clear which rows 'open' means."),
    ],
)
def test_what_would_be_guessed_is_refused_with_the_reason(question: str, refusal: str) -> None:
    answer = Office({"calls.csv": CALLS}).desk.ask(question)
    assert not answer.answered
    assert refusal in answer.refusal
