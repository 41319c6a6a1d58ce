"""Search: a question, what narrows it, and the sentences that answer, each with a score that adds up, or by truth."""

from collections.abc import Collection

import streamlit as st

import sample
from core.errors import BadFilters, FivefoldError
from core.filters import SearchFilters
from core.matching import stem
from core.queries import SearchRequest
from core.results import DropReason, SearchResult
from pages.parts import cards, filters, notices, session
from pages.parts.answer import view
from pages.parts.labels import chip_title
from pages.parts.profiles import profile_choice
from pages.parts.tuning import grading
from pages.parts.urls import page_path, params_of, request_from
from pages.parts.wording import count, plain

_PAGE = 10
_NEAR_MISSES = 5
_RESULTS, _FIVE = "results", "five"
_VIEWS = {_RESULTS: "Results", _FIVE: "Five truths"}


def _adopt() -> None:
    """Take over what the URL asks, when it was not this page that wrote it; without a question there, the last one."""
    params = {name: st.query_params.get_all(name) for name in st.query_params}
    state = st.session_state
    if "question" in state and params == state.get("search.url"):
        return
    wanted = params["view"][0] if "view" in params else state.get("search.seen", _RESULTS) if not params else _RESULTS
    state["search.view"] = wanted if wanted in _VIEWS else _RESULTS
    try:
        request = request_from(params) if params else state.get("search.last", SearchRequest(""))
    except BadFilters as problem:
        state["search.problem"] = problem
        request = request_from({name: values for name, values in params.items() if name in ("q", "profile")})
    state["question"] = request.question
    state["search.profile"] = request.profile
    state["search.routed"] = request.only_routed
    state["search.without"] = request.removed_chips
    state["search.top"] = request.top_k
    filters.seed(request.filters)


def _question(project: str | None) -> None:
    """The question, how its results are scored, and which side of the answer is looked at."""
    asked, scored = st.columns([3, 1], vertical_alignment="bottom")
    asked.text_input(
        "Question",
        key="question",
        type="search",
        placeholder="Ask in your own words; press / to come here",
        on_change=_new_question,
    )
    with scored:
        profile_choice("search.profile", project)
    st.segmented_control(
        "View",
        list(_VIEWS),
        key="search.view",
        required=True,
        format_func=_VIEWS.__getitem__,
        label_visibility="collapsed",
    )


def _new_question() -> None:
    st.session_state["search.without"], st.session_state["search.chips"] = (), {}
    st.session_state["search.top"] = None


def _narrowed() -> SearchFilters:
    """The filters of the sidebar, with counts that honour each other."""
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
            disabled=st.session_state["search.view"] == _FIVE,
        )
        narrowed = filters.drawn(library.facets(current), document_names)
        st.divider()
        grading.switch(narrowed.projects[0] if len(narrowed.projects) == 1 else None)
        return narrowed


def _request(narrowed: SearchFilters) -> SearchRequest:
    state = st.session_state
    request = SearchRequest(
        question=state["question"].strip(),
        filters=narrowed,
        profile=state["search.profile"],
        top_k=state["search.top"],
        only_routed=state["search.routed"],
        removed_chips=tuple(state["search.without"]),
    )
    shown = state["search.view"]
    params = params_of(request) | ({} if shown == _RESULTS else {"view": [shown]})
    if params != state.get("search.url"):
        st.query_params.from_dict(params)
    state["search.url"], state["search.last"], state["search.filters"] = params, request, narrowed
    state["search.seen"] = shown
    return request


def _chips(result: SearchResult) -> None:
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


def _summary(result: SearchResult) -> None:
    """How the search went, leg by leg, and what it was narrowed to."""
    found = count(len(result.hits), "result") if result.answered else "Nothing found"
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


def _results(result: SearchResult) -> None:
    stems = {stem(word) for word in result.route.keywords}
    below = grading.row(result)
    for hit in result.hits:
        cards.result_card(hit, result, stems, below=below)
    beyond = sum(1 for each in result.dropped if each.reason is DropReason.BEYOND_MAX)
    if beyond:
        more = min(100, len(result.hits) + _PAGE)
        st.button(
            f"Show {min(beyond, more - len(result.hits))} more",
            icon=":material/expand_more:",
            on_click=_more,
            args=(more,),
        )


def _more(top: int) -> None:
    st.session_state["search.top"] = top


def _silence(result: SearchResult, stems: Collection[str]) -> None:
    """Nothing answers: why, and what came nearest, which is no answer."""
    notices.empty(":material/search_off:", "Nothing in the library answers this", plain(result.silence))
    nearest = sorted(result.dropped, key=lambda each: -(each.score.total if each.score else 0.0))[:_NEAR_MISSES]
    if nearest:
        st.markdown("**Nearest misses** :gray[– shown so that you can judge; none carries enough evidence]")
        for each in nearest:
            document = result.documents.get(each.candidate.passage.document_id)
            cards.miss_line(each.candidate, f"{each.reason.value}: {each.detail}", result.request, document)


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
        label = f"{plain(question)} :gray[({count(hits, 'result')})]"
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
    _chips(result)
    _summary(result)
    if result.answered:
        _results(result)
    else:
        _silence(result, {stem(word) for word in result.route.keywords})


def draw() -> None:
    _adopt()
    narrowed: SearchFilters | None = None
    problems = [st.session_state.pop("search.problem", None)]
    try:
        narrowed = _narrowed()
    except BadFilters as problem:
        problems.append(problem)
    _question(narrowed.project if narrowed else None)
    for wrong in filter(None, problems):
        notices.error(wrong)
    if narrowed is None:
        return
    request = _request(narrowed)
    if not request.question:
        _landing()
        return
    if not session.ready():
        _wait_for_models()
    elif st.session_state["search.view"] == _FIVE:
        view.draw(request)
    else:
        _answer(request)


draw()
