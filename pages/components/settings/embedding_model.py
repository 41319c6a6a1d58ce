"""The embedding model: which one is in use, and the change to another one with its progress."""

import streamlit as st

from core.domain.embedding_models import DEFAULT_MODEL, DEFAULT_NAME, ModelSwitch
from core.library.embedding_models.service import ModelStatus
from pages.components import session
from pages.components.notices import apply_change, show_errors, show_outcome
from pages.components.user_name import who
from pages.components.wording import plain

__all__ = ["draw_embedding_model"]

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
            st.button("Cancel", key=f"{_AREA}.cancel", icon=":material/close:", on_click=_cancel)


def _draw_progress(switch: ModelSwitch) -> None:
    st.markdown(f"##### Changing to {plain(switch.label)}", anchors=False)
    share = switch.done / switch.total if switch.total else 0.0
    st.progress(share, f"{switch.done:,} of {switch.total:,} passages embedded · {switch.dimensions} dimensions")
    st.caption("Searches use the model above until every passage is embedded. You may close this tab.")


def _draw_failure(status: ModelStatus) -> None:
    if status.failed is not None:
        st.error(f"**{plain(status.failed.reason)}**\n\n{plain(status.failed.remedy)}", icon=":material/error:")
        st.button("Try again", key=f"{_AREA}.retry", icon=":material/refresh:", on_click=_retry)


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
        pressed = st.form_submit_button("Embed the library with this model", icon=":material/model_training:")
    st.caption(
        "The library is embedded in the background while searches use the present model; then the two are exchanged"
        " in one step. Documents are not read again. Score profiles and labels were fitted with"
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
