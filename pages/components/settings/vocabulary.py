"""The vocabulary on Settings: unsaved changes, relabelling of the library, a trial, packs and files, saved versions."""
# Longer than 300 lines: one view, top to bottom.

from itertools import pairwise

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.documents import DocumentState, Label
from core.domain.errors import BadRequest, FivefoldError, NotFound
from core.domain.vocabulary import BUILT_IN, Vocabulary
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.vocabulary.edits import check_vocabulary, differences, merge_vocabularies
from core.library.vocabulary.relabelling import FIELDS, LabelOutcome, VocabularyTrial, has_labels
from core.library.vocabulary.store import VocabularyRun, VocabularyVersion
from core.library.vocabulary.toml_csv import VocabularyPack, from_file, packs, to_csv, to_toml
from pages.components import notices, rights, session
from pages.components.labels import chip_title, field_title, value_title
from pages.components.settings.vocabulary_state import (
    after_saving,
    apply_change,
    base_version,
    discard,
    draft,
    set_draft,
    show_outcome,
    store_problem,
    unsaved_changes,
    untaken_fields,
    vocabulary_service,
    widget_key,
)
from pages.components.user_name import who
from pages.components.view_switch import view_switch
from pages.components.wording import ago, count, day, plain, shorten

__all__ = ["draw_files", "draw_relabelling", "draw_trial", "draw_versions", "draw_vocabulary"]


_TEXT, _DOCUMENT = "A sentence or a page", "A document of the library"
_MOST_REASONS = 3  # reasons of one label


def draw_trial() -> None:
    """A text or document to try, and its labels now and with the unsaved changes."""
    what = st.segmented_control("Try it on", [_TEXT, _DOCUMENT], default=_TEXT, required=True, key="settings.try")
    with notices.show_errors():
        tried = _try_document() if what == _DOCUMENT else _try_text()
        if tried is not None:
            _outcome(tried)


def _try_text() -> VocabularyTrial | None:
    text = st.text_area(
        "Text", key="settings.try.text", height=140, persist_state="session",
        placeholder="The controller shall notify the data subject of a personal data breach without undue delay.",
        help="Labelled as a document, and parsed as a question.",
    )  # fmt: skip
    if not (text or "").strip():
        st.caption("Type or paste something, then click elsewhere.")
        return None
    with st.spinner("Labelling it"):
        return vocabulary_service().tried(text or "", draft())


def _try_document() -> VocabularyTrial | None:
    documents = [each for each in session.workbench().documents.list() if each.state is DocumentState.READY]
    names = {each.id: each.name for each in documents}
    if not names:
        notices.empty(":material/library_books:", "No document has been read yet", "Drop files on *Upload*.")
        return None
    chosen = st.selectbox("Document", list(names), index=None, format_func=names.__getitem__, key="settings.try.id",
                          placeholder="Choose one")  # fmt: skip
    if chosen is None:
        return None
    with st.spinner("Labelling it"):
        return vocabulary_service().tried_on(chosen, draft())


def _outcome(tried: VocabularyTrial) -> None:
    changed = bool(unsaved_changes())
    sides: list[tuple[str, LabelOutcome, WorkspaceTerms]] = [("As it is", tried.now, vocabulary_service().terms())]
    if changed:
        sides.append(("With your changes", tried.then, WorkspaceTerms(draft())))
    for column, (head, outcome, terms) in zip(st.columns(len(sides), gap="large"), sides, strict=True):
        with column, st.container(border=True, gap="small"):
            st.markdown(f"**{head}**")
            for field in FIELDS:
                _label(field, outcome.labels[field], terms, moved=changed and field in tried.moved)
            if outcome.chips:
                chips = ", ".join(f"{chip_title(chip, terms)} (“{chip.words}”)" for chip in outcome.chips)
                st.caption(f":material/search: As a question: {plain(chips)}")
    if changed and not tried.moved:
        st.caption("Your changes make no difference to it.")


def _label(field: str, label: Label, terms: WorkspaceTerms, *, moved: bool) -> None:
    value = value_title(field, label.value, terms) if label.value else "unknown"
    sure = "confirmed by hand" if label.confirmed else f"{label.probability:.2f}" if label.value else ""
    shown = f":primary-background[**{plain(value)}**]" if moved else f"**{plain(value)}**"
    reasons = [label.reason] if label.reason else []
    reasons += [f"“{shorten(each.quote, 110)}” {each.rule}" for each in label.evidence[:_MOST_REASONS] if each.quote]
    with st.container(gap="xxsmall"):
        st.markdown(f"{field_title(field)} {shown} :gray[{plain(sure)}]")
        if reasons:
            st.caption("  \n".join(plain(each) for each in reasons))


_PACK_WORDS = 8  # words of a pack

_FILE_CHANGES_SHOWN = 12  # changes of a file


def draw_files() -> None:
    """The packs side by side, then files in and out."""
    st.markdown("**Packs**")
    st.caption("Added to your changes: try, edit and save them like your own words.")
    for column, pack in zip(st.columns(len(packs())), packs().values(), strict=True):
        with column:
            _pack(pack)
    st.markdown("**Files**")
    out, into = st.columns([4, 7], gap="large")
    with out:
        _export()
    with into:
        _import()


def _pack(pack: VocabularyPack) -> None:
    both = merge_vocabularies(draft(), pack.vocabulary)
    words = [word for domain in pack.vocabulary.domains for word in domain.keywords]
    with st.container(border=True, gap="small", height="stretch", vertical_alignment="distribute"):
        with st.container(gap="small"):
            st.markdown(f"**{plain(pack.title)}**")
            st.markdown(plain(pack.about))
            st.caption(plain(f"{', '.join(words[:_PACK_WORDS])} and {len(words) - _PACK_WORDS} more words"))
        included = both == draft()
        st.button(
            "Is there" if included else "Add", key=f"settings.pack.{pack.name}", disabled=included,
            icon=":material/check:" if included else ":material/add:", on_click=set_draft, args=(both,),
        )  # fmt: skip


def _export() -> None:
    st.caption("The additions and changes of your workspace, unsaved ones included. Others can import the file.")
    with st.container(horizontal=True, gap="small"):
        words = draft()
        st.download_button(
            "TOML", lambda: to_toml(words), "vocabulary.toml", "application/toml", key="settings.out.toml",
            icon=":material/download:", on_click="ignore", disabled=words == Vocabulary(),
        )  # fmt: skip
        st.download_button(
            "CSV", lambda: to_csv(words), "vocabulary.csv", "text/csv", key="settings.out.csv",
            icon=":material/download:", on_click="ignore", disabled=words == Vocabulary(),
        )  # fmt: skip


def _import() -> None:
    given = st.file_uploader("Import words", type=["toml", "csv"], key=widget_key("file"), max_upload_size=2)
    if given is None:
        return
    try:
        brought = from_file(given.getvalue(), given.name)
    except FivefoldError as problem:
        notices.error(problem)
        return
    both = merge_vocabularies(draft(), brought)
    found = differences(draft(), both)
    st.markdown(f"**{plain(given.name)}** brings {count(len(found), 'change')}")
    rest = [f"{len(found) - _FILE_CHANGES_SHOWN} more"] if len(found) > _FILE_CHANGES_SHOWN else []
    st.caption("  \n".join([*(plain(each) for each in found[:_FILE_CHANGES_SHOWN]), *rest]))
    with st.container(horizontal=True, gap="small"):
        st.button("Add them", key=widget_key("take"), type="primary", icon=":material/add:", disabled=not found,
                  on_click=set_draft, args=(both,))  # fmt: skip
        st.button(
            "Replace everything by the file", key=widget_key("replace"), icon=":material/swap_horiz:", type="tertiary",
            help="Words of yours that the file does not have go.", on_click=set_draft, args=(brought,),
            disabled=brought == draft(),
        )  # fmt: skip


_MOST_VERSIONS = 12  # versions listed at first; chosen by hand

_VERSION_CHANGES_SHOWN = 8  # changes of one version


def draw_versions() -> None:
    """Newest first; the last line is what the product came with."""
    past = vocabulary_service().versions()
    if not past:
        notices.empty(
            ":material/history:",
            "Nothing has been saved yet",
            "Change a word under *Domains*, or add a pack; each save is a version one can come back to.",
        )
        return
    every = len(past) > _MOST_VERSIONS and st.toggle(f"Show all {len(past)} versions", key="settings.versions.all")
    older = [(new, old.vocabulary) for new, old in pairwise(past)]
    pairs = [*older, (past[-1], BUILT_IN)]
    newest = past[0]
    for version, before in pairs if every else pairs[:_MOST_VERSIONS]:
        _version(version, before, newest)
    if newest.vocabulary != BUILT_IN:
        with st.container(border=True, gap="xsmall"):
            st.markdown("**Built-in vocabulary** :gray[· unchanged]")
            _restore_button(0, newest)


def _version(version: VocabularyVersion, before: Vocabulary, newest: VocabularyVersion) -> None:
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**Version {version.number}**", width="content")
            if version is newest:
                st.badge("holds", icon=":material/check:", color="blue")
        author = f"{plain(version.who or 'somebody')}, {day(version.at)} {version.at:%H:%M}"
        st.markdown(author + (f" · “{plain(version.note)}”" if version.note else ""))
        found = differences(before, version.vocabulary)
        rest = [f"{len(found) - _VERSION_CHANGES_SHOWN} more"] if len(found) > _VERSION_CHANGES_SHOWN else []
        st.caption("  \n".join([*(plain(each) for each in found[:_VERSION_CHANGES_SHOWN]), *rest]))
        if version is not newest and version.vocabulary != newest.vocabulary:
            _restore_button(version.number, newest)


def _restore_button(number: int, newest: VocabularyVersion) -> None:
    rights.button(
        "vocabulary.restore",
        "Restore", key=f"settings.restore.{number}", type="tertiary", icon=":material/settings_backup_restore:",
        help="Saves these words again as the newest version; nothing is lost.",
        on_click=_restore_version, args=(number, newest.number),
    )  # fmt: skip


def _restore_version(number: int, after: int) -> None:
    named = f"version {number}" if number else "the product"
    if apply_change(
        lambda: vocabulary_service().restore(number, who=who(), after=after),
        f"Version {after + 1} is identical to {named}.",
    ):
        after_saving()


def draw_relabelling() -> None:
    """A run under way with a way to stop it; else what the last one came to, and the next one where it is due."""
    latest, newest = vocabulary_service().relabelling.latest(), vocabulary_service().newest()
    if latest is not None and latest.ended is None:
        _relabelling_progress(latest.id)
        return
    behind = newest is not None and (latest is None or latest.version < newest.number or latest.stopped)
    if latest is not None:
        st.caption(f":material/library_books: {_last_run(latest)}")
    documents = sum(map(has_labels, session.workbench().documents.list(archived=None))) if behind else 0
    if behind and documents:
        text_column, begin = st.columns([7, 3], vertical_alignment="center")
        text_column.markdown(
            ":material/sync: Documents read before still carry labels of the words before. What people confirmed stays."
        )
        rights.button(
            "vocabulary.relabelling.start",
            f"Label {count(documents, 'document')} again",
            key="settings.apply",
            icon=":material/sync:",
            width="stretch",
            on_click=_start_relabelling,
            on=begin,
        )


def _last_run(run: VocabularyRun) -> str:
    """What a run came to, in a sentence."""
    what = "was stopped after" if run.stopped else "looked at"
    others = f"{run.changed:,} of them have" if run.changed != 1 else "one of them has"
    outcome = f"{others} another domain, authority or jurisdiction now" if run.changed else "no label changed"
    return f"Relabelling with version {run.version} {what} {count(run.done, 'document')}: {outcome}."


@st.fragment(run_every=1.0)
def _relabelling_progress(run_id: int) -> None:
    with notices.show_errors():
        try:
            run = vocabulary_service().relabelling.latest()
        except NotFound:
            run = None
        if run is None or run.id != run_id or run.ended is not None:
            session.forget_answers()
            st.rerun()
        bar, stop = st.columns([7, 1], vertical_alignment="center")
        words = f"Relabelling with version {run.version} · {run.done:,} of {count(run.total, 'document')}"
        words += f", {run.changed:,} changed · begun {ago(run.at, utc_now())}{' · stopping' if run.stopped else ''}"
        bar.progress(min(1.0, run.done / max(1, run.total)), words)
        rights.button(
            "vocabulary.relabelling.stop",
            "Stop",
            key="settings.apply.stop",
            icon=":material/stop:",
            width="stretch",
            disabled=run.stopped,
            on_click=_stop_relabelling,
            args=(run.id,),
            on=stop,
        )


def _start_relabelling() -> None:
    apply_change(lambda: vocabulary_service().relabelling.start(who()), "Labels are being updated in the background.")
    session.forget_answers()


def _stop_relabelling(run_id: int) -> None:
    apply_change(lambda: vocabulary_service().relabelling.stop(run_id), "It ends after the document under way.")


_VIEWS = {
    "domains": "Domains",
    "authorities": "Authorities",
    "places": "Jurisdictions",
    "try": "Try it",
    "packs": "Packs and files",
    "versions": "Versions",
}

_CHANGES_SHOWN = 6  # changes listed in the bar; the rest is counted


def draw_vocabulary() -> None:
    """The saved version, unsaved changes, and the chosen view."""
    show_outcome()
    _heading()
    _unsaved_bar()
    draw_relabelling()
    _draw_view(view_switch(_VIEWS, "settings.words", "words"))


def _heading() -> None:
    newest = vocabulary_service().newest()
    version_words = "Using built-in vocabulary only."
    if newest is not None:
        by = f" by {plain(newest.who)}" if newest.who else ""
        why = f" · “{plain(newest.note)}”" if newest.note else ""
        version_words = f"Version {newest.number}, saved{by} {ago(newest.at, utc_now())}{why}."
    st.caption(f"**Vocabulary** · words used to label documents, parse questions and count coverage. {version_words}")


def _unsaved_bar() -> None:
    """Unsaved changes with their problems, and buttons to save or discard them."""
    changes = unsaved_changes()
    if not changes:
        return
    findings = check_vocabulary(draft())
    with st.container(border=True, gap="small"):
        st.markdown(f":material/edit: **{count(len(changes), 'change')} not saved yet**")
        rest = [f"{len(changes) - _CHANGES_SHOWN} more"] if len(changes) > _CHANGES_SHOWN else []
        st.caption("  \n".join([*(plain(each) for each in changes[:_CHANGES_SHOWN]), *rest]))
        if findings.problems:
            st.markdown("  \n".join(f":red[:material/error:] {plain(each)}" for each in findings.problems))
        if fresh := [
            each for each in findings.notices if each not in check_vocabulary(vocabulary_service().current()).notices
        ]:
            st.caption("  \n".join(f":material/info: {plain(each)}" for each in fresh))
        note, save, drop = st.columns([6, 2, 2], vertical_alignment="bottom")
        note.text_input(
            "Why", key=widget_key("note"), placeholder="Why, for those who read the versions", max_chars=200
        )
        rights.button(
            "vocabulary.save",
            "Save",
            key="settings.save",
            type="primary",
            icon=":material/save:",
            width="stretch",
            disabled=bool(findings.problems),
            on_click=_save,
            on=save,
        )
        drop.button("Discard", key="settings.discard", icon=":material/undo:", width="stretch", on_click=discard)


def _save() -> None:
    if untaken_fields():
        message = "What was typed below is not among the changes yet; nothing was saved."
        store_problem(BadRequest(message, "Press “Change” or “Add” beside it, then save."))
        return
    words, after, note = draft(), base_version(), str(st.session_state.get(widget_key("note")) or "")
    if apply_change(
        lambda: vocabulary_service().save(words, who=who(), note=note, after=after),
        f"Version {after + 1} is active.",
    ):
        after_saving()


def _draw_view(view: str) -> None:
    """Each view is read in when it is entered."""
    match view:
        case "authorities":
            from pages.components.settings.vocabulary_words import draw_authorities

            draw_authorities()
        case "places":
            from pages.components.settings.vocabulary_words import draw_places

            draw_places()
        case "try":
            draw_trial()
        case "packs":
            draw_files()
        case "versions":
            draw_versions()
        case _:
            from pages.components.settings.vocabulary_words import draw_domains

            draw_domains()
