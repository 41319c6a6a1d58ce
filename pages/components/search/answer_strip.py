"""Five cells above the results: which truths answer the question, and the best sentence of each."""

from dataclasses import replace
from typing import Any

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.five_truths import FiveTruthsAnswer, TruthState
from core.domain.results import SearchResult
from core.search.citations.cite import display_quote
from core.search.ranking.answerability import all_silent_words
from pages.components import browser_scripts, notices
from pages.components.search import five_truths, result_list
from pages.components.styles import TRUTHS
from pages.components.wording import shorten

__all__ = ["draw_strip", "strip_cells"]

_LETTERS = 150  # characters of a sentence in a cell

_KEY = "search.strip"


def draw_strip(result: SearchResult) -> None:
    """The cells; a click reads a truth's best passage in the pane, or opens its answer where the pane cannot."""
    try:
        answer = five_truths.cached_answer(result.request)
    except FivefoldError as problem:
        notices.error(problem)
        return
    draw = browser_scripts.browser_component("fivefold_answer_strip", "search/answer_strip.js")
    draw(key=_KEY, data={"cells": strip_cells(answer)}, on_opened_change=lambda: _open(answer, result))
    if result.answered and (words := all_silent_words(replace(result, truths=answer.states))):
        st.info(words, icon=":material/search_off:")


def _open(answer: FiveTruthsAnswer, result: SearchResult) -> None:
    opened = st.session_state[_KEY].opened
    part = next((each for each in answer.truths if each.truth == opened), None)
    if part is None:
        return
    passage_id = part.citations[0].passage_id if part.citations else None
    if any(each.passage.id == passage_id for each in result.candidates):
        result_list.choose(int(passage_id or 0))
    else:
        st.session_state["search.view"] = "five"


def strip_cells(answer: FiveTruthsAnswer) -> list[dict[str, Any]]:
    """What the strip draws for each truth."""
    cells = []
    for part in answer.truths:
        style, words = TRUTHS[part.truth], part.state_words
        quote = display_quote(part.citations[0].quote) if part.citations else ""
        figure = f"{part.figures[0].value} {part.figures[0].words}" if part.figures else ""
        cells.append(
            {
                "truth": part.truth.value,
                "title": style.words.capitalize(),
                "colour": style.colour,
                "state": words,
                "words": words,
                "sentence": shorten(figure or quote or part.silence, _LETTERS),
                "help": quote or figure or part.silence,
                "opens": part.state is TruthState.ANSWERED or bool(part.citations),
            }
        )
    return cells
