"""Search: a question, its filters, and the sentences that answer it, with a score breakdown or by truth."""

import streamlit as st

import sample
from core.domain.errors import BadFilters, FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from pages.components import notices, session
from pages.components.notices import wait_for_models
from pages.components.search import five_truths, query_form, saved_searches, shortlists
from pages.components.search.batch import draw_batch
from pages.components.search.result_list import draw_answer
from pages.components.urls import current_params, page_path
from pages.components.wording import count, plain, shorten


def _landing() -> None:
    recent = session.workbench().search.recent()
    documents = session.workbench().documents
    if not documents.has_passages():
        if documents.count():
            words = "No uploaded file has text yet; *Upload* shows the state of each file."
            notices.empty(":material/search:", "Nothing to search yet", words)
        else:
            notices.empty_library(":material/search:", "The library is empty")
        return
    st.caption("Ask a question above. Filters narrow every search, before anything is ranked.")
    if recent:
        st.markdown("**Last searches**")
    for question, hits, _ in recent:
        label = f"{plain(shorten(question, 62))} :gray[({count(hits, 'result')})]"
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
    query_form.draw_chips(result)
    draw_answer(result)


def draw() -> None:
    saved_searches.open_named(current_params())
    query_form.read_url()
    with st.container(horizontal=True, vertical_alignment="top", key="search_frame"):
        narrowing = st.container(key="search_filters")
        answering = st.container(key="search_main")
    narrowed: SearchFilters | None = None
    problems = [st.session_state.pop("search.problem", None)]
    try:
        with narrowing:
            narrowed = query_form.filter_column()
    except BadFilters as problem:
        problems.append(problem)
    with answering:
        _main(narrowed, [each for each in problems if each])


def _main(narrowed: SearchFilters | None, problems: list[FivefoldError]) -> None:
    """The question, and beside its filters what it finds. narrowed: None while the filters are invalid."""
    query_form.question_fields(narrowed.project if narrowed else None)
    for wrong in problems:
        notices.error(wrong)
    if narrowed is None:
        return
    request = query_form.current_request(narrowed)
    if st.session_state["search.view"] != query_form.SHORTLISTS:
        query_form.draw_active_filters(narrowed)
    if st.session_state["search.view"] == query_form.BATCH:
        ask = session.workbench().search.run_many
        draw_batch(narrowed, request.profile, ask, only_routed=request.only_routed, rerank=request.rerank)
    elif st.session_state["search.view"] == query_form.SHORTLISTS:
        shortlists.draw_shortlists()
    elif not request.question:
        _landing()
    elif not session.ready():
        wait_for_models("The models are loading; your answer appears as soon as they are ready.")
    elif st.session_state["search.view"] == query_form.FIVE:
        five_truths.draw_five_truths(request)
    else:
        _answer(request)


draw()
