"""A reviewer's word on a cell: who speaks, what they say, and what is said back when someone else was faster."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from core.boards import Board, Cell, CellState
from core.errors import BadRequest, FivefoldError, Outdated
from core.reviews import Decision, Opinion, Verdict
from pages.parts import notices
from pages.parts.coverage import state
from pages.parts.person import name_input, who
from pages.parts.wording import day, plain

__all__ = ["VERDICTS", "decision_line", "verdict_form"]


@dataclass(frozen=True, slots=True)
class _Offer:
    """How a verdict is offered."""

    words: str
    icon: str


VERDICTS = {
    Verdict.ACCEPTED: _Offer("Accept as covered", ":material/check_circle:"),
    Verdict.CONFIRMED: _Offer("Confirm gap", ":material/cancel:"),
    Verdict.WAIVED: _Offer("Waive", ":material/event_busy:"),
    Verdict.NEEDS_WORK: _Offer("Needs work", ":material/build:"),
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


def verdict_form(board: Board, cell: Cell, held: Decision | None, seen: int, *, ask_name: bool) -> None:
    """The form of one cell. seen: the number of the last decision it is drawn with; ask_name: also who decides.

    What a click says is said with the number that was on the screen, so that a decision nobody here has seen is never
    overwritten; then the page says who was faster.
    """
    key = _key(cell)
    offered = [Verdict.WAIVED, Verdict.NEEDS_WORK] if cell.state in _UNJUDGED else list(VERDICTS)
    verdict = st.segmented_control(
        "Verdict",
        offered,
        key=f"{key}.verdict",
        format_func=lambda each: f"{VERDICTS[each].icon} {VERDICTS[each].words}",
        width="stretch",
    )
    _details(key, held, waived=verdict is Verdict.WAIVED)
    if ask_name:
        name_input()
    save, undo = st.columns([1, 1])
    save.button(
        "Decide", key=f"{key}.save", type="primary", icon=":material/gavel:", width="stretch", on_click=_decide,
        args=(board, cell, seen),
    )  # fmt: skip
    undo.button(
        "Undo the decision", key=f"{key}.undo", icon=":material/undo:", width="stretch", disabled=held is None,
        help="The log keeps both.", on_click=_undo, args=(board, cell, seen),
    )  # fmt: skip
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)


def _details(key: str, held: Decision | None, *, waived: bool) -> None:
    """What goes with a verdict: the reason and end of a waiver, else owner and due date; a comment with all."""
    owner, due = st.columns(2)
    owner.text_input("Owner", key=f"{key}.owner", value=held.owner if held else "", placeholder="Who fixes it")
    if waived:
        due.date_input("Waived until", key=f"{key}.expires", value=None, format="YYYY-MM-DD")
        st.text_input("Reason", key=f"{key}.reason", placeholder="Why it need not be covered")
    else:
        due.date_input("Due", key=f"{key}.due", value=held.due if held else None, format="YYYY-MM-DD")
    st.text_area("Comment", key=f"{key}.comment", height=68, placeholder="For the log and the meeting pack")


def _key(cell: Cell) -> str:
    """What is typed belongs to one cell until something is kept; then its form is new."""
    return f"verdict.{state.cell_key(cell)}.{st.session_state.get('coverage.kept', 0)}"


def _decide(board: Board, cell: Cell, seen: int) -> None:
    key, typed = _key(cell), st.session_state
    verdict = typed.get(f"{key}.verdict")
    if verdict is None:
        typed[f"{key}.problem"] = BadRequest("No verdict is chosen.", "Choose one of the four, then decide.")
        return
    opinion = Opinion(
        verdict,
        who(),
        seen,
        typed.get(f"{key}.reason", ""),
        typed.get(f"{key}.comment", ""),
        typed.get(f"{key}.owner", ""),
        typed.get(f"{key}.due"),
        typed.get(f"{key}.expires"),
    )
    _said(cell, lambda: state.desk().decide(board, cell, opinion))


def _undo(board: Board, cell: Cell, seen: int) -> None:
    _said(cell, lambda: state.desk().undo(board, cell, who(), seen))


def _said(cell: Cell, speak: Callable[[], object]) -> None:
    """Keep a decision; what went wrong is told below the form."""
    try:
        speak()
    except Outdated as problem:
        st.session_state["coverage.problem"] = problem  # the cell may be decided now, and its form gone
    except FivefoldError as problem:
        st.session_state[f"{_key(cell)}.problem"] = problem
    else:
        st.session_state["coverage.kept"] = st.session_state.get("coverage.kept", 0) + 1
        st.session_state["coverage.decided"] = state.cell_key(cell)
    state.forget()
