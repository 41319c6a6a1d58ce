"""Pairs of sentences of different truths that disagree, for a person to decide."""

from collections.abc import Sequence

import streamlit as st

from core.coverage.board_view import distinct_names
from core.domain.coverage import Board, CellState, Conflict, ConflictKind, ReviewerOpinion, ReviewVerdict
from core.domain.errors import FivefoldError
from pages.components import notices, rights
from pages.components.coverage import state
from pages.components.coverage.decision_form import decision_line
from pages.components.pager import paged
from pages.components.statement import draw_statement
from pages.components.user_name import name_input, who
from pages.components.wording import count, plain

__all__ = ["draw_conflicts"]

_PAIRS_PER_PAGE = 10  # chosen by hand


def draw_conflicts(board: Board) -> None:
    """The conflicting pairs, strongest first, with their decisions."""
    found = _cached_conflicts(board)
    if not found:
        words = (
            "No sentences of different truths disagree in an amount, a day or in what is binding. The evidence of this"
            " board's cells was compared; a pair is left out where it is doubtful whether both are about the same."
        )
        if any(cell.state is CellState.ERROR for cell in board.cells):
            words += " Cells that could not be assessed have no evidence to compare."
        notices.empty(":material/compare_arrows:", "No conflicts", words)
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
        topic = distinct_names(board).get(conflict.topic.id, conflict.topic.name)
        st.markdown(f"**{plain(topic)}** – {plain(conflict.words)}")
        first, second = st.columns(2, gap="medium")
        with first:
            draw_statement(conflict.first)
        with second:
            draw_statement(conflict.second)
        seen = sum(1 for each in state.coverage_service().log(board.project) if each.kind == f"conflict:{conflict.key}")
        if conflict.decision is not None:
            st.markdown(f":material/gavel: {decision_line(conflict.decision)}")
            rights.button(
                "coverage.settle", "Undo", icon=":material/undo:", key=f"undo.{conflict.key}", on_click=_settle,
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
            rights.button(
                "coverage.settle",
                words, icon=icon, key=f"{verdict.value}.{conflict.key}", width="stretch", on_click=_settle,
                args=(board, conflict, verdict, seen), on=column,
            )  # fmt: skip


def _settle(board: Board, conflict: Conflict, verdict: ReviewVerdict, seen: int) -> None:
    comment = st.session_state.get(f"conflict.{conflict.key}.comment", "")
    try:
        state.coverage_service().settle(board, conflict, ReviewerOpinion(verdict, who(), seen, comment=comment))
    except FivefoldError as problem:
        st.session_state["coverage.problem"] = problem
    state.clear_cache()
