"""Exports of a search: files, numbered sentences for a language model, and a check of its answer."""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from core.answers.context import context_of_hits
from core.domain.results import SearchResult
from core.search.exports import FORMATS, file_name
from core.search.result_data import page_words
from pages.components.search.five_truths import cached_answer, draw_verdicts
from pages.components.wording import count

__all__ = ["check_answer", "export_menu"]

_MOST_LETTERS = 20_000  # characters of a pasted answer; chosen by hand
_HOLDS = {
    "csv": "one row per result, with every part of its score",
    "xlsx": "results, scores, citations, what was left out, sources",
    "json": "everything, for programs",
    "markdown": "a text to hand on, with a bibliography",
}


def export_menu(result: SearchResult) -> None:
    """A menu of files; each is made when its button is pressed."""
    with st.popover("Export", icon=":material/ios_share:", type="tertiary", key="search.export"):
        if len(result.hits) < result.total:
            st.caption(f"{page_words(result)}: those shown")
        for form in FORMATS.values():
            st.download_button(
                f"{form.label} :gray[– {_HOLDS[form.name]}]",
                _file_maker(form.made, result),
                file_name(result.request.question, form.ending),
                form.media_type,
                key=f"search.export.{form.name}",
                icon=":material/download:",
                on_click="ignore",
                type="tertiary",
            )


def _file_maker(made: Callable[[SearchResult], bytes], result: SearchResult) -> Callable[[], bytes]:
    """The truths are asked when the file is made; the strip above the list has mostly asked them already."""
    return lambda: made(replace(result, truths=cached_answer(result.request).states))


def check_answer(result: SearchResult) -> None:
    """The cited sentences by number, to copy; and a text that cites them, checked sentence by sentence."""
    question = result.request.question
    checked_question, text = st.session_state.get("search.checked", ("", ""))
    shown = bool(text) and checked_question == question
    with st.expander("Check a pasted answer", icon=":material/fact_check:", key="search.check", expanded=shown):
        block = context_of_hits(result)
        if not block.citations:
            st.caption("There is no cited sentence to check an answer against.")
            return
        st.caption(f"{count(len(block.citations), 'sentence')} by number, for a language model to cite:")
        with st.container(height=180, border=False):
            st.code(block.text, language=None, wrap_lines=True)
        st.caption("Paste a text that cites them by number, as in: Deposits are due monthly [42.3].")
        st.text_area(
            "Text to check",
            key="search.pasted",
            height=140,
            max_chars=_MOST_LETTERS,
            label_visibility="collapsed",
            placeholder="An answer with numbers in square brackets",
        )
        st.button("Check", icon=":material/fact_check:", key="search.do_check", on_click=_check, args=(question,))
        if shown:
            draw_verdicts(text, block)


def _check(question: str) -> None:
    st.session_state["search.checked"] = (question, st.session_state["search.pasted"].strip())
