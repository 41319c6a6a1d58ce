"""What would have to change for a passage to be first, for the Inspect page."""

import streamlit as st

from core.results import SearchResult
from core.tables.factors import factor_table
from core.tuning.counterfactual import FirstIf
from pages.parts import session
from pages.parts.urls import page_path, params_of
from pages.parts.wording import plain

__all__ = ["first_if"]

_SHOWN = 4
_LEAST_WIDE = 0.001
"""A narrower span of weights can be found, and not set by hand."""


def first_if(result: SearchResult, passage_id: int) -> None:
    """The smallest changes of one weight that put the passage first; nothing where it is first already."""
    if result.hits and result.hits[0].candidate.passage.id == passage_id:
        return
    st.markdown("**What would make it first?** :gray[– one weight changed, the others keeping their proportions]")
    told = [each for each in _worked_out(result, passage_id) if each.high - each.low >= _LEAST_WIDE]
    if not told:
        why = result.refusal or "No single weight can: another passage is at least as good in everything that counts."
        st.caption(plain(why))
        return
    table = factor_table()
    for each in told[:_SHOWN]:
        label = table[each.factor].label
        st.markdown(f"First if **{plain(label)}** weighs {each.words} :gray[(now {each.now:.3f})]")
    params = {name: values for name, values in params_of(result.request).items() if name != "profile"}
    st.page_link(
        page_path("tuning"),
        label="Try it with sliders",
        icon=":material/tune:",
        query_params=params | {"view": ["tune"], "base": [result.profile.ref]},
    )


def _worked_out(result: SearchResult, passage_id: int) -> list[FirstIf]:
    return list(session.workbench().tuning.first_if(result, passage_id))
