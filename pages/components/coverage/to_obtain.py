"""What to obtain, grouped by whom to ask; each group can be copied or downloaded and sent."""

import streamlit as st

from core.coverage.board_view import apply_view, kind_in_words, values_of, with_distinct_names
from core.coverage.to_obtain import AskGroup, WantedEvidence, group_text, to_obtain, to_obtain_csv
from core.domain.coverage import Board
from pages.components.coverage import state
from pages.components.coverage.board import choose_view, draw_unread
from pages.components.styles import SEVERITIES, TRUTHS
from pages.components.wording import count, plain, shorten

__all__ = ["draw"]

_MOST = 40  # lines drawn per group; the copied text and the CSV have all of them


def draw(board: Board) -> None:
    """The filters of the board, what was not read, then one group per person or office."""
    decisions = state.coverage_service().current_decisions(board.project)
    view = choose_view(values_of(board, decisions), ordered=False)
    groups = to_obtain(board, decisions, apply_view(with_distinct_names(board), view, decisions).lit)
    draw_unread(board)
    if not groups:
        known = board.coverage is not None
        words = "No evidence is missing in these cells." if board.gaps else "No evidence is missing."
        st.info(words if known else "No cell was assessed: no gap is known.", icon=":material/task_alt:")
        return
    number = sum(len(group.items) for group in groups)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(
            f"**{count(number, 'cell needs', 'cells need')} evidence** · from {count(len(groups), 'source')} ·"
            " a cell with an owner is listed under the owner",
            width="stretch",
        )
        st.download_button(
            "CSV", lambda: to_obtain_csv(groups), "to-obtain.csv", "text/csv", icon=":material/download:",
            type="tertiary", on_click="ignore",
        )  # fmt: skip
    for index, group in enumerate(groups):
        _group(group, board.project or "The whole library", index)


def _group(group: AskGroup, title: str, index: int) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            icon = ":material/person:" if group.person else ":material/account_balance:"
            name = plain(shorten(group.whom[:1].upper() + group.whom[1:], 80))
            st.markdown(f"**{icon} {name}**", width="content")
            st.caption(f"{count(len(group.items), 'cell')} · {group.severities}", width="content")
            st.space("stretch")
            text = group_text(group, title)
            with st.popover("Copy", icon=":material/content_copy:", type="tertiary", key=f"obtain.copy.{index}"):
                st.code(text, language=None, wrap_lines=True, height=min(420, 90 + 26 * len(group.items)))
            st.download_button(
                "Text", text, f"to-obtain-{index + 1}.txt", "text/plain", icon=":material/download:", type="tertiary",
                key=f"obtain.text.{index}", on_click="ignore",
            )  # fmt: skip
        for each in group.items[:_MOST]:
            st.markdown(_line(each))
        if len(group.items) > _MOST:
            st.caption(f"… and {len(group.items) - _MOST:,} more, in the copied text and the CSV.")


def _line(each: WantedEvidence) -> str:
    gap, decision = each.gap, each.decision
    colour = SEVERITIES.get(gap.severity, "gray")
    truth = "gray" if gap.configuration else TRUTHS[gap.truth].colour
    text = f":{colour}-badge[{gap.severity}] :{truth}-badge[{kind_in_words(gap.kind)}] "
    request = gap.to_obtain.removesuffix(f" on {gap.topic}").removesuffix(f" on “{gap.topic}”")
    text += f"**{plain(shorten(gap.topic, 140))}** – {plain(request)}"
    if decision is not None:
        due = f", due {decision.due}" if decision.due else ""
        comment = f" “{plain(shorten(decision.comment, 120))}”" if decision.comment else ""
        text += f" :gray[:material/gavel: {decision.verdict.value}{due}{comment}]"
    return text
