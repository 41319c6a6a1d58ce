"""The trash: deleted documents with the days they stay, to restore or to delete for good, several at once."""

from collections.abc import Sequence

import streamlit as st

from bootstrap.environment import utc_now
from core.library.trash import TrashedDocument
from pages.components import notices, session
from pages.components.library.table import TableColumn, draw_table
from pages.components.pager import draw_foot, pages_of, range_words
from pages.components.rights import may
from pages.components.user_name import who
from pages.components.wording import ago, bytes_in_words, count, plain, shorten_middle

__all__ = ["draw_trash"]

_PER_PAGE = 50
_NAME_LENGTH = 90  # characters of a name: two lines of the narrowest column
_NAMED = 5  # documents that a question names; the others are counted
_TICKED, _WORDS, _PROJECT, _NUMBER = "trash.ticked", "trash.words", "trash.project", "trash.number"
_COLUMNS = (
    TableColumn("name", "Name", "name"),
    TableColumn("deleted", "Deleted", "middle"),
    TableColumn("who", "By", "middle"),
    TableColumn("left", "Days left", "number", help="Then it is deleted for good"),
    TableColumn("size", "Size", "number"),
    TableColumn("with", "With it", "long wide", help="What is restored with it, or deleted with it"),
    TableColumn("project", "Project", "middle wider"),
)


def draw_trash() -> None:
    """What is in the trash, the last deleted first."""
    notices.show_outcome("trash")
    trash, state = session.workbench().trash, st.session_state
    everything, days = trash.listed(), trash.days
    if not everything:
        notices.empty(":material/delete:", "The trash is empty", _how_long(days))
        return
    state.setdefault(_TICKED, frozenset())
    state.setdefault(_NUMBER, 1)
    found = _filtered(everything)
    state[_TICKED] &= frozenset(each.document_id for each in found)
    _draw_bar(found, days)
    if not found:
        notices.empty(":material/filter_alt_off:", "No document matches", "Remove a filter or a word.")
        return
    pages = pages_of(len(found), _PER_PAGE)
    number = min(state[_NUMBER], pages)
    shown = found[(number - 1) * _PER_PAGE : number * _PER_PAGE]
    draw_table(
        "trash.table",
        "Trash",
        _COLUMNS,
        [_row(each, days) for each in shown],
        on={"chosen": _choose, "ticked": lambda event: _tick(**event)},
        ticked=sorted(state[_TICKED]),
    )
    turn = lambda turned: state.update({_NUMBER: turned})  # noqa: E731
    draw_foot(number, pages, range_words(number, _PER_PAGE, len(found), "document"), "trash.pager", turn)


def _how_long(days: int) -> str:
    if not days:
        return "Deleted documents stay here until somebody deletes them for good."
    return f"Deleted documents stay here for {count(days, 'day')}, and are then deleted for good."


def _filtered(everything: Sequence[TrashedDocument]) -> list[TrashedDocument]:
    """Those that the words and the project ask for."""
    projects = sorted({each.project or "" for each in everything}, key=str.casefold)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        words = st.text_input("Find in the trash", key=_WORDS, placeholder="Name, or who deleted it", width=280)
        if len(projects) > 1:
            named = lambda value: value or "No project"  # noqa: E731
            st.selectbox("Project", projects, index=None, key=_PROJECT, placeholder="Any", width=180, format_func=named)
    project = st.session_state.get(_PROJECT)
    folded = words.casefold().split()
    return [
        each
        for each in everything
        if all(word in f"{each.name} {each.who}".casefold() for word in folded)
        and project in (None, each.project or "")
    ]


def _draw_bar(found: Sequence[TrashedDocument], days: int) -> None:
    """How many there are, and what is done with those that are ticked."""
    ticked = [each for each in found if each.document_id in st.session_state[_TICKED]]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="trash_bar"):
        if not ticked:
            st.caption(f"**{count(len(found), 'document')}** · {_how_long(days)} Tick some to restore them.")
            return
        st.markdown(f"**{len(ticked):,} selected**", width="content")
        if may("trash.restore"):
            st.button(
                "Restore",
                icon=":material/restore_from_trash:",
                type="primary",
                key="trash.restore",
                on_click=_restore,
                args=(ticked,),
            )
        if may("trash.purge") and st.button(
            "Delete for good", icon=":material/delete_forever:", type="tertiary", key="trash.purge"
        ):
            _confirm_purge(ticked)
        if len(ticked) < len(found):
            st.button(
                f"Select all {len(found):,}",
                icon=":material/select_all:",
                type="tertiary",
                key="trash.tick.all",
                on_click=_tick,
                args=([each.document_id for each in found], True),
            )
        st.button(
            "Clear",
            icon=":material/close:",
            type="tertiary",
            key="trash.tick.none",
            on_click=_tick,
            args=([each.document_id for each in ticked], False),
        )


@st.dialog("Delete for good?")
def _confirm_purge(chosen: Sequence[TrashedDocument]) -> None:
    names = ", ".join(plain(shorten_middle(each.name, 60)) for each in chosen[:_NAMED])
    more = f" and {len(chosen) - _NAMED:,} more" if len(chosen) > _NAMED else ""
    st.markdown(f"**{names}**{more} cannot be restored afterwards.")
    together: dict[str, int] = {}
    for each in chosen:
        for noun, number in each.contents.items():
            together[noun] = together.get(noun, 0) + number
    size = bytes_in_words(sum(each.size_bytes for each in chosen))
    st.caption(
        f"Also deleted: {', '.join([*(count(n, noun) for noun, n in together.items()), f'originals ({size})'])}, and"
        " quotes in notes, shortlists and coverage. An original that another document uses stays. The audit log and the"
        " history keep the name."
    )
    yes, no = st.columns(2)
    if yes.button(
        "Delete for good",
        type="primary",
        icon=":material/delete_forever:",
        width="stretch",
        key="trash.purge.yes",
        on_click=_purge,
        args=(chosen,),
    ):
        st.rerun()
    if no.button("Keep in the trash", width="stretch"):
        st.rerun()


def _row(each: TrashedDocument, days: int) -> dict[str, object]:
    left = each.days_left(days, utc_now())
    return {
        "id": each.document_id,
        "name": shorten_middle(each.name, _NAME_LENGTH),
        "full": each.name,
        "address": "",
        "sentence": [],
        "cells": {
            "deleted": ago(each.at, utc_now()),
            "who": each.who or "–",
            "left": "being deleted" if each.purging else "–" if left is None else f"{left:,}",
            "size": bytes_in_words(each.size_bytes) if each.size_bytes else "–",
            "with": ", ".join(count(number, noun) for noun, number in each.contents.items()) or "–",
            "project": each.project or "",
        },
    }


def _choose(document_id: int) -> None:
    """A click on a row ticks it, or takes its tick: there are no details to open."""
    _tick([document_id], document_id not in st.session_state[_TICKED])


def _tick(ids: Sequence[int], on: bool) -> None:
    ticked = st.session_state[_TICKED]
    st.session_state[_TICKED] = ticked | {*ids} if on else ticked - {*ids}


def _restore(chosen: Sequence[TrashedDocument]) -> None:
    ids = [each.document_id for each in chosen]
    message = f"{count(len(ids), 'document')} restored."
    notices.apply_change("trash", lambda: session.workbench().trash.restore(ids, who=who() or "analyst"), message)
    session.forget_answers()


def _purge(chosen: Sequence[TrashedDocument]) -> None:
    ids = [each.document_id for each in chosen]
    message = f"{count(len(ids), 'document')} deleted for good."
    notices.apply_change("trash", lambda: session.workbench().trash.purge(ids, who=who() or "analyst"), message)
