"""Elements shared by pages: label badges, citations in each style, a search result, a document."""

from collections.abc import Callable, Collection, Sequence

import streamlit as st

from core.domain.documents import Document, DocumentState, Origin, Passage
from core.domain.queries import SearchRequest
from core.domain.results import Candidate, Citation, Hit, SearchResult
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import is_container
from core.search.citations.cite import CitationStyle, display_quote, written
from core.search.explanation.score_breakdown import strip_words
from core.search.query.syntax import quoted_phrases
from core.text.tokenize import stem
from pages.components import charts
from pages.components.insights.styles import memory_badge
from pages.components.styles import STATES, truth_look
from pages.components.urls import page_path, params_of
from pages.components.wording import bytes_in_words, day, ending, marked, plain, shortened, squeezed

__all__ = [
    "SURE",
    "Drawn",
    "about",
    "badges",
    "cite_menu",
    "facts",
    "inspect_link",
    "miss_line",
    "origin_badge",
    "place",
    "result_card",
    "said",
    "state_badge",
    "truth_badge",
    "unsure",
]

Drawn = Callable[[Hit], None]
"""Draws something that belongs to a result."""
SURE = 0.6
"""Labels below this probability are worth a look."""


def truth_badge(truth: str | None, *, probability: float | None = None) -> None:
    """The one look of a truth. probability: how sure it is, in [0, 1], where that is to be said."""
    look = truth_look(truth)
    words = look.words.capitalize()
    if probability is not None and truth is not None:
        words += f" · sure {probability:.2f}"
    st.badge(words, icon=look.icon, color=look.colour, help=look.question or None)  # type: ignore[arg-type]


def origin_badge(passage: Passage) -> None:
    """The look of a document's truth, or of a note: notes state none of the five truths."""
    if passage.origin is Origin.DOCUMENT:
        truth_badge(passage.truth)
    else:
        memory_badge(passage)


def state_badge(document: Document) -> None:
    """Where a document is on its way."""
    look = STATES[document.state]
    running = document.state is DocumentState.PENDING and document.step
    st.badge(f"{look.words}: {document.step}" if running else look.words, icon=look.icon, color=look.colour)  # type: ignore[arg-type]


def badges(passage: Passage, terms: WorkspaceTerms) -> None:
    """A passage in one line of badges: truth, authority, jurisdiction, domain and date."""
    origin_badge(passage)
    st.caption(facts(passage, terms), width="content")


def facts(passage: Passage, terms: WorkspaceTerms) -> str:
    """Authority, jurisdiction, domain and date of a passage, as safe markdown."""
    words = [
        str(passage.authority).capitalize() if passage.authority else "",
        terms.jurisdictions.title(passage.jurisdiction) if passage.jurisdiction else "",
        terms.domains.title(passage.domain) if passage.domain else "",
        day(passage.date),
    ]
    return " · ".join(plain(word) for word in words if word)


def place(passage: Passage, document: Document | None) -> str:
    """Where a passage stands: "page 5", "rows 12–18", the end of its section's path, or nothing."""
    if passage.rows is not None:
        first, last = passage.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    if document is not None and document.paged:
        return f"page {passage.page}"
    return ending(passage.section, 48)


def inspect_link(request: SearchRequest, passage_id: int, label: str, *, icon: str | None = None) -> None:
    """A link to Inspect that opens the same view for anyone."""
    target = params_of(request) | {"passage": [str(passage_id)]}
    st.page_link(page_path("inspection"), label=label, icon=icon, query_params=target)


def cite_menu(citation: Citation, title: str, *, below: Callable[[], None] | None = None) -> None:
    """The citation in every style, each with a copy button. below: draws what else belongs to citing."""
    with st.popover("Cite", icon=":material/format_quote:", type="tertiary"):
        st.markdown(f"“{plain(citation.quote)}”")
        for style in CitationStyle:
            st.code(written(citation, style, title=title), language=None, wrap_lines=True)
        st.caption(f"Sentence id `{citation.citation_id}`")
        if below is not None:
            below()


def result_card(
    hit: Hit,
    result: SearchResult,
    stems: Collection[str],
    terms: WorkspaceTerms,
    *,
    badge: Drawn | None = None,
    cited: Drawn | None = None,
    actions: Drawn | None = None,
    below: Drawn | None = None,
) -> None:
    """One search result: the best sentence, its labels, its location and its score breakdown."""
    passage = hit.candidate.passage
    document = result.documents.get(passage.document_id)
    with st.container(border=True, gap="xsmall"):
        _card_head(hit, result, document, badge, terms)
        sentence = hit.citations[0].quote if hit.citations else shortened(passage.text, 400)
        phrases = quoted_phrases(result.request.question)
        st.markdown(marked(shortened(display_quote(sentence), 700), stems, phrases))
        _context(passage, sentence, stems, phrases)
        _score_line(hit, result, document, cited)
        if actions is not None:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                actions(hit)
        if below is not None:
            below(hit)


def _card_head(
    hit: Hit, result: SearchResult, document: Document | None, badge: Drawn | None, terms: WorkspaceTerms
) -> None:
    passage = hit.candidate.passage
    where, name = place(passage, document), plain(squeezed(passage.document_name, 64))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{hit.rank}**", width="content")
        origin_badge(passage)
        if badge is not None:
            badge(hit)
        label = f"**{name}**, {plain(where)}" if where else f"**{name}**"
        inspect_link(result.request, passage.id, label, icon=":material/troubleshoot:")
        st.caption(facts(passage, terms), width="content")


def _context(passage: Passage, sentence: str, stems: Collection[str], phrases: Sequence[str]) -> None:
    """What stands around the sentence, so that it can be judged without opening it."""
    at = passage.text.find(sentence)
    if at < 0:
        return
    before, after = display_quote(passage.text[:at]), display_quote(passage.text[at + len(sentence) :])
    wanted = next((phrase for phrase in phrases if phrase.casefold() not in sentence.casefold()), "")
    if wanted and wanted.casefold() in before.casefold():
        around = _around(before, wanted)
    elif wanted and wanted.casefold() in after[200:].casefold():
        around = _around(after, wanted)
    elif before and not after:
        around = f"… {before[-140:].partition(' ')[2]}" if len(before) > 140 else before
    else:
        around = shortened(after, 200)
    if around:
        st.caption(marked(around, stems, phrases))


def _around(text: str, phrase: str) -> str:
    """A phrase with some words to both sides of it."""
    at = text.casefold().find(phrase.casefold())
    lead = text[max(0, at - 80) : at]
    return f"… {lead.partition(' ')[2] if at > 80 else lead}{shortened(text[at:], 140)}"


def _score_line(hit: Hit, result: SearchResult, document: Document | None, cited: Drawn | None) -> None:
    words = strip_words(hit.score)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.markdown(f"**{hit.score.total:.3f}**", width=46)
        st.image(charts.score_strip(hit.score, result.profile.threshold), width="stretch", alt=words)
        if hit.citations:
            below = (lambda: cited(hit)) if cited is not None else None
            cite_menu(hit.citations[0], document.title if document else "", below=below)
    st.caption(plain(words))


def said(citation: Citation, result: SearchResult) -> None:
    """A cited sentence with the query words marked."""
    stems = {stem(word) for word in result.route.keywords}
    words = shortened(display_quote(citation.quote), 400)
    st.markdown(f"“{marked(words, stems, quoted_phrases(result.request.question))}”")


def about(document: Document | None) -> None:
    """What is known of a document as a file; nothing of a note, which is none."""
    if document is None or document.origin is not Origin.DOCUMENT:
        return
    size = bytes_in_words(document.size_bytes)
    title, digest = plain(document.title or document.name), document.sha256[:16]
    dated = f"dated {day(document.date)}" if document.date else "undated"
    st.caption(f"{title} · {size} · {dated} · SHA-256 `{digest}…`")


def miss_line(candidate: Candidate, detail: str, request: SearchRequest, document: Document | None) -> None:
    """A candidate that is not a result, and the reason, in one line."""
    passage = candidate.passage
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        origin_badge(passage)
        where = place(passage, document)
        name = plain(squeezed(passage.document_name, 60))
        inspect_link(request, passage.id, f"{name}, {plain(where)}" if where else name)
        st.caption(plain(detail), width="content")
    st.caption(plain(shortened(display_quote(passage.text), 220)))


def unsure(document: Document) -> bool:
    """Whether an analyst should check the document's labels."""
    label = document.labels.truth
    if is_container(document):
        return False  # its files are documents of their own
    return not label.confirmed and (label.value is None or label.probability < SURE)
