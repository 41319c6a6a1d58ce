"""One cell in depth: its evidence, its margin, what nearly counted, the exact search, its past, and the word on it."""

from collections.abc import Sequence

import streamlit as st

from core.boards import Board, Cell, CellState, Gap
from core.results import Citation
from core.reviews import Decision, Past
from core.search.quotable import shown_quote
from pages.parts import cards
from pages.parts.coverage import state
from pages.parts.coverage.verdict import decision_line, verdict_form
from pages.parts.looks import CELLS, SEVERITIES
from pages.parts.urls import page_path, params_of
from pages.parts.wording import day, plain, shortened, squeezed

__all__ = ["drawer", "evidence", "headline", "past"]


def _closed() -> None:
    state.open_cell("")
    st.session_state["coverage.round"] = st.session_state.get("coverage.round", 0) + 1


@st.dialog("Evidence", position="right", width=640, on_dismiss=_closed)
def drawer(board: Board, cell: Cell, gap: Gap | None) -> None:
    """The cell beside the map; a decision taken in it closes it."""
    if st.session_state.pop("coverage.decided", None):
        _closed()
        st.rerun()
    headline(cell, gap, "#")  # headings are drawn smaller in a drawer than on a page
    log = [each for each in state.desk().log(board.project) if _is_about(each, cell)]
    held = state.held(board.project, cell)
    if held is not None:
        st.info(decision_line(held), icon=":material/gavel:")
    evidence(cell)
    with st.expander("Decide", icon=":material/gavel:", expanded=False):
        verdict_form(board, cell, held, len(log), ask_name=True)
    with st.expander("History", icon=":material/history:", expanded=False):
        past(state.desk().history(cell.topic_id, cell.kind, board.project), log)


def _is_about(decision: Decision, cell: Cell) -> bool:
    return decision.topic_id == cell.topic_id and decision.kind == cell.kind.value


def headline(cell: Cell, gap: Gap | None, level: str = "###") -> None:
    """Topic, column, state, the sum, the doubts, and what to obtain. level: of the topic, as markdown writes it."""
    look = CELLS[cell.state]
    st.markdown(f"{level} {plain(cell.topic)}", anchors=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if cell.configuration:
            st.badge("set-up", icon=":material/settings:", color="gray")
        else:
            cards.truth_badge(cell.truth)
        st.badge(look.words.capitalize(), color=look.colour, icon=look.icon)  # type: ignore[arg-type]
        if cell.detected is not None and cell.detected is not cell.state:
            st.caption(f"search alone said {cell.detected.value}")
    if cell.state is CellState.ERROR:
        st.error(f"This cell could not be assessed; it is not a gap. {plain(cell.error)}", icon=":material/bolt:")
    elif cell.state is CellState.NOT_ASSESSED:
        st.info(plain(cell.reason) or "This truth was not searched.", icon=":material/remove:")
    else:
        score, threshold, margin = st.columns(3, wrap=False)
        score.metric("Evidence", f"{cell.evidence_score:.3f}")
        threshold.metric("Threshold", f"{cell.threshold:.3f}")
        margin.metric("Margin", f"{cell.margin:+.3f}")
        st.caption(plain(cell.reason))
    for risk in cell.risks:
        st.markdown(f":orange-badge[:material/warning: {risk.kind.value}] {plain(risk.words)}")
    if gap is not None:
        colour = SEVERITIES.get(gap.severity, "gray")
        st.markdown(f":{colour}-badge[{gap.severity} gap] {plain(gap.recommendation)}")


def evidence(cell: Cell) -> None:
    """The sentences that count, those that nearly do, and the search that found them."""
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
            label = f"{plain(squeezed(citation.document_name, 60))}{where} :gray[relevance {citation.relevance:.2f}]"
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


def past(runs: Sequence[Past], log: Sequence[Decision]) -> None:
    """What runs and reviewers said, newest first."""
    lines = [
        (run.at, f"{CELLS[run.state].icon} {day(run.at)} · found **{run.state.value}** {run.score:.2f}") for run in runs
    ]
    lines += [(each.at, f":material/gavel: {decision_line(each)}") for each in log]
    if not lines:
        st.caption("Nothing was said of this cell before.")
    for _, line in sorted(lines, key=lambda said: said[0], reverse=True):
        st.markdown(line)
