"""Elements shared by pages: badges of labels and insights, citations in each style, a search result, a document."""
# Longer than 300 lines: what a result and a document look like, shared by all pages.

from collections.abc import Callable, Collection, Mapping, Sequence

import streamlit as st

from core.domain.documents import Document, DocumentState, Origin, Passage, Sector
from core.domain.queries import SearchRequest
from core.domain.results import Candidate, Citation, Hit, SearchResult
from core.insights.store import InsightOrEpisode
from core.knowledge.sectors import sectors
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import is_container
from core.search.citations.cite import CitationStyle, display_quote, written
from core.search.explanation import strip_words
from core.search.query.syntax import quoted_phrases
from core.text.tokenize import stem
from pages.components import charts
from pages.components.styles import STATES, truth_style
from pages.components.urls import page_path, params_of
from pages.components.wording import bytes_in_words, day, highlight, plain, shorten, shorten_middle, shorten_start

__all__ = [
    "OUTCOMES",
    "SURE",
    "DrawHit",
    "badges",
    "cite_menu",
    "cited_sentence",
    "document_facts",
    "facts",
    "insight_badge",
    "inspect_link",
    "location",
    "miss_line",
    "origin_badge",
    "outcome_words",
    "result_card",
    "sector_badge",
    "sector_choice",
    "sector_title",
    "state_badge",
    "truth_badge",
    "unsure",
]


_SECTOR_ICONS: Mapping[Sector, str] = {
    Sector.SEMANTIC: ":material/lightbulb:",
    Sector.EPISODIC: ":material/event:",
    Sector.PROCEDURAL: ":material/checklist:",
    Sector.EMOTIONAL: ":material/mood:",
    Sector.REFLECTIVE: ":material/psychology:",
}
_ORIGIN_BADGES: Mapping[Origin, tuple[str, str]] = {
    Origin.INSIGHT: ("Insight", ":material/edit_note:"),
    Origin.EPISODE: ("Episode", ":material/history:"),
}
OUTCOMES: Mapping[float, str] = {
    -1.0: "Misled",
    -0.5: "Did not help",
    0.0: "Neither good nor bad",
    0.5: "Helped",
    1.0: "Answered it",
}
"""Outcome in [-1, 1] → its words; what lies between is said by the nearest."""


def sector_title(sector: Sector) -> str:
    """Icon and name of a sector."""
    return f"{_SECTOR_ICONS[sector]} {sector.value.capitalize()}"


def sector_badge(memory: InsightOrEpisode) -> None:
    """The sector; its meaning and why it was suggested appear on hover."""
    row = sectors()[memory.sector]
    why = f" Suggested: {memory.sector_reason}." if memory.sector_reason else ""
    st.badge(
        memory.sector.value.capitalize(), icon=_SECTOR_ICONS[memory.sector], color="gray", help=f"{row.means}{why}"
    )


def insight_badge(passage: Passage) -> None:
    """A badge for insights and episodes in the place of a document's truth; draws nothing for documents."""
    if passage.origin in _ORIGIN_BADGES:
        words, icon = _ORIGIN_BADGES[passage.origin]
        means = f" {sectors()[passage.sector].means}" if passage.sector else ""
        st.badge(words, icon=icon, color="gray", help=f"Written by an analyst; no evidence of any truth.{means}")


def sector_choice(label: str, key: str, *, help: str | None = None) -> Sector:
    """Choose a sector; `key` holds the one chosen."""
    return st.selectbox(
        label,
        list(sectors()),
        key=key,
        format_func=lambda sector: f"{sector.value.capitalize()} – {sectors()[sector].label.lower()}",
        help=help or "What kind of memory it is decides how slowly it fades in search.",
    )


def outcome_words(reward: float) -> str:
    """An outcome in words and as a number.

    >>> outcome_words(0.5), outcome_words(-0.9), outcome_words(0)
    ('Helped (+0.5)', 'Misled (-0.9)', 'Neither good nor bad')
    """
    nearest = min(OUTCOMES, key=lambda each: abs(each - reward))
    return f"{OUTCOMES[nearest]} ({reward:+g})" if reward else OUTCOMES[0.0]


DrawHit = Callable[[Hit], None]
"""Draws something that belongs to a result."""
SURE = 0.6
"""Labels below this probability are worth a look."""


def truth_badge(truth: str | None, *, probability: float | None = None) -> None:
    """The badge of a truth. probability: in [0, 1]; shown beside it unless None."""
    style = truth_style(truth)
    words = style.words.capitalize()
    if probability is not None and truth is not None:
        words += f" · sure {probability:.2f}"
    st.badge(words, icon=style.icon, color=style.colour, help=style.question or None)  # type: ignore[arg-type]


def origin_badge(passage: Passage) -> None:
    """The look of a document's truth, or of a note: notes state none of the five truths."""
    if passage.origin is Origin.DOCUMENT:
        truth_badge(passage.truth)
    else:
        insight_badge(passage)


def state_badge(document: Document) -> None:
    """Where a document is on its way."""
    style = STATES[document.state]
    running = document.state is DocumentState.PENDING and document.step
    st.badge(f"{style.words}: {document.step}" if running else style.words, icon=style.icon, color=style.colour)  # type: ignore[arg-type]


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


def location(passage: Passage, document: Document | None) -> str:
    """The place of a passage in its document: "page 5", "rows 12–18", the end of its section's path, or ""."""
    if passage.rows is not None:
        first, last = passage.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    if document is not None and document.paged:
        return f"page {passage.page}"
    return shorten_start(passage.section, 48)


def inspect_link(request: SearchRequest, passage_id: int, label: str, *, icon: str | None = None) -> None:
    """A link to Inspect that opens the same view for anyone."""
    target = params_of(request) | {"passage": [str(passage_id)]}
    st.page_link(page_path("inspection"), label=label, icon=icon, query_params=target)


def cite_menu(citation: Citation, *, below: Callable[[], None] | None = None) -> None:
    """The citation in every style, each with a copy button. below: draws what else belongs to citing."""
    with st.popover("Cite", icon=":material/format_quote:", type="tertiary"):
        st.markdown(f"“{plain(display_quote(citation.quote))}”")
        for style in CitationStyle:
            st.code(written(citation, style), language=None, wrap_lines=True)
        st.caption(f"Sentence id `{citation.citation_id}`")
        if below is not None:
            below()


def result_card(
    hit: Hit,
    result: SearchResult,
    stems: Collection[str],
    terms: WorkspaceTerms,
    *,
    badge: DrawHit | None = None,
    cited: DrawHit | None = None,
    actions: DrawHit | None = None,
    below: DrawHit | None = None,
) -> None:
    """One search result: the best sentence, its labels, its location and its score breakdown."""
    passage = hit.candidate.passage
    document = result.documents.get(passage.document_id)
    with st.container(border=True, gap="xsmall"):
        _card_head(hit, result, document, badge, terms)
        sentence = hit.citations[0].quote if hit.citations else shorten(passage.text, 400)
        phrases = quoted_phrases(result.request.question)
        st.markdown(highlight(shorten(display_quote(sentence), 700), stems, phrases))
        _context(passage, sentence, stems, phrases)
        _score_line(hit, result, cited)
        if actions is not None:
            with st.container(horizontal=True, vertical_alignment="center", gap="small"):
                actions(hit)
        if below is not None:
            below(hit)


def _card_head(
    hit: Hit, result: SearchResult, document: Document | None, badge: DrawHit | None, terms: WorkspaceTerms
) -> None:
    passage = hit.candidate.passage
    where, name = location(passage, document), plain(shorten_middle(passage.document_name, 64))
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{hit.rank}**", width="content")
        origin_badge(passage)
        if uncertain := result.filters.uncertain_fields(passage):
            help_text = f"The filter asks for another {' and '.join(uncertain)}, which this passage may have as well."
            st.badge("label uncertain", icon=":material/help:", color="gray", help=help_text)
        if badge is not None:
            badge(hit)
        label = f"**{name}**, {plain(where)}" if where else f"**{name}**"
        inspect_link(result.request, passage.id, label, icon=":material/troubleshoot:")
        st.caption(facts(passage, terms), width="content")


def _context(passage: Passage, sentence: str, stems: Collection[str], phrases: Sequence[str]) -> None:
    """The text around the sentence, so that a reader can judge it without opening the passage."""
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
        around = shorten(after, 200)
    if around:
        st.caption(highlight(around, stems, phrases))


def _around(text: str, phrase: str) -> str:
    """A phrase with some words to both sides of it."""
    at = text.casefold().find(phrase.casefold())
    lead = text[max(0, at - 80) : at]
    return f"… {lead.partition(' ')[2] if at > 80 else lead}{shorten(text[at:], 140)}"


def _score_line(hit: Hit, result: SearchResult, cited: DrawHit | None) -> None:
    words = strip_words(hit.score)
    with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="small"):
        st.markdown(f"**{hit.score.total:.3f}**", width=46)
        st.image(charts.score_strip(hit.score, result.profile.threshold), width="stretch", alt=words)
        if hit.citations:
            below = (lambda: cited(hit)) if cited is not None else None
            cite_menu(hit.citations[0], below=below)
    st.caption(plain(words))


def cited_sentence(citation: Citation, result: SearchResult) -> None:
    """A cited sentence with the query words marked."""
    stems = {stem(word) for word in result.route.keywords}
    words = shorten(display_quote(citation.quote), 400)
    st.markdown(f"“{highlight(words, stems, quoted_phrases(result.request.question))}”")


def document_facts(document: Document | None) -> None:
    """Title, size, date and digest of a document; draws nothing for an insight or episode."""
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
        where = location(passage, document)
        name = plain(shorten_middle(passage.document_name, 60))
        inspect_link(request, passage.id, f"{name}, {plain(where)}" if where else name)
        st.caption(plain(detail), width="content")
    st.caption(plain(shorten(display_quote(passage.text), 220)))


def unsure(document: Document) -> bool:
    """Whether an analyst should check the document's labels."""
    label = document.labels.truth
    if is_container(document):
        return False  # its files are documents of their own
    return not label.confirmed and (label.value is None or label.probability < SURE)
