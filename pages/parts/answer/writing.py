"""The answer in running text, where a language model is configured; what it says beyond its sources is marked."""

import streamlit as st

from core.five_truths import FiveTruthsAnswer
from pages.parts import notices, session
from pages.parts.answer import sentences, state
from pages.parts.wording import plain

__all__ = ["draw"]


def draw(answer: FiveTruthsAnswer) -> None:
    """A button, and the text once it is written; nothing without a language model."""
    writer = session.workbench().writer_name
    if not writer:
        return
    st.markdown("#### In running text", anchors=False)
    written = state.synthesis_of(answer)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        label = "Write a synthesis" if written is None else "Write it again"
        wanted = st.button(label, icon=":material/edit_note:", key="answer.write", disabled=not answer.answered)
        st.caption(f"The sentences above are sent to {plain(writer)}; each sentence it writes is checked.")
    if wanted:
        with st.spinner(f"{plain(writer)} is writing …"):
            written = state.write(answer)
    if written is None:
        return
    notices.degraded(written.notices)
    with st.container(border=True, gap="small"):
        sentences.running(written.sentences)
        st.caption(f"Written by {plain(written.written_by)}." if written.written_by else "In the words of the sources.")
    if written.written_by:
        with st.expander("How each sentence was checked", icon=":material/fact_check:", key="answer.how"):
            sentences.draw(written.sentences, written.block)
