"""The review: one cell at a time, worst first, with its evidence and the decision form."""

from collections.abc import Sequence

import streamlit as st

from core.domain.coverage import Board, Decision, ReviewedCell
from pages.components.coverage import state
from pages.components.coverage.cell import VERDICTS, decision_line, evidence, headline, past, verdict_form
from pages.components.styles import CELLS, SEVERITIES
from pages.components.user_name import name_input
from pages.components.wording import count, day, plain, shortened

__all__ = ["draw"]

_LISTED = 12


def draw(board: Board) -> None:
    """The queue at the left, the cell under discussion at the right, the log below."""
    if st.session_state.pop("coverage.decided", None):
        st.session_state["review.at"] = ""  # the next one comes up in its place
    queue = state.desk().queue(board)
    log = state.desk().log(board.project)
    open_ones = [item for item in queue if item.decision is None]
    decided = len(queue) - len(open_ones)
    head, name = st.columns([5, 2], vertical_alignment="bottom")
    with head:
        st.progress(
            decided / len(queue) if queue else 1.0,
            f"**{decided} of {count(len(queue), 'cell')} decided** · the worst come first",
        )
    with name:
        name_input()
    everything = st.toggle("Show decided cells too", key="decided", bind="query-params")
    shown = list(queue) if everything else open_ones
    if shown:
        _meeting(board, shown, log)
    else:
        words = "Nothing is left to decide." if queue else "No cell needs a decision: everything is covered."
        st.success(f"{words} The meeting pack is under *Snapshots*.", icon=":material/task_alt:")
    _log(log)


def _meeting(board: Board, shown: Sequence[ReviewedCell], log: Sequence[Decision]) -> None:
    keys = [state.cell_key(item.cell) for item in shown]
    wanted = st.session_state.get("review.at", "")
    at = keys.index(wanted) if wanted in keys else min(st.session_state.get("review.place", 0), len(keys) - 1)
    st.session_state["review.place"] = at
    left, right = st.columns([4, 7], gap="large")
    with left:
        _list(shown, at)
    with right:
        before, place, after = st.columns([1, 2, 1], wrap=False, vertical_alignment="center")
        before.button(
            "Previous",
            icon=":material/arrow_back:",
            disabled=at == 0,
            on_click=_go,
            args=(keys[at - 1],),
            width="stretch",
        )
        place.markdown(f"**{at + 1}** of {len(keys)}", text_alignment="center")
        after.button(
            "Next",
            icon=":material/arrow_forward:",
            disabled=at + 1 >= len(keys),
            on_click=_go,
            args=(keys[min(at + 1, len(keys) - 1)],),
            width="stretch",
        )
        _cell(board, shown[at], log)


def _go(key: str) -> None:
    st.session_state["review.at"] = key


def _list(shown: Sequence[ReviewedCell], at: int) -> None:
    """The cells around the one under discussion, to go to any of them."""
    first = max(0, min(at - 3, len(shown) - _LISTED))
    part = {state.cell_key(item.cell): item for item in shown[first : first + _LISTED]}
    here = state.cell_key(shown[at].cell)
    st.radio(
        "Cells",
        list(part),
        index=list(part).index(here),
        key=f"review.list.{here}",
        format_func=lambda key: _listed(part[key]),
        on_change=lambda: _go(st.session_state[f"review.list.{here}"]),
        label_visibility="collapsed",
    )
    rest = len(shown) - first - _LISTED
    if rest > 0:
        st.caption(f"… and {count(rest, 'more cell')} after these.")


def _listed(item: ReviewedCell) -> str:
    look = CELLS[item.cell.state]
    mark = f":{SEVERITIES.get(item.gap.severity, 'gray')}[●] " if item.gap else ""
    done = f" {VERDICTS[item.decision.verdict].icon}" if item.decision and item.decision.verdict in VERDICTS else ""
    return f"{mark}{look.icon} {plain(shortened(item.cell.topic, 60))} :gray[{item.cell.kind.value}]{done}"


def _cell(board: Board, item: ReviewedCell, log: Sequence[Decision]) -> None:
    cell = item.cell
    about = [each for each in log if each.topic_id == cell.topic_id and each.kind == cell.kind.value]
    headline(cell, item.gap)
    if item.decision is not None:
        st.info(decision_line(item.decision), icon=":material/gavel:")
    with st.container(border=True):
        verdict_form(board, cell, item.decision, len(about), ask_name=False)
    evidence(cell)
    with st.expander("History", icon=":material/history:"):
        past(state.desk().history(cell.topic_id, cell.kind, board.project), about)


def _log(log: Sequence[Decision]) -> None:
    """Everything ever decided, newest first; nothing is ever taken out."""
    with st.expander(f"Decision log · {count(len(log), 'entry', 'entries')}", icon=":material/history_edu:"):
        if not log:
            st.caption("Nothing has been decided yet.")
            return
        rows = [
            {
                "when": f"{day(each.at)} {each.at:%H:%M}",
                "who": each.who,
                "topic": each.topic,
                "kind": each.kind.partition(":")[0],
                "decision": each.verdict.value,
                "found then": each.state.value if each.state else "",
                "reason": each.reason or each.comment,
                "owner": each.owner,
                "due": each.due or each.expires,
            }
            for each in reversed(log)
        ]
        st.dataframe(rows, hide_index=True, placeholder="", height=min(420, 38 + 35 * len(rows)))
