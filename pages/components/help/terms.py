"""The glossary on Help: a field that finds terms, and the terms group by group."""

import streamlit as st

from core.knowledge.glossary import found_terms
from pages.components import notices
from pages.components.wording import count, plain

__all__ = ["draw_glossary"]


def draw_glossary() -> None:
    """The field, then every term that is found."""
    with st.container(key="question"):  # "/" moves to the field in it
        words = st.text_input(
            "Find a term",
            key="term",
            bind="query-params",
            type="search",
            placeholder="For instance silent, BM25 or nDCG",
            width=420,
        )
    found = found_terms(words or "")
    if not found:
        notices.empty(":material/search_off:", "No term has these words", "Try a shorter word, or look into the guide.")
        return
    if words:
        st.caption(count(len(found), "term"))
    groups = {name: [each for each in found if each.group == name] for name in dict.fromkeys(g.group for g in found)}
    columns, filled = st.columns(2, gap="large"), [0, 0]
    for name, terms in groups.items():
        side = filled.index(min(filled))
        filled[side] += len(terms)
        with columns[side], st.container(gap="xsmall"):
            st.markdown(f"##### {name}", anchors=False)
            st.markdown("\n\n".join(f"**{plain(each.term)}** – {plain(each.means)}" for each in terms))
