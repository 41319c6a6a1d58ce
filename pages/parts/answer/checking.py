"""Somebody else's answer, checked: per sentence which of its ids exist, and whether they say so."""

import streamlit as st

from core.answers.context import ContextBlock, context_of, supported
from core.five_truths import FiveTruthsAnswer
from pages.parts.answer import sentences
from pages.parts.wording import count, plain

__all__ = ["draw", "verdicts"]

_MOST_LETTERS = 20_000


def draw(answer: FiveTruthsAnswer) -> None:
    """A text goes in; a verdict per sentence comes out."""
    asked, text = st.session_state.get("answer.checked", ("", ""))
    shown = bool(text) and asked == answer.question
    with st.expander("Check an answer", icon=":material/fact_check:", key="answer.check", expanded=shown):
        st.caption("Paste a text that cites sentences by their ids, as in: Deposits are due monthly [42.3].")
        st.text_area(
            "Text to check",
            key="answer.text",
            height=140,
            max_chars=_MOST_LETTERS,
            label_visibility="collapsed",
            placeholder="An answer with ids in square brackets",
        )
        st.button(
            "Check", icon=":material/fact_check:", key="answer.do_check", on_click=_check, args=(answer.question,)
        )
        if shown:
            verdicts(text, context_of(answer))


def _check(question: str) -> None:
    st.session_state["answer.checked"] = (question, st.session_state["answer.text"].strip())


def verdicts(text: str, block: ContextBlock) -> None:
    """One verdict per sentence of a text, under what they come to."""
    found = supported(text, block)
    if not found:
        st.info("There is no sentence in this text.", icon=":material/info:")
        return
    doubtful = sum(not each.supported for each in found)
    words = f"**{count(len(found), 'sentence')}**, {doubtful or 'none'} not supported by what it cites"
    st.markdown(words)
    unknown = dict.fromkeys(name for each in found for name in each.unknown)
    if unknown:
        st.caption(f":red[:material/link_off: Ids that do not exist here: {plain(', '.join(unknown))}]")
    sentences.draw(found, block)
    st.caption(
        "Support is the share of a sentence's words and amounts that stand in what it cites: a sign of what to read"
        " again, no proof that two sentences mean the same."
    )
