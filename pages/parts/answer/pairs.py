"""Where the truths meet: sentences of two of them that cannot both hold, or that say the same, side by side."""

import streamlit as st

from core.five_truths import Agreement, FiveTruthsAnswer
from core.reviews import Conflict, Statement
from core.search.quotable import shown_quote
from pages.parts import cards
from pages.parts.answer.truths import place
from pages.parts.wording import plain

__all__ = ["draw"]


def draw(answer: FiveTruthsAnswer) -> None:
    """Conflicts first: somebody has to settle them."""
    if answer.conflicts:
        st.markdown("#### Where they disagree", anchors=False)
    for conflict in answer.conflicts:
        _pair(conflict, ":material/compare_arrows:")
    if answer.agreements:
        st.markdown("#### Where they agree", anchors=False)
    for agreement in answer.agreements:
        _pair(agreement, ":material/handshake:")


def _pair(pair: Agreement | Conflict, icon: str) -> None:
    with st.container(border=True):
        st.markdown(f"{icon} **{plain(pair.words)}**")
        first, second = st.columns(2, gap="medium")
        with first:
            _side(pair.first)
        with second:
            _side(pair.second)


def _side(statement: Statement) -> None:
    with st.container(gap="xxsmall"):
        cards.truth_badge(statement.truth)
        quote = shown_quote(statement.citation.quote)
        before, said, after = quote.partition(statement.said) if statement.said else (quote, "", "")
        mark = f":primary-background[**{plain(said)}**]" if said else ""
        st.markdown(f"“{_kept(before)}{mark}{_kept(after)}”")
        where = place(statement.citation)
        st.caption(plain(f"{statement.citation.document_name}, {where}" if where else statement.citation.document_name))


def _kept(text: str) -> str:
    """Safe markdown that keeps the spaces at its ends."""
    lead, trail = " " if text[:1].isspace() else "", " " if text[-1:].isspace() else ""
    return f"{lead}{plain(text)}{trail}" if text.strip() else text
