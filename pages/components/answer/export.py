"""Exports of the answer: a brief in three formats, and numbered sentences for a language model."""

import json
from collections.abc import Callable

import streamlit as st

from core.answers.brief import brief_data, brief_html, brief_markdown
from core.answers.context import context_of
from core.answers.synthesis import INSTRUCTION
from core.domain.five_truths import FiveTruthsAnswer
from pages.components.answer import state

__all__ = ["draw"]


def draw(answer: FiveTruthsAnswer) -> None:
    """Downloads, then the block to paste elsewhere."""
    st.markdown("#### Take it along", anchors=False)
    _downloads(answer)
    with st.expander("Context for a language model", icon=":material/smart_toy:", key="answer.context"):
        _context(answer)


def _downloads(answer: FiveTruthsAnswer) -> None:
    """One button per format; nothing is made before it is asked for."""
    written = state.synthesis_of(answer)
    formats: tuple[tuple[str, str, str, str, Callable[[], str]], ...] = (
        ("Markdown", "to edit", "md", "text/markdown", lambda: brief_markdown(answer, written)),
        ("HTML", "to send", "html", "text/html", lambda: brief_html(answer, written)),
        (
            "JSON",
            "for programs",
            "json",
            "application/json",
            lambda: json.dumps(brief_data(answer, written), ensure_ascii=False, indent=2),
        ),
    )
    with st.container(horizontal=True, gap="small"):
        for label, use, ending, kind, make in formats:
            st.download_button(
                f"{label} :gray[{use}]",
                make,
                f"five-truths-{answer.asked_at:%Y-%m-%d-%H%M}.{ending}",
                kind,
                icon=":material/download:",
                key=f"answer.{ending}",
                on_click="ignore",
            )


def _context(answer: FiveTruthsAnswer) -> None:
    block = context_of(answer)
    if not block.text:
        st.caption("No truth answers, so there is no sentence to give.")
        return
    st.caption(
        "Every sentence the answer rests on, with its id. Paste it into any language model, and what it writes"
        " into *Check an answer* below."
    )
    rules = st.toggle("With the question and the rules for citing", value=True, key="answer.rules")
    question = " ".join(answer.question.split())
    st.code(
        f"Question: {question}\n\n{block.text}\n\n{INSTRUCTION}" if rules else block.text,
        language=None,
        wrap_lines=True,
        height=320,
    )
