"""Inspect: one result in detail – its score breakdown, where its sentences are, and why others are not shown."""

from collections.abc import Sequence

import streamlit as st

from core.domain.documents import Document, Origin
from core.domain.results import Candidate, Citation, Dropped, Hit, Score, SearchResult
from core.search.citations.cite import CitationStyle, cite, display_quote, written
from core.search.explanation import factor_label, shown_effects, shown_parts, strip_words
from core.search.query.syntax import quoted_phrases
from pages.components import cards, charts, notices, session, what_if
from pages.components.chart_view import draw_chart
from pages.components.notices import wait_for_models
from pages.components.search import compare
from pages.components.search.page_view import draw_page
from pages.components.urls import number_in, page_path, params_of, request_from
from pages.components.user_name import who
from pages.components.why_missing import draw_why_missing
from pages.components.wording import highlight, plain, shorten_middle

_VIEWS = ("Score", "Page", "Citations", compare.VIEW, "Not shown")


def _requested_result() -> tuple[SearchResult, int] | None:
    """The result and passage of the URL; else the session's last question and its first hit."""
    params = {name: st.query_params.get_all(name) for name in st.query_params}
    request = request_from(params) if params.get("q") else st.session_state.get("search.last")
    if request is None or not request.question:
        return None
    if not session.ready():
        wait_for_models("The models are loading; this view opens as soon as they are ready.")
        st.stop()
    result = session.answer(request)
    passage_id = number_in(params.get("passage", [""])[0])
    first = result.hits[0].candidate.passage.id if result.hits else 0
    return result, first if passage_id is None else passage_id


def _view(result: SearchResult, passage_id: int) -> str:
    """The chosen view, which is part of the URL."""
    if "view" not in st.session_state:
        requested = st.query_params.get("view", _VIEWS[0])
        st.session_state["view"] = requested if requested in _VIEWS else _VIEWS[0]
    view = st.segmented_control("View", _VIEWS, key="view", required=True, label_visibility="collapsed") or _VIEWS[0]
    params = params_of(result.request) | {"passage": [str(passage_id)]}
    params |= compare.url_params() if view == compare.VIEW else {}
    st.query_params.from_dict(params | ({"view": [view]} if view != _VIEWS[0] else {}))
    return view


def _find(result: SearchResult, passage_id: int) -> tuple[Hit | None, Dropped | None]:
    hit = next((each for each in result.hits if each.candidate.passage.id == passage_id), None)
    return hit, next((each for each in result.dropped if each.candidate.passage.id == passage_id), None)


def _heading(result: SearchResult, candidate: Candidate, hit: Hit | None, dropped: Dropped | None) -> None:
    passage = candidate.passage
    document = result.documents.get(passage.document_id)
    where = cards.location(passage, document)
    st.caption(f"Answer to “{plain(result.request.question)}” · profile {plain(result.profile.ref)}")
    st.subheader(
        f"{plain(shorten_middle(passage.document_name, 90))}{', ' + plain(where) if where else ''}", anchor=False
    )
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        cards.badges(passage, session.terms())
        if hit is not None:
            number = f"{result.total:,}{' or more' if result.more else ''}"
            st.badge(f"rank {hit.rank} of {number}", color="gray", icon=":material/format_list_numbered:")
        elif dropped is not None:
            st.badge(f"not shown: {dropped.reason.value}", color="red", icon=":material/visibility_off:")
        if passage.origin is Origin.DOCUMENT:
            mark = hit.citations[0].citation_id if hit and hit.citations else str(passage.id)
            question = result.request.question
            cards.document_link(passage.document_id, "Open document", mark=mark, question=question)
        st.page_link(
            page_path("search"),
            label="Back to the results",
            icon=":material/arrow_back:",
            query_params=params_of(result.request),
        )
        _neighbour(result, hit, -1, "Previous", ":material/chevron_left:")
        _neighbour(result, hit, +1, "Next", ":material/chevron_right:")


def _neighbour(result: SearchResult, hit: Hit | None, step: int, label: str, icon: str) -> None:
    index = hit.rank - 1 + step if hit is not None else -1
    if 0 <= index < len(result.hits):
        cards.inspect_link(result.request, result.hits[index].candidate.passage.id, label, icon=icon)


def _score(result: SearchResult, candidate: Candidate, score: Score | None) -> None:
    if score is None:
        st.info("This passage was left out before scoring, so it has no score.", icon=":material/info:")
    else:
        _sum(result, score)
    dark = st.context.theme.type == "dark"
    grid = st.grid(2, min_column_width=440, gap="medium")
    with grid.cell():
        st.markdown("**Rank at each stage** :gray[– this passage among the others shown]")
        draw_chart(charts.journey(result, candidate.passage.id, dark=dark), key="journey")
        if candidate.signals.shared:
            st.caption(f":material/hub: By names it {plain(candidate.signals.shared)}.")
    with grid.cell():
        st.markdown(f"**Words** :gray[– BM25 {candidate.signals.bm25:.3f} is the sum of these]")
        if candidate.signals.terms:
            figure = charts.term_bars(candidate.signals.terms, dark=dark)
            draw_chart(figure, key="terms")
        else:
            st.caption("No query word occurs in this passage; it was found by meaning alone.")
    what_if.draw_what_if(result, candidate.passage.id)


def _sum(result: SearchResult, score: Score) -> None:
    """The waterfall, and beside it every part with its reason."""
    dark = st.context.theme.type == "dark"
    grid = st.grid(2, min_column_width=440, gap="medium")
    with grid.cell():
        figure = charts.waterfall(score, result.profile.threshold, dark=dark)
        draw_chart(figure, key="waterfall", alt=strip_words(score))
    with grid.cell():
        st.table(_parts(score), border="horizontal", hide_index=True)
    st.caption(plain(strip_words(score)))


def _parts(score: Score) -> list[dict[str, str]]:
    """Every part of the sum with its reason, largest first; multipliers last."""
    rows = [
        {
            "Part": factor_label(each.name),
            "Value × weight": f"{each.value:.3f} × {each.weight:.3f}",
            "Adds": f"{shown:.3f}",
            "Why": plain(each.reason),
        }
        for each, shown in shown_parts(score)
    ]
    return rows + [
        {
            "Part": f"× {factor_label(each.name)}",
            "Value × weight": f"{each.value:.3f}",
            "Adds": f"{shown:.3f}".replace("-", "−"),
            "Why": plain(each.reason),
        }
        for each, shown in shown_effects(score)
    ]


def _citations(result: SearchResult, citations: Sequence[Citation]) -> None:
    stems = cards.stems_asked_for(result)
    phrases = quoted_phrases(result.request.question)
    for citation in citations:
        with st.container(border=True, gap="xsmall"):
            st.markdown(f"“{highlight(display_quote(citation.quote), stems, phrases)}”")
            span = f"characters {citation.start:,}–{citation.end:,} of the text of page {citation.page_number}"
            section = f" · section {plain(citation.section)}" if citation.section else ""
            st.caption(f"`{citation.citation_id}` · relevance {citation.relevance:.2f} · {span}{section}")
            styles = list(CitationStyle)
            for column, style in zip(st.columns(len(styles)), styles, strict=True):
                column.caption(style.value.capitalize())
                column.code(written(citation, style), language=None, wrap_lines=True)


def _citations_of(candidate: Candidate, document: Document, result: SearchResult) -> tuple[Citation, ...]:
    rarity = result.rarity or dict.fromkeys(result.route.keywords, 1.0)
    cosines = candidate.signals.sentences
    return cite(candidate.passage, document, rarity, kind=result.route.answer_kind, cosines=cosines)


def draw() -> None:
    requested = _requested_result()
    if requested is None:
        notices.empty(
            ":material/troubleshoot:",
            "Nothing to inspect yet",
            "Ask a question on *Search* and open one of its results here.",
        )
        return
    result, passage_id = requested
    if not result.candidates:
        notices.empty(":material/search_off:", "Nothing was found for this question", plain(result.silence))
        return
    candidate = session.workbench().search.explain(result, passage_id or result.candidates[0].passage.id)
    session.workbench().usage.opened(candidate.passage, result.request.question, who())
    hit, dropped = _find(result, candidate.passage.id)
    document = result.documents.get(candidate.passage.document_id) or session.workbench().documents.get(
        candidate.passage.document_id
    )
    citations = hit.citations if hit else _citations_of(candidate, document, result)
    _heading(result, candidate, hit, dropped)
    if citations:
        cards.cited_sentence(citations[0], result)
    match _view(result, candidate.passage.id):
        case "Page":
            draw_page(candidate, document, citations)
        case "Citations":
            _citations(result, citations)
        case compare.VIEW:
            if (other := compare.choose_other(result, candidate.passage.id)) is not None:
                compare.draw_comparison(result, candidate.passage.id, other)
        case "Not shown":
            draw_why_missing(result)
        case _:
            _score(result, candidate, hit.score if hit else dropped.score if dropped else None)
    cards.document_facts(document)


draw()
