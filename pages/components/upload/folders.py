"""Watched folders: the list, the state of their files, and a form to add a folder."""

from datetime import UTC, datetime

import streamlit as st

from core.domain.errors import FivefoldError
from core.library.sources.folder_service import FolderTally, WatchedFolder
from pages.components import notices, session
from pages.components.wording import ago, count, plain

__all__ = ["draw_folders"]

_TOLD_PROBLEMS = 5


def draw_folders() -> None:
    """The folders, closed until they are wanted; nothing where none is watched and none may be."""
    desk = session.workbench().folders
    watched = desk.folders()
    if not watched and not desk.roots:
        return
    failed = sum(bool(folder.failure) or tally.failed > 0 for folder, tally in watched)
    told = f" · {count(len(watched), 'folder')}" if watched else ""
    told += f" · :red[{failed} with problems]" if failed else ""
    shown = st.expander(f"Watched folders{told}", icon=":material/folder_eye:", key="folders.shown", on_change="rerun")
    if shown.open:
        with shown:
            _ask()
            _list()


def _ask() -> None:
    desk = session.workbench().folders
    if not desk.roots:
        st.caption("No further folder may be watched; the setting FIVEFOLD\\_WATCH\\_FOLDERS names those that may be.")
        return
    known = {folder.path for folder, _ in desk.folders()}
    with st.form("folders.form", border=True, clear_on_submit=True):
        path = st.selectbox(
            "Folder on the server",
            [each for each in desk.choices() if each not in known],
            index=None,
            accept_new_options=True,
            placeholder="Choose one, or write its whole path",
            help="New and changed files in it, and in the folders inside, are taken in by themselves. Links, hidden"
            " files and files still being written are left.",
        )
        where, tagged, go = st.columns([3, 3, 2], vertical_alignment="bottom")
        project = where.selectbox(
            "Project",
            session.workbench().upload_queue.projects(),
            index=None,
            accept_new_options=True,
            placeholder="None: shared by all projects",
        )
        tags = tagged.multiselect("Tags", [], accept_new_options=True, placeholder="Optional")
        asked = go.form_submit_button("Watch", icon=":material/folder_eye:", width="stretch")
    if asked and path:
        try:
            desk.add(path, project=project, tags=tags)
        except FivefoldError as problem:
            notices.error(problem)
        else:
            st.rerun()


def _list() -> None:
    """The folders, looked at again every few seconds: they are looked through in the background."""
    if not session.workbench().folders.folders():
        st.caption("No folder is watched yet.")
        return

    @st.fragment(run_every=3.0)
    def drawn() -> None:
        for folder, tally in session.workbench().folders.folders():
            with st.container(border=True, gap="xsmall"):
                _row(folder, tally)

    drawn()


def _row(folder: WatchedFolder, tally: FolderTally) -> None:
    desk = session.workbench().folders
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(folder.path)}**", width="content")
        st.caption(plain(_facts(folder, tally)), width="content")
    if folder.failure:
        st.markdown(f":red[{plain(folder.failure)}] {plain(folder.remedy)}")
    if tally.failed:
        problems = desk.failures(folder.id, _TOLD_PROBLEMS)
        st.caption("  \n".join(f":red[{plain(each.failure)}] {plain(each.remedy)}" for each in problems))
        if tally.failed > len(problems):
            st.caption(f"and {tally.failed - len(problems):,} more")
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Look now",
            key=f"folders.look.{folder.id}",
            icon=":material/refresh:",
            type="tertiary",
            on_click=desk.look_now,
            args=(folder.id,),
        )
        st.button(
            "Watch no more",
            key=f"folders.remove.{folder.id}",
            icon=":material/delete:",
            type="tertiary",
            help="What came from it stays in the library.",
            on_click=desk.remove,
            args=(folder.id,),
        )


def _facts(folder: WatchedFolder, tally: FolderTally) -> str:
    when = f"looked through {ago(folder.looked, datetime.now(UTC))}" if folder.looked else "not looked through yet"
    told = [when, f"{count(tally.taken, 'file')} taken in"]
    told += [f"{tally.left:,} still being written"] if tally.left else []
    told += [f"{tally.failed:,} not taken in"] if tally.failed else []
    return " · ".join([*told, *([folder.project] if folder.project else []), *folder.tags])
