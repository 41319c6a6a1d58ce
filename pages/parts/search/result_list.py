"""The ranked results of an answer, or why there are none."""

from collections.abc import Collection

import streamlit as st

from core.matching import stem
from core.results import DropReason, Hit, SearchResult
from pages.parts import cards, notices, session
from pages.parts.not_shown import reason_of
from pages.parts.search import (
    collapsed,
    exports,
    feedback,
    keep_episode,
    paging,
    replaced,
    save_insight,
    saved_views,
    versus,
)
from pages.parts.search import similar as likeness
from pages.parts.tuning import grading
from pages.parts.wording import count, plain

__all__ = ["draw_answer"]

_NEAR_MISSES = 5


def draw_answer(result: SearchResult) -> None:
    """How the search went, then its results or the nearest misses."""
    with st.container(gap=None):  # the place itself takes no room
        paging.draw_top()
        with st.container():
            _summary(result)
    saved_views.draw_look(result)
    stems = {stem(word) for word in result.route.keywords}
    if result.answered:
        _results(result, stems)
    else:
        _silence(result)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if result.answered:
            exports.export_menu(result)
        keep_episode.keep_episode(result, feedback.opened(result.request.question))
    if result.answered:
        exports.check_answer(result)


def _summary(result: SearchResult) -> None:
    """How the search went, leg by leg, and what it was narrowed to."""
    found = count(_total(result), "result") if result.answered else "Nothing found"
    parts = [f"**{found}** in {result.milliseconds:.0f} ms", f"profile {plain(result.profile.ref)}"]
    parts.append(f"route {result.route.category.replace('_', ' ')}")
    for leg in result.legs:
        if leg.error:
            parts.append(f":red[{leg.leg} failed: {plain(leg.error)}]")
        else:
            parts.append(
                f"{leg.leg} {leg.found:,} from {leg.rows_after:,} of {leg.rows_before:,} ({leg.milliseconds:.0f} ms)"
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
    old = replaced.marker(result)

    def badge(hit: Hit) -> None:
        old(hit)
        saved_views.mark_new(hit)

    graded, find = grading.row(result), session.workbench().similar

    def actions(hit: Hit) -> None:
        feedback.feedback(hit, result)
        save_insight.save_button(hit, result)
        likeness.more_like_this(hit, result, find)
        collapsed.collapsed(hit, result)
        versus.compare_button(hit, result)

    total = _total(result)
    page = st.session_state.get("search.page") or 1
    for hit in paging.on_page(result.hits, page):
        cards.result_card(
            hit,
            result,
            stems,
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
