"""Models and storage on Settings: the embedding model and its change, what is missing and why, and disk usage."""

import streamlit as st

from bootstrap.backup import BackupFolder
from bootstrap.environment import settings_from_environment
from bootstrap.installation import StoredPart, optional_parts, reader_limits, storage_used
from core.domain.embedding_models import DEFAULT_MODEL, DEFAULT_NAME, ModelSwitch
from core.domain.queries import SearchRequest
from core.knowledge.glossary import meaning
from core.knowledge.rerankers import rerank_table
from core.library.embedding_models.service import ModelStatus
from pages.components import rights, session
from pages.components.notices import apply_change, show_errors, show_outcome
from pages.components.urls import page_path
from pages.components.user_name import who
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
    st.markdown("##### Isolation of the process that reads files", anchors=False)
    _reader()


def _reader() -> None:
    """What the process that takes files apart is kept from on this system."""
    limits = session.cached("settings.reader", "limits", None, lambda: reader_limits(settings_from_environment()))
    rows = []
    for each in limits:
        state = ":green[:material/check:] active" if each.holds else ":orange[:material/warning:] not on this system"
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
    why = rights.administrator_refusal()
    pressed = st.button(
        "Back up now", key="settings.backup", icon=":material/backup:", disabled=bool(why), help=why or None
    )
    if pressed:
        with st.spinner("Writing database and originals into one file …"), show_errors():
            folder.make()
    files = folder.files()
    newest = f"newest {plain(files[-1].name)}, {bytes_in_words(files[-1].stat().st_size)}" if files else "none yet"
    st.caption(f"In {plain(str(folder.path))}: {newest}. Copy backups to another machine.")


def _row(part: StoredPart) -> dict[str, str]:
    return {
        "What": f"**{part.name}**",
        "Size": bytes_in_words(part.bytes) if part.bytes is not None else "–",
        "In backups": "no, can be rebuilt" if part.rebuilt else "yes",
        "Folder": plain(part.folder),
    }


_AREA = "settings.model"
_LOOK_SECONDS = 2.0  # between looks at the progress. Chosen by hand.


def draw_embedding_model() -> None:
    """The model in use, then the change under way, or the form that begins one."""
    show_outcome(_AREA)
    with show_errors():
        status = session.workbench().models.status()
        _draw_in_use(status)
        if status.switch is not None and status.switch.under_way:
            _watch()
        else:
            _draw_last(status.switch)
            _draw_form(status)


def _draw_in_use(status: ModelStatus) -> None:
    st.markdown("##### Embedding model", anchors=False)
    dimensions = ""
    if status.switch is not None and status.switch.name == status.in_use.name:
        dimensions = f" · {status.switch.dimensions} dimensions"
    st.markdown(f"**{plain(status.in_use.label)}**{dimensions} · {status.passages:,} passages")
    if status.in_use.model not in (DEFAULT_MODEL, status.in_use.label):
        st.caption(plain(status.in_use.model))


@st.fragment(run_every=_LOOK_SECONDS)
def _watch() -> None:
    """The progress, drawn again every two seconds; the whole page once it has ended."""
    with show_errors():
        status = session.workbench().models.status()
        switch = status.switch
        if switch is None or not switch.under_way:
            session.forget_answers()
            st.rerun()
        else:
            _draw_progress(switch)
            _draw_failure(status)
            rights.button("models.cancel", "Cancel", key=f"{_AREA}.cancel", icon=":material/close:", on_click=_cancel)


def _draw_progress(switch: ModelSwitch) -> None:
    st.markdown(f"##### Changing to {plain(switch.label)}", anchors=False)
    share = switch.done / switch.total if switch.total else 0.0
    st.progress(share, f"{switch.done:,} of {switch.total:,} passages embedded · {switch.dimensions} dimensions")
    st.caption("Searches use the model above until every passage is embedded. You may close this tab.")


def _draw_failure(status: ModelStatus) -> None:
    if status.failed is not None:
        st.error(f"**{plain(status.failed.reason)}**\n\n{plain(status.failed.remedy)}", icon=":material/error:")
        rights.button("models.retry", "Try again", key=f"{_AREA}.retry", icon=":material/refresh:", on_click=_retry)


def _draw_last(switch: ModelSwitch | None) -> None:
    if switch is None or switch.ended is None:
        return
    if switch.cancelled:
        what = f"The change to {switch.label} was cancelled after {switch.done:,} of {switch.total:,} passages"
    else:
        what = f"Changed to {switch.label}"
    by = f" by {switch.who}" if switch.who and not switch.cancelled else ""
    st.caption(plain(f"{what} on {switch.ended:%Y-%m-%d %H:%M} UTC{by}."))


def _draw_form(status: ModelStatus) -> None:
    st.markdown("##### Change the embedding model", anchors=False)
    with st.form(f"{_AREA}.form", border=False):
        st.text_input(
            "Model",
            key=f"{_AREA}.name",
            placeholder=f"{DEFAULT_MODEL}, a name such as BAAI/bge-small-en-v1.5, or a folder",
            help=f"Any sentence-transformers model; “{DEFAULT_MODEL}” is {DEFAULT_NAME}, part of the installation.",
        )
        pressed = rights.submit_button(
            "models.use", "Embed the library with this model", icon=":material/model_training:"
        )
    st.caption(
        "The library is embedded in the background while searches use the current model; then they switch to the new"
        " one. Documents are not read again. Score profiles and labels were fitted with"
        f" {DEFAULT_NAME}: measure them after a change."
    )
    if pressed:
        with st.spinner("Loading the model. Its first use takes a minute or two."):
            changed = apply_change(_AREA, _use)
        if changed or f"{_AREA}.problem" in st.session_state:
            st.rerun()


def _use() -> None:
    name = str(st.session_state[f"{_AREA}.name"])
    begun = session.workbench().models.use(name, who())
    if begun is None:
        st.session_state[f"{_AREA}.said"] = "This model is in use already."


def _cancel() -> None:
    apply_change(_AREA, lambda: session.workbench().models.cancel(), "Cancelled. Nothing has changed.")


def _retry() -> None:
    apply_change(_AREA, lambda: session.workbench().models.retry())
