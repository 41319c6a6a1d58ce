"""The uploaded files, page by page: progress, outcome and actions of each; and background work that was given up."""
# Longer than 300 lines: a file is shown on its way, ready and failed.

from collections.abc import Mapping, Sequence

import streamlit as st

from core.domain.documents import Document, DocumentState
from core.domain.errors import Cure, NotFound
from core.library.archive_members import is_container
from core.library.upload_queue import UploadCounts, UploadPace, UploadQueueView
from core.ports.job_queue import STOPPED, WAITING, FailedWork, JobKind
from pages.components import cards, labels, notices, session, urls
from pages.components.library.related_documents import draw_related
from pages.components.pager import draw_foot, page_from_params, page_params, pages_of, range_words
from pages.components.upload.remedies import (
    draw_container,
    draw_notes,
    draw_password_form,
    draw_replace_form,
    draw_replace_problem,
)
from pages.components.urls import page_path
from pages.components.user_name import who
from pages.components.wording import bytes_in_words, count, plain, shorten, shorten_middle

__all__ = ["STEPS", "draw_failed_work", "draw_listing", "draw_progress", "share_done", "step_words"]


STEPS = ("waiting", "read", "load", "classify", "split", "embed", "store")
"""The steps of a file in their order."""

_MOST_NAMES = 2  # running files named; chosen by hand


def draw_progress(counts: UploadCounts) -> None:
    """A progress bar of the running files; draws nothing when all are read."""
    if not counts.running:
        return
    queue = session.workbench().upload_queue
    read, pace = queue.read_since(), queue.pace()
    parts = [f"{read:,} of {count(read + counts.running, 'file')} read"]
    if pace.files_per_minute:
        parts += [f"{_rounded(pace.files_per_minute)} a minute", _time_left(pace, counts.running)]
    now = queue.reading(_MOST_NAMES + 1)
    names = ", ".join(plain(shorten_middle(each.name, 40)) for each in now[:_MOST_NAMES])
    parts += [f"now {names}{' and more' if len(now) > _MOST_NAMES else ''}"] if now else []
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(read / (read + counts.running), " · ".join(parts))
        st.button(
            "Stop all",
            key="upload.stop",
            icon=":material/stop_circle:",
            type="tertiary",
            width="content",
            help="Files that wait or are being read stay in the list as stopped, and can be tried again.",
            on_click=_stop_all,
        )


def _stop_all() -> None:
    stopped = session.workbench().upload_queue.stop()
    st.toast(f"{count(stopped, 'file')} stopped.", icon=":material/stop_circle:")


def _rounded(number: float) -> str:
    """
    >>> _rounded(3.25), _rounded(41.7)
    ('3.2', '42')
    """
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def _time_left(pace: UploadPace, files: int) -> str:
    """
    >>> _time_left(UploadPace(60.0), 30), _time_left(UploadPace(1.0), 2), _time_left(UploadPace(10.0), 2000)
    ('less than a minute left', 'about 2 min left', 'about 3.3 hours left')
    """
    minutes = pace.minutes_left(files) or 0.0
    if minutes < 1:
        return "less than a minute left"
    return f"about {minutes:.0f} min left" if minutes < 90 else f"about {minutes / 60:.1f} hours left"


def share_done(document: Document) -> float:
    """How much of a file is done, in [0, 1], by its step: "embed 48/120" is further than "embed 12/120"."""
    step, _, within = document.step.partition(" ")
    done, _, total = within.partition("/")
    part = int(done) / int(total) if done.isdecimal() and total.isdecimal() and int(total) else 0.5
    return (STEPS.index(step) + part) / len(STEPS) if step in STEPS else 0.0


def step_words(document: Document) -> str:
    """The step of a file for people: "embed 48/120" is "embed: 48 of 120 passages"."""
    step, _, within = document.step.partition(" ")
    done, _, total = within.partition("/")
    return (
        f"{step}: {int(done):,} of {count(int(total), 'passage')}" if done.isdecimal() and total.isdecimal() else step
    )


_JOB_TITLES: Mapping[JobKind, str] = {
    JobKind.INGEST: "Reading a file",
    JobKind.ENRICH: "Enriching a document",
    JobKind.FEED: "Fetching a feed",
    JobKind.FOLDER: "Looking through a folder",
    JobKind.LEARN: "Learning from corrections",
    JobKind.RELABEL: "Relabelling",
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


_PER_PAGE = 12  # chosen by hand
_TITLES = {
    UploadQueueView.ALL: "All",
    UploadQueueView.RUNNING: "In progress",
    UploadQueueView.FAILED: "Failed",
    UploadQueueView.DOUBTFUL: "Uncertain",
    UploadQueueView.DONE: "Done",
}
_VIEW, _WORDS, _PAGE = "upload.shown", "upload.words", "upload.page"
_LISTED, _CHECKED, _ORDER = "upload.listed", "upload.checked", "upload.order"


def draw_listing() -> None:
    """The list, redrawn every second while files are read, then once more as a whole."""
    _read_url()
    busy = bool(session.workbench().upload_queue.counts(cards.SURE).running)

    @st.fragment(run_every=1.0 if busy else None)
    def drawn() -> None:
        counts = session.workbench().upload_queue.counts(cards.SURE)
        if busy and not counts.running:
            st.rerun()
        _list(counts)

    drawn()


def _read_url() -> None:
    """Take over filters and page from the URL, unless this page wrote it."""
    state, params = st.session_state, urls.current_params()
    if _VIEW in state and not urls.is_new_request("upload", params):
        return
    asked = params.get("show", [""])[0]
    state[_VIEW] = UploadQueueView(asked) if asked in set(UploadQueueView) else UploadQueueView.ALL
    state[_WORDS] = params.get("words", [""])[0]
    state[_PAGE] = page_from_params(params)


def _write_url() -> None:
    state = st.session_state
    params: dict[str, list[str]] = {}
    params |= {"show": [state[_VIEW].value]} if state[_VIEW] is not UploadQueueView.ALL else {}
    params |= {"words": [state[_WORDS]]} if state[_WORDS] else {}
    params |= page_params(state[_PAGE])
    urls.write_params("upload", params)


def _first_page() -> None:
    _turn_page(1)


def _turn_page(page: int) -> None:
    st.session_state[_PAGE] = page


def _list(counts: UploadCounts) -> None:
    draw_progress(counts)
    state, queue = st.session_state, session.workbench().upload_queue
    if not counts.all:
        notices.empty(
            ":material/upload_file:",
            "No files yet",
            "Drop files above, or load the sample library on *Home* to look around first.",
        )
        with st.container(horizontal=True, horizontal_alignment="center"):
            st.page_link(page_path("home"), label="Load the sample library", icon=":material/auto_stories:")
        return
    found = _narrow(counts)
    shown, words, total = state[_VIEW], state[_WORDS], found.of(state[_VIEW])
    pages = pages_of(total, _PER_PAGE)
    page = state[_PAGE] = min(max(1, state[_PAGE]), pages)
    documents = queue.page(shown, words, cards.SURE, _PER_PAGE, _PER_PAGE * (page - 1))
    _write_url()
    if not documents:
        where = f"No file among “{_TITLES[shown]}”"
        notices.empty(":material/filter_alt_off:", plain(where), "Choose another kind above, or other words.")
        return
    state[_LISTED] = [each.id for each in documents if each.state is DocumentState.READY and not is_container(each)]
    if _checked() is None:
        _cards(documents, counts)
    else:
        listed, panel = st.columns([1, 1], gap="medium")
        with listed:
            _cards(documents, counts)
        with panel:
            _draw_check()
    draw_foot(page, pages, range_words(page, _PER_PAGE, total, "file"), "upload.pager", _turn_page)


def _cards(documents: Sequence[Document], counts: UploadCounts) -> None:
    queue = session.workbench().upload_queue
    _bulk(documents, counts)
    related = session.workbench().versions.related(documents)
    members = queue.members([each.id for each in documents if is_container(each)])
    for document in documents:
        with st.container(border=True, gap="xsmall"):
            _row(document, members.get(document.id, ()))
            if document.id in related:
                draw_related(document, related[document.id], most=1)


def _checked() -> Document | None:
    """The document whose labels are checked; it stays open whatever its corrections do to the list."""
    document_id = st.session_state.get(_CHECKED)
    try:
        return None if document_id is None else session.workbench().documents.get(document_id)
    except NotFound:
        st.session_state[_CHECKED] = None
        return None


def _open_check(document_id: int) -> None:
    """Open a document's labels. The order of the list is kept: a corrected document may leave it meanwhile."""
    st.session_state[_CHECKED] = document_id
    st.session_state[_ORDER] = tuple(st.session_state[_LISTED])


def _go_to(document_id: int | None) -> None:
    st.session_state[_CHECKED] = document_id


def _draw_check() -> None:
    """The labels of one document beside the list: its name, its editor, and the way to the next one."""
    document = _checked()
    if document is None:
        return
    order = st.session_state[_ORDER]
    place = order.index(document.id)
    with st.container(border=True, key=f"check.panel.{document.id}"):
        st.markdown(f"**Labels of {plain(shorten_middle(document.name, 80))}**")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{place + 1} of {count(len(order), 'document')} on this page", width="stretch")
            for label, icon, target in (
                ("Previous document", "arrow_back", order[place - 1] if place else None),
                ("Next document", "arrow_forward", order[place + 1] if place + 1 < len(order) else None),
            ):
                st.button(
                    f":material/{icon}:",
                    key=f"check.{icon}",
                    help=label,
                    type="tertiary",
                    disabled=target is None,
                    on_click=_go_to,
                    args=(target,),
                )
            st.button(
                ":material/close:", key="check.close", help="Close", type="tertiary", on_click=_go_to, args=(None,)
            )
        labels.draw_editor(document)


def _narrow(counts: UploadCounts) -> UploadCounts:
    """Filters by state and by name; returns the counts for that name."""
    kinds, name = st.columns([7, 3], vertical_alignment="bottom")
    words = name.text_input(
        "Name",
        key=_WORDS,
        type="search",
        placeholder="Part of a name",
        label_visibility="collapsed",
        on_change=_first_page,
    )
    found = session.workbench().upload_queue.counts(cards.SURE, words) if words.strip() else counts
    kinds.segmented_control(
        "Shown",
        list(UploadQueueView),
        key=_VIEW,
        required=True,
        label_visibility="collapsed",
        format_func=_TITLES.__getitem__,  # without counts: they change under the pointer
        on_change=_first_page,
    )
    state = f"{found.running:,} in progress · {found.failed:,} failed · {count(found.doubtful, 'uncertain label')}"
    st.caption(f"{count(found.all, 'file')} · {state} · {found.done:,} done")
    return found


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
    with notices.show_errors():
        session.workbench().bulk_edit.set_labels(changes, who() or "analyst")
        st.toast(f"{count(len(changes), 'label')} confirmed.", icon=":material/done_all:")
    session.forget_answers()


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


def _row(document: Document, members: Sequence[Document]) -> None:
    """One file: how far it is, or why it failed, or what it was taken for and why."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{plain(shorten_middle(document.name, 80))}**", width="content")
        if is_container(document):
            draw_container(document, members)
        elif document.state is DocumentState.READY:
            truth = document.labels.truth
            cards.truth_badge(truth.value, probability=truth.probability)
            facts = f"{count(document.pages, 'page')} · {count(document.passages, 'passage')}"
            st.caption(f"{facts} · {bytes_in_words(document.size_bytes)}", width="content")
            st.button(
                "Check labels",
                key=f"check.{document.id}",
                icon=":material/rule:",
                type="tertiary",
                on_click=_open_check,
                args=(document.id,),
            )
        else:
            _processing_state(document)
    match document.state:
        case DocumentState.PENDING:
            if document.step not in ("", WAITING):
                st.progress(share_done(document))
        case DocumentState.FAILED:
            _failure(document)
        case DocumentState.READY if is_container(document):
            draw_notes(document)
        case DocumentState.READY:
            _label_reason(document)


def _processing_state(document: Document) -> None:
    """The state of an unread file, with its size and a stop button."""
    if document.state is DocumentState.FAILED and document.step == STOPPED:
        st.badge("stopped", icon=":material/stop_circle:", color="gray")
    elif document.state is DocumentState.FAILED:
        cards.state_badge(document)
    else:
        waits = document.step in ("", WAITING)
        words, icon = (
            (WAITING, "hourglass_empty") if waits else (f"in progress: {step_words(document)}", "hourglass_top")
        )
        st.badge(words, icon=f":material/{icon}:", color="gray")
    pages = f"{count(document.pages, 'page')} · " if document.pages else ""
    st.caption(f"{pages}{bytes_in_words(document.size_bytes)}", width="content")
    if document.state is DocumentState.PENDING:
        st.button(
            "Stop",
            key=f"stop.{document.id}",
            icon=":material/stop_circle:",
            type="tertiary",
            on_click=_stop,
            args=(document.id,),
        )


def _stop(document_id: int) -> None:
    session.workbench().upload_queue.stop([document_id])


def _failure(document: Document) -> None:
    if document.step == STOPPED:
        st.caption(plain(f"{document.failure} {document.remedy}"))
    else:
        at = f" :gray[(at the step “{plain(step_words(document))}”)]" if document.step else ""
        st.markdown(f":red[{plain(document.failure)}] {plain(document.remedy)}{at}")
    draw_password_form(document)
    with st.container(horizontal=True, gap="small"):
        if document.cure is Cure.AGAIN:
            if st.button("Try again", key=f"retry.{document.id}", icon=":material/refresh:", type="tertiary"):
                session.workbench().upload_queue.try_again([document.id])
                st.rerun()
        else:
            draw_replace_form(document)
        if st.button("Remove", key=f"remove.{document.id}", icon=":material/delete:", type="tertiary"):
            session.workbench().bulk_edit.delete(document.id, who() or "analyst")
            st.rerun()
    draw_replace_problem(document)


def _label_reason(document: Document) -> None:
    label = document.labels.truth
    quote = next((each for each in label.evidence if each.quote), None)
    share = labels.evidence_shares(label).get(quote) if quote is not None else None
    part = f" ({share:.0%} of what decided)" if share is not None and share < 1 else ""
    why = f"“{shorten(quote.quote, 160)}” – {quote.rule}{part}" if quote is not None else label.reason
    runner_up = f" · runner-up {label.runner_up} {label.runner_up_probability:.0%}" if labels.contested(label) else ""
    st.caption(plain("confirmed" if label.confirmed else f"{why}{runner_up}"))
    for warning in document.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")
