"""The answer of five, top to bottom: how far it carries, what each truth says, where they meet, what is missing."""

import streamlit as st

from core.coverage.gaps import score_in_words
from core.errors import FivefoldError
from core.five_truths import FiveTruthsAnswer, TruthState
from core.queries import SearchRequest
from pages.parts import notices, session
from pages.parts.answer import checking, pairs, state, taking, truths, writing
from pages.parts.wording import count, plain

__all__ = ["draw"]


def draw(request: SearchRequest) -> None:
    """One question, answered by all five truths."""
    try:
        answer = state.asked(request)
    except FivefoldError as problem:
        notices.error(problem)
        return
    _head(answer, request)
    truths.draw(answer, request)
    pairs.draw(answer)
    _needed(answer)
    writing.draw(answer)
    taking.draw(answer)
    checking.draw(answer)


def _head(answer: FiveTruthsAnswer, request: SearchRequest) -> None:
    """The confidence with its reason, what narrowed the question, and what went wrong on the way."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="medium"):
        st.metric(
            "Confidence",
            score_in_words(answer.confidence),
            width=110,
            help="How complete and undisputed the answer is, from 0 to 1; not how likely it is true.",
        )
        with st.container(gap="xxsmall"):
            st.markdown(plain(answer.confidence_reason))
            truths.strip(answer)
    if answer.filters_in_words:
        st.caption(":material/filter_alt: " + plain("; ".join(answer.filters_in_words)))
    if unknown := session.workbench().statistics().by_truth.get(None, 0):
        verb = "belongs" if unknown == 1 else "belong"
        left_out = f"{count(unknown, 'document')} of unknown truth {verb} to none of the five"
        st.caption(f":material/help: {left_out}; set their truth on *Library*.")
    notices.degraded(answer.notices)
    failed = any(each.state is TruthState.FAILED for each in answer.truths)
    if answer.notices and not failed:  # a failed truth has its own button
        st.button("Ask again", icon=":material/refresh:", key="answer.again", on_click=state.ask_again, args=(request,))


def _needed(answer: FiveTruthsAnswer) -> None:
    """What would make the answer complete."""
    st.markdown("#### For a complete answer I'd need …", anchors=False)
    if not answer.to_raise:
        st.markdown(":material/task_alt: Nothing more: every truth answers in full, and none disagree.")
    for number, words in enumerate(answer.to_raise, 1):
        st.markdown(f"{number}. {plain(words)}")
