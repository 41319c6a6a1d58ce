"""The history of what people changed: who, when, what before and after, and a way to undo it."""

from collections.abc import Mapping

import streamlit as st

from bootstrap.environment import utc_now
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.bulk_edit.service import ARCHIVED
from core.library.history import HistoryChange, HistoryEntry, HistoryKind
from core.library.trash import DELETED, ERASED
from pages.components import notices, rights, session
from pages.components.labels import field_title, value_title
from pages.components.pager import paged
from pages.components.user_name import name_input, who
from pages.components.wording import ago, count, plain, shorten, shorten_middle

__all__ = ["draw_history"]

_PER_PAGE = 10  # entries per page; chosen by hand
_MOST_LINES = 12  # changes listed per entry; chosen by hand
_ICONS: Mapping[HistoryKind, str] = {
    HistoryKind.DOCUMENTS: ":material/library_books:",
    HistoryKind.VERSIONS: ":material/history:",
    HistoryKind.COVERAGE: ":material/grid_on:",
    HistoryKind.TOPICS: ":material/checklist:",
    HistoryKind.PROFILES: ":material/tune:",
    HistoryKind.VOCABULARY: ":material/dictionary:",
}


def draw_history(document_id: int | None = None) -> None:
    """The newest changes first; of one document: only its own."""
    notices.show_outcome("history")
    for line in st.session_state.pop("history.left", ()):
        st.warning(plain(line), icon=":material/info:")
    service = session.workbench().history
    entries = service.newest() if document_id is None else service.of_document(document_id)
    if document_id is None and entries:
        if not who():
            name_column, _ = st.columns(2)
            with name_column:
                name_input("Recorded with what you undo")
        kinds = st.pills(
            "Shown",
            [kind for kind in HistoryKind if any(entry.kind is kind for entry in entries)],
            selection_mode="multi",
            format_func=lambda kind: f"{_ICONS[kind]} {kind.value.capitalize()}",
            key="history.kinds",
            label_visibility="collapsed",
        )
        entries = [entry for entry in entries if not kinds or entry.kind in kinds]
    if not entries:
        st.caption("No changes yet. Everything people change is listed here, with a way to undo it.")
        return
    for entry in paged(entries, _PER_PAGE, f"history.page.{document_id or 'all'}"):
        _draw_entry(entry, alone=document_id is not None)


def _draw_entry(entry: HistoryEntry, *, alone: bool) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"{_ICONS[entry.kind]} **{plain(shorten(entry.what, 120))}**", width="stretch")
            if entry.can_undo:
                rights.button(
                    "history.undo",
                    "Undo",
                    icon=":material/undo:",
                    type="tertiary",
                    key=f"history.undo.{entry.kind}.{entry.reference}.{entry.at.timestamp()}",
                    on_click=_undo,
                    args=(entry,),
                )
        by = f"{plain(entry.who or 'name not given')} · {ago(entry.at, utc_now())} ({entry.at:%Y-%m-%d %H:%M} UTC)"
        subjects = len({each.about for each in entry.changes})
        scope = f" · {count(subjects, 'document')}" if entry.kind is HistoryKind.DOCUMENTS and not alone else ""
        undone = f" · undone by {plain(entry.undone_by)} {ago(entry.undone_at, utc_now())}" if entry.undone_at else ""
        st.caption(f"{by}{scope}{undone}")
        lines = [_line(each, entry.kind, session.terms(), alone=alone) for each in entry.changes[:_MOST_LINES]]
        more = len(entry.changes) - _MOST_LINES
        st.caption("  \n".join([*lines, *([f"and {more} more"] if more > 0 else [])]))


def _line(change: HistoryChange, kind: HistoryKind, terms: WorkspaceTerms, *, alone: bool) -> str:
    """One change as safe markdown: "memo.pdf: Truth Intent → **Compliance**"."""
    about = "" if alone and kind is HistoryKind.DOCUMENTS else plain(shorten_middle(change.about, 60))
    if kind is HistoryKind.DOCUMENTS and change.field in (DELETED, ERASED):
        return f"{about or 'This document'} was {change.field}"
    if not (change.field or change.before or change.after):
        return about
    own = kind is HistoryKind.DOCUMENTS and change.field != ARCHIVED
    before, after = (
        (value_title(change.field, value, terms) if own else value) or "–" for value in (change.before, change.after)
    )
    field = f"{field_title(change.field)} " if own else f"{plain(change.field)} " if change.field else ""
    value = f"{plain(before)} → **{plain(after)}**" if before != after else f"**{plain(after)}** confirmed"
    return f"{about}{': ' if about else ''}{field}{value}"


def _undo(entry: HistoryEntry) -> None:
    named = who() or ("analyst" if entry.kind in (HistoryKind.DOCUMENTS, HistoryKind.VERSIONS) else "")

    def work() -> None:
        st.session_state["history.left"] = session.workbench().history.undo(entry, named)

    notices.apply_change("history", work, f"Undone: {plain(shorten(entry.what, 80))}.")
    session.forget_answers()
