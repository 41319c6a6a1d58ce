"""One cell in detail: evidence, margin, the exact search, its history, and the form for a reviewer's decision."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import streamlit as st

from core.domain.coverage import Board, Cell, CellState, Decision, DecisionHistory, Gap, ReviewerOpinion, ReviewVerdict
from core.domain.errors import BadRequest, FivefoldError, Outdated
from core.domain.results import Citation
from core.search.citations.cite import display_quote
from pages.components import cards, notices
from pages.components.citation_places import cited_place
from pages.components.coverage import state
from pages.components.styles import CELLS, SEVERITIES
from pages.components.urls import page_path, params_of
from pages.components.user_name import name_input, who
from pages.components.wording import day, plain, shorten, shorten_middle

__all__ = ["VERDICTS", "cell_dialog", "decision_line", "draw_evidence", "draw_headline", "draw_history", "verdict_form"]


@dataclass(frozen=True, slots=True)
class _DecisionDraft:
    """How a verdict is offered."""

    words: str
    icon: str


VERDICTS = {
    ReviewVerdict.ACCEPTED: _DecisionDraft("Accept as covered", ":material/check_circle:"),
    ReviewVerdict.CONFIRMED: _DecisionDraft("Confirm gap", ":material/cancel:"),
    ReviewVerdict.WAIVED: _DecisionDraft("Waive", ":material/event_busy:"),
    ReviewVerdict.NEEDS_WORK: _DecisionDraft("Needs work", ":material/build:"),
}
"""What can be said of a cell, in the order it is offered."""

_UNJUDGED = (CellState.NOT_ASSESSED, CellState.ERROR)


def decision_line(decision: Decision) -> str:
    """A decision in one line of markdown."""
    parts = [f"**{decision.verdict.value}** by {plain(decision.who)}, {day(decision.at)}"]
    parts += [f"owner {plain(decision.owner)}"] if decision.owner else []
    parts += [f"due {decision.due}"] if decision.due else []
    parts += [f"until {decision.expires}"] if decision.expires else []
    parts += [f"“{plain(words)}”" for words in (decision.reason, decision.comment) if words]
    return " · ".join(parts)


def verdict_form(board: Board, cell: Cell, decision: Decision | None, seen: int, *, ask_name: bool) -> None:
    """The form of one cell. seen: the number of decisions when it was drawn; ask_name: also ask who decides.

    A click is stored with that number, so that it never overwrites a decision that was not on the screen; the page then
    names the other reviewer.
    """
    key = _form_key(cell)
    offered = [ReviewVerdict.WAIVED, ReviewVerdict.NEEDS_WORK] if cell.state in _UNJUDGED else list(VERDICTS)
    verdict = st.segmented_control(
        "Verdict",
        offered,
        key=f"{key}.verdict",
        format_func=lambda each: f"{VERDICTS[each].icon} {VERDICTS[each].words}",
        width="stretch",
    )
    _decision_fields(key, decision, waived=verdict is ReviewVerdict.WAIVED)
    if ask_name:
        name_input()
    save, undo = st.columns([1, 1])
    save.button(
        "Decide", key=f"{key}.save", type="primary", icon=":material/gavel:", width="stretch", on_click=_decide,
        args=(board, cell, seen),
    )  # fmt: skip
    undo.button(
        "Undo the decision", key=f"{key}.undo", icon=":material/undo:", width="stretch", disabled=decision is None,
        help="The log keeps both.", on_click=_undo, args=(board, cell, seen),
    )  # fmt: skip
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)


def _decision_fields(key: str, decision: Decision | None, *, waived: bool) -> None:
    """What goes with a verdict: the reason and end of a waiver, else owner and due date; a comment with all."""
    owner, due = st.columns(2)
    owner.text_input("Owner", key=f"{key}.owner", value=decision.owner if decision else "", placeholder="Who fixes it")
    if waived:
        due.date_input("Waived until", key=f"{key}.expires", value=None, format="YYYY-MM-DD")
        st.text_input("Reason", key=f"{key}.reason", placeholder="Why it need not be covered")
    else:
        due.date_input("Due", key=f"{key}.due", value=decision.due if decision else None, format="YYYY-MM-DD")
    st.text_area("Comment", key=f"{key}.comment", height=68, placeholder="For the log and the meeting pack")


def _form_key(cell: Cell) -> str:
    """The widget keys of a cell's form; they change when a decision is stored, which empties the form."""
    return f"verdict.{state.cell_key(cell)}.{st.session_state.get('coverage.kept', 0)}"


def _decide(board: Board, cell: Cell, seen: int) -> None:
    key, typed = _form_key(cell), st.session_state
    verdict = typed.get(f"{key}.verdict")
    if verdict is None:
        typed[f"{key}.problem"] = BadRequest("Choose a decision first.", "Choose one of the four, then decide.")
        return
    opinion = ReviewerOpinion(
        verdict,
        who(),
        seen,
        typed.get(f"{key}.reason", ""),
        typed.get(f"{key}.comment", ""),
        typed.get(f"{key}.owner", ""),
        typed.get(f"{key}.due"),
        typed.get(f"{key}.expires"),
    )
    _apply_decision(cell, lambda: state.coverage_service().decide(board, cell, opinion))


def _undo(board: Board, cell: Cell, seen: int) -> None:
    _apply_decision(cell, lambda: state.coverage_service().undo(board, cell, who(), seen))


def _apply_decision(cell: Cell, speak: Callable[[], object]) -> None:
    """Store a decision; the form shows any error below it."""
    try:
        speak()
    except Outdated as problem:
        st.session_state["coverage.problem"] = problem  # the cell may be decided now, and its form gone
    except FivefoldError as problem:
        st.session_state[f"{_form_key(cell)}.problem"] = problem
    else:
        st.session_state["coverage.kept"] = st.session_state.get("coverage.kept", 0) + 1
        st.session_state["coverage.decided"] = state.cell_key(cell)
    state.clear_cache()


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
    log = [each for each in state.coverage_service().log(board.project) if _is_about(each, cell)]
    decision = state.decision_of(board.project, cell)
    if decision is not None:
        st.info(decision_line(decision), icon=":material/gavel:")
    draw_evidence(cell)
    with st.expander("Decide", icon=":material/gavel:", expanded=False):
        verdict_form(board, cell, decision, len(log), ask_name=True)
    with st.expander("History", icon=":material/history:", expanded=False):
        draw_history(state.coverage_service().history(cell.topic_id, cell.kind, board.project), log)


def _is_about(decision: Decision, cell: Cell) -> bool:
    return decision.topic_id == cell.topic_id and decision.kind == cell.kind.value


def draw_headline(cell: Cell, gap: Gap | None, level: str = "###") -> None:
    """Topic, column, state, the sum, the doubts, and what to obtain. level: of the topic, as markdown writes it."""
    style = CELLS[cell.state]
    st.markdown(f"{level} {plain(cell.topic)}", anchors=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if cell.configuration:
            st.badge("set-up", icon=":material/settings:", color="gray")
        else:
            cards.truth_badge(cell.truth)
        st.badge(cell.state_in_words.capitalize(), color=style.colour, icon=style.icon)  # type: ignore[arg-type]
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
            where = f", {plain(cited_place(citation))}" if cited_place(citation) else ""
            label = (
                f"{plain(shorten_middle(citation.document_name, 60))}{where} :gray[relevance {citation.relevance:.2f}]"
            )
            if cell.request is not None:
                cards.inspect_link(cell.request, citation.passage_id, label, icon=":material/troubleshoot:")
            else:
                st.caption(label)
            cards.document_link(citation.document_id, "Open document", mark=citation.citation_id)


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


def draw_history(runs: Sequence[DecisionHistory], log: Sequence[Decision]) -> None:
    """Results of runs and decisions of reviewers, newest first."""
    lines = [
        (run.at, f"{CELLS[run.state].icon} {day(run.at)} · found **{run.state.value}** {run.score:.2f}") for run in runs
    ]
    lines += [(each.at, f":material/gavel: {decision_line(each)}") for each in log]
    if not lines:
        st.caption("Nothing was said of this cell before.")
    for _, line in sorted(lines, key=lambda said: said[0], reverse=True):
        st.markdown(line)
