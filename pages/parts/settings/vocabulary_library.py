"""The library after the words have changed: which version its labels were decided by, and deciding them anew."""

import streamlit as st

from core.errors import NotFound
from core.moments import right_now
from core.vocabulary import Application
from pages.parts import notices, session
from pages.parts.person import who
from pages.parts.settings.vocabulary_state import desk, did
from pages.parts.wording import ago, count

__all__ = ["draw_library"]


def draw_library() -> None:
    """A run under way with a way to stop it; else what the last one came to, and the next one where it is due."""
    latest, newest = desk().relabelling.latest(), desk().newest()
    if latest is not None and latest.ended is None:
        _running(latest.id)
        return
    behind = newest is not None and (latest is None or latest.version < newest.number or latest.stopped)
    if latest is not None:
        st.caption(f":material/library_books: {_told(latest)}")
    held = len(session.workbench().documents()) if behind else 0
    if behind and held:
        said, begin = st.columns([7, 3], vertical_alignment="center")
        said.markdown(
            ":material/sync: Documents read before still carry labels of the words before. What people confirmed stays."
        )
        begin.button(
            f"Label {count(held, 'document')} anew",
            key="settings.apply",
            icon=":material/sync:",
            width="stretch",
            on_click=_begin,
        )


def _told(run: Application) -> str:
    """What a run came to, in a sentence."""
    what = "was stopped after" if run.stopped else "looked at"
    others = f"{run.changed:,} of them have" if run.changed != 1 else "one of them has"
    outcome = f"{others} another domain, authority or jurisdiction now" if run.changed else "no label changed"
    return f"Labelling anew by version {run.version} {what} {count(run.done, 'document')}: {outcome}."


@st.fragment(run_every=1.0)
def _running(run_id: int) -> None:
    with notices.told():
        try:
            run = desk().relabelling.latest()
        except NotFound:
            run = None
        if run is None or run.id != run_id or run.ended is not None:
            session.forget_answers()
            st.rerun()
        bar, stop = st.columns([7, 1], vertical_alignment="center")
        words = f"Labelling anew by version {run.version} · {run.done:,} of {count(run.total, 'document')}"
        words += f", {run.changed:,} changed · begun {ago(run.at, right_now())}{' · stopping' if run.stopped else ''}"
        bar.progress(min(1.0, run.done / max(1, run.total)), words)
        stop.button(
            "Stop",
            key="settings.apply.stop",
            icon=":material/stop:",
            width="stretch",
            disabled=run.stopped,
            on_click=_stop,
            args=(run.id,),
        )


def _begin() -> None:
    did(lambda: desk().relabelling.start(who()), "The labels are decided anew in the background.")
    session.forget_answers()


def _stop(run_id: int) -> None:
    did(lambda: desk().relabelling.stop(run_id), "It ends after the document under way.")
