"""Why a document is not among the results: any document, and every passage that was found but not shown."""

import streamlit as st

from core.domain.results import DropReason, SearchResult
from pages.components import cards, session
from pages.components.wording import count, plain, shorten

__all__ = ["REASON_TITLES", "draw_why_missing"]

_MOST_PASSAGES = 10
"""Passages listed of each reason."""
REASON_TITLES = {
    DropReason.FILTERED: "Left out by a filter",
    DropReason.BELOW_FLOOR: "No evidence: neither similar enough nor a word in common",
    DropReason.BELOW_THRESHOLD: "Scored below the profile's threshold",
    DropReason.COLLAPSED: "Says nearly the same as a better one",
    DropReason.EARLIER_PAGE: "On an earlier page",
    DropReason.BEYOND_MAX: "Ranked after the last one shown",
}


def draw_why_missing(result: SearchResult) -> None:
    """Why a document is not here: every candidate that was measured and not shown, by reason."""
    st.markdown("**Why is a document not here?** :gray[– every passage that was found and not shown]")
    library = session.workbench()
    names = library.documents.names(archived=None)
    missed = {each.candidate.passage.document_id for each in result.dropped}
    choice = st.selectbox(
        "Document",
        sorted(names, key=lambda each: (each not in missed, names[each].casefold())),
        index=None,
        placeholder="All retrieved passages, or pick a document",
        format_func=lambda each: names[each],
        key="dropped.document",
    )
    dropped = [each for each in result.dropped if choice in (None, each.candidate.passage.document_id)]
    if choice is not None:
        explanation = library.search.why_missing(result, choice)
        st.markdown("\n".join(f"- {plain(each)}" for each in explanation.reasons))
        if explanation.best is not None and not explanation.found:
            st.caption(f"Its nearest passage: “{plain(shorten(explanation.best.text, 240))}”")
    elif not dropped:
        st.caption("Nothing was found and left out. Choose a document above to see why it was not found.")
    for reason in DropReason:
        group = [each for each in dropped if each.reason is reason]
        if group:
            st.markdown(f"{REASON_TITLES[reason]} :gray[({count(len(group), 'passage')})]")
        for each in group[:_MOST_PASSAGES]:
            document = result.documents.get(each.candidate.passage.document_id)
            cards.miss_line(each.candidate, each.detail, result.request, document)
        if len(group) > _MOST_PASSAGES:
            st.caption(f"… and {len(group) - _MOST_PASSAGES:,} more. Choose a document above to see those of it.")
