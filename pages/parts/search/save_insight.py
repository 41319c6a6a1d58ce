"""A note on a result: written where the sentence stands, linked to it, and found by the next search."""

from collections.abc import Sequence

import streamlit as st

from core.documents import Origin
from core.errors import FivefoldError
from core.memories import Insight, Link
from core.notes.desk import MOST_LETTERS
from core.notes.links import link_of
from core.results import Hit, SearchResult
from pages.parts import notices, session
from pages.parts.insights.looks import sector_choice
from pages.parts.insights.note import tag_choice
from pages.parts.insights.state import desk, link_to
from pages.parts.person import who
from pages.parts.urls import page_path
from pages.parts.wording import plain, shortened

__all__ = ["save_button"]

_HEIGHT = 510
"""Pixels kept for the form before it is there: a box finds its place by what it holds when it opens."""


def save_button(hit: Hit, result: SearchResult) -> None:
    """A button that opens a note on this result; what is written is kept with the cited sentence, and writing does
    not draw the results again. A result that is itself a note is opened instead."""
    passage = hit.candidate.passage
    if passage.origin is not Origin.DOCUMENT:
        label = f"Open this {passage.origin.value}"
        target = {"document": str(passage.document_id)}
        st.page_link(page_path("insights"), label=label, icon=":material/open_in_new:", query_params=target)
        return
    with st.container(width="content"):
        _box(hit, result, f"note.{passage.id}")


@st.fragment
def _box(hit: Hit, result: SearchResult, key: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        box = st.popover(
            "Note", key=key, icon=":material/edit_note:", type="tertiary", on_change="rerun", width="content"
        )
        with box, st.container(width=460, height=_HEIGHT, border=False):
            if box.open:
                _form(hit, result, key)
        saved: Insight | None = st.session_state.get(f"{key}.saved")
        if saved is not None:
            link_to(saved, f"Saved as insight {saved.id}")
        if said := st.session_state.pop(f"{key}.said", ""):
            st.toast(said, icon=":material/check:")


def _form(hit: Hit, result: SearchResult, key: str) -> None:
    passage = hit.candidate.passage
    _known(passage.document_id, passage.id)
    text = st.text_area(
        "Note", key=f"{key}.text", height=100, max_chars=MOST_LETTERS, placeholder="What should be remembered of this?"
    )
    links = _links(hit, key)
    _sector(text, key)
    with notices.told():
        tag_choice(f"{key}.tags", list(desk().counts(Insight).tags))
    st.caption(f"In the name of {plain(who())}." if who() else "Without a name; say who you are on *Insights*.")
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)
    st.button(
        "Save",
        key=f"{key}.save",
        type="primary",
        icon=":material/save:",
        on_click=_save,
        args=(key, links, hit, result),
    )


def _known(document_id: int, passage_id: int) -> None:
    """What was noted of this passage before."""
    with notices.told():
        before = [each for each in desk().about([document_id]) if passage_id in [k.passage_id for k in each.links]]
        for each in before[:3]:
            link_to(each, f"Noted before: {plain(shortened(each.text, 80))}")


def _links(hit: Hit, key: str) -> Sequence[Link]:
    """The sentences it rests on: the one that answers, unless others are chosen."""
    offered = {each.citation_id: each for each in hit.citations}
    if not offered:
        return ()
    st.session_state.setdefault(f"{key}.links", [hit.citations[0].citation_id])
    chosen = st.multiselect(
        "Rests on",
        list(offered),
        key=f"{key}.links",
        format_func=lambda citation_id: f"“{shortened(offered[citation_id].quote, 120)}”",
        placeholder="No sentence",
    )
    return [link_of(offered[each]) for each in chosen]


def _sector(text: str, key: str) -> None:
    """The sector suggested from what is written, until another one is chosen."""
    state = st.session_state
    suggested = desk().suggest_sector(text)
    if state.get(f"{key}.sector") in (None, state.get(f"{key}.suggested")):
        state[f"{key}.sector"] = suggested.sector
    state[f"{key}.suggested"] = suggested.sector
    sector_choice("Sector", f"{key}.sector")
    if text.strip() and state[f"{key}.sector"] is suggested.sector:
        st.caption(f"Suggested: {plain(suggested.reason)}.")


def _save(key: str, links: Sequence[Link], hit: Hit, result: SearchResult) -> None:
    typed = st.session_state
    document = result.documents.get(hit.candidate.passage.document_id)
    text = typed.get(f"{key}.text") or ""
    try:
        chosen, suggested = typed.get(f"{key}.sector"), desk().suggest_sector(text).sector
        saved = desk().save(
            text,
            tags=typed.get(f"{key}.tags") or (),
            sector=None if chosen in (None, suggested) else chosen,
            links=links,
            question=result.request.question,
            project=result.filters.project or (document.project if document else None),
            who=who(),
        )
    except FivefoldError as problem:
        typed[f"{key}.problem"] = problem
        return
    for field in ("text", "tags", "sector", "suggested", "links"):
        typed.pop(f"{key}.{field}", None)
    typed[f"{key}.saved"], typed[key] = saved, False
    typed[f"{key}.said"] = f"Saved as insight {saved.id}; the next search finds it."
    session.forget_answers()
