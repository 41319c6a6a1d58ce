"""What is asked on the Search page: question, filters, profile, page – held in the session, and in the URL."""

from dataclasses import replace

import streamlit as st

from core.errors import BadFilters
from core.filters import SearchFilters
from core.queries import SearchRequest
from core.results import SearchResult
from pages.parts import address, filters, notices, session
from pages.parts.labels import chip_title
from pages.parts.profiles import profile_choice
from pages.parts.search import paging, reranking, saved_views
from pages.parts.tuning import grading
from pages.parts.urls import params_of, request_from

__all__ = ["BATCH", "FIVE", "RESULTS", "adopt", "chips", "narrowed", "question", "request"]

RESULTS, FIVE, BATCH = "results", "five", "batch"
_CHOICES = 400
"""Pixels for the profile and the reranker beside each other."""
_VIEWS = {RESULTS: "Results", FIVE: "Five truths", BATCH: "Batch"}


def adopt() -> None:
    """Take over what the URL asks, when it was not this page that wrote it; without a question there, the last one."""
    params, state = address.told(), st.session_state
    if "question" in state and not address.asks("search", params):
        return
    wanted = params["view"][0] if "view" in params else state.get("search.seen", RESULTS) if not params else RESULTS
    state["search.view"] = wanted if wanted in _VIEWS else RESULTS
    try:
        asked = request_from(params) if params else state.get("search.last", SearchRequest(""))
    except BadFilters as problem:
        state["search.problem"] = problem
        asked = request_from({name: values for name, values in params.items() if name in ("q", "profile")})
    state["question"] = asked.question
    state["search.profile"], state["search.gone"] = asked.profile, ""
    state["search.routed"] = asked.only_routed
    state["search.without"] = asked.removed_chips
    state["search.rerank"] = asked.rerank
    state["search.page"] = paging.pages_of(asked.top_k or 0)
    filters.seed(asked.filters)


def question(project: str | None) -> None:
    """The question, how its results are scored, and which side of the answer is looked at."""
    # Where it is narrow, the question gets a line of its own: the choices wrap below it as a whole.
    line = st.container(horizontal=True, vertical_alignment="bottom")
    line.text_input(
        "Question",
        key="question",
        type="search",
        placeholder="Ask in your own words; press / to come here",
        help='"words in a row" · -word leaves out · truth:intent, domain:, authority:, jurisdiction:, project:, tag:,'
        " document:, before:2024, since:2023 narrow. Anything else is just words.",
        on_change=_new_question,
    )
    with line.container(horizontal=True, width=_CHOICES):
        gone = profile_choice("search.profile", project)
        reranking.choice("search.rerank", session.workbench().reranker_troubles)
    state = st.session_state
    state["search.gone"] = gone or state.get("search.gone", "")
    if state["search.gone"] and not state["search.profile"]:
        notices.degraded(
            [f"There is no score profile '{state['search.gone']}' (any more), so the default one scores the results."]
        )


def _new_question() -> None:
    st.session_state["search.without"], st.session_state["search.chips"] = (), {}
    paging.first_page()


def narrowed() -> SearchFilters:
    """The filters of the sidebar, with counts that honour each other. Raises BadFilters."""
    library = session.workbench()
    current = st.session_state.get("search.filters", SearchFilters())
    document_names = {str(each.id): each.name for each in library.documents()}
    with st.sidebar:
        head, button = st.columns([3, 2], vertical_alignment="center")
        head.markdown("**Filters**")
        button.button("Clear", on_click=filters.clear, type="tertiary", icon=":material/filter_alt_off:")
        st.toggle(
            "Only routed truths",
            key="search.routed",
            help="A question is routed to the truths that can answer it. The others count less; this leaves them out.",
            disabled=st.session_state["search.view"] == FIVE,
        )
        chosen = filters.drawn(library.facets(filters.stated(current)), document_names, library.undated)
        st.divider()
        grading.switch(chosen.project)
        return chosen


def request(chosen: SearchFilters) -> SearchRequest:
    """What is asked now, written to the URL; with another question, filter or profile it begins at the first page.

    Draws the choice of the view, and beside it the saved views.
    """
    state = st.session_state
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.segmented_control(
            "View",
            list(_VIEWS),
            key="search.view",
            required=True,
            format_func=_VIEWS.__getitem__,
            label_visibility="collapsed",
        )
        shown: str = state["search.view"]
        asked = _asked(chosen)
        saved_views.draw_saved(asked, shown, chosen.project)
    if asked != state.get("search.asked", asked):
        paging.first_page()
    state["search.asked"] = asked
    page = state.get("search.page") or 1
    asked = replace(asked, top_k=paging.PER_PAGE * page if page > 1 else None)
    params = params_of(asked) | ({} if shown == RESULTS else {"view": [shown]})
    address.write("search", params)
    state["search.last"], state["search.filters"] = asked, chosen
    state["search.seen"] = shown
    return asked


def _asked(chosen: SearchFilters) -> SearchRequest:
    state = st.session_state
    return SearchRequest(
        question=state["question"].strip(),
        filters=chosen,
        profile=state["search.profile"],
        only_routed=state["search.routed"],
        removed_chips=tuple(state["search.without"]),
        rerank=state["search.rerank"],
    )


def chips(result: SearchResult) -> None:
    """What was read from the question. A chip switched off stays in sight and can be switched on again."""
    state = st.session_state
    known: dict[str, str] = state.setdefault("search.chips", {})
    known |= {chip.kind: chip_title(chip) for chip in result.route.chips}
    detected = [chip.kind for chip in result.route.chips]
    offered = list(dict.fromkeys([*detected, *(kind for kind in state["search.without"] if kind in known)]))
    if not offered:
        return
    state["search.kept"] = detected
    st.pills(
        "Read from the question – click one to search without it",
        offered,
        selection_mode="multi",
        key="search.kept",
        format_func=lambda kind: known[kind],
        on_change=_keep,
        args=(offered,),
    )


def _keep(offered: list[str]) -> None:
    kept = st.session_state["search.kept"]
    st.session_state["search.without"] = tuple(kind for kind in offered if kind not in kept)
