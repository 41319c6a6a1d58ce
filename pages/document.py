"""Document: the reading room – one document whole, with find, outline and everything marked in it."""

import streamlit as st

from core.collaboration.target import Target, on_document
from core.domain.documents import DocumentState
from core.domain.errors import NotFound
from core.library.archive_members import is_container
from pages.components import cards, comments, notices, session, urls
from pages.components.document.reader import draw_reader
from pages.components.document.state import Opened, mark_ids, open_document, place_from
from pages.components.user_name import who
from pages.components.wording import count, day, plain, shorten, shorten_middle

_COMMENTS, _COMMENTS_OF = "document.comments", "document.comments.of"
_NAME = 90  # letters of the heading: one line at 1280 pixels


def _head(opened: Opened) -> None:
    document = opened.document
    name = document.name.rpartition("/")[2]
    st.set_page_config(page_title=f"{name} – Fivefold")
    st.subheader(plain(shorten_middle(name, _NAME)), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if document.state is DocumentState.READY:
            cards.truth_label_badge(document.labels.truth)
        else:
            cards.state_badge(document)
        facts = [shorten(document.title, 60)] if document.title and document.title != name else []
        facts += [count(document.pages, "page")] if document.paged else []
        facts += [f"dated {day(document.date)}"] if document.date else []
        facts += [document.project] if document.project else []
        facts += ["archived"] if document.archived else []
        st.caption(" · ".join(plain(fact) for fact in facts), width="content")
        st.space("stretch")
        with st.container(
            horizontal=True, width="content", vertical_alignment="center", gap="small"
        ):  # where it is narrow, all wrap
            _links(opened)


def _links(opened: Opened) -> None:
    document = opened.document
    _comment_toggle(on_document(document), _comments_open(document.id))
    if document.passages:
        inside = {"documents": str(document.id)}
        st.page_link(urls.page_path("search"), label="Search in it", icon=":material/search:", query_params=inside)
    details = {"document": str(document.id)}
    st.page_link(urls.page_path("library"), label="Details", icon=":material/info:", query_params=details)
    st.download_button(
        "Download",
        lambda: session.workbench().documents.uploaded(document.id),
        file_name=document.name.rpartition("/")[2],
        icon=":material/download:",
        on_click="ignore",
        type="tertiary",
    )


def _comments_open(document_id: int) -> bool:
    """Whether the comments are beside the document: the address asks for them, or the button was pressed."""
    state = st.session_state
    if state.get(_COMMENTS_OF) != document_id:
        state[_COMMENTS_OF] = document_id
        state[_COMMENTS] = urls.current_params().get("comments") == ["open"]
    return bool(state[_COMMENTS])


def _comment_toggle(target: Target, opened: bool) -> None:
    with notices.show_errors():
        label = "Comments" if opened else comments.label_of(*comments.of_target(target))
        icon = ":material/right_panel_close:" if opened else ":material/comment:"
        st.button(
            label, key="document.comments.toggle", icon=icon, type="tertiary", help="Hide" if opened else None,
            on_click=st.session_state.__setitem__, args=(_COMMENTS, not opened),
        )  # fmt: skip


def _count_use(opened: Opened, mark: str, question: str) -> None:
    """Opening a document counts as a use of the passage that the address marks, or of the whole document; once, however
    often the page is drawn."""
    state, library = st.session_state, session.workbench()
    if state.get("document.counted") == (opened.document.id, mark):
        return
    state["document.counted"] = (opened.document.id, mark)
    if opened.cited is None:
        library.usage.document_opened(opened.document.id, who())
    else:
        library.usage.opened(library.documents.passage(mark_ids(mark)[0]), question, who())


def _no_text(opened: Opened) -> None:
    """Nothing can be read: why, and what to do."""
    document = opened.document
    if document.failure:
        what, step = document.failure, document.remedy
    elif is_container(document):
        what, step = "This file only contains other files", "Its files are documents of their own in the library."
    elif document.state is DocumentState.PENDING:
        what, step = "This document is still being processed", "Open it again in a moment."
    else:
        what, step = "No text was found in this file", "Download it to look at it."
    notices.empty(":material/article:", plain(what), plain(step))


def draw() -> None:
    place = place_from(urls.current_params())
    try:
        opened = open_document(place)
    except NotFound as problem:
        notices.error(problem)
        st.page_link(urls.page_path("library"), label="Open Library", icon=":material/library_books:")
        return
    _head(opened)
    for warning in opened.document.warnings:
        st.caption(f":orange[:material/warning:] {plain(warning)}")
    if opened.problem is not None:
        notices.error(opened.problem)
    _count_use(opened, place.mark, place.question)
    if not _comments_open(opened.document.id):
        _content(opened)
        return
    reader, panel = st.columns([5, 2], gap="medium")
    with reader:
        _content(opened)
    with panel, st.container(border=True, gap="small", key="document_comments"):
        st.markdown("**Comments**")
        comments.comment_panel(on_document(opened.document), f"comments.document.{opened.document.id}")


def _content(opened: Opened) -> None:
    if any(text.strip() for text in opened.texts.values()) or (opened.drawn_as_pages and opened.parts):
        draw_reader(opened)
    else:
        _no_text(opened)


draw()
