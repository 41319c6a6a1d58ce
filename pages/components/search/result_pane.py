"""The chosen result: its passage in its page, why it ranks where it does, the parts of its score, and its actions."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.collaboration.target import on_passage
from core.domain.documents import Document, Origin
from core.domain.errors import FivefoldError
from core.domain.results import Candidate, Citation, Dropped, Hit, Score, SearchResult
from core.search.citations.cite import cite, display_quote
from core.search.explanation import factor_label, shown_effects, shown_parts, strip_words
from core.search.query.syntax import quoted_phrases
from core.search.reasons import why_words
from core.text.tokenize import stem
from pages.components import browser_scripts, cards, charts, comments, notices, session
from pages.components.search import compare, feedback, page_view, related_results, save_insight, shortlists
from pages.components.wording import count, highlight, plain, shorten, shorten_middle

__all__ = ["citations_of", "draw_pane", "score_data"]

_LETTERS, _NAME = 700, 60  # characters of the sentence and of the document's name


def draw_pane(result: SearchResult, candidate: Candidate) -> None:
    """Everything about one candidate of a search, shown or not."""
    hit = next((each for each in result.hits if each.candidate.passage.id == candidate.passage.id), None)
    dropped = next((each for each in result.dropped if each.candidate.passage.id == candidate.passage.id), None)
    score = hit.score if hit else dropped.score if dropped else None
    try:
        document = result.documents.get(candidate.passage.document_id) or session.workbench().documents.get(
            candidate.passage.document_id
        )
        citations = hit.citations if hit else citations_of(candidate, document, result)
    except FivefoldError as problem:
        notices.error(problem)
        return
    _head(result, candidate, hit, dropped, document, citations)
    _sentence(result, candidate, citations)
    if score is not None:
        st.caption(f"**Why:** {plain(why_words(candidate, score, result.route.keywords))}")
    if hit is not None:
        _actions(result, hit)
        feedback.draw_grades(hit, result)
    _in_its_page(candidate, document, citations)
    if score is not None:
        st.markdown("**Score**")
        draw = browser_scripts.browser_component("fivefold_score_parts", "search/score_parts.js")
        draw(key=f"parts.{candidate.passage.id}", data=score_data(score, result.profile.threshold))


def citations_of(candidate: Candidate, document: Document, result: SearchResult) -> tuple[Citation, ...]:
    """The citations of a candidate that is no hit."""
    rarity = result.rarity or dict.fromkeys(result.route.keywords, 1.0)
    cosines = candidate.signals.sentences
    return cite(candidate.passage, document, rarity, kind=result.route.answer_kind, cosines=cosines)


def _head(
    result: SearchResult,
    candidate: Candidate,
    hit: Hit | None,
    dropped: Dropped | None,
    document: Document,
    citations: Sequence[Citation],
) -> None:
    """What is chosen, and the two ways to see more of it."""
    passage = candidate.passage
    where = cards.location(passage, document)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        cards.origin_badge(passage)
        if hit is not None:
            st.badge(f"rank {hit.rank}", color="gray")
        elif dropped is not None:
            st.badge(f"not shown: {dropped.reason.value}", color="red", icon=":material/visibility_off:")
        if uncertain := result.filters.uncertain_fields(passage):
            means = f"The filter asks for another {' and '.join(uncertain)}, which this passage may have as well."
            st.badge("label uncertain", icon=":material/help:", color="gray", help=means)
        if hit is not None:
            related_results.version_marker(result)(hit)
        st.space("stretch")
        if document.origin is Origin.DOCUMENT:
            with st.container(width="content", key="pane_document"):
                mark = citations[0].citation_id if citations else str(passage.id)
                cards.document_link(document.id, "Open document", mark=mark, question=result.request.question)
        with st.container(width="content", key="pane_open"):
            cards.inspect_link(result.request, passage.id, "Open in full", icon=":material/open_in_full:")
    name = plain(shorten_middle(passage.document_name, _NAME))
    under = cards.heading(passage, document)
    st.markdown(f"**{name}**{', ' + plain(where) if where else ''}{' · ' + plain(under) if under else ''}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(cards.facts(passage, session.terms()), width="stretch")
        if document.origin is Origin.DOCUMENT:
            with st.container(width="content", key="pane_comments"):
                comments.comment_button(on_passage(passage), f"comments.passage.{passage.id}")


def _sentence(result: SearchResult, candidate: Candidate, citations: Sequence[Citation]) -> None:
    stems, phrases = {stem(word) for word in result.route.keywords}, quoted_phrases(result.request.question)
    text = citations[0].quote if citations else candidate.passage.text
    st.markdown(f"“{highlight(shorten(display_quote(text), _LETTERS), stems, phrases)}”")


def _actions(result: SearchResult, hit: Hit) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        if hit.citations:
            with st.container(width="content", key="pane_cite"):
                cards.cite_menu(hit.citations[0], below=lambda: feedback.cite_button(hit, result))
        with st.container(width="content", key="pane_note"):
            save_insight.save_button(hit, result)
        shortlists.tick_button(hit, result.request.question)
        feedback.feedback(hit, result)
        related_results.more_like_this(hit, result, session.workbench().search.similar)
        related_results.draw_collapsed(hit, result, session.terms())
        compare.compare_button(hit, result)


_TEXT, _PICTURE = "Text", "Page picture"


def _in_its_page(candidate: Candidate, document: Document, citations: Sequence[Citation]) -> None:
    """The passage in its page; for a PDF as a picture on demand."""
    view = _TEXT
    if page_view.has_picture(document):
        view = st.segmented_control(
            "Passage", [_TEXT, _PICTURE], key="pane.view", default=_TEXT, required=True, label_visibility="collapsed"
        )
    try:
        if view == _PICTURE:
            page_view.draw_picture(candidate, document, citations)
        else:
            page_view.draw_passage(candidate, document, citations)
    except FivefoldError as problem:
        notices.error(problem)


def score_data(score: Score, threshold: float) -> dict[str, Any]:
    """What the parts of a score are drawn from. Parts that add nothing in three decimals are folded away."""
    product = score.total / total if (total := sum(factor.contribution for factor in score.factors)) > 0 else 0.0
    factors = [
        {
            "label": factor_label(factor.name),
            "points": f"{points:.3f}",
            "share": factor.contribution * product,
            "colour": charts.factor_colour(factor.name),
            "reason": factor.reason,
            "counts": points > 0,
        }
        for factor, points in shown_parts(score)
    ]
    effects = [
        {
            "label": f"× {factor_label(each.name)} {each.value:.2f}",
            "points": f"{points:+.3f}".replace("-", "−") if points else "0.000",
            "share": 0.0,
            "colour": "transparent",
            "reason": each.reason,
            "counts": points != 0,
        }
        for each, points in shown_effects(score)
    ]
    parts = [*factors, *effects]
    neutral = [each for each in parts if not each["counts"]]
    return {
        "parts": [each for each in parts if each["counts"]],
        "neutral": neutral,
        "folded": f"{count(len(neutral), 'part changes', 'parts change')} nothing here",
        "total": f"{score.total:.3f}",
        "threshold": threshold,
        "words": strip_words(score),
    }
