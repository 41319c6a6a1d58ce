"""Elements shared by pages: badges of labels and insights, citations in each style, a search result, a document."""
# Longer than 300 lines: what a result and a document look like, shared by all pages.

from collections.abc import Callable, Mapping

import streamlit as st

from core.domain.documents import Document, DocumentState, Label, Origin, Passage, Sector
from core.domain.queries import SearchRequest
from core.domain.results import Candidate, Citation, Hit, SearchResult
from core.insights.store import InsightOrEpisode
from core.knowledge.glossary import explanation, meaning
from core.knowledge.sectors import sectors
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.archive_members import is_container
from core.search.citations.cite import CitationStyle, display_quote, written
from core.search.query.syntax import quoted_phrases
from core.text.tokenize import stem
from pages.components.document.state import ReadingPlace
from pages.components.styles import STATES, truth_style
from pages.components.urls import page_path, params_of
from pages.components.wording import (
    bytes_in_words,
    certainty_words,
    day,
    highlight,
    plain,
    shorten,
    shorten_middle,
    shorten_start,
)

__all__ = [
    "OUTCOMES",
    "SURE",
    "DrawHit",
    "badges",
    "cite_menu",
    "cited_sentence",
    "document_facts",
    "document_link",
    "facts",
    "failure_words",
    "heading",
    "insight_badge",
    "inspect_link",
    "location",
    "miss_line",
    "origin_badge",
    "origin_words",
    "outcome_words",
    "sector_badge",
    "sector_choice",
    "sector_title",
    "state_badge",
    "stems_asked_for",
    "truth_badge",
    "truth_label_badge",
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


def truth_badge(truth: str | None, *, probability: float | None = None, confirmed: bool = False) -> None:
    """The badge of a truth. probability: in [0, 1]; shown beside it unless None. confirmed: by a person."""
    style = truth_style(truth)
    words = style.words.capitalize()
    if probability is not None and truth is not None:
        words += f" · {certainty_words(probability, confirmed=confirmed)}{' · uncertain' if probability < SURE else ''}"
    st.badge(words, icon=style.icon, color=style.colour, help=explanation(truth) if truth else meaning("unclassified"))  # type: ignore[arg-type]


def truth_label_badge(label: Label) -> None:
    """The badge of a document's truth with its certainty."""
    truth_badge(label.value, probability=label.probability, confirmed=label.confirmed)


def origin_badge(passage: Passage) -> None:
    """The look of a document's truth, or of a note: notes state none of the five truths."""
    if passage.origin is Origin.DOCUMENT:
        truth_badge(passage.truth)
    else:
        insight_badge(passage)


def origin_words(passage: Passage) -> str:
    """What stands behind a passage: its truth, or that it is a note.

    >>> origin_words(Passage("", 1, 0, 0, ()))
    'Unknown'
    """
    if passage.origin in _ORIGIN_BADGES:
        return _ORIGIN_BADGES[passage.origin][0]
    return truth_style(passage.truth).words.capitalize()


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


def heading(passage: Passage, document: Document | None) -> str:
    """The heading a passage is under in a document with pages, which its location does not name; "" where none is."""
    if passage.rows is not None or document is None or not document.paged:
        return ""
    last = passage.section.rsplit(" › ", 1)[-1]
    return "" if last == f"Page {passage.page}" else shorten(last, 60)


def inspect_link(request: SearchRequest, passage_id: int, label: str, *, icon: str | None = None) -> None:
    """A link to Inspect that opens the same view for anyone."""
    target = params_of(request) | {"passage": [str(passage_id)]}
    st.page_link(page_path("inspection"), label=label, icon=icon, query_params=target)


def document_link(
    document_id: int,
    label: str,
    *,
    mark: str = "",
    question: str = "",
    icon: str | None = ":material/menu_book:",
    help: str | None = None,
) -> None:
    """A link that opens a document whole. mark: a citation or passage id, shown marked in it. question: the one whose
    result it is; its use is counted for it. label: safe markdown."""
    target = ReadingPlace(document_id, mark=mark, question=question).as_params()
    st.page_link(page_path("document"), label=label, icon=icon, help=help, query_params=target)


def cite_menu(citation: Citation, *, below: Callable[[], None] | None = None) -> None:
    """The citation in every style, each with a copy button. below: draws what else belongs to citing."""
    with st.popover("Cite", icon=":material/format_quote:", type="tertiary"):
        st.markdown(f"“{plain(display_quote(citation.quote))}”")
        for style in CitationStyle:
            st.code(written(citation, style), language=None, wrap_lines=True)
        st.caption(f"Sentence id `{citation.citation_id}`")
        if below is not None:
            below()


def stems_asked_for(result: SearchResult) -> frozenset[str]:
    """The stems of the question's words that results mark: compounds, and the parts of them that were searched for."""
    return frozenset(stem(word) for word in (*result.route.keywords, *result.rarity))


def cited_sentence(citation: Citation, result: SearchResult) -> None:
    """A cited sentence with the query words marked."""
    words = shorten(display_quote(citation.quote), 400)
    st.markdown(f"“{highlight(words, stems_asked_for(result), quoted_phrases(result.request.question))}”")


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


def failure_words(document: Document) -> str:
    """Why a document could not be read, for beside its name, which is not repeated."""
    name = f"'{document.name}' "
    return f"It {document.failure.removeprefix(name)}" if document.failure.startswith(name) else document.failure
