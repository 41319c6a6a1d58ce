"""The answer by five truths: confidence, the sentences of each truth, agreements and conflicts, and gaps."""

from collections.abc import Collection, Mapping

import streamlit as st

from core.answers.answer import truth_request
from core.coverage.gaps import score_in_words
from core.domain.coverage import Conflict, Statement
from core.domain.errors import FivefoldError
from core.domain.five_truths import Figure, FiveTruthsAnswer, TruthAgreement, TruthAnswer, TruthState
from core.domain.queries import SearchRequest
from core.domain.results import Citation
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.citations.cite import display_quote
from core.search.query.route import question_terms
from core.text.tokenize import stem
from pages.components import cards, filters, notices, session
from pages.components.answer import checked_text, export, state
from pages.components.styles import TRUTHS
from pages.components.urls import page_path
from pages.components.wording import count, day, marked, plain, plain_with_edges, shortened, squeezed

__all__ = ["draw", "draw_truths", "place", "strip"]

_STATES: Mapping[TruthState, tuple[str, str]] = {
    TruthState.ANSWERED: (":material/check:", "gray"),
    TruthState.SILENT: (":material/volume_off:", "red"),
    TruthState.FAILED: (":material/bolt:", "red"),
    TruthState.NOT_ASKED: (":material/filter_alt:", "gray"),
}
"""State of a truth → its icon and colour."""


def strip(answer: FiveTruthsAnswer) -> None:
    """An overview of all five truths, with the number of agreements and conflicts."""
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


def draw_truths(answer: FiveTruthsAnswer, request: SearchRequest) -> None:
    """One card per truth, always in the same order; the last one, with its figures, has the full width."""
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
    terms = session.terms()
    for citation in told.citations:
        _sentence(citation, own, stems, terms)
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


def _sentence(citation: Citation, own: SearchRequest, stems: Collection[str], terms: WorkspaceTerms) -> None:
    """A sentence letter for letter but for its marks, and where it stands."""
    with st.container(gap=None):
        st.markdown(f"“{marked(shortened(display_quote(citation.quote), 700), stems)}”")
        with st.container(horizontal=True, wrap=False, vertical_alignment="center", gap="xsmall"):
            with st.container(gap=None):
                name = plain(squeezed(citation.document_name, 44))
                cards.inspect_link(own, citation.passage_id, name, icon=":material/troubleshoot:")
            cards.cite_menu(citation, "")
        st.caption(_facts(citation, terms))


def place(citation: Citation) -> str:
    """Where a sentence is: "page 5", "rows 12–18", the heading above it, or ""."""
    if citation.rows is not None:
        first, last = citation.rows
        return f"row {first}" if first == last else f"rows {first}–{last}"
    return (
        f"page {citation.page}" if citation.page is not None else shortened(citation.section.split("›")[-1].strip(), 40)
    )


def _facts(citation: Citation, terms: WorkspaceTerms) -> str:
    where = terms.jurisdictions.title(citation.jurisdiction) if citation.jurisdiction else ""
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


def draw_pairs(answer: FiveTruthsAnswer) -> None:
    """Pairs of sentences, conflicts first, because a person must settle them."""
    if answer.conflicts:
        st.markdown("#### Where they disagree", anchors=False)
    for conflict in answer.conflicts:
        _pair(conflict, ":material/compare_arrows:")
    if answer.agreements:
        st.markdown("#### Where they agree", anchors=False)
    for agreement in answer.agreements:
        _pair(agreement, ":material/handshake:")


def _pair(pair: TruthAgreement | Conflict, icon: str) -> None:
    with st.container(border=True):
        st.markdown(f"{icon} **{plain(pair.words)}**")
        first, second = st.columns(2, gap="medium")
        with first:
            _side(pair.first)
        with second:
            _side(pair.second)


def _side(statement: Statement) -> None:
    with st.container(gap="xxsmall"):
        cards.truth_badge(statement.truth)
        quote = display_quote(statement.citation.quote)
        before, said, after = quote.partition(statement.said) if statement.said else (quote, "", "")
        mark = f":primary-background[**{plain(said)}**]" if said else ""
        st.markdown(f"“{plain_with_edges(before)}{mark}{plain_with_edges(after)}”")
        where = place(statement.citation)
        st.caption(plain(f"{statement.citation.document_name}, {where}" if where else statement.citation.document_name))


def draw(request: SearchRequest) -> None:
    """The answer to one question by all five truths."""
    try:
        answer = state.asked(request)
    except FivefoldError as problem:
        notices.error(problem)
        return
    _head(answer, request)
    draw_truths(answer, request)
    draw_pairs(answer)
    _needed(answer)
    checked_text.draw_synthesis(answer)
    export.draw(answer)
    checked_text.draw_check(answer)


def _head(answer: FiveTruthsAnswer, request: SearchRequest) -> None:
    """The confidence with its reason, what narrowed the question, and what went wrong on the way."""
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="medium"):
        st.metric(
            "Confidence",
            score_in_words(answer.confidence),
            width=110,
            help="How complete and undisputed the answer is, from 0 to 1; not how likely it is true.",
        )
        with st.container(gap="xxsmall"):
            st.markdown(plain(answer.confidence_reason))
            strip(answer)
    if answer.filters_in_words:
        st.caption(":material/filter_alt: " + plain("; ".join(answer.filters_in_words)))
    if unknown := session.workbench().documents.statistics().by_truth.get(None, 0):
        verb = "belongs" if unknown == 1 else "belong"
        left_out = f"{count(unknown, 'document')} of unknown truth {verb} to none of the five"
        st.caption(f":material/help: {left_out}; set their truth on *Library*.")
    notices.degraded(answer.notices)
    failed = any(each.state is TruthState.FAILED for each in answer.truths)
    if answer.notices and not failed:  # a failed truth has its own button
        st.button("Ask again", icon=":material/refresh:", key="answer.again", on_click=state.ask_again, args=(request,))


def _needed(answer: FiveTruthsAnswer) -> None:
    """What would make the answer complete."""
    st.markdown("#### For a complete answer I'd need …", anchors=False)
    if not answer.to_raise:
        st.markdown(":material/task_alt: Nothing more: every truth answers in full, and none disagree.")
    for number, words in enumerate(answer.to_raise, 1):
        st.markdown(f"{number}. {plain(words)}")
