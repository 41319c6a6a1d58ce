"""Models and storage on Settings: what is present, what is missing and why, and what takes how much room."""

import streamlit as st

from bootstrap.backup import BackupFolder
from bootstrap.environment import settings_from_environment
from bootstrap.installation import StoredPart, optional_parts, reader_limits, storage_used
from core.domain.queries import SearchRequest
from core.knowledge.glossary import meaning
from core.knowledge.rerankers import rerank_table
from pages.components import session
from pages.components.notices import show_errors
from pages.components.settings.embedding_model import draw_embedding_model
from pages.components.urls import page_path
from pages.components.wording import bytes_in_words, plain

__all__ = ["draw_models", "draw_storage"]

_CHECKED = "settings.models.checked"
"""Session key: whether the rerankers were tried."""

_TRIED_WITH = "overtime"  # any question: a reranker is loaded when a search asks for it


def draw_models() -> None:
    """The embedding model, the rerankers, and what else an installation may have."""
    draw_embedding_model()
    st.markdown("##### Rerankers", anchors=False, help=meaning("reranker"))
    _rerankers()
    st.markdown("##### Optional", anchors=False)
    rows = []
    for part in optional_parts(settings_from_environment()):
        state = ":green[:material/check:] present" if part.used else ":gray[:material/remove:] missing"
        rows.append({"What": f"**{part.name}**", "State": state, "Details": plain(part.used or part.missing)})
    st.table(rows, border="horizontal", hide_index=True)
    st.markdown("##### Process that reads files", anchors=False)
    _reader()


def _reader() -> None:
    """What the process that takes files apart is kept from on this system."""
    limits = session.cached("settings.reader", "limits", None, lambda: reader_limits(settings_from_environment()))
    rows = []
    for each in limits:
        state = ":green[:material/check:] holds" if each.holds else ":orange[:material/warning:] not on this system"
        rows.append({"What": f"**{each.name}**", "State": state, "Details": "" if each.holds else plain(each.lacking)})
    st.table(rows, border="horizontal", hide_index=True)


def _rerankers() -> None:
    """Each reranker: loaded, missing with the reason, or not tried yet."""
    troubles, checked = session.workbench().search.reranker_problems, st.session_state.get(_CHECKED, False)
    rows = []
    for name, row in rerank_table().rows.items():
        if name in troubles:
            state, details = ":orange[:material/error:] missing", troubles[name]
        else:
            state = ":green[:material/check:] present" if checked else ":gray[:material/remove:] not used yet"
            details = row.means
        rows.append({"What": f"**{plain(row.label)}**", "State": state, "Details": plain(details)})
    st.table(rows, border="horizontal", hide_index=True)
    pressed = st.button(
        "Check rerankers", key="settings.models.check", icon=":material/troubleshoot:",
        help="Loads each of them. The first time a model is fetched, which can take some minutes.",
    )  # fmt: skip
    if pressed:
        with st.spinner("Loading each reranker …"), show_errors():
            for name in rerank_table().rows:
                session.workbench().search.run(SearchRequest(_TRIED_WITH, rerank=name))
        st.session_state[_CHECKED] = True
        st.rerun()


def draw_storage() -> None:
    """What the data folder holds, largest first, and where backups are explained."""
    if notice := session.workbench().login_notice:
        st.warning(plain(notice), icon=":material/key:")
    parts = storage_used(settings_from_environment())
    sizes = [part.bytes for part in parts if part.bytes is not None]
    st.markdown(
        f"**{bytes_in_words(sum(sizes))} used** :gray[in {plain(str(settings_from_environment().data_folder))}]"
    )
    st.table(
        [_row(part) for part in sorted(parts, key=lambda each: -(each.bytes or 0))],
        border="horizontal",
        hide_index=True,
    )
    _backups()
    st.page_link(
        page_path("help"), label="How to back up and restore", icon=":material/backup:",
        query_params={"view": "guide", "doc": "backup"},
    )  # fmt: skip


def _backups() -> None:
    """The backups made here, and a button that makes one."""
    folder = BackupFolder(settings_from_environment())
    st.markdown("##### Backups", anchors=False)
    if st.button("Back up now", key="settings.backup", icon=":material/backup:"):
        with st.spinner("Writing database and originals into one file …"), show_errors():
            folder.make()
    files = folder.files()
    newest = f"newest {plain(files[-1].name)}, {bytes_in_words(files[-1].stat().st_size)}" if files else "none yet"
    st.caption(f"In {plain(str(folder.path))}: {newest}. Copy backups to another machine.")


def _row(part: StoredPart) -> dict[str, str]:
    return {
        "What": f"**{part.name}**",
        "Size": bytes_in_words(part.bytes) if part.bytes is not None else "–",
        "In backups": "no: can be made again" if part.rebuilt else "yes",
        "Folder": plain(part.folder),
    }
