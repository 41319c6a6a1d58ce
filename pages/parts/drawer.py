"""The drawer of one coverage cell: its evidence, its margin, what nearly counted, and the exact search behind it."""

import streamlit as st

from core.boards import Cell, CellState, Gap
from core.results import Citation
from core.search.quotable import shown_quote
from pages.parts import cards
from pages.parts.looks import CELLS
from pages.parts.urls import page_path, params_of
from pages.parts.wording import plain, shortened

__all__ = ["SEVERITIES", "drawer"]

SEVERITIES = {"high": "red", "medium": "orange", "low": "gray"}
"""Severity of a gap → its colour, worst first."""


def _closed() -> None:
    st.session_state["coverage.open"] = ""
    st.session_state["coverage.round"] += 1


@st.dialog("Evidence", position="right", width=640, on_dismiss=_closed)
def drawer(cell: Cell, gap: Gap | None) -> None:
    """One cell: its evidence, how far from the threshold, what nearly counted, and the exact search."""
    look = CELLS[cell.state]
    st.markdown(f"### {plain(cell.topic)}", anchors=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        cards.truth_badge(cell.truth)
        st.badge(look.words.capitalize(), color=look.colour, icon=look.icon)  # type: ignore[arg-type]
    if cell.state is CellState.ERROR:
        st.error(f"This cell could not be assessed; it is not a gap. {plain(cell.error)}", icon=":material/bolt:")
    elif cell.state is CellState.NOT_ASSESSED:
        st.info(plain(cell.reason) or "This truth was not searched.", icon=":material/remove:")
    else:
        score, threshold, margin = st.columns(3)
        score.metric("Evidence", f"{cell.evidence_score:.3f}")
        threshold.metric("Threshold", f"{cell.threshold:.3f}")
        margin.metric("Margin", f"{cell.margin:+.3f}")
        st.caption(plain(cell.reason))
    if gap is not None:
        colour = SEVERITIES.get(gap.severity, "gray")
        st.markdown(f":{colour}-badge[{gap.severity} gap] {plain(gap.recommendation)}")
    _sentences("Evidence", cell.evidence, cell)
    _sentences("Near misses – not enough to count", cell.near_misses, cell)
    _exact_search(cell)


def _sentences(title: str, citations: tuple[Citation, ...], cell: Cell) -> None:
    if not citations:
        return
    st.markdown(f"**{title}**")
    for citation in citations:
        with st.container(border=True, gap="xsmall"):
            st.markdown(f"“{plain(shortened(shown_quote(citation.quote), 600))}”")
            where = f", page {citation.page}" if citation.page is not None else ""
            label = f"{plain(shortened(citation.document_name, 60))}{where} :gray[{citation.relevance:.2f}]"
            if cell.request is not None:
                cards.inspect_link(cell.request, citation.passage_id, label, icon=":material/troubleshoot:")
            else:
                st.caption(label)


def _exact_search(cell: Cell) -> None:
    if cell.request is None:
        return
    words = cell.request.filters.in_words()
    st.caption(
        plain(f"Asked: “{cell.request.question}” · profile {cell.request.profile} · {'; '.join(words) or 'no filters'}")
    )
    st.page_link(
        page_path("search"), label="Open in Search", icon=":material/search:", query_params=params_of(cell.request)
    )
