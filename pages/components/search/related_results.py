"""What belongs to a result: passages like it, near-duplicates collapsed into it, and the version that replaced it."""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

import streamlit as st

from core.domain.errors import FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Candidate, Hit, SearchResult
from core.knowledge.workspace_terms import WorkspaceTerms
from core.search.citations.cite import display_quote
from core.search.retrieval.similar import SimilarPassage, as_question
from pages.components import cards, notices, session
from pages.components.cards import DrawHit
from pages.components.urls import page_path, params_of
from pages.components.wording import count, plain, shorten, shorten_middle

__all__ = ["FindSimilar", "difference_in_words", "draw_collapsed", "more_like_this", "version_marker"]

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
