"""One side of a conflict or an agreement: the sentence, what it says marked, and where it is."""

import streamlit as st

from core.domain.coverage import Statement
from core.search.citations.cite import display_quote
from pages.components import cards
from pages.components.citation_places import cited_place
from pages.components.wording import around, highlight_part, plain, shorten_middle

__all__ = ["draw_statement"]

_MOST_LETTERS = 600  # of a quote, so that both sides are in sight; chosen by hand


def draw_statement(statement: Statement) -> None:
    """A long quote is cut around what is marked in it; the link opens all of it."""
    citation = statement.citation
    with st.container(gap="xxsmall"):
        cards.truth_badge(statement.truth)
        quote = around(display_quote(citation.quote), statement.text, _MOST_LETTERS)
        st.markdown(f"“{highlight_part(quote, statement.text)}”")
        where = ", ".join(filter(None, (shorten_middle(citation.document_name, 60), cited_place(citation))))
        cards.document_link(citation.document_id, f":small[{plain(where)}]", mark=citation.citation_id)
