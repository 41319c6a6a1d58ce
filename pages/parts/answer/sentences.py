"""Checked sentences, drawn: what each cites, whether that exists, and whether it says so."""

from collections.abc import Sequence

import streamlit as st

from core.answers.context import CheckedSentence, ContextBlock
from core.coverage.gaps import score_in_words
from core.search.quotable import shown_quote
from pages.parts.wording import plain, shortened

__all__ = ["draw"]


def draw(sentences: Sequence[CheckedSentence], block: ContextBlock) -> None:
    """One block per sentence, the doubtful ones marked in words, sign and colour."""
    for sentence in sentences:
        with st.container(border=True, gap="xxsmall"):
            _verdict(sentence)
            st.markdown(plain(sentence.text))
            for name, support in zip(sentence.cited, sentence.support, strict=True):
                said = shortened(shown_quote(block.said(name) or ""), 220)
                st.caption(f"`{name}` support {score_in_words(support)} – “{plain(said)}”")
            for problem in sentence.problems:
                st.caption(f":red[:material/error: {plain(problem)}]")


def _verdict(sentence: CheckedSentence) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if sentence.supported:
            words = f"supported {score_in_words(sentence.score)}"
            st.badge(words, icon=":material/check:", color="gray")
        else:
            st.badge("not supported", icon=":material/warning:", color="red")
        for name in sentence.cited:
            st.badge(name, color="gray")
        for name in sentence.unknown:
            st.badge(f"{name} does not exist", icon=":material/link_off:", color="red")
