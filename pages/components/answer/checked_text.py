"""Checks texts against the sentences they cite: the synthesis of a language model, or any pasted answer."""

from collections.abc import Sequence

import streamlit as st

from core.answers.context import CheckedSentence, ContextBlock, context_of, supported
from core.coverage.gaps import score_in_words
from core.domain.five_truths import FiveTruthsAnswer
from core.search.citations.cite import display_quote
from pages.components import notices, session
from pages.components.answer import state
from pages.components.wording import count, plain, shortened

__all__ = ["draw_check", "draw_sentences", "draw_synthesis", "running", "verdicts"]


def running(sentences: Sequence[CheckedSentence]) -> None:
    """One paragraph; a sentence that is not supported stands on red, with a sign and its first problem."""
    st.markdown(" ".join(map(_marked, sentences)))


def _marked(sentence: CheckedSentence) -> str:
    ids = "".join(f" :gray[:small[\\[{plain(name)}\\]]]" for name in sentence.cited)
    if sentence.supported:
        return f"{plain(sentence.text)}{ids}"
    doubt = f":red[:small[:material/warning: not supported: {plain(sentence.problems[0])}]]"
    return f":red-background[{plain(sentence.text)}]{ids} {doubt}"


def draw_sentences(sentences: Sequence[CheckedSentence], block: ContextBlock) -> None:
    """One block per sentence; doubtful ones are marked with words, an icon and a colour."""
    for sentence in sentences:
        with st.container(border=True, gap="xxsmall"):
            _verdict(sentence)
            st.markdown(plain(sentence.text))
            for name, support in zip(sentence.cited, sentence.support, strict=True):
                said = shortened(display_quote(block.said(name) or ""), 220)
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


_MOST_LETTERS = 20_000


def draw_check(answer: FiveTruthsAnswer) -> None:
    """A field for a text, and one verdict per sentence."""
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
    """One verdict per sentence of a text, below their summary."""
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
    draw_sentences(found, block)
    st.caption(
        "Support is the share of a sentence's words and amounts that stand in what it cites: a sign of what to read"
        " again, no proof that two sentences mean the same."
    )


def draw_synthesis(answer: FiveTruthsAnswer) -> None:
    """A button that writes the synthesis, and the synthesis; draws nothing without a language model."""
    writer = session.workbench().answers.writer_name
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
        running(written.sentences)
        st.caption(f"Written by {plain(written.written_by)}." if written.written_by else "In the words of the sources.")
    if written.written_by:
        with st.expander("How each sentence was checked", icon=":material/fact_check:", key="answer.how"):
            draw_sentences(written.sentences, written.block)
