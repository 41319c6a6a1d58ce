"""The review: a queue of cells, worst first, and beside it the cell under discussion with the form for a decision."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.collaboration.target import on_cell
from core.coverage.board_view import about_in_words, distinct_names, kind_in_words, kind_of_words
from core.coverage.review import decisions_about
from core.domain.coverage import Board, Decision, GapKind, ReviewedCell
from pages.components import browser_scripts, comments
from pages.components.coverage import meeting_start, state
from pages.components.coverage.cell import (
    draw_best_evidence,
    draw_decision,
    draw_evidence,
    draw_headline,
    draw_history,
)
from pages.components.coverage.decision_form import REVIEW_AT, VERDICTS, draw_form, draw_last_decision
from pages.components.styles import CELLS, SEVERITIES, TRUTHS
from pages.components.user_name import name_input, who
from pages.components.wording import count, day, plain, shorten

__all__ = ["draw_review", "queue_rows"]

_LISTED = 200  # cells in the list around the current one; more would make every click slow to draw
_TICKED = "review.ticked"
_PLACE = "review.place"

_KEYS = "\n".join(
    [
        "| key | does |",
        "|---|---|",
        *(f"| `{offer.key}` | {offer.words}: {offer.help} |" for offer in VERDICTS.values()),
        "| `n` `p` | Next and previous cell (also `j` `k` and the arrows in the list) |",
        "| `x` | Select the cell, to decide several together; Shift with a click selects a range |",
        "| `u` | Undo the last decision |",
        "| `c` | Write the comment or reason |",
        "| `Esc` | Leave a field, so that the keys work again |",
        "| `?` | Show these keys |",
        "",
        "Each decision is recorded at once with what the form says, and can be undone.",
    ]
)


def draw_review(board: Board) -> None:
    """Progress and choices in two lines, then the queue beside the cell under discussion, and the log below."""
    if message := st.session_state.pop("review.said", ""):
        st.toast(message, icon=":material/undo:")
    queue = state.coverage_service().queue(board)
    log = state.coverage_service().log(board.project)
    open_ones = [item for item in queue if item.decision is None]
    decided = len(queue) - len(open_ones)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(
            decided / len(queue) if queue else 1.0,
            f"**{decided} of {count(len(queue), 'cell')} decided** · the worst come first",
        )
        if who():
            with st.popover(plain(who()), icon=":material/person:", type="tertiary"):
                name_input()
        meeting_start.draw_start(board, queue)
        with (
            st.container(width="content", key="review_keys"),
            st.popover("Keys", icon=":material/keyboard:", type="tertiary"),
        ):
            st.markdown(_KEYS)
    meeting_start.draw_under_way(board.project)
    everything, kind = _choices(board)
    shown = [item for item in (queue if everything else open_ones) if kind is None or item.cell.kind is kind]
    if shown:
        _panes(board, shown, log)
    elif queue and len(open_ones) > 0:
        st.info("No cell of this column is left to decide.", icon=":material/filter_alt_off:")
    else:
        words = "Nothing is left to decide." if queue else "No cell needs a decision: everything is covered."
        st.success(f"{words} The documents for the meeting are under *Meeting pack*.", icon=":material/task_alt:")
    _log(log)
    meeting_start.draw_past(board.project)


def _choices(board: Board) -> tuple[bool, GapKind | None]:
    """Which cells are listed, and what was decided last."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        names = [kind_in_words(kind) for kind in board.kinds]  # the URL holds the name as it is shown
        chosen = st.selectbox(
            "Column", names, index=None, key="only", bind="query-params", placeholder="All columns",
            label_visibility="collapsed", width=170,
        )  # fmt: skip
        everything = st.toggle("Show decided cells too", key="decided", bind="query-params")
        st.space("stretch")
        draw_last_decision()
    return everything, None if chosen is None else GapKind(kind_of_words(chosen))


def _panes(board: Board, shown: Sequence[ReviewedCell], log: Sequence[Decision]) -> None:
    keys = [state.cell_key(item.cell) for item in shown]
    at = _position(keys)
    ticked = _ticked(keys)
    with st.container(horizontal=True, gap="small", vertical_alignment="top", key="review_panes"):
        with st.container(key="review_list"):
            _draw_queue(board, shown, at, ticked)
        with st.container(border=True, gap="small", key="review_pane"):
            if ticked:
                _together(board, [item for item, key in zip(shown, keys, strict=True) if key in ticked], log)
            else:
                _cell(board, shown[at], log)


def _position(keys: Sequence[str]) -> int:
    """The place of the cell under review: the one asked for, else the one that moved up after a decision."""
    decided, session = st.session_state.pop("coverage.decided", None), st.session_state
    cell_key = session.get(REVIEW_AT, st.query_params.get("at", ""))
    before: int = session.get(_PLACE, 0)
    position = min(before, len(keys) - 1)
    if decided is not None:
        at = (
            min(position + 1, len(keys) - 1) if cell_key == keys[position] else position
        )  # a decided one may still be listed
        session[_TICKED] = ()
    else:
        at = keys.index(cell_key) if cell_key in keys else position
    session[REVIEW_AT], session[_PLACE] = keys[at], at
    st.query_params["at"] = keys[at]
    return at


def _ticked(keys: Sequence[str]) -> Collection[str]:
    """The cells selected to be decided together; those that have left the list are not."""
    return [key for key in keys if key in st.session_state.get(_TICKED, ())]


def _draw_queue(board: Board, shown: Sequence[ReviewedCell], at: int, ticked: Collection[str]) -> None:
    """The list of cells, which also listens to the keys."""
    first = max(0, min(at - _LISTED // 2, len(shown) - _LISTED))
    part = shown[first : first + _LISTED]
    st.session_state["review.round"] = st.session_state.get("review.round", 0) + 1
    draw = browser_scripts.browser_component("fivefold_review_queue", "coverage/review_queue.js")
    data = {
        "label": "Cells to review",
        "head": f"{at + 1} of {count(len(shown), 'cell')}",
        "rows": queue_rows(part, distinct_names(board)),
        "chosen": state.cell_key(shown[at].cell),
        "ticked": list(ticked),
        "more": len(shown) - len(part),
        "seen": {name: st.session_state.get(f"review.seen.{name}", 0) for name in ("chosen", "ticked")},
        "round": st.session_state["review.round"],  # what was drawn again takes keys again
    }
    key = "review.queue"
    draw(key=key, data=data, on_chosen_change=partial(_go, key), on_ticked_change=partial(_tick, key))


def queue_rows(items: Sequence[ReviewedCell], names: Mapping[int, str]) -> list[dict[str, Any]]:
    """What the list draws for each cell. names: of topics, where others have the same."""
    return [
        {
            "id": state.cell_key(item.cell),
            "topic": names.get(item.cell.topic_id, item.cell.topic),
            "kind": kind_in_words(item.cell.kind),
            "colour": "gray" if item.cell.configuration else TRUTHS[item.cell.truth].colour,
            "state": f"{CELLS[item.cell.state].symbol} {item.cell.state_in_words}",
            "severity": item.gap.severity if item.gap else "",
            "stripe": SEVERITIES.get(item.gap.severity, "gray") if item.gap else CELLS[item.cell.state].colour,
            "decided": item.decision.verdict.value if item.decision else "",
        }
        for item in items
    ]


def _go(key: str) -> None:
    chosen = _sent(key, "chosen")
    if chosen is not None:
        st.session_state[REVIEW_AT] = chosen


def _tick(key: str) -> None:
    ticked = _sent(key, "ticked")
    if ticked is not None:
        st.session_state[_TICKED] = tuple(ticked)


def _sent(key: str, name: str) -> Any:
    """What the list sent last under a name; when it was sent tells the list that it has arrived."""
    sent = getattr(st.session_state[key], name)
    if sent is None:
        return None
    st.session_state[f"review.seen.{name}"] = sent["at"]
    return sent["value"]


def _cell(board: Board, item: ReviewedCell, log: Sequence[Decision]) -> None:
    """One cell: what it is, its best sentence, the form, then everything that was found."""
    cell = item.cell
    about = decisions_about(cell, board.topic_of(cell), log)
    with st.container(gap="xsmall", key=f"review_{cell.kind.value}_{cell.topic_id}"):  # keys wait for it by this name
        draw_headline(cell, item.gap, name=distinct_names(board).get(cell.topic_id, ""))
        draw_best_evidence(cell)
        draw_decision(board, cell, item.decision, log)
    draw_form(board, [cell], log, item.decision)
    with st.container(gap="small"):
        about_cell = on_cell(cell.topic, cell.topic_id, cell.kind, board.project)
        comments.comment_expander(about_cell, f"comments.{state.cell_key(cell)}")
        draw_evidence(cell)
        with st.expander("History", icon=":material/history:"):
            runs = state.coverage_service().history(cell.topic_id, cell.kind, board.project)
            draw_history(runs, about, cell.topic_id)


_NAMED = 12  # selected cells listed by name; the list beside shows them all


def _together(board: Board, items: Sequence[ReviewedCell], log: Sequence[Decision]) -> None:
    """Several cells, decided with one click and one reason."""
    with st.container(gap="xsmall", key=f"review_together_{len(items)}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"### {count(len(items), 'cell')} selected", anchors=False, width="content")
            st.button("Clear", icon=":material/close:", type="tertiary", on_click=_clear)
        st.caption("Each gets its own decision in the log, with the same owner, date and reason.")
    draw_form(board, [item.cell for item in items], log)
    names = distinct_names(board)
    for item in items[:_NAMED]:
        style, name = CELLS[item.cell.state], names.get(item.cell.topic_id, item.cell.topic)
        words = f"{style.icon} {plain(shorten(name, 80))} :gray[{kind_in_words(item.cell.kind)}]"
        st.markdown(words)
    if len(items) > _NAMED:
        st.caption(f"… and {len(items) - _NAMED:,} more.")


def _clear() -> None:
    st.session_state[_TICKED] = ()


def _log(log: Sequence[Decision]) -> None:
    """Everything ever decided, newest first; nothing is ever taken out."""
    with st.expander(f"Decision log · {count(len(log), 'entry', 'entries')}", icon=":material/history_edu:"):
        if not log:
            st.caption("Nothing has been decided yet.")
            return
        rows: list[Mapping[str, Any]] = [
            {
                "when": f"{day(each.at)} {each.at:%H:%M}",
                "who": each.who,
                "topic": each.topic,
                "column": about_in_words(each.kind),
                "decision": each.verdict.value,
                "found then": each.state.value if each.state else "",
                "reason": each.reason or each.comment,
                "owner": each.owner,
                "due": each.due or each.expires,
                "present": ", ".join(each.present),
            }
            for each in reversed(log)
        ]
        st.dataframe(rows, hide_index=True, placeholder="", height=min(420, 38 + 35 * len(rows)))
