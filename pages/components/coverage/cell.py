"""One cell in detail: evidence, margin, the exact search, its history, and the form for a reviewer's decision."""

from collections.abc import Sequence

import streamlit as st

from core.coverage.gaps import ASSESSED, score_in_words
from core.coverage.review import decisions_about
from core.domain.coverage import Board, Cell, CellState, Decision, DecisionHistory, Gap
from core.domain.results import Citation
from core.knowledge.glossary import meaning
from core.search.citations.cite import display_quote
from pages.components import cards, rights, session
from pages.components.citation_places import cited_place
from pages.components.coverage import state
from pages.components.coverage.decision_form import decision_line, draw_form, undo_decision
from pages.components.styles import CELLS, SEVERITIES
from pages.components.urls import page_path, params_of
from pages.components.wording import day, plain, shorten, shorten_middle

__all__ = ["cell_dialog", "draw_best_evidence", "draw_decision", "draw_evidence", "draw_headline", "draw_history"]


def _close() -> None:
    state.open_cell("")
    st.session_state["coverage.round"] = st.session_state.get("coverage.round", 0) + 1


@st.dialog("Evidence", position="right", width=640, on_dismiss=_close)
def cell_dialog(board: Board, cell: Cell, gap: Gap | None) -> None:
    """The cell beside the map; a decision taken in it closes it."""
    if st.session_state.pop("coverage.decided", None):
        _close()
        st.rerun()
    draw_headline(cell, gap, "#")  # headings are drawn smaller in a drawer than on a page
    log = state.coverage_service().log(board.project)
    about = decisions_about(cell, board.topic_of(cell), log)
    decision = state.decision_of(board.project, cell)
    with st.container(border=True, gap="small"):
        draw_decision(board, cell, decision, log)
        draw_form(board, [cell], log, decision, keys=False)
    draw_evidence(cell)
    with st.expander("History", icon=":material/history:", expanded=False):
        draw_history(state.coverage_service().history(cell.topic_id, cell.kind, board.project), about, cell.topic_id)


def draw_decision(board: Board, cell: Cell, decision: Decision | None, log: Sequence[Decision]) -> None:
    """The decision in force, and a button that undoes it."""
    if decision is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/gavel: {decision_line(decision)}{_of_merged(decision, cell.topic_id)}", width="content")
        rights.button(
            "coverage.undo",
            "Undo the decision", key=f"undo.{state.cell_key(cell)}", icon=":material/undo:", type="tertiary",
            help="The log keeps both.", on_click=undo_decision, args=(board, cell, log),
        )  # fmt: skip


def draw_headline(cell: Cell, gap: Gap | None, level: str = "###", *, name: str = "") -> None:
    """Topic, column, state and score, the doubts, and what to obtain. level: of the topic, as markdown writes it. name:
    of the topic, where another one has the same."""
    style = CELLS[cell.state]
    st.markdown(f"{level} {plain(name or cell.topic)}", anchors=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if cell.configuration:
            st.badge("set-up", icon=":material/settings:", color="gray")
        else:
            cards.truth_badge(cell.truth)
        state_help = meaning(cell.state.name.lower())
        st.badge(cell.state_in_words.capitalize(), color=style.colour, icon=style.icon, help=state_help)  # type: ignore[arg-type]
        if gap is not None:
            colour = SEVERITIES.get(gap.severity, "gray")
            st.badge(f"{gap.severity} severity", color=colour, help=meaning("severity"))  # type: ignore[arg-type]
        if cell.state in ASSESSED:
            score, threshold = score_in_words(cell.evidence_score), score_in_words(cell.threshold)
            st.caption(
                f"Evidence {score} · threshold {threshold} · margin {cell.margin:+.2f}".replace("-", "−"),
                width="content",
                help=meaning("evidence_score"),
            )
        if cell.detected is not None and cell.detected is not cell.state:
            st.caption(f"search alone said {cell.detected.value}", width="content")
    if cell.state is CellState.ERROR:
        st.error(f"This cell could not be assessed; it is not a gap. {plain(cell.error)}", icon=":material/bolt:")
    elif cell.state is CellState.NOT_ASSESSED:
        st.info(plain(cell.reason) or "This truth was not searched.", icon=":material/remove:")
    else:
        obtain = f"Obtain {gap.to_obtain}; ask {gap.source}. " if gap is not None else ""
        st.caption(plain(f"{obtain}{cell.reason}"))
    for risk in cell.risks:
        st.markdown(f":orange-badge[:material/warning: {risk.kind.value}] {plain(risk.words)}")


def draw_best_evidence(cell: Cell) -> None:
    """The best sentence in short, so that one can decide without scrolling; nothing where there is none."""
    best = next(iter(cell.evidence or cell.near_misses), None)
    if best is None:
        return
    what = "Best evidence" if cell.evidence else "Closest sentence, not enough to count"
    location = ", ".join(filter(None, (shorten_middle(best.document_name, 50), cited_place(best))))
    st.markdown(f"**{what}:** “{plain(shorten(display_quote(best.quote), _BEST))}” :gray[{plain(location)}]")


_BEST = 220  # characters of the best sentence above the form: two to three lines of the pane


def draw_evidence(cell: Cell) -> None:
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
            st.markdown(f"“{plain(shorten(display_quote(citation.quote), 600))}”")
            label = plain(shorten_middle(citation.document_name, 60))
            if cell.request is not None:
                cards.inspect_link(cell.request, citation.passage_id, label, icon=":material/troubleshoot:")
            else:
                st.caption(label)
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                st.caption(_sentence_facts(citation), width="content")  # not in the link, which is cut where it is long
                cards.document_link(citation.document_id, "Open document", mark=citation.citation_id)


def _sentence_facts(citation: Citation) -> str:
    return " · ".join(filter(None, (plain(cited_place(citation)), f"relevance {citation.relevance:.2f}")))


def _exact_search(cell: Cell) -> None:
    if cell.request is None:
        return
    words = session.filters_in_words(cell.request.filters)
    st.caption(
        plain(f"Asked: “{cell.request.question}” · profile {cell.request.profile} · {'; '.join(words) or 'no filters'}")
    )
    st.page_link(
        page_path("search"), label="Open in Search", icon=":material/search:", query_params=params_of(cell.request)
    )


def _of_merged(decision: Decision, topic_id: int) -> str:
    """Which topic a decision was taken on, where that was merged into this one."""
    return f" · on “{plain(decision.topic)}”, merged into this topic" if decision.topic_id != topic_id else ""


def draw_history(runs: Sequence[DecisionHistory], log: Sequence[Decision], topic_id: int) -> None:
    """Results of runs and decisions of reviewers, newest first."""
    lines = [
        (run.at, f"{CELLS[run.state].icon} {day(run.at)} · found **{run.state.value}** {run.score:.2f}") for run in runs
    ]
    lines += [(each.at, f":material/gavel: {decision_line(each)}{_of_merged(each, topic_id)}") for each in log]
    if not lines:
        st.caption("No earlier results or decisions.")
    for _, line in sorted(lines, key=lambda entry: entry[0], reverse=True):
        st.markdown(line)
