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
from pages.parts import cards
from pages.parts.answer import state
from pages.parts.looks import TRUTHS
from pages.parts.urls import page_path
from pages.parts.wording import count, day, marked, plain, shortened

__all__ = ["draw", "place", "strip"]

_STATES: Mapping[TruthState, tuple[str, str]] = {
    TruthState.ANSWERED: (":material/check:", "gray"),
    TruthState.SILENT: (":material/hearing_disabled:", "gray"),
    TruthState.FAILED: (":material/error:", "red"),
    TruthState.NOT_ASKED: (":material/filter_alt:", "gray"),
}
"""State of a truth → its icon and colour."""


def strip(answer: FiveTruthsAnswer) -> None:
    """All five at one glance."""
    with st.container(horizontal=True, gap="xsmall"):
        for told in answer.truths:
            look = TRUTHS[told.truth]
            heard = told.state is TruthState.ANSWERED
            words = f"{look.words.capitalize()} {score_in_words(told.evidence_score) if heard else told.state.value}"
            colour = "red" if told.state is TruthState.FAILED else look.colour if heard else "gray"
            st.badge(words, icon=look.icon, color=colour)  # type: ignore[arg-type]


def draw(answer: FiveTruthsAnswer, request: SearchRequest) -> None:
    """A card per truth, always in the same order; the last one, with its figures, across the page."""
    stems = {stem(word) for word in question_terms(answer.question)}
    *told, last = answer.truths
    grid = st.grid(2, min_column_width=380, gap="small")
    for each in told:
        with grid.cell():
            _card(each, request, stems, stretch=True)
    _card(last, request, stems)


def _card(told: TruthAnswer, request: SearchRequest, stems: Collection[str], *, stretch: bool = False) -> None:
    own = truth_request(request.question, told.truth, request.filters, request.profile)
    with st.container(border=True, gap="small", height="stretch" if stretch else "content", key=f"told.{told.truth}"):
        _card_head(told, own)
        for figure in told.figures:
            _figure(figure, request)
        for citation in told.citations:
            _sentence(citation, own, stems)
        match told.state:
            case TruthState.ANSWERED if told.needed:
                st.caption(f":material/add_circle: **To complete it:** {plain(told.needed)}")
            case TruthState.SILENT:
                _silent(told)
            case TruthState.FAILED:
                _failed(told, request)
            case TruthState.NOT_ASKED:
                st.caption(f":material/filter_alt: {plain(told.silence)}")


def _card_head(told: TruthAnswer, own: SearchRequest) -> None:
    icon, colour = _STATES[told.state]
    heard = told.state is TruthState.ANSWERED
    words = f"evidence {score_in_words(told.evidence_score)}" if heard else told.state.value
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        cards.truth_badge(told.truth)
        st.caption(TRUTHS[told.truth].question, width="content")
        st.space("stretch")
        st.badge(words, icon=icon, color=colour)  # type: ignore[arg-type]


def _sentence(citation: Citation, own: SearchRequest, stems: Collection[str]) -> None:
    """A sentence letter for letter but for its marks, and where it stands."""
    with st.container(gap="xxsmall"):
        st.markdown(f"“{marked(shortened(shown_quote(citation.quote), 700), stems)}”")
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            name, where = plain(shortened(citation.document_name, 56)), plain(place(citation))
            label = f"{name}, {where}" if where else name
            cards.inspect_link(own, citation.passage_id, label, icon=":material/troubleshoot:")
            st.caption(_facts(citation), width="content")
            cards.cite_menu(citation, "")


def place(citation: Citation) -> str:
    """Where a sentence stands: "page 5", "rows 12–18", its section, or nothing."""
    if citation.rows is not None:
        first, last = citation.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    return f"page {citation.page}" if citation.page is not None else shortened(citation.section, 60)


def _facts(citation: Citation) -> str:
    where = jurisdiction_title(citation.jurisdiction) if citation.jurisdiction else ""
    known = [(citation.authority or "").capitalize(), where, day(citation.date) if citation.date else ""]
    return " · ".join(plain(words) for words in known if words)


def _figure(figure: Figure, request: SearchRequest) -> None:
    """A number, how the question was read, where it was counted, and the way to ask further."""
    with st.container(gap="xxsmall"):
        st.markdown(f"### {plain(figure.value)}", anchors=False)
        st.markdown(plain(figure.words))
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f"{plain(figure.citation)} · {count(figure.rows, 'row')} read", width="content")
            st.page_link(
                page_path("data"),
                label="Ask the tables",
                icon=":material/table_chart:",
                query_params={"view": "Ask", "q": request.question},
            )
        with st.expander("SQL", icon=":material/code:"):
            st.code(figure.sql, language="sql", wrap_lines=True)


def _silent(told: TruthAnswer) -> None:
    needed = f"\n\n**To obtain:** {plain(told.needed)}" if told.needed else ""
    st.warning(f"**No {told.truth} source answers this.** {plain(told.silence)}{needed}", icon=":material/search_off:")


def _failed(told: TruthAnswer, request: SearchRequest) -> None:
    words = f"**Not known: this truth could not be searched.** {plain(told.silence)}"
    st.error(f"{words}\n\n{plain(told.needed)}" if told.needed else words, icon=":material/error:")
    st.button("Retry", icon=":material/refresh:", key=f"retry.{told.truth}", on_click=state.ask_again, args=(request,))
