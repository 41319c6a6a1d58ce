"""Topics the library itself proposes: requirement sentences with their place, and themes with their keywords."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from core.boards import Topic, TopicOrigin
from core.search.quotable import shown_quote
from pages.parts.coverage import state
from pages.parts.wording import count

__all__ = ["found_topics"]

_WORDS = {
    TopicOrigin.REQUIREMENT: (
        "Sentences of intent documents that say what shall, must, should or may be done, each with its page.",
        "No requirement sentence was found that is not a topic already. Upload the contract or the requirements, or"
        " check that they are classified as *intent*.",
    ),
    TopicOrigin.CLUSTER: (
        "What the library speaks of: passages grouped by meaning, named by the words that set each group apart.",
        "The library is too small for themes, or every theme is a topic already.",
    ),
}


def found_topics(
    project: str | None, origin: TopicOrigin, add: Callable[[Callable[[], Sequence[Topic]]], None]
) -> None:
    """The proposals of one kind, to choose from; looked for when asked, because it reads the whole library."""
    about, nothing = _WORDS[origin]
    key = f"topics.found.{origin.value}"
    st.caption(about)
    looked_for = st.session_state.get(key)
    if looked_for is None or looked_for[0] != project:
        if st.button("Look for them", icon=":material/search:", key=f"{key}.look"):
            with st.spinner("Reading the library …"):
                desk = state.desk()
                found = desk.found_requirements if origin is TopicOrigin.REQUIREMENT else desk.found_clusters
                st.session_state[key] = (project, list(found(project)))
            st.rerun()
        return
    known = {topic.name.casefold() for topic in state.topics(project)}
    proposals = [topic for topic in looked_for[1] if topic.name.casefold() not in known]
    if not proposals:
        st.info(nothing, icon=":material/info:")
        return
    _choose(proposals, key, add)


def _choose(proposals: Sequence[Topic], key: str, add: Callable[[Callable[[], Sequence[Topic]]], None]) -> None:
    st.markdown(f"**{count(len(proposals), 'proposal')}** · select rows, or add them all")
    event: Any = st.dataframe(
        [_row(topic) for topic in proposals],
        key=f"{key}.table.{len(proposals)}",
        hide_index=True,
        height=min(420, 38 + 35 * len(proposals)),
        on_select="rerun",
        selection_mode="multi-row",
        column_config={
            "topic": st.column_config.TextColumn("Topic", width="medium"),
            "says": st.column_config.TextColumn("Modality", width=80),
            "sentence": st.column_config.TextColumn("Sentence", width="large"),
            "keywords": st.column_config.TextColumn("Keywords", width="large"),
        },
    )
    rows = event["selection"]["rows"]
    chosen = [proposals[row] for row in rows] or list(proposals)
    words = f"Add {count(len(chosen), 'topic')}" if rows else f"Add all {len(proposals):,}"
    st.button(words, icon=":material/add:", type="primary", key=f"{key}.add", on_click=add, args=(lambda: chosen,))


def _row(topic: Topic) -> dict[str, Any]:
    if topic.source is None:
        return {"topic": topic.name, "keywords": ", ".join(topic.keywords), "domain": topic.domain}
    page = f", p. {topic.source.page}" if topic.source.page else ""
    return {
        "topic": topic.name,
        "says": topic.modality.value if topic.modality else "",
        "sentence": shown_quote(topic.source.quote),
        "document": f"{topic.source.document_name}{page}",
        "domain": topic.domain,
    }
