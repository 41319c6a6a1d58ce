"""Upload: drop files, watch them being read, and check what they were taken for – the doubtful ones first."""

import streamlit as st

from core.documents import Document, DocumentState
from core.errors import FivefoldError
from core.results import UploadReceipt
from pages.parts import cards, labels, notices, session
from pages.parts.wording import bytes_in_words, count, plain, shortened

_STEPS = ("waiting", "read", "classify", "split", "embed", "store")
_PER_PAGE = 12


def _drop() -> None:
    """Files in, originals kept first; one bad file stops no other."""
    state = st.session_state
    with st.container(border=True):
        files = st.file_uploader(
            "Files",
            accept_multiple_files=True,
            key=f"upload.files.{state.setdefault('upload.round', 0)}",
            help="PDF, Word, HTML, Markdown and text; tables as CSV, TSV, Excel, Parquet or JSON."
            " The original is stored before anything reads it.",
        )
        where, tagged, go = st.columns([3, 3, 2], vertical_alignment="bottom")
        projects = sorted({each.project for each in session.workbench().documents() if each.project})
        project = where.selectbox(
            "Project",
            projects,
            index=None,
            accept_new_options=True,
            placeholder="None: shared by all projects",
            key="upload.project",
        )
        tags = tagged.multiselect("Tags", [], accept_new_options=True, placeholder="Optional", key="upload.tags")
        label = f"Upload {count(len(files), 'file')}" if files else "Upload"
        if go.button(label, type="primary", icon=":material/upload:", disabled=not files, width="stretch"):
            with st.spinner("Storing the originals …"):
                state["upload.told"] = [_stored(each.name, each.getvalue(), project, tags) for each in files]
            state["upload.round"] += 1
            st.rerun()


def _stored(name: str, data: bytes, project: str | None, tags: list[str]) -> UploadReceipt | FivefoldError:
    try:
        return session.workbench().upload(name, data, project=project, tags=tags)
    except FivefoldError as problem:
        return problem


def _told() -> None:
    """What became of the files just uploaded."""
    told: list[UploadReceipt | FivefoldError] = st.session_state.get("upload.told", [])
    if not told:
        return
    new = [each for each in told if isinstance(each, UploadReceipt) and not each.duplicate_of]
    known = [each for each in told if isinstance(each, UploadReceipt) and each.duplicate_of]
    with st.container(gap="xsmall"):
        if new:
            st.success(
                f"{count(len(new), 'original')} stored. You may close this tab; reading goes on.",
                icon=":material/check:",
            )
        if known:
            names = "; ".join(f"{plain(each.name)} is {plain(each.duplicate_of)}" for each in known[:8])
            st.info(f"{count(len(known), 'file')} already in the library: {names}", icon=":material/content_copy:")
        for each in told:
            if isinstance(each, FivefoldError):
                notices.error(each)
        st.button("Dismiss", icon=":material/close:", type="tertiary", on_click=_dismiss)


def _dismiss() -> None:
    st.session_state["upload.told"] = []


def _ease(document: Document) -> float:
    """Low for what needs a look most: failed, being read, doubtful labels, waiting, sure labels."""
    if document.state is DocumentState.FAILED:
        return 0.0
    if document.state is DocumentState.PENDING:
        return 3.0 if _waits(document) else 1.0
    label = document.labels.truth
    sureness = label.probability if label.value else 0.0
    return 2.0 + sureness if cards.unsure(document) else 4.0 + (1.0 if label.confirmed else sureness)


def _waits(document: Document) -> bool:
    return document.step in ("", _STEPS[0])


def _busy() -> bool:
    return bool(session.workbench().statistics().waiting_jobs)


def _list(documents: list[Document]) -> None:
    """The files, failed and doubtful ones first, then the newest."""
    running = [each for each in documents if each.state is DocumentState.PENDING]
    failed = [each for each in documents if each.state is DocumentState.FAILED]
    done = len(documents) - len(running)
    if running:
        current = next((each for each in running if not _waits(each)), running[0])
        st.progress(
            done / len(documents), f"{done:,} of {count(len(documents), 'file')} read · now {plain(current.name)}"
        )
    unsure = [each for each in documents if each.state is DocumentState.READY and cards.unsure(each)]
    doubtful = f"{len(failed)} failed · {len(unsure)} with a doubtful label"
    st.caption(f"{count(len(documents), 'file')} · {len(running)} in progress · {doubtful}")
    ordered = sorted(documents, key=_ease)
    pages = max(1, -(-len(ordered) // _PER_PAGE))
    page = st.pagination(pages, key="upload.page") if pages > 1 else 1
    for document in ordered[(page - 1) * _PER_PAGE : page * _PER_PAGE]:
        _row(document)


def _row(document: Document) -> None:
    """One file: how far it is, or why it failed, or what it was taken for and why."""
    with st.container(border=True, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.markdown(f"**{plain(shortened(document.name, 80))}**", width="content")
            if document.state is DocumentState.READY:
                cards.truth_badge(document.labels.truth.value, probability=document.labels.truth.probability)
                facts = f"{count(document.pages, 'page')} · {count(document.passages, 'passage')}"
                st.caption(f"{facts} · {bytes_in_words(document.size_bytes)}", width="content")
                with st.popover("Check labels", icon=":material/rule:", type="tertiary"):
                    labels.editor(document)
            else:
                cards.state_badge(document)
                st.caption(bytes_in_words(document.size_bytes), width="content")
        match document.state:
            case DocumentState.PENDING:
                if not _waits(document):
                    step = _STEPS.index(document.step) if document.step in _STEPS else 0
                    st.progress((step + 0.5) / len(_STEPS))
            case DocumentState.FAILED:
                _failure(document)
            case DocumentState.READY:
                _taken_for(document)


def _failure(document: Document) -> None:
    st.markdown(f":red[{plain(document.failure)}] {plain(document.remedy)}")
    with st.container(horizontal=True, gap="small"):
        if st.button("Try again", key=f"retry.{document.id}", icon=":material/refresh:", type="tertiary"):
            session.workbench().retry(document.id)
            st.rerun()
        if st.button("Remove", key=f"remove.{document.id}", icon=":material/delete:", type="tertiary"):
            session.workbench().delete(document.id)
            st.rerun()


def _taken_for(document: Document) -> None:
    label = document.labels.truth
    quote = label.evidence[0] if label.evidence else None
    why = f"“{shortened(quote.quote, 160)}” – {quote.rule}" if quote is not None else label.reason
    runner_up = f" · runner-up {label.runner_up} {label.runner_up_probability:.2f}" if label.runner_up else ""
    st.caption(plain("confirmed by hand" if label.confirmed else f"{why}{runner_up}"))
    for warning in document.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")


def _live() -> None:
    """The list, redrawn every second while jobs run, then once more as a whole."""

    @st.fragment(run_every=1.0 if _busy() else None)
    def drawn() -> None:
        documents = list(session.workbench().documents())
        busy = any(each.state is DocumentState.PENDING for each in documents)
        if st.session_state.get("upload.busy") and not busy:
            st.session_state["upload.busy"] = False
            st.rerun()
        st.session_state["upload.busy"] = busy
        _list(documents)

    drawn()


def draw() -> None:
    _drop()
    _told()
    if session.workbench().documents():
        _live()
    else:
        notices.empty(
            ":material/upload_file:",
            "No files yet",
            "Drop files above, or load the sample library on *Home* to look around first.",
        )


draw()
