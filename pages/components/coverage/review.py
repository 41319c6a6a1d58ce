"""The review: cells one at a time, worst first, and pairs of sentences that disagree, for a person to decide."""

from collections.abc import Sequence

import streamlit as st

from core.coverage.board_view import about_in_words, kind_in_words
from core.domain.coverage import (
    Board,
    Conflict,
    ConflictKind,
    Decision,
    ReviewedCell,
    ReviewerOpinion,
    ReviewVerdict,
    Statement,
)
from core.domain.errors import FivefoldError
from core.search.citations.cite import display_quote
from pages.components import cards
from pages.components.citation_places import cited_place
from pages.components.coverage import state
from pages.components.coverage.cell import (
    VERDICTS,
    decision_line,
    draw_evidence,
    draw_headline,
    draw_history,
    verdict_form,
)
from pages.components.pager import paged
from pages.components.styles import CELLS, SEVERITIES
from pages.components.user_name import name_input, who
from pages.components.wording import count, day, highlight_part, plain, shorten

__all__ = ["draw_conflicts", "draw_review"]


_CELLS_LISTED = 12  # cells listed around the current one; chosen by hand


def draw_review(board: Board) -> None:
    """The queue at the left, the cell under discussion at the right, the log below."""
    if st.session_state.pop("coverage.decided", None):
        st.session_state["review.at"] = ""  # the next one comes up in its place
    queue = state.coverage_service().queue(board)
    log = state.coverage_service().log(board.project)
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
        _cell_by_cell(board, shown, log)
    else:
        words = "Nothing is left to decide." if queue else "No cell needs a decision: everything is covered."
        st.success(f"{words} The meeting pack is under *Snapshots*.", icon=":material/task_alt:")
    _log(log)


def _cell_by_cell(board: Board, shown: Sequence[ReviewedCell], log: Sequence[Decision]) -> None:
    keys = [state.cell_key(item.cell) for item in shown]
    wanted = st.session_state.get("review.at", "")
    at = keys.index(wanted) if wanted in keys else min(st.session_state.get("review.place", 0), len(keys) - 1)
    st.session_state["review.place"] = at
    left, right = st.columns([4, 7], gap="large")
    with left:
        _cell_list(shown, at)
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


def _cell_list(shown: Sequence[ReviewedCell], at: int) -> None:
    """The cells around the one under discussion, to go to any of them."""
    first = max(0, min(at - 3, len(shown) - _CELLS_LISTED))
    part = {state.cell_key(item.cell): item for item in shown[first : first + _CELLS_LISTED]}
    here = state.cell_key(shown[at].cell)
    st.radio(
        "Cells",
        list(part),
        index=list(part).index(here),
        key=f"review.list.{here}",
        format_func=lambda key: _cell_label(part[key]),
        on_change=lambda: _go(st.session_state[f"review.list.{here}"]),
        label_visibility="collapsed",
    )
    rest = len(shown) - first - _CELLS_LISTED
    if rest > 0:
        st.caption(f"… and {count(rest, 'more cell')} after these.")


def _cell_label(item: ReviewedCell) -> str:
    style = CELLS[item.cell.state]
    mark = f":{SEVERITIES.get(item.gap.severity, 'gray')}[●] " if item.gap else ""
    done = f" {VERDICTS[item.decision.verdict].icon}" if item.decision and item.decision.verdict in VERDICTS else ""
    return f"{mark}{style.icon} {plain(shorten(item.cell.topic, 60))} :gray[{kind_in_words(item.cell.kind)}]{done}"


def _cell(board: Board, item: ReviewedCell, log: Sequence[Decision]) -> None:
    cell = item.cell
    about = [each for each in log if each.topic_id == cell.topic_id and each.kind == cell.kind.value]
    draw_headline(cell, item.gap)
    if item.decision is not None:
        st.info(decision_line(item.decision), icon=":material/gavel:")
    with st.container(border=True):
        verdict_form(board, cell, item.decision, len(about), ask_name=False)
    draw_evidence(cell)
    with st.expander("History", icon=":material/history:"):
        draw_history(state.coverage_service().history(cell.topic_id, cell.kind, board.project), about)


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
                "column": about_in_words(each.kind),
                "decision": each.verdict.value,
                "found then": each.state.value if each.state else "",
                "reason": each.reason or each.comment,
                "owner": each.owner,
                "due": each.due or each.expires,
            }
            for each in reversed(log)
        ]
        st.dataframe(rows, hide_index=True, placeholder="", height=min(420, 38 + 35 * len(rows)))


_PAIRS_PER_PAGE = 10  # chosen by hand


def draw_conflicts(board: Board) -> None:
    """The conflicting pairs, strongest first, with their decisions."""
    found = _cached_conflicts(board)
    if not found:
        st.info(
            "No two sentences of different truths were found to disagree in an amount, a day or in what is binding."
            " Compared were the sentences of the passages that carry this board's cells; where it is doubtful whether"
            " two sentences speak of the same, nothing is said.",
            icon=":material/compare_arrows:",
        )
        return
    shown_, kind, name = st.columns([3, 3, 3], vertical_alignment="bottom")
    status = shown_.segmented_control("Show", ["open", "all"], default="open", key="conflicts", bind="query-params")
    kinds = kind.multiselect("Disagree in", list(ConflictKind), key="disagree", bind="query-params", format_func=str)
    with name:
        name_input()
    shown = [each for each in found if (status == "all" or each.decision is None) and (not kinds or each.kind in kinds)]
    st.caption(f"{count(len(shown), 'pair')} shown of {len(found):,}")
    for conflict in paged(shown, _PAIRS_PER_PAGE, "conflicts.page"):
        _pair(board, conflict)


def _cached_conflicts(board: Board) -> Sequence[Conflict]:
    """The board's conflicts; looked for once until something is decided."""
    cache: tuple[int, Sequence[Conflict]] | None = st.session_state.get("coverage.conflicts")
    if cache is None or cache[0] != board.run_id:
        with st.spinner("Comparing sentences …"):
            cache = (board.run_id, state.coverage_service().conflicts(board))
        st.session_state["coverage.conflicts"] = cache
    return cache[1]


def _pair(board: Board, conflict: Conflict) -> None:
    with st.container(border=True):
        st.markdown(f"**{plain(conflict.topic.name)}** – {plain(conflict.words)}")
        first, second = st.columns(2, gap="medium")
        with first:
            _side(conflict.first)
        with second:
            _side(conflict.second)
        seen = sum(1 for each in state.coverage_service().log(board.project) if each.kind == f"conflict:{conflict.key}")
        if conflict.decision is not None:
            st.markdown(f":material/gavel: {decision_line(conflict.decision)}")
            st.button(
                "Undo", icon=":material/undo:", key=f"undo.{conflict.key}", on_click=_settle,
                args=(board, conflict, ReviewVerdict.UNDONE, seen),
            )  # fmt: skip
            return
        comment, yes, no = st.columns([6, 2, 2], vertical_alignment="bottom")
        comment.text_input(
            "Comment", key=f"conflict.{conflict.key}.comment", placeholder="Comment", label_visibility="collapsed"
        )
        for column, verdict, words, icon in (
            (yes, ReviewVerdict.CONFLICT, "Conflict", ":material/report:"),
            (no, ReviewVerdict.NO_CONFLICT, "No conflict", ":material/check:"),
        ):
            column.button(
                words, icon=icon, key=f"{verdict.value}.{conflict.key}", width="stretch", on_click=_settle,
                args=(board, conflict, verdict, seen),
            )  # fmt: skip


def _side(statement: Statement) -> None:
    cards.truth_badge(statement.truth)
    quote = display_quote(statement.citation.quote)
    where = ", ".join(filter(None, (statement.citation.document_name, cited_place(statement.citation))))
    st.markdown(f"“{highlight_part(quote, statement.said)}”")
    st.caption(plain(where))


def _settle(board: Board, conflict: Conflict, verdict: ReviewVerdict, seen: int) -> None:
    comment = st.session_state.get(f"conflict.{conflict.key}.comment", "")
    try:
        state.coverage_service().settle(board, conflict, ReviewerOpinion(verdict, who(), seen, comment=comment))
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem
    state.clear_cache()
