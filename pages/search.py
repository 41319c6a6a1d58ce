"""Search: a question, what narrows it, and the sentences that answer, each with a score that adds up, or by truth."""

import streamlit as st

import sample
from core.errors import BadFilters, FivefoldError
from core.filters import SearchFilters
from core.queries import SearchRequest
from pages.parts import notices, session
from pages.parts.answer import view
from pages.parts.search import asking
from pages.parts.search.batch import draw_batch
from pages.parts.search.result_list import draw_answer
from pages.parts.urls import page_path
from pages.parts.wording import count, plain, shortened


@st.fragment(run_every=0.7)
def _wait_for_models() -> None:
    session.start_warming()
    if session.ready():
        st.rerun()
    st.info("The models are loading; your answer appears as soon as they are ready.", icon=":material/hourglass_top:")


def _landing() -> None:
    recent = session.workbench().last_searches()
    if not session.workbench().statistics().passages:
        notices.empty(
            ":material/library_add:",
            "The library is empty",
            "Load the sample library on *Home*, or drop files on *Upload*.",
        )
        return
    st.caption("Ask a question above. The filters on the left narrow every search, before anything is ranked.")
    if recent:
        st.markdown("**Last searches**")
    for question, hits, _ in recent:
        label = f"{plain(shortened(question, 62))} :gray[({count(hits, 'result')})]"
        st.page_link(page_path("search"), label=label, icon=":material/history:", query_params={"q": question})
    if session.sample_loaded():
        st.markdown("**Worth asking the sample library**")
        for question in sample.questions():
            st.page_link(
                page_path("search"), label=plain(question), icon=":material/search:", query_params={"q": question}
            )


def _answer(request: SearchRequest) -> None:
    """The ranked results, or why there are none."""
    try:
        result = session.answer(request)
    except FivefoldError as problem:
        notices.error(problem)
        return
    asking.chips(result)
    draw_answer(result)


def draw() -> None:
    asking.adopt()
    narrowed: SearchFilters | None = None
    problems = [st.session_state.pop("search.problem", None)]
    try:
        narrowed = asking.narrowed()
    except BadFilters as problem:
        problems.append(problem)
    asking.question(narrowed.project if narrowed else None)
    for wrong in filter(None, problems):
        notices.error(wrong)
    if narrowed is None:
        return
    request = asking.request(narrowed)
    if st.session_state["search.view"] == asking.BATCH:
        ask = session.workbench().search_many
        draw_batch(narrowed, request.profile, ask, only_routed=request.only_routed, rerank=request.rerank)
    elif not request.question:
        _landing()
    elif not session.ready():
        _wait_for_models()
    elif st.session_state["search.view"] == asking.FIVE:
        view.draw(request)
    else:
        _answer(request)


draw()
