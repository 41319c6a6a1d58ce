"""What the Upload page keeps in its session and its address: the list's filter and page, the open file, and what was
saved last."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.domain.documents import Document, DocumentState
from core.library.archive_members import is_container
from core.library.bulk_edit.store import ChangeSet
from core.library.upload_queue import UploadQueueView
from pages.components import cards, notices, session, urls
from pages.components.pager import page_from_params, page_params
from pages.components.user_name import who
from pages.components.wording import plain

__all__ = [
    "FINISHED",
    "LIST_PAGE",
    "NAME",
    "PER_PAGE",
    "VIEW",
    "CheckQueue",
    "checkable",
    "choose_truth",
    "chosen_truth",
    "close",
    "draw_saved",
    "forget_queue",
    "go_to",
    "keep_filters",
    "note_saved",
    "open_file",
    "open_uncertain",
    "opened",
    "queue_with",
    "read_url",
    "turn_page",
    "write_url",
]

VIEW, NAME, LIST_PAGE = "upload.shown", "upload.words", "upload.page"
"""Session keys: which files are listed, a part of their name, and the page of the list."""
PER_PAGE = 25  # files of a page: two screens of rows, drawn at once
_FILE, _QUEUE, _CHOSEN, _SAVED = "upload.file", "upload.queue", "upload.truth", "upload.saved"
FINISHED = 0
"""In place of a document's id: all documents of the queue were gone through."""
_MOST_QUEUED = 500  # documents checked in one go: more than anyone does in a day, and one quick query
_MOST_SAVED = 50  # changes that can be undone one after the other


def read_url() -> None:
    """Take filters, page and the open file from the URL, unless this page wrote it."""
    state, params = st.session_state, urls.current_params()
    if VIEW in state and not urls.is_new_request("upload", params):
        return
    filter_name = params.get("show", [""])[0]
    state[VIEW] = UploadQueueView(filter_name) if filter_name in set(UploadQueueView) else UploadQueueView.ALL
    state[NAME] = params.get("words", [""])[0]
    state[LIST_PAGE] = page_from_params(params)
    state[_FILE] = urls.number_in(params.get("file", [""])[0])
    state[_QUEUE] = None


def write_url() -> None:
    """Write filters, page and the open file to the URL."""
    state = st.session_state
    params: dict[str, list[str]] = {}
    params |= {"show": [state[VIEW].value]} if state[VIEW] is not UploadQueueView.ALL else {}
    params |= {"words": [state[NAME]]} if state[NAME] else {}
    params |= page_params(state[LIST_PAGE])
    params |= {"file": [str(opened())]} if opened() is not None else {}
    urls.write_params("upload", params)


def keep_filters() -> None:
    """Keep the filters of the list while it is not drawn: Streamlit forgets what belongs to no widget of a page, and
    tells the browser of a value only in the run that sets it. Called at each run, before the list."""
    for key in (VIEW, NAME):
        st.session_state[key] = st.session_state[key]


def turn_page(page: int = 1) -> None:
    """Go to a page of the list."""
    st.session_state[LIST_PAGE] = page


def opened() -> int | None:
    """The document that is open beside or above the list."""
    document_id: int | None = st.session_state.get(_FILE)
    return document_id


def open_file(document_id: int) -> None:
    """Open a document from the list."""
    go_to(document_id)
    forget_queue()


def chosen_truth(key: str, otherwise: str | None) -> str | None:
    """The truth chosen for the open document and not saved yet. key: of the document and the label it has."""
    own, value = st.session_state.get(_CHOSEN) or ("", "")
    return value if own == key else otherwise


def choose_truth(key: str, value: str) -> None:
    """Choose a truth for the open document; going elsewhere forgets it."""
    st.session_state[_CHOSEN] = (key, value)


def go_to(document_id: int | None) -> None:
    """Go to another document of the queue; None: past its end."""
    st.session_state[_CHOSEN] = None
    st.session_state[_FILE] = FINISHED if document_id is None else document_id


def close() -> None:
    """Back to the list."""
    st.session_state[_FILE] = st.session_state[_CHOSEN] = None
    forget_queue()


def forget_queue() -> None:
    """Determine the documents to check again."""
    st.session_state[_QUEUE] = None


def checkable(document: Document) -> bool:
    """Whether a document has labels that can be checked: it is read, and not just a package of others."""
    return document.state is DocumentState.READY and not is_container(document)


@dataclass(frozen=True, slots=True)
class CheckQueue:
    """The documents that next and previous go through, in the order they had when the first was opened: a corrected
    one may leave the list meanwhile. what: the words behind "3 of 12"."""

    document_ids: tuple[int, ...]
    what: str

    def before(self, document_id: int) -> int | None:
        """The one before; None at the beginning."""
        at = self.document_ids.index(document_id)
        return self.document_ids[at - 1] if at else None

    def after(self, document_id: int) -> int | None:
        """The one after; None at the end."""
        return next(iter(self.document_ids[self.document_ids.index(document_id) + 1 :]), None)


def queue_with(document: Document) -> CheckQueue:
    """The queue in use; a new one around a document when there is none: for an uncertain document all uncertain ones
    that have the part of a name asked for, else those of its page of the list."""
    known: CheckQueue | None = st.session_state.get(_QUEUE)
    if known is not None and document.id in known.document_ids:
        return known
    made = _uncertain(st.session_state[NAME]) if cards.unsure(document) else _listed()
    if document.id not in made.document_ids:
        made = CheckQueue((document.id,), "document")
    st.session_state[_QUEUE] = made
    return made


def _uncertain(name: str) -> CheckQueue:
    """The uncertain documents with this part of a name."""
    found = session.workbench().upload_queue.page(UploadQueueView.DOUBTFUL, name, cards.SURE, _MOST_QUEUED, 0)
    return CheckQueue(tuple(each.id for each in found), "uncertain")


def _listed() -> CheckQueue:
    state = st.session_state
    start = PER_PAGE * (state[LIST_PAGE] - 1)
    found = session.workbench().upload_queue.page(state[VIEW], state[NAME], cards.SURE, PER_PAGE, start)
    return CheckQueue(tuple(each.id for each in found if checkable(each)), "on this page")


def open_uncertain() -> None:
    """Open the first of all documents whose label is uncertain, whatever the list is narrowed to."""
    queue = st.session_state[_QUEUE] = _uncertain("")
    go_to(next(iter(queue.document_ids), None))


def note_saved(change: ChangeSet, words: str, document_id: int | None) -> None:
    """Remember a change that can be undone. words: safe markdown; document_id: the one to return to."""
    saved = [*st.session_state.get(_SAVED, ()), (change.id, words, document_id)]
    st.session_state[_SAVED] = saved[-_MOST_SAVED:]
    session.forget_answers()


def draw_saved(*, shortcut: bool = False) -> None:
    """The last change of labels with a button that undoes it. shortcut: whether the key U presses it."""
    saved = st.session_state.get(_SAVED, ())
    notices.show_outcome("upload")
    if not saved:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="upload_saved"):
        st.markdown(f":green[:material/check_circle:] {saved[-1][1]}", width="content")
        st.button(
            "Undo",
            key="upload.undo",
            icon=":material/undo:",
            type="tertiary",
            shortcut="U" if shortcut else None,
            help="The labels are again as they were before.",
            on_click=_undo,
        )


def _undo() -> None:
    """Undo the last change, and return to its document."""
    saved: Sequence[tuple[int, str, int | None]] = st.session_state[_SAVED]
    set_id, _, document_id = saved[-1]
    st.session_state[_SAVED] = list(saved[:-1])

    def undo() -> None:
        left = session.workbench().bulk_edit.undo(set_id, who() or "analyst").left
        if left:
            st.session_state["upload.said"] = plain(" ".join(left))

    if notices.apply_change("upload", undo) and document_id is not None and opened() is not None:
        go_to(document_id)
    session.forget_answers()
