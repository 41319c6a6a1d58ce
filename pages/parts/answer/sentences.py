"""Checked sentences, drawn: as running text with its doubtful parts marked, or one by one with what each cites."""

from collections.abc import Sequence

import streamlit as st

from core.answers.context import CheckedSentence, ContextBlock
from core.coverage.gaps import score_in_words
from core.search.quotable import shown_quote
from pages.parts.wording import plain, shortened

__all__ = ["draw", "running"]


def running(sentences: Sequence[CheckedSentence]) -> None:
    """One paragraph; a sentence that is not supported stands on red, with a sign and its first problem."""
    st.markdown(" ".join(map(_marked, sentences)))


def _marked(sentence: CheckedSentence) -> str:
    ids = "".join(f" :gray[:small[\\[{plain(name)}\\]]]" for name in sentence.cited)
    if sentence.supported:
        return f"{plain(sentence.text)}{ids}"
    doubt = f":red[:small[:material/warning: not supported: {plain(sentence.problems[0])}]]"
    return f":red-background[{plain(sentence.text)}]{ids} {doubt}"


def draw(sentences: Sequence[CheckedSentence], block: ContextBlock) -> None:
    """One block per sentence, the doubtful ones marked in words, sign and colour."""
    for sentence in sentences:
        with st.container(border=True, gap="xxsmall"):
            _verdict(sentence)
            st.markdown(plain(sentence.text))
            for name, support in zip(sentence.cited, sentence.support, strict=True):
                said = shortened(shown_quote(block.said(name) or ""), 220)
                st.caption(f"**{plain(name)}** support {score_in_words(support)}: “{plain(said)}”")
            for problem in sentence.problems:
                st.markdown(f":red[:small[:material/error: {plain(problem)}]]")


def _verdict(sentence: CheckedSentence) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if sentence.supported:
            st.badge(f"supported {score_in_words(sentence.score)}", icon=":material/check:", color="gray")
        else:
            st.badge("not supported", icon=":material/warning:", color="red")
        for name in sentence.unknown:
            st.badge(f"{name} does not exist", icon=":material/link_off:", color="red")
