"""What each truth says: its best sentences with their places, its figures, or why it is silent and what to obtain."""

from collections.abc import Collection, Mapping

import streamlit as st

from core.answers.answering import truth_request
from core.coverage.gaps import score_in_words
from core.five_truths import Figure, FiveTruthsAnswer, TruthAnswer, TruthState
from core.matching import stem
from core.queries import SearchRequest
from core.results import Citation
from core.search.quotable import shown_quote
from core.search.route import question_terms
from core.tables.jurisdictions import jurisdiction_title
from pages.parts import cards, filters
from pages.parts.answer import state
from pages.parts.looks import TRUTHS
from pages.parts.urls import page_path
from pages.parts.wording import count, day, marked, plain, shortened, squeezed

__all__ = ["draw", "place", "strip"]

_STATES: Mapping[TruthState, tuple[str, str]] = {
    TruthState.ANSWERED: (":material/check:", "gray"),
    TruthState.SILENT: (":material/volume_off:", "red"),
    TruthState.FAILED: (":material/bolt:", "red"),
    TruthState.NOT_ASKED: (":material/filter_alt:", "gray"),
}
"""State of a truth → its icon and colour."""


def strip(answer: FiveTruthsAnswer) -> None:
    """All five at one glance, and how often they meet."""
    with st.container(horizontal=True, gap="xsmall"):
        for told in answer.truths:
            look = TRUTHS[told.truth]
            heard = told.state is TruthState.ANSWERED
            words = f"{look.words.capitalize()} {score_in_words(told.evidence_score) if heard else told.state.value}"
            colour = "red" if told.state is TruthState.FAILED else look.colour if heard else "gray"
            st.badge(words, icon=look.icon, color=colour)  # type: ignore[arg-type]
        if answer.conflicts:
            st.badge(count(len(answer.conflicts), "conflict"), icon=":material/compare_arrows:", color="red")
        if answer.agreements:
            st.badge(count(len(answer.agreements), "agreement"), icon=":material/handshake:", color="gray")


def draw(answer: FiveTruthsAnswer, request: SearchRequest) -> None:
    """A card per truth, always in the same order; the last one, with its figures, across the page."""
    stems = {stem(word) for word in question_terms(answer.question)}
    grid = st.grid(2, min_column_width=380, gap="small", border=True)
    for told in answer.truths:
        with grid.cell(column_span="all" if told is answer.truths[-1] else 1):
            _card(told, request, stems)


def _card(told: TruthAnswer, request: SearchRequest, stems: Collection[str]) -> None:
    own = truth_request(request.question, told.truth, request.filters, request.profile)
    _card_head(told)
    for figure in told.figures:
        _figure(figure, request)
    for citation in told.citations:
        _sentence(citation, own, stems)
    match told.state:
        case TruthState.ANSWERED if told.needed:
            st.caption(f"**Not the whole answer.** {plain(told.needed)}")
        case TruthState.SILENT:
            st.markdown(f"**No {told.truth} source answers this.** {plain(told.silence)}")
            st.markdown(plain(told.needed))
        case TruthState.FAILED:
            _failed(told, request)
        case TruthState.NOT_ASKED:
            st.caption(plain(told.silence))
    if told.state in (TruthState.ANSWERED, TruthState.SILENT):
        words = "All its results" if told.state is TruthState.ANSWERED else "What came nearest"
        st.button(
            words, icon=":material/list:", type="tertiary", key=f"results.{told.truth}", on_click=_show, args=(own,)
        )


def _show(own: SearchRequest) -> None:
    """The other side of the page, narrowed to one truth."""
    filters.seed(own.filters)
    st.session_state["search.view"] = "results"


def _card_head(told: TruthAnswer) -> None:
    icon, colour = _STATES[told.state]
    heard = told.state is TruthState.ANSWERED
    icon = ":material/contrast:" if heard and told.needed else icon
    words = f"evidence {score_in_words(told.evidence_score)}" if heard else told.state.value
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        cards.truth_badge(told.truth)
        st.caption(TRUTHS[told.truth].question, width="content")
        st.space("stretch")
        st.badge(words, icon=icon, color=colour)  # type: ignore[arg-type]


def _sentence(citation: Citation, own: SearchRequest, stems: Collection[str]) -> None:
    """A sentence letter for letter but for its marks, and where it stands."""
    with st.container(gap=None):
        st.markdown(f"“{marked(shortened(shown_quote(citation.quote), 700), stems)}”")
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
            with st.container(gap=None):
                name = plain(squeezed(citation.document_name, 44))
                cards.inspect_link(own, citation.passage_id, name, icon=":material/troubleshoot:")
            cards.cite_menu(citation, "")
        st.caption(_facts(citation))


def place(citation: Citation) -> str:
    """Where a sentence stands: "page 5", "rows 12–18", the heading above it, or nothing."""
    if citation.rows is not None:
        first, last = citation.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    return (
        f"page {citation.page}" if citation.page is not None else shortened(citation.section.split("›")[-1].strip(), 40)
    )


def _facts(citation: Citation) -> str:
    where = jurisdiction_title(citation.jurisdiction) if citation.jurisdiction else ""
    known = [
        place(citation),
        (citation.authority or "").capitalize(),
        where,
        day(citation.date) if citation.date else "",
    ]
    return " · ".join(plain(words) for words in known if words)


def _figure(figure: Figure, request: SearchRequest) -> None:
    """A number, how the question was read, where it was counted, and the way to ask further."""
    whose = request.filters.projects if len(request.filters.projects) == 1 else ()
    target = {"view": ["Ask"], "q": [request.question], "project": list(whose)}
    with st.container(gap=None):
        st.metric("Figure", plain(figure.value), label_visibility="collapsed")
        st.markdown(plain(figure.words))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(plain(figure.citation), width="content")
            st.page_link(page_path("data"), label="Ask the tables", icon=":material/table_chart:", query_params=target)
        with st.expander("SQL", icon=":material/code:", type="compact"):
            st.code(figure.sql, language="sql", wrap_lines=True)


def _failed(told: TruthAnswer, request: SearchRequest) -> None:
    st.error(f"**Not known.** {plain(told.silence)}", icon=":material/error:")
    st.button("Retry", icon=":material/refresh:", key=f"retry.{told.truth}", on_click=state.ask_again, args=(request,))
