"""The chosen result: its passage in its page, why it ranks where it does, related results, and its actions."""

# Over 300 lines: everything drawn of one result.

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from typing import Any

import streamlit as st

from core.collaboration.target import on_passage
from core.domain.documents import Document, Origin
from core.domain.errors import FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Candidate, Citation, Dropped, Hit, Score, SearchResult
from core.knowledge.glossary import meaning
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.citations.cite import cite, display_quote
from core.search.explanation import factor_label, shown_effects, shown_parts, strip_words
from core.search.query.syntax import quoted_phrases
from core.search.reasons import why_words
from core.search.retrieval.similar import SimilarPassage, as_question
from pages.components import browser_scripts, cards, charts, comments, notices, session
from pages.components.cards import DrawHit
from pages.components.search import compare, feedback, page_view, save_insight, shortlists
from pages.components.urls import page_path, params_of
from pages.components.wording import count, highlight, plain, shorten, shorten_middle

__all__ = ["citations_of", "draw_collapsed", "draw_pane", "more_like_this", "score_data"]

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
        st.caption(f"**Why:** {plain(why_words(candidate, score, tuple(result.rarity)))}")
    if hit is not None:
        _actions(result, hit)
        feedback.draw_grades(hit, result)
    _in_its_page(candidate, document, citations)
    if score is not None:
        st.markdown("**Score**", help=meaning("score"))
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
            version_marker(result)(hit)
        st.space("stretch")
        with st.container(
            horizontal=True, width="content", vertical_alignment="center", gap="small"
        ):  # where it is narrow, both wrap
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
    stems, phrases = cards.stems_asked_for(result), quoted_phrases(result.request.question)
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
        more_like_this(hit, result, session.workbench().search.similar)
        draw_collapsed(hit, result, session.terms())
        compare.compare_with_best(hit, result)


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
            "means": meaning(f"factor.{factor.name}"),
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
            "means": meaning(f"factor.{each.name}"),
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


FindSimilar = Callable[[int, SearchFilters], Sequence[SimilarPassage]]
"""The passages nearest to the passage of this id that the filters admit. Raises FivefoldError."""

_MOST_SHARED = 6  # shared words named; chosen by hand
_SIMILAR_HEIGHT = 440
"""Pixels kept for the list before it is there: a box finds its place by what it holds when it opens."""


def more_like_this(hit: Hit, result: SearchResult, find: FindSimilar) -> None:
    """A box beside a result: five passages like it, each opening in Inspect, and its sentence as a question of its own.

    The filters of the search apply. Opening the box draws it alone again, not the page.
    """
    with st.container(width="content"):
        _similar_box(hit, result, find)


@st.fragment
def _similar_box(hit: Hit, result: SearchResult, find: FindSimilar) -> None:
    passage = hit.candidate.passage
    box = st.popover(
        "More like this", icon=":material/hub:", type="tertiary", key=f"similar.{passage.id}", on_change="rerun"
    )
    with box, st.container(width=520, height=_SIMILAR_HEIGHT, border=False):
        if not box.open:
            return
        try:
            found = find(passage.id, result.filters)
        except FivefoldError as problem:
            notices.error(problem)
            return
        for each in found:
            _similar_line(each, result)
        if not found:
            st.caption("No similar passages match the filters.")
        _search_link(hit, result.request)


def _similar_line(similar: SimilarPassage, result: SearchResult) -> None:
    """One passage: its location, its beginning, and why it is similar."""
    passage = similar.passage
    where = cards.location(passage, result.documents.get(passage.document_id))
    name = plain(shorten_middle(passage.document_name, 48))
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.origin_badge(passage)
            label = f"**{name}**, {plain(where)}" if where else f"**{name}**"
            _similar_link(similar, result, label)
        st.markdown(plain(shorten(display_quote(passage.text), 180)))
        st.caption(plain(_similarity_reason(similar)))


def _similar_link(similar: SimilarPassage, result: SearchResult, label: str) -> None:
    """A link to Inspect: under the question asked, or under the passage's own words if it is no candidate."""
    passage, request = similar.passage, result.request
    if passage.id not in {candidate.passage.id for candidate in result.candidates}:
        request = SearchRequest(as_question(display_quote(passage.text)), request.filters, profile=request.profile)
    cards.inspect_link(request, passage.id, label, icon=":material/troubleshoot:")


def _similarity_reason(similar: SimilarPassage) -> str:
    """
    >>> from core.domain.documents import Passage
    >>> _similarity_reason(SimilarPassage(Passage("", 1, 0, 0, ()), 0.812, ("fsbid", "form"), 0.5))
    'nearness 0.72 · cosine 0.81 · shares fsbid, form'
    """
    meaning = "no vector, found by words" if similar.cosine is None else f"cosine {similar.cosine:.2f}"
    named = ", ".join(similar.shared[:_MOST_SHARED])
    more = f" and {len(similar.shared) - _MOST_SHARED} more" if len(similar.shared) > _MOST_SHARED else ""
    shares = f"shares {named}{more}" if named else "shares no rare word"
    return f"nearness {similar.nearness:.2f} · {meaning} · {shares}"


def _search_link(hit: Hit, request: SearchRequest) -> None:
    sentence = hit.citations[0].quote if hit.citations else hit.candidate.passage.text
    sentence_request = SearchRequest(as_question(display_quote(sentence)), request.filters, profile=request.profile)
    st.page_link(
        page_path("search"),
        label="Search for its sentence",
        icon=":material/search:",
        query_params=params_of(sentence_request),
        help="A search of its own, with the same filters: what else says this?",
    )


def version_marker(result: SearchResult) -> DrawHit:
    """A function that marks results of archived documents. One look-up serves all results."""
    ids = {hit.candidate.passage.document_id for hit in result.hits if hit.candidate.passage.archived}
    newest = session.workbench().versions.newest(sorted(ids)) if ids else {}

    def mark(hit: Hit) -> None:
        passage = hit.candidate.passage
        if not passage.archived:
            return
        newer = newest.get(passage.document_id)
        if newer is None:
            st.badge("Archived", icon=":material/archive:", color="gray")
            return
        st.badge("Old version", icon=":material/history:", color="orange", help="A newer version replaced it.")
        label = f"replaced by {plain(shorten_middle(newer.name, 40))}"
        cards.document_link(newer.id, label, icon=":material/arrow_forward:")

    return mark


_MOST_DIFFERENT = 4  # different words named; chosen by hand

_MOST_WORDS = 800  # words compared; SequenceMatcher takes quadratic time

_COLLAPSED_HEIGHT = 260
"""Pixels kept for the list before it is there: a box finds its place by what it holds when it opens."""


def draw_collapsed(hit: Hit, result: SearchResult, terms: WorkspaceTerms) -> None:
    """A box "3 similar" that lists the passages collapsed into a result."""
    if hit.similar:
        with st.container(width="content"):
            _collapsed_box(hit, result, terms)


@st.fragment
def _collapsed_box(hit: Hit, result: SearchResult, terms: WorkspaceTerms) -> None:
    passage = hit.candidate.passage
    label = f"{len(hit.similar)} similar"
    box = st.popover(
        label, icon=":material/content_copy:", type="tertiary", key=f"collapsed.{passage.id}", on_change="rerun"
    )
    known = {candidate.passage.id: candidate for candidate in result.candidates}
    with box, st.container(width=480, height=_COLLAPSED_HEIGHT, border=False):
        if not box.open:
            return
        st.caption("They say nearly the same, so only the best is listed.")
        for passage_id in hit.similar:
            if passage_id in known:
                _collapsed_line(known[passage_id], hit, result, terms)


def _collapsed_line(candidate: Candidate, hit: Hit, result: SearchResult, terms: WorkspaceTerms) -> None:
    passage = candidate.passage
    where, name = (
        cards.location(passage, result.documents.get(passage.document_id)),
        shorten_middle(passage.document_name, 48),
    )
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.origin_badge(passage)
            label = f"{plain(name)}, {plain(where)}" if where else plain(name)
            cards.inspect_link(result.request, passage.id, label, icon=":material/troubleshoot:")
        difference = difference_in_words(hit.candidate.passage.text, passage.text)
        st.caption(f"{cards.facts(passage, terms)} · {plain(difference)}")


def difference_in_words(shown: str, other: str) -> str:
    """The words in which another text differs from the one shown.

    >>> difference_in_words("Due on the 15th of May.", "Due on the 20th of May.")
    '1 word differs: 20th'
    >>> difference_in_words("Due in May.", "Due in  May.")
    'word for word the same'
    """
    before, after = shown.split()[:_MOST_WORDS], other.split()[:_MOST_WORDS]
    changes = [
        each for each in SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if each[0] != "equal"
    ]
    if not changes:
        return "word for word the same"
    number = sum(max(end - start, last - first) for _, start, end, first, last in changes)
    changed_words = [word for _, _, _, first, last in changes for word in after[first:last]]
    named = (
        f": {' '.join(changed_words[:_MOST_DIFFERENT])}{' …' if len(changed_words) > _MOST_DIFFERENT else ''}"
        if changed_words
        else ""
    )
    return f"{count(number, 'word differs', 'words differ')}{named}"
