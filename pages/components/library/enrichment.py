"""Enrichment of one document: type, summary, keywords, questions, cited laws and dates."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.domain.documents import Document
from core.domain.entities import EntityType
from core.domain.errors import FivefoldError, NotFound
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.knowledge.enrichment import document_type_title, document_types
from core.library.enrichment.operations import OPERATIONS
from core.library.enrichment.service import EnrichmentService
from core.library.enrichment.store import Enrichment
from core.library.enrichment.values import Operation, QuotedSpan
from core.search.citations.cite import display_quote
from pages.components import cards, notices, session
from pages.components.urls import page_path, params_of
from pages.components.user_name import who
from pages.components.wording import count, day, plain, shortened

__all__ = ["draw_enrichment"]

_MOST_NAMES, _MOST_CITED, _MOST_DATES = 8, 12, 12
_WIDTHS, _QUOTED = (2, 11), (12, 2, 1)


def draw_enrichment(document: Document) -> None:
    """All of it, each with what it rests on, and the means to correct it."""
    desk = session.workbench().enrichment
    found = desk.of(document.id)
    _problem()
    if not document.passages:
        st.caption("Nothing can be drawn from a document without text.")
        return
    if not found.outcomes:
        _nothing_yet(desk, document)
        return
    for label, draw in (
        ("Type", partial(_type, found)),
        ("Summary", partial(_summary, found, document)),
        ("Keywords", partial(_keywords, found)),
        ("Answers", partial(_questions, found, document)),
        ("Cites", partial(_citations, found, document)),
        ("Dates", partial(_dates, found, document)),
        ("Names", partial(_names, desk, found, document)),
    ):
        left, right = st.columns(_WIDTHS, gap="small")
        left.markdown(f"**{label}**")
        with right:
            draw()
    _foot(desk, found)


def _nothing_yet(desk: EnrichmentService, document: Document) -> None:
    notices.empty(
        ":material/auto_awesome:", "Nothing is drawn from it yet", "A worker does so after reading; or do it now."
    )
    st.button(
        "Draw it now",
        icon=":material/auto_awesome:",
        on_click=_did,
        args=(partial(desk.enrich, document.id),),
        key="enrich.now",
    )


def _type(found: Enrichment) -> None:
    told = found.document_type
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if told.value is None:
            st.markdown("not clear", width="content")
        else:
            st.badge(document_type_title(told.value), icon=":material/description:", color="gray")
        _hand(found, Operation.DOCUMENT_TYPE)
        with st.popover("Correct", icon=":material/edit:", type="tertiary"):
            chosen = st.selectbox(
                "Type",
                list(document_types()),
                index=None if told.value is None else list(document_types()).index(told.value),
                format_func=document_type_title,
                key=f"enrich.type.{found.document_id}",
            )
            _save(lambda desk: desk.edits.set_type(found.document_id, chosen or "", who()), "type", chosen is None)
    if told.evidence:
        because = [f"“{shortened(display_quote(each.quote), 70)}” ({each.rule})" for each in told.evidence[:2]]
        st.caption(plain(f"because of {' and '.join(because)}"))


def _summary(found: Enrichment, document: Document) -> None:
    told = found.summary
    if told.rewritten:
        st.markdown(plain(told.rewritten))
    for each in told.sentences if not told.rewritten else ():
        text, cite, _ = st.columns(_QUOTED, vertical_alignment="center")
        text.markdown(_quoted(each, document))
        _cite(cite, each, document)
    if not told.rewritten and not told.sentences:
        st.caption("It holds no whole sentence to quote.")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        _hand(found, Operation.SUMMARY)
        with st.popover("Rewrite", icon=":material/edit:", type="tertiary"):
            before = told.rewritten or " ".join(display_quote(each.text) for each in told.sentences)
            written = st.text_area(
                "Summary", before, key=f"enrich.summary.{found.document_id}", height=160, max_chars=2_000
            )
            _save(
                lambda desk: desk.edits.rewrite_summary(found.document_id, written, who()),
                "summary",
                not written.strip(),
            )


def _keywords(found: Enrichment) -> None:
    words = found.keywords.words
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for word in words:
            st.badge(plain(word), color="gray")
        if not words:
            st.caption("none", width="content")
        _hand(found, Operation.KEYWORDS)
        with st.popover("Edit", icon=":material/edit:", type="tertiary"):
            chosen = st.multiselect(
                "Keywords",
                list(words),
                default=list(words),
                accept_new_options=True,
                max_selections=10,
                key=f"enrich.keywords.{found.document_id}",
                help="What you add and take away stays so when the document is read again.",
            )
            _save(lambda desk: desk.edits.set_keywords(found.document_id, chosen, who()), "keywords", False)


def _questions(found: Enrichment, document: Document) -> None:
    told = found.questions.questions
    if not told:
        st.caption("No sentence plainly answers a question.")
    edits = session.workbench().enrichment.edits
    for place, each in enumerate(told):
        text, cite, away = st.columns(_QUOTED, vertical_alignment="center")
        text.markdown(f"**{plain(each.question)}**  \n{_quoted(each.answer, document)}")
        _cite(cite, each.answer, document)
        away.button(
            "",
            icon=":material/close:",
            type="tertiary",
            key=f"enrich.question.{found.document_id}.{place}",
            help="Take this question out",
            on_click=_did,
            args=(partial(edits.remove_question, found.document_id, each.question, who()),),
        )
    with st.container(horizontal=True):
        _hand(found, Operation.QUESTIONS)


def _citations(found: Enrichment, document: Document) -> None:
    told = found.citations.citations
    if not told:
        st.caption("No law or case.")
        return
    with st.container(horizontal=True, gap="small"):
        for each in told[:_MOST_CITED]:
            times = f" ×{each.times}" if each.times > 1 else ""
            _entity(each.name, f"{each.case}, {each.name}{times}" if each.case else f"{each.name}{times}")
    _more(told, _MOST_CITED, "citation")


def _dates(found: Enrichment, document: Document) -> None:
    told = found.dates.dates
    if not told:
        st.caption("No day is told in its sentences.")
        return
    shown = sorted(told, key=lambda each: not each.what)[:_MOST_DATES]
    for each in sorted(shown, key=lambda one: one.date):
        if each.what:
            where = f", page {each.said.page}" if document.paged else ""
            st.markdown(f"{plain(each.date)} :small[:gray[{each.what}{where}]]")
    rest = [each.date for each in shown if not each.what]
    if rest:
        st.caption(plain(", ".join(dict.fromkeys(rest))))
    _more(told, _MOST_DATES, "date")


def _names(desk: EnrichmentService, found: Enrichment, document: Document) -> None:
    """What it names beside the laws and dates above."""
    above = {each.name for each in found.citations.citations}
    named = desk.entities(document.id)
    told = {kind: [name for name in names if name not in above] for kind, names in named.items()}
    grouped = {kind: names for kind, names in told.items() if names and kind is not EntityType.DATE}
    if not grouped:
        st.caption("It names nothing we know how to tell.")
    for kind, names in grouped.items():
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(str(kind), width=90)
            for name in names[:_MOST_NAMES]:
                _entity(name, name)
            if len(names) > _MOST_NAMES:
                st.caption(f"and {len(names) - _MOST_NAMES} more", width="content")


def _foot(desk: EnrichmentService, found: Enrichment) -> None:
    for each in found.failures:
        label = OPERATIONS[each.operation].label
        st.markdown(f":red[:material/error: {plain(label)} failed: {plain(each.problem)}] {plain(each.hint)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        latest = max(each.at for each in found.outcomes.values())
        st.caption(f"Drawn {day(latest)} from the text alone, on this computer", width="content")
        st.button(
            "Draw again",
            icon=":material/refresh:",
            type="tertiary",
            key="enrich.again",
            help="What you changed by hand stays.",
            on_click=_did,
            args=(partial(desk.enrich, found.document_id, again=True),),
        )


def _quoted(said: QuotedSpan, document: Document) -> str:
    """A quote as one reads it, with where it stands."""
    where = f" :small[:gray[page {said.page}]]" if document.paged else ""
    return f"{plain(display_quote(said.text))}{where}"


def _cite(cell: DeltaGenerator, said: QuotedSpan, document: Document) -> None:
    """How to cite a quote; nothing when the document was read again this very moment."""
    with cell, suppress(NotFound):
        citation = session.workbench().enrichment.citation(document, said)
        cards.cite_menu(citation, document.title or document.name)


def _entity(name: str, label: str) -> None:
    """A link to Search among the passages that name it."""
    wanted = SearchRequest(name, SearchFilters(entities=(name,)))
    st.page_link(
        page_path("search"), label=plain(shortened(label, 60)), query_params=params_of(wanted), width="content"
    )


def _more(told: Sequence[object], most: int, noun: str) -> None:
    if len(told) > most:
        st.caption(f"and {count(len(told) - most, noun)} more")


def _hand(found: Enrichment, operation: Operation) -> None:
    """Whether it was changed by hand, and the way back."""
    edit = found.edits.get(operation)
    if edit is None:
        return
    st.caption(f"changed by {plain(edit.who) or 'hand'}, {day(edit.at)}", width="content")
    st.button(
        "Reset",
        icon=":material/undo:",
        type="tertiary",
        key=f"enrich.reset.{operation}",
        help="Show again what was found in the document",
        on_click=_did,
        args=(partial(session.workbench().enrichment.edits.reset, found.document_id, operation),),
    )


def _save(change: Callable[[EnrichmentService], None], what: str, disabled: bool) -> None:
    st.button(
        "Save",
        type="primary",
        key=f"enrich.save.{what}",
        disabled=disabled,
        on_click=_did,
        args=(partial(change, session.workbench().enrichment),),
    )


def _did(change: Callable[[], object]) -> None:
    """Make a change; what stands in its way is told once, above."""
    try:
        change()
    except FivefoldError as problem:
        st.session_state["enrich.problem"] = problem


def _problem() -> None:
    problem = st.session_state.pop("enrich.problem", None)
    if problem is not None:
        notices.error(problem)
