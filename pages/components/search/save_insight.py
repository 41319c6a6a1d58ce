"""Saving a sentence as an insight, or a search with its opened results as an episode."""

from collections.abc import Callable, Sequence

import streamlit as st

from core.domain.documents import Origin
from core.domain.errors import FivefoldError
from core.domain.results import Hit, SearchResult
from core.insights.service import MOST_LETTERS, link_of
from core.insights.store import Episode, EvidenceLink, Insight
from core.search.citations.cite import display_quote
from pages.components import notices, rights, session
from pages.components.cards import OUTCOMES, sector_choice
from pages.components.insights.listing import tag_choice
from pages.components.insights.state import insight_service, link_to
from pages.components.urls import page_path
from pages.components.user_name import who
from pages.components.wording import count, plain, shorten, shorten_middle

__all__ = ["episode_button", "save_button"]

_HEIGHT = 510
"""Pixels kept for the form before it is there: a box finds its place by what it holds when it opens."""


def save_button(hit: Hit, result: SearchResult) -> None:
    """A button that opens a note on this result and stores it with the cited sentence, without drawing the results
    again. A result that is itself a note is opened instead."""
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
    refusal = rights.refusal("insights.save")
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        box = st.popover(
            "Note",
            key=key,
            icon=":material/edit_note:",
            type="tertiary",
            on_change="rerun",
            width="content",
            disabled=bool(refusal),
            help=refusal or None,
        )
        with box, st.container(width=460, height=_HEIGHT, border=False):
            if box.open:
                _form(hit, result, key)
        saved: Insight | None = st.session_state.get(f"{key}.saved")
        if saved is not None:
            link_to(saved, f"Saved as insight {saved.id}")
        if message := st.session_state.pop(f"{key}.said", ""):
            st.toast(message, icon=":material/check:")


def _form(hit: Hit, result: SearchResult, key: str) -> None:
    passage = hit.candidate.passage
    _earlier_insights(passage.document_id, passage.id)
    text = st.text_area("Note", key=f"{key}.text", height=100, max_chars=MOST_LETTERS, placeholder="Your note")
    links = _links(hit, key)
    _sector(text, key)
    with notices.show_errors():
        tag_choice(f"{key}.tags", list(insight_service().counts(Insight).tags))
    _save_button("Save", key, _save, (key, links, hit, result))


def _save_button(title: str, key: str, save: Callable[..., None], args: tuple[object, ...]) -> None:
    """In whose name, why the last try failed, and the button."""
    st.caption(f"In the name of {plain(who())}." if who() else "Saved anonymously. Set your name on *Insights*.")
    if problem := st.session_state.pop(f"{key}.problem", None):
        notices.error(problem)
    st.button(title, key=f"{key}.save", type="primary", icon=":material/save:", on_click=save, args=args)


def _earlier_insights(document_id: int, passage_id: int) -> None:
    """Earlier notes on this passage."""
    with notices.show_errors():
        before = [
            each for each in insight_service().about([document_id]) if passage_id in [k.passage_id for k in each.links]
        ]
        for each in before[:3]:
            link_to(each, f"Noted before: {plain(shorten(each.text, 80))}")


def _links(hit: Hit, key: str) -> Sequence[EvidenceLink]:
    """The sentences it rests on: the one that answers, unless others are chosen."""
    offered = {each.citation_id: each for each in hit.citations}
    if not offered:
        return ()
    st.session_state.setdefault(f"{key}.links", [hit.citations[0].citation_id])
    chosen = st.multiselect(
        "Evidence",
        list(offered),
        key=f"{key}.links",
        format_func=lambda citation_id: f"“{shorten(display_quote(offered[citation_id].quote), 120)}”",
        placeholder="No sentence",
    )
    return [link_of(offered[each]) for each in chosen]


def _sector(text: str, key: str) -> None:
    """The sector suggested from the text, until another one is chosen."""
    state = st.session_state
    suggested = insight_service().suggest_sector(text)
    if state.get(f"{key}.sector") in (None, state.get(f"{key}.suggested")):
        state[f"{key}.sector"] = suggested.sector
    state[f"{key}.suggested"] = suggested.sector
    sector_choice("Sector", f"{key}.sector")
    if text.strip() and state[f"{key}.sector"] is suggested.sector:
        st.caption(f"Suggested: {plain(suggested.reason)}.")


def _save(key: str, links: Sequence[EvidenceLink], hit: Hit, result: SearchResult) -> None:
    typed = st.session_state
    document = result.documents.get(hit.candidate.passage.document_id)
    text = typed.get(f"{key}.text") or ""
    try:
        chosen, suggested = typed.get(f"{key}.sector"), insight_service().suggest_sector(text).sector
        saved = insight_service().save(
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


_EPISODE = "episode"

_FIELDS = ("reward", "reflection", "tags")

_EPISODE_HEIGHT = 480
"""Pixels kept for the form before it is there: a box finds its place by what it holds when it opens."""


def episode_button(result: SearchResult, opened: Sequence[int]) -> None:
    """A button that saves the question and its outcome as an episode."""
    with st.container(width="content"):
        _episode_box(result, result.request.question.strip(), opened)


@st.fragment
def _episode_box(result: SearchResult, question: str, opened: Sequence[int]) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", width="content"):
        box = st.popover(
            "Record the outcome",
            key=_EPISODE,
            icon=":material/history:",
            type="tertiary",
            on_change="rerun",
            width="content",
        )
        with box, st.container(width=440, height=_EPISODE_HEIGHT, border=False):
            if box.open:
                _episode_form(result, question, opened)
        saved_question, saved = st.session_state.get(f"{_EPISODE}.saved", ("", None))
        if saved is not None and saved_question == question:
            link_to(saved, f"Kept as episode {saved.id}")
        if message := st.session_state.pop(f"{_EPISODE}.said", ""):
            st.toast(message, icon=":material/check:")


def _episode_form(result: SearchResult, question: str, opened: Sequence[int]) -> None:
    st.markdown(f"“{plain(shorten(question, 200))}”")
    _opened_documents(result, opened)
    st.session_state.setdefault(f"{_EPISODE}.reward", 0.5 if opened else 0.0)
    st.select_slider("Outcome", list(OUTCOMES), key=f"{_EPISODE}.reward", format_func=OUTCOMES.__getitem__)
    st.text_area(
        "Reflection",
        key=f"{_EPISODE}.reflection",
        height=110,
        placeholder="What should the next person asking this know?",
    )
    with notices.show_errors():
        tag_choice(f"{_EPISODE}.tags", list(insight_service().counts(Episode).tags))
    _save_button("Keep", _EPISODE, _save_episode, (result, opened))


def _opened_documents(result: SearchResult, opened: Sequence[int]) -> None:
    """The documents that were opened for this question."""
    names = {each.passage.id: each.passage.document_name for each in result.candidates}
    seen = list(dict.fromkeys(names[each] for each in opened if each in names))
    if seen:
        st.caption(
            f"{count(len(seen), 'document')} opened: {plain(', '.join(shorten_middle(name, 40) for name in seen[:6]))}"
        )
    else:
        st.caption("Nothing was opened for it.")


def _save_episode(result: SearchResult, opened: Sequence[int]) -> None:
    typed = st.session_state
    try:
        saved = insight_service().finish_episode(
            result.request.question,
            opened=opened,
            reward=typed.get(f"{_EPISODE}.reward") or 0.0,
            reflection=typed.get(f"{_EPISODE}.reflection") or "",
            tags=typed.get(f"{_EPISODE}.tags") or (),
            project=result.filters.project,
            who=who(),
        )
    except FivefoldError as problem:
        typed[f"{_EPISODE}.problem"] = problem
        return
    for field in _FIELDS:
        typed.pop(f"{_EPISODE}.{field}", None)
    typed[f"{_EPISODE}.saved"], typed[_EPISODE] = (result.request.question.strip(), saved), False
    typed[f"{_EPISODE}.said"] = f"Kept as episode {saved.id}; the next search finds it."
    session.forget_answers()
