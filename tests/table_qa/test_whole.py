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
