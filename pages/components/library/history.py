"""The history of manual label edits: when, by whom, old and new value, with undo."""

import streamlit as st

from bootstrap.environment import utc_now
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.bulk_edit.store import ChangeSet
from pages.components import notices, session
from pages.components.labels import field_title, value_title
from pages.components.pager import paged
from pages.components.user_name import who
from pages.components.wording import ago, count, plain, shortened, squeezed

__all__ = ["draw_history", "draw_undo_offer"]

_PER_PAGE = 8
_LINES = 12


def draw_history(document_id: int | None = None) -> None:
    """The newest changes first; of one document: only its own."""
    sets = session.workbench().bulk_edit.history(document_id)
    if not sets:
        st.caption("Nothing was changed by hand yet. What you edit is listed here, and can be taken back.")
        return
    for changed in paged(sets, _PER_PAGE, f"history.page.{document_id or 'all'}"):
        _set(changed, alone=document_id is not None)


def _set(changed: ChangeSet, *, alone: bool) -> None:
    documents = len({each.document_id for each in changed.changes})
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(shortened(changed.what, 120))}**", width="stretch")
            if changed.undone_at is None:
                st.button(
                    "Take back",
                    icon=":material/undo:",
                    type="tertiary",
                    key=f"undo.{changed.id}.{alone}",
                    on_click=_undo,
                    args=(changed.id,),
                )
        by = f"{plain(changed.who)} · {ago(changed.at, utc_now())}"
        scope = "" if alone else f" · {count(documents, 'document')}"
        back = ""
        if changed.undone_at is not None:
            back = f" · taken back by {plain(changed.undone_by)} {ago(changed.undone_at, utc_now())}"
        st.caption(f"{by}{scope}{back}")
        terms = session.terms()
        lines = [
            ("" if alone else f"{plain(squeezed(each.name, 50))}: ")
            + f"{field_title(each.field)} {_value(each.field, each.before, terms)}"
            + f" → **{_value(each.field, each.after, terms)}**"
            for each in changed.changes[:_LINES]
        ]
        more = len(changed.changes) - _LINES
        st.caption("  \n".join([*lines, *([f"and {more} more"] if more > 0 else [])]))


def _value(field: str, value: str, terms: WorkspaceTerms) -> str:
    return plain(value_title(field, value, terms)) if value else "–"


def draw_undo_offer() -> None:
    """After a change: what was done, and the way back; after an undo: what came of it."""
    state = st.session_state
    for line in state.pop("library.left", ()):
        st.warning(plain(line), icon=":material/info:")
    done = state.get("library.done")
    if done is None:
        return
    with notices.told():
        changed = next((each for each in session.workbench().bulk_edit.history() if each.id == done), None)
        if changed is None or changed.undone_at is not None:
            state.pop("library.done", None)
            return
        documents = len({each.document_id for each in changed.changes})
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            said = f"{count(len(changed.changes), 'change')} made in {count(documents, 'document')}."
            st.success(said, icon=":material/check:", width="stretch")
            st.button("Take back", icon=":material/undo:", key="library.undo", on_click=_undo, args=(done,))
            st.button("Dismiss", icon=":material/close:", type="tertiary", key="library.undo.no", on_click=_dismiss)


def _undo(set_id: int) -> None:
    with notices.told():
        back = session.workbench().bulk_edit.undo(set_id, who() or "analyst")
        st.session_state["library.left"] = back.left
        st.session_state.pop("library.done", None)
        session.forget_answers()
        st.toast(f"{count(back.restored, 'change')} taken back.", icon=":material/undo:")


def _dismiss() -> None:
    st.session_state.pop("library.done", None)
