"""The vocabulary on Settings: the saved version, unsaved changes, relabelling of the library, and the views."""

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.errors import NotFound
from core.library.vocabulary.edits import check_vocabulary
from core.library.vocabulary.store import VocabularyRun
from pages.components import notices, session
from pages.components.settings.vocabulary_state import base, desk, did, discard, draft, key, saved, tell, unsaved
from pages.components.user_name import who
from pages.components.view_switch import view_switch
from pages.components.wording import ago, count, plain

__all__ = ["draw_library", "draw_vocabulary"]


def draw_library() -> None:
    """A run under way with a way to stop it; else what the last one came to, and the next one where it is due."""
    latest, newest = desk().relabelling.latest(), desk().newest()
    if latest is not None and latest.ended is None:
        _running(latest.id)
        return
    behind = newest is not None and (latest is None or latest.version < newest.number or latest.stopped)
    if latest is not None:
        st.caption(f":material/library_books: {_last_run(latest)}")
    held = len(session.workbench().documents.list()) if behind else 0
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


def _last_run(run: VocabularyRun) -> str:
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
        words += f", {run.changed:,} changed · begun {ago(run.at, utc_now())}{' · stopping' if run.stopped else ''}"
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


_VIEWS = {
    "domains": "Domains",
    "authorities": "Authorities",
    "places": "Jurisdictions",
    "try": "Try it",
    "packs": "Packs and files",
    "versions": "Versions",
}

_CHANGES_SHOWN = 6  # changes that are told in the bar; the rest is counted


def draw_vocabulary() -> None:
    """What holds, what is not saved yet, and the view one is in."""
    tell()
    _heading()
    _bar()
    draw_library()
    _view(view_switch(_VIEWS, "settings.words", "words"))


def _heading() -> None:
    newest = desk().newest()
    held = "Only the product's own words hold."
    if newest is not None:
        by = f" by {plain(newest.who)}" if newest.who else ""
        why = f" · “{plain(newest.note)}”" if newest.note else ""
        held = f"Version {newest.number}, saved{by} {ago(newest.at, utc_now())}{why}."
    st.caption(
        f"**Vocabulary** · the words by which documents are labelled, questions read and coverage counted. {held}"
    )


def _bar() -> None:
    """What is not saved yet, what is wrong with it, and the way to save or drop it."""
    changes = unsaved()
    if not changes:
        return
    findings = check_vocabulary(draft())
    with st.container(border=True, gap="small"):
        st.markdown(f":material/edit: **{count(len(changes), 'change')} not saved yet**")
        rest = [f"{len(changes) - _CHANGES_SHOWN} more"] if len(changes) > _CHANGES_SHOWN else []
        st.caption("  \n".join([*(plain(each) for each in changes[:_CHANGES_SHOWN]), *rest]))
        if findings.problems:
            st.markdown("  \n".join(f":red[:material/error:] {plain(each)}" for each in findings.problems))
        if fresh := [each for each in findings.notices if each not in check_vocabulary(desk().current()).notices]:
            st.caption("  \n".join(f":material/info: {plain(each)}" for each in fresh))
        note, save, drop = st.columns([6, 2, 2], vertical_alignment="bottom")
        note.text_input("Why", key=key("note"), placeholder="Why, for those who read the versions", max_chars=200)
        save.button(
            "Save",
            key="settings.save",
            type="primary",
            icon=":material/save:",
            width="stretch",
            disabled=bool(findings.problems),
            on_click=_save,
        )
        drop.button("Discard", key="settings.discard", icon=":material/undo:", width="stretch", on_click=discard)


def _save() -> None:
    words, after, note = draft(), base(), str(st.session_state.get(key("note")) or "")
    if did(lambda: desk().save(words, who=who(), note=note, after=after), f"Version {after + 1} holds from now on."):
        saved()


def _view(view: str) -> None:
    """Each view is read in when it is entered."""
    match view:
        case "authorities":
            from pages.components.settings.vocabulary_names import draw_authorities

            draw_authorities()
        case "places":
            from pages.components.settings.vocabulary_names import draw_places

            draw_places()
        case "try":
            from pages.components.settings.vocabulary_trial import draw_trial

            draw_trial()
        case "packs":
            from pages.components.settings.vocabulary_versions import draw_files

            draw_files()
        case "versions":
            from pages.components.settings.vocabulary_versions import draw_versions

            draw_versions()
        case _:
            from pages.components.settings.vocabulary_domains import draw_domains

            draw_domains()
