"""The results: notices of the search, each hit with its badges, and the similar hits collapsed into it."""

from collections.abc import Collection
from difflib import SequenceMatcher

import streamlit as st

from core.domain.queries import LEG_LABELS
from core.domain.results import Candidate, DropReason, Hit, SearchResult
from core.knowledge.workspace_terms import WorkspaceTerms
from core.text.tokenize import stem
from pages.components import cards, notices, session
from pages.components.cards import Drawn
from pages.components.library.related_documents import library_link
from pages.components.search import compare, exports, feedback, paging, result_list, save_insight, saved_searches
from pages.components.search import similar as likeness
from pages.components.tuning import grading
from pages.components.why_missing import reason_of
from pages.components.wording import count, plain, squeezed

__all__ = ["collapsed", "difference_in_words", "draw_answer", "marker"]


def marker(result: SearchResult) -> Drawn:
    """Draws the mark of a result, nothing for documents in the library. One look-up for all results."""
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
        library_link(newer, f"replaced by {plain(squeezed(newer.name, 40))}", ":material/arrow_forward:")

    return mark


_NAMED = 4

_MOST_WORDS = 800

_HEIGHT = 260
"""Pixels kept for the list before it is there: a box finds its place by what it holds when it opens."""


def collapsed(hit: Hit, result: SearchResult, terms: WorkspaceTerms) -> None:
    """A box "3 similar" that names the passages behind a result; nothing where none were collapsed into it."""
    if hit.similar:
        with st.container(width="content"):
            _box(hit, result, terms)


@st.fragment
def _box(hit: Hit, result: SearchResult, terms: WorkspaceTerms) -> None:
    passage = hit.candidate.passage
    label = f"{len(hit.similar)} similar"
    box = st.popover(
        label, icon=":material/content_copy:", type="tertiary", key=f"collapsed.{passage.id}", on_change="rerun"
    )
    known = {candidate.passage.id: candidate for candidate in result.candidates}
    with box, st.container(width=480, height=_HEIGHT, border=False):
        if not box.open:
            return
        st.caption("They say nearly the same, so the best of them stands for all.")
        for passage_id in hit.similar:
            if passage_id in known:
                _line(known[passage_id], hit, result, terms)


def _line(candidate: Candidate, hit: Hit, result: SearchResult, terms: WorkspaceTerms) -> None:
    passage = candidate.passage
    where, name = cards.place(passage, result.documents.get(passage.document_id)), squeezed(passage.document_name, 48)
    with st.container(gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            cards.origin_badge(passage)
            label = f"{plain(name)}, {plain(where)}" if where else plain(name)
            cards.inspect_link(result.request, passage.id, label, icon=":material/troubleshoot:")
        difference = difference_in_words(hit.candidate.passage.text, passage.text)
        st.caption(f"{cards.facts(passage, terms)} · {plain(difference)}")


def difference_in_words(shown: str, other: str) -> str:
    """What another text says otherwise than the one shown, in a few words.

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
    said = [word for _, _, _, first, last in changes for word in after[first:last]]
    named = f": {' '.join(said[:_NAMED])}{' …' if len(said) > _NAMED else ''}" if said else ""
    return f"{count(number, 'word differs', 'words differ')}{named}"


_NEAR_MISSES = 5


def draw_answer(result: SearchResult) -> None:
    """How the search went, then its results or the nearest misses."""
    with st.container(gap=None):  # the place itself takes no room
        paging.draw_top()
        with st.container():
            _summary(result)
    saved_searches.draw_look(result)
    stems = {stem(word) for word in result.route.keywords}
    if result.answered:
        _results(result, stems)
    else:
        _silence(result)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if result.answered:
            exports.export_menu(result)
        save_insight.keep_episode(result, feedback.opened(result.request.question))
    if result.answered:
        exports.check_answer(result)


def _summary(result: SearchResult) -> None:
    """How the search went, leg by leg, and what it was narrowed to."""
    found = count(_total(result), "result") if result.answered else "Nothing found"
    parts = [f"**{found}** in {result.milliseconds:.0f} ms", f"profile {plain(result.profile.ref)}"]
    parts.append(f"route {result.route.category.replace('_', ' ')}")
    for leg in result.legs:
        label = LEG_LABELS[leg.leg]
        if leg.error:
            parts.append(f":red[{label} failed: {plain(leg.error)}]")
        else:
            parts.append(
                f"{label} {leg.found:,} from {leg.rows_after:,} of {leg.rows_before:,} ({leg.milliseconds:.0f} ms)"
            )
    st.caption(" · ".join(parts))
    if result.filters_in_words:
        st.caption(":material/filter_alt: " + plain("; ".join(result.filters_in_words)))
    if result.undated_left_out:
        left_out = count(result.undated_left_out, "undated document")
        st.caption(f":material/event_busy: {left_out} left out by the date filter.")
    notices.degraded(result.notices)


def _total(result: SearchResult) -> int:
    """Results on all pages."""
    return len(result.hits) + sum(1 for each in result.dropped if each.reason is DropReason.BEYOND_MAX)


def _results(result: SearchResult, stems: Collection[str]) -> None:
    old = result_list.marker(result)

    def badge(hit: Hit) -> None:
        old(hit)
        saved_searches.mark_new(hit)

    graded, find, terms = grading.row(result), session.workbench().search.similar, session.terms()

    def actions(hit: Hit) -> None:
        feedback.feedback(hit, result)
        save_insight.save_button(hit, result)
        likeness.more_like_this(hit, result, find)
        result_list.collapsed(hit, result, terms)
        compare.compare_button(hit, result)

    total = _total(result)
    page = st.session_state.get("search.page") or 1
    for hit in paging.on_page(result.hits, page):
        cards.result_card(
            hit,
            result,
            stems,
            terms,
            badge=badge,
            cited=lambda hit: feedback.cited(hit, result),
            actions=actions,
            below=graded,
        )
    paging.draw_pager(min(total, paging.MOST), more=total > paging.MOST)


def _silence(result: SearchResult) -> None:
    """Nothing answers: why, and what came nearest, which is no answer."""
    notices.empty(":material/search_off:", "Nothing in the library answers this", plain(result.silence))
    nearest = sorted(result.dropped, key=lambda each: -(each.score.total if each.score else 0.0))[:_NEAR_MISSES]
    if nearest:
        st.markdown("**Nearest misses** :gray[– shown so that you can judge; none carries enough evidence]")
        for each in nearest:
            document = result.documents.get(each.candidate.passage.document_id)
            cards.miss_line(each.candidate, reason_of(each), result.request, document)
