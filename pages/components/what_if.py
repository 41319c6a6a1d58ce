"""The smallest weight changes that would rank a passage first, for the Inspect page."""

import streamlit as st

from core.domain.results import SearchResult
from core.evaluation.tuning.replay import RankFirstWeight, moves
from core.evaluation.tuning.sliders import changes_in_text
from core.knowledge.factors import factor_table
from pages.components import session
from pages.components.urls import page_path, params_of
from pages.components.wording import plain

__all__ = ["draw_what_if"]

_SHOWN = 4  # changes offered; chosen by hand


def draw_what_if(result: SearchResult, passage_id: int) -> None:
    """The smallest changes of one weight that would rank the passage first, each a link to the sliders; draws nothing
    if it is first already."""
    if result.hits and result.hits[0].candidate.passage.id == passage_id:
        return
    st.markdown("**What would make it first?** :gray[– one weight changed, the others keeping their proportions]")
    changes = [each for each in session.workbench().evaluation.first_if(result, passage_id) if each.shown is not None]
    if not changes:
        st.caption("No single weight can: another passage is at least as good in everything that counts.")
        return
    for each in changes[:_SHOWN]:
        label = factor_table()[each.factor].label
        words = f"First if **{plain(label)}** weighs {each.words} :gray[(now {each.now:.3f})]"
        if result.request.rerank:
            st.markdown(words)  # the sliders know nothing of what a reranker reads
        else:
            _link(result, each, words)


def _link(result: SearchResult, change: RankFirstWeight, words: str) -> None:
    params = {name: values for name, values in params_of(result.request).items() if name not in ("profile", "top")}
    tried = {"base": [result.profile.ref], "trial": [changes_in_text(moves(result.profile, change))]}
    st.page_link(
        page_path("tuning"),
        label=words,
        icon=":material/tune:",
        query_params=params | {"view": ["tune"]} | tried,
        help="Opens the sliders with the values it would need.",
    )
