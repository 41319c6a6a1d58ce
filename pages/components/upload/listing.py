"""The uploaded files, page by page: a compact row each; and background work that was given up."""

# Over 300 lines: the list of files, and what it shows of the open one.

from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from core.domain.documents import Document, DocumentState
from core.domain.errors import Cure, NotFound
from core.library.archive_members import is_container
from core.library.upload_queue import UploadCounts, UploadQueueView
from core.ports.job_queue import STOPPED, FailedWork, JobKind
from pages.components import browser_scripts, cards, notices, session
from pages.components.icon_button import icon_button
from pages.components.pager import draw_foot, pages_of, range_words
from pages.components.upload import state
from pages.components.upload.file_rows import file_rows, share_done, step_words
from pages.components.upload.remedies import (
    draw_container,
    draw_notes,
    draw_password_form,
    draw_replace_form,
    draw_replace_problem,
)
from pages.components.urls import page_path
from pages.components.user_name import who
from pages.components.wording import bytes_in_words, count, plain, shorten_middle

__all__ = ["draw_failed_work", "draw_listing"]

_TITLES = {
    UploadQueueView.ALL: "All",
    UploadQueueView.RUNNING: "In progress",
    UploadQueueView.FAILED: "Failed",
    UploadQueueView.DOUBTFUL: "Uncertain",
    UploadQueueView.DONE: "Done",
}


def draw_listing(now: UploadCounts) -> None:
    """The list, redrawn every second while files are read, then once more as a whole."""
    busy, first = bool(now.running), [now]
    opened = state.opened()

    @st.fragment(run_every=1.0 if busy else None)
    def drawn() -> None:
        counts = first.pop() if first else session.workbench().upload_queue.counts(cards.SURE)
        if (busy and not counts.running) or state.opened() != opened:
            st.rerun()
        _list(counts)

    drawn()


def _list(counts: UploadCounts) -> None:
    if not counts.all:
        notices.empty(
            ":material/upload_file:",
            "No files yet",
            "Drop files above, or look around in the sample library first.",
        )
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.page_link(page_path("home"), label="Load the sample library", icon=":material/auto_stories:")
        return
    found, queue = _narrow(counts), session.workbench().upload_queue
    shown, words = st.session_state[state.VIEW], st.session_state[state.NAME]
    total = found.of(shown)
    pages = pages_of(total, state.PER_PAGE)
    page = min(max(1, st.session_state[state.LIST_PAGE]), pages)
    state.turn_page(page)
    documents = queue.page(shown, words, cards.SURE, state.PER_PAGE, state.PER_PAGE * (page - 1))
    state.write_url()
    draw_file()
    if not documents:
        where = f"No file among “{_TITLES[shown]}”"
        notices.empty(":material/filter_alt_off:", plain(where), "Choose another kind above, or other words.")
        return
    _bulk(documents, counts)
    _rows(documents)
    draw_foot(page, pages, range_words(page, state.PER_PAGE, total, "file"), "upload.pager", state.turn_page)


def _rows(documents: Sequence[Document]) -> None:
    draw = browser_scripts.browser_component("fivefold_files", "upload/file_list.js")
    key = "upload.files"
    draw(
        key=key,
        data={"label": "Uploaded files", "rows": file_rows(documents), "open": state.opened()},
        on_opened_change=partial(_act, key, "opened"),
        on_stop_change=partial(_act, key, "stop"),
        on_again_change=partial(_act, key, "again"),
    )


def _act(key: str, what: str) -> None:
    """What was clicked in a row: open the file, stop it, or try it again."""
    clicked = st.session_state[key][what]
    if clicked is None:
        return
    queue = session.workbench().upload_queue
    match what:
        case "opened":
            state.open_file(int(clicked))
        case "stop":
            queue.stop([int(clicked)])
        case "again":
            queue.try_again([int(clicked)])


def _narrow(counts: UploadCounts) -> UploadCounts:
    """Filters by state and by name; returns the counts for that name."""
    kinds, name = st.columns([7, 3], vertical_alignment="bottom")
    words = name.text_input(
        "Name",
        key=state.NAME,
        type="search",
        placeholder="Find by name",
        label_visibility="collapsed",
        on_change=state.turn_page,
    )
    kinds.segmented_control(
        "Shown",
        list(UploadQueueView),
        key=state.VIEW,
        required=True,
        label_visibility="collapsed",
        format_func=_TITLES.__getitem__,  # without counts: they change under the pointer
        on_change=state.turn_page,
    )
    return session.workbench().upload_queue.counts(cards.SURE, words) if words.strip() else counts


def _bulk(documents: Sequence[Document], counts: UploadCounts) -> None:
    """Actions on many files at once. counts: of the whole library, whatever is shown."""
    unconfirmed = [
        (each.id, "truth", each.labels.truth.value)
        for each in documents
        if each.state is DocumentState.READY
        and each.labels.truth.value
        and not each.labels.truth.confirmed
        and not cards.unsure(each)  # an uncertain label is confirmed one by one, beside its text
    ]
    if not unconfirmed and not counts.again:
        return
    with st.container(horizontal=True, gap="small"):
        if unconfirmed:
            st.button(
                _confirm_words(len(unconfirmed)),
                key="upload.confirm",
                icon=":material/done_all:",
                type="tertiary",
                help="Confirmed labels override the classifier and train it.",
                on_click=_confirm,
                args=(unconfirmed,),
            )
        if counts.again:
            st.button(
                _retry_words(counts.again, counts.failed),
                key="upload.again",
                icon=":material/refresh:",
                type="tertiary",
                help="The others would fail again: only another file, or their password, helps."
                if counts.again < counts.failed
                else None,
                on_click=_retry_all,
            )


def _confirm(changes: Sequence[tuple[int, str, str]]) -> None:
    def confirm() -> None:
        change = session.workbench().bulk_edit.set_labels(changes, who() or "analyst")
        state.note_saved(change, f"{count(len(changes), 'label')} confirmed.", None)

    notices.apply_change("upload", confirm)


def _confirm_words(number: int) -> str:
    """
    >>> _confirm_words(1), _confirm_words(4)
    ('Confirm the certain label on this page', 'Confirm all 4 certain labels on this page')
    """
    return f"Confirm {'the' if number == 1 else f'all {number:,}'} certain label{'s' * (number > 1)} on this page"


def _retry_words(again: int, failed: int) -> str:
    """
    >>> _retry_words(1, 1), _retry_words(3, 3), _retry_words(2, 5)
    ('Try the failed one again', 'Try all 3 failed again', 'Try 2 of 5 failed again')
    """
    if again < failed:
        return f"Try {again:,} of {failed:,} failed again"
    return f"Try all {failed:,} failed again" if failed > 1 else "Try the failed one again"


def _retry_all() -> None:
    queued = session.workbench().upload_queue.try_again()
    st.toast(f"{count(queued, 'file')} queued again.", icon=":material/refresh:")


_JOB_TITLES: Mapping[JobKind, str] = {
    JobKind.INGEST: "Reading a file",
    JobKind.ENRICH: "Enriching a document",
    JobKind.FEED: "Fetching a feed",
    JobKind.FOLDER: "Looking through a folder",
    JobKind.LEARN: "Learning from corrections",
    JobKind.RELABEL: "Relabelling",
    JobKind.ALERT: "Checking a saved search",
    JobKind.MAIL: "Sending an e-mail",
    JobKind.WEBHOOK: "Posting to the webhook",
}

_MOST_FAILED_JOBS = 5  # listed; chosen by hand


def draw_failed_work() -> None:
    """The latest failed background jobs."""
    failed = session.workbench().jobs.failed()
    if not failed:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown(f":red[:material/error: {count(len(failed), 'job')} in the background failed]")
        for each in failed[:_MOST_FAILED_JOBS]:
            _failed_job(each)
        if len(failed) > _MOST_FAILED_JOBS:
            st.caption(f"and {len(failed) - _MOST_FAILED_JOBS:,} more")


def _failed_job(failed: FailedWork) -> None:
    title = _JOB_TITLES.get(failed.kind, str(failed.kind).capitalize())
    named = f" (number {failed.number})" if failed.number else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(f"{title}{named}: {failed.reason} {failed.remedy}"), width="content")
        st.button(
            "Try again",
            key=f"work.again.{failed.kind}.{failed.number}",
            icon=":material/refresh:",
            type="tertiary",
            on_click=session.workbench().jobs.retry,
            args=(failed,),
        )


def draw_file() -> None:
    """The file opened from the list, above it; draws nothing when none is open."""
    document_id = state.opened()
    if document_id is None:
        return
    try:
        document = session.workbench().documents.get(document_id)
    except NotFound:
        notices.error(NotFound("This file is no longer in the library.", "It was deleted, or another took its place."))
        state.close()
        return
    if state.checkable(document):  # it was read meanwhile
        st.rerun()
    with st.container(border=True, gap="xsmall", key=f"upload.file.{document.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(shorten_middle(document.name, 120))}**", width="stretch")
            icon_button(":material/close:", "Close", "upload.close", state.close)
        _details(document)


def _details(document: Document) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if is_container(document) and document.state is DocumentState.READY:
            members = session.workbench().upload_queue.members([document.id])
            draw_container(document, members.get(document.id, ()))
        elif document.state is DocumentState.FAILED and document.step == STOPPED:
            st.badge("stopped", icon=":material/stop_circle:", color="gray")
        else:
            cards.state_badge(document)
        if not is_container(document):
            pages = f"{count(document.pages, 'page')} · " if document.pages else ""
            st.caption(f"{pages}{bytes_in_words(document.size_bytes)}", width="content")
    match document.state:
        case DocumentState.PENDING:
            st.progress(share_done(document))
            st.caption("Its labels can be checked as soon as it is read.")
            st.button(
                "Stop",
                key=f"stop.{document.id}",
                icon=":material/stop_circle:",
                type="tertiary",
                on_click=_stop,
                args=(document.id,),
            )
        case DocumentState.FAILED:
            _failure(document)
        case DocumentState.READY:
            draw_notes(document)


def _failure(document: Document) -> None:
    if document.step == STOPPED:
        st.caption(plain(f"{cards.failure_words(document)} {document.remedy}"))
    else:
        at = f" :gray[· at the step “{plain(step_words(document))}”]" if document.step else ""
        st.markdown(f":red[{plain(cards.failure_words(document))}] {plain(document.remedy)}{at}")
    draw_password_form(document)
    with st.container(horizontal=True, gap="small"):
        if document.cure is Cure.AGAIN:
            st.button(
                "Try again",
                key=f"retry.{document.id}",
                icon=":material/refresh:",
                type="tertiary",
                on_click=_try_again,
                args=(document.id,),
            )
        else:
            draw_replace_form(document, then=lambda new_id: state.close())
        st.button(
            "Remove",
            key=f"remove.{document.id}",
            icon=":material/delete:",
            type="tertiary",
            help="*Trash* in the library restores it.",
            on_click=_remove,
            args=(document.id,),
        )
    draw_replace_problem(document)


def _stop(document_id: int) -> None:
    session.workbench().upload_queue.stop([document_id])


def _try_again(document_id: int) -> None:
    session.workbench().upload_queue.try_again([document_id])


def _remove(document_id: int) -> None:
    def remove() -> None:
        change = session.workbench().bulk_edit.delete(document_id, who() or "analyst")
        state.note_saved(change, f"{plain(shorten_middle(change.changes[0].name, 60))} removed.", None)

    if notices.apply_change("upload", remove):
        state.close()
