"""Export and check a pasted answer, as a person uses them: four files, numbered sentences, a verdict per sentence."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.domain.results import SearchResult
from tests.screens.conftest import words
from tests.search.library import Library, payroll_library
from tests.search.test_exports import ask

QUESTION = "When must employers deposit withheld income taxes?"


def menu() -> None:
    import streamlit as st

    from pages.components.search.result_list import check_answer, export_menu

    export_menu(st.session_state["result"])
    check_answer(st.session_state["result"])


@pytest.fixture(scope="module")
def result() -> SearchResult:
    return ask(payroll_library(), QUESTION)


def shown(result: SearchResult) -> AppTest:
    screen = AppTest.from_function(menu)
    screen.session_state["result"] = result
    screen.session_state["search.check"] = True  # unfolded
    screen.run()
    assert not screen.exception
    return screen


def checked(result: SearchResult, text: str) -> AppTest:
    screen = shown(result)
    screen.text_area(key="search.pasted").set_value(text)
    screen.button(key="search.do_check").click().run()
    assert not screen.exception
    return screen


def test_four_files_are_offered(result: SearchResult) -> None:
    buttons: Any = shown(result).get("download_button")
    labels = [button.label for button in buttons]
    assert [label.split(" ", 1)[0] for label in labels] == ["CSV", "Excel", "JSON", "Brief"]


def test_the_numbered_sentences_can_be_copied(result: SearchResult) -> None:
    first = result.hits[0].citations[0]
    assert f"[{first.citation_id}] {first.quote}" in shown(result).code[0].value


def test_a_true_sentence_is_supported_and_a_false_one_is_not(result: SearchResult) -> None:
    first = result.hits[0].citations[0]
    text = words(checked(result, f"{first.quote} [{first.citation_id}]\nPenguins get 40 days [{first.citation_id}]."))
    assert "2 sentences" in text and "1 not supported" in text


def test_a_number_that_does_not_exist_is_named(result: SearchResult) -> None:
    assert "Ids that do not exist here: 9999" in words(checked(result, "Taxes wait [9999.0]."))


def test_a_text_without_a_sentence_is_told(result: SearchResult) -> None:
    assert [each.value for each in checked(result, "…").info] == ["There is no sentence in this text."]


def test_a_check_belongs_to_its_question(result: SearchResult) -> None:
    screen = checked(result, "Taxes wait [9999.0].")
    screen.session_state["result"] = ask(payroll_library(), "Who must approve vacation of an employee?")
    screen.run()
    assert "do not exist here" not in words(screen)


def test_a_result_without_an_answer_says_there_is_nothing_to_check() -> None:
    screen = shown(ask(Library(), "Which zebra eats quantum marmalade?"))
    assert "no cited sentence" in words(screen)
