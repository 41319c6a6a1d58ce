"""The search form: question, filters, profile and reranker, stored in the URL."""
# Longer than 300 lines: the question, its filters and chips, and the request that they make.

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.domain.errors import BadFilters, FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.knowledge.rerankers import rerank_table
from pages.components import filters, notices, session, urls
from pages.components.icon_button import KEY as ICON_ALONE
from pages.components.labels import chip_title
from pages.components.rights import may
from pages.components.search import feedback, result_list, saved_searches, shortlists
from pages.components.urls import params_of, request_from
from pages.components.user_name import who
from pages.components.wording import plain

__all__ = [
    "BATCH",
    "FIVE",
    "RESULTS",
    "SHORTLISTS",
    "choose_reranker",
    "current_request",
    "draw_active_filters",
    "draw_chips",
    "filter_column",
    "profile_choice",
    "question_fields",
    "read_url",
]


def profile_choice(key: str, project: str | None, *, compact: bool = False) -> str:
    """A choice among all profiles, "" being the default; a version that a link names stays in the choice.

    compact: without its label in sight.

    What session state holds under `key` and is no profile (any more) becomes the default, and is given back; else "".
    """
    registry = session.workbench().evaluation.profiles
    offered, chosen = ["", *registry.choices()], st.session_state.get(key) or ""
    if chosen not in offered and chosen in registry.every():
        offered.append(chosen)
    missing = "" if chosen in offered else chosen
    if missing:
        st.session_state[key] = ""
    default = registry.default(project).ref
    st.selectbox(
        "Profile",
        offered,
        key=key,
        label_visibility="collapsed" if compact else "visible",
        format_func=lambda ref: f"{'Profile: ' if compact else ''}{ref or f'{default} (default)'}",
        help="How results are scored. Profiles are made and chosen on Tuning.",
    )
    return missing


_OFF = ""


def choose_reranker(key: str, troubles: Mapping[str, str]) -> None:
    """A choice among the rerankers, "" for none; an unknown value under `key` becomes "". One whose model could not be
    loaded is not offered; the reason is beside the choice, with a button that tries it again.

    troubles: reranker → why its model could not be loaded last time. Rerankers that were never used are not in it.
    """
    rows = rerank_table().rows
    chosen = st.session_state.get(key, _OFF)
    if chosen not in (_OFF, *rows):
        st.session_state[key] = chosen = _OFF

    def shown(name: str) -> str:
        if name == _OFF:
            return "No reranker"
        return f"{rows[name].label} (not available)" if name in troubles else rows[name].label

    st.selectbox(
        "Rerank",
        [_OFF, *(name for name in rows if name not in troubles or name == chosen)],
        key=key,
        format_func=shown,
        help=_reranker_help(),
        label_visibility="collapsed",
    )
    withheld = {name: why for name, why in troubles.items() if name in rows and name != chosen}
    if withheld:
        words = "Rerankers that are not available"
        with st.popover(words, icon=":material/error:", help=words, type="tertiary", key=f"{ICON_ALONE}{key}.troubles"):
            for name, why in withheld.items():
                st.markdown(f"**{rows[name].label}** is not available. {plain(why)}")
                st.button("Try again", key=f"{key}.{name}", on_click=_retry, args=(key, name))


def _retry(key: str, name: str) -> None:
    """Search with a reranker that failed before; its model is looked for again."""
    session.workbench().search.retry_reranker(name)
    st.session_state[key] = name


def _reranker_help() -> str:
    rows = rerank_table().rows.values()
    reads = ", ".join(f"{row.label.lower()} {row.candidates} in {row.deadline_ms / 1000:g} s" for row in rows)
    return (
        "A cross-encoder reads the best passages again, each together with the question; its verdict is one factor of"
        f" the score. Passages read at most: {reads}. Those not read in time keep their place, and the page says so."
        " *Included* comes with Fivefold and reads English; the others are downloaded at first use."
    )


RESULTS, FIVE, BATCH, SHORTLISTS = "results", "five", "batch", "shortlists"

_CHOICES = 400
"""Pixels for the profile and the reranker beside each other."""

_IN_SIGHT = 80
"""Characters of a question that its field shows at 1280 pixels; a longer one is also shown whole below it."""

_VIEWS = {RESULTS: "Results", FIVE: "Five truths", BATCH: "Batch", SHORTLISTS: "Shortlists"}


def read_url() -> None:
    """Take over what the URL asks, when it was not this page that wrote it; without a question there, the last one."""
    params, state = urls.current_params(), st.session_state
    if "question" in state and not urls.is_new_request("search", params):
        return
    view = params["view"][0] if "view" in params else state.get("search.seen", RESULTS) if not params else RESULTS
    state["search.view"] = view if view in _VIEWS else RESULTS
    if "shortlist" in params:
        state["search.view"] = SHORTLISTS
        shortlists.choose(urls.number_in(params["shortlist"][0]))
    try:
        request = request_from(params) if params else state.get("search.last") or new_request()
    except BadFilters as problem:
        state["search.problem"] = problem
        request = request_from({name: values for name, values in params.items() if name in ("q", "profile")})
    state["question"] = request.question
    state["search.profile"], state["search.gone"] = request.profile, ""
    state["search.routed"] = request.only_routed
    state["search.without"] = request.removed_chips
    state["search.rerank"] = request.rerank
    result_list.show_first(request.top_k)
    state[result_list.CHOSEN] = urls.number_in(params.get("passage", [""])[0])
    state.pop("search.asked", None)  # what the address chooses is not reset as by a new question
    filters.seed(request.filters)


def new_request(question: str = "") -> SearchRequest:
    """A request with the filters and the reranker that a new search starts with."""
    registry = session.workbench().evaluation.profiles
    return SearchRequest(question, registry.default_filters(), rerank=registry.default_reranker())


def question_fields(project: str | None) -> None:
    """The fields for the question, its profile and reranker, and the view of the answer."""
    # Where it is narrow, the question gets a line of its own: the choices wrap below it as a whole.
    line = st.container(horizontal=True, vertical_alignment="bottom")
    line.text_input(
        "Question",
        key="question",
        type="search",
        placeholder="Ask a question (press /)",
        label_visibility="collapsed",
        on_change=_new_question,
    )
    with line.container(horizontal=True, width=_CHOICES):
        missing = profile_choice("search.profile", project, compact=True)
        choose_reranker("search.rerank", session.workbench().search.reranker_problems)
    state = st.session_state
    session.workbench().search.load_reranker(state["search.rerank"])  # while the question is typed
    if len(state["question"]) > _IN_SIGHT:
        st.caption(plain(state["question"]))
    state["search.gone"] = missing or state.get("search.gone", "")
    if state["search.gone"] and not state["search.profile"]:
        notices.degraded([f"Profile “{state['search.gone']}” no longer exists, so the default one scores the results."])


def _new_question() -> None:
    st.session_state["search.without"], st.session_state["search.chips"] = (), {}
    result_list.show_first()


_ROUTED = "Only the truths this question is about"


def filter_column() -> SearchFilters:
    """The filters beside the answer; each is counted under the others' filters. Raises BadFilters."""
    library = session.workbench()
    current = st.session_state.get("search.filters", SearchFilters())
    st.markdown("**Filters**")
    st.toggle(
        _ROUTED,
        key="search.routed",
        help="A question is routed to the truths that can answer it. The others rank lower; this excludes them.",
        disabled=st.session_state["search.view"] == FIVE,
    )
    before, terms = filters.filters_before_drawing(current), library.vocabulary.terms()
    mark = before, library.documents.last_change()
    facets = session.count_once("facets", mark, lambda: library.search.facets(before))
    months = session.count_once("months", mark, lambda: library.search.months(before))
    names = session.count_once("document names", mark[1], _document_names)
    chosen = filters.draw_filters(facets, names, terms, library.search.undated, months)
    st.divider()
    feedback.grading_switch(chosen.project)
    return chosen


def _document_names() -> dict[str, str]:
    return {str(number): name for number, name in session.workbench().documents.names().items()}


def draw_active_filters(chosen: SearchFilters) -> None:
    """The filters that are set, each removable, above the answer."""
    library = session.workbench()
    ids = [*chosen.documents, *chosen.exclude_documents]
    names = {str(each.id): each.name for each in library.document_list.by_id(ids)} if ids else {}
    routed: filters.Chip = ("routed", _ROUTED, _search_every_truth, ())
    others = [routed] if st.session_state["search.routed"] else []
    filters.draw_chips(names, library.vocabulary.terms(), others, lambda: _default_button(chosen))


def _default_button(chosen: SearchFilters) -> None:
    """Makes the filters in use the default, for those who may; says so where they are."""
    registry = session.workbench().evaluation.profiles
    if chosen == registry.default_filters():
        st.caption(":material/check: Default filters", width="content")
    elif may("evaluation.profiles.choose_filters"):
        st.button(
            "Make default",
            key="filter.chips.default",
            type="tertiary",
            help="New searches start with these filters." if who() else "Enter your name under Settings first.",
            on_click=_make_default,
            args=(chosen,),
            disabled=not who(),
        )


def _make_default(chosen: SearchFilters) -> None:
    try:
        session.workbench().evaluation.profiles.choose_filters(chosen, who())
    except FivefoldError as problem:
        st.session_state["search.problem"] = problem
        return
    st.toast("New searches start with these filters.", icon=":material/filter_alt:")


def _search_every_truth() -> None:
    st.session_state["search.routed"] = False


def current_request(chosen: SearchFilters) -> SearchRequest:
    """The current request, also written to the URL; a changed question, filter or profile starts again."""
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
        request = _request(chosen)
        _filters_switch()
        saved_searches.draw_saved(request, shown, chosen.project)
    if request != state.get("search.asked", request):
        result_list.show_first()
        state[result_list.CHOSEN] = None
    state["search.asked"] = request
    request = replace(request, top_k=result_list.shown_results())
    params = params_of(request) | ({} if shown == RESULTS else {"view": [shown]})
    if state.get(result_list.CHOSEN) is not None and shown == RESULTS:
        params["passage"] = [str(state[result_list.CHOSEN])]
    if shown == SHORTLISTS and (current := shortlists.current()) is not None:
        params["shortlist"] = [str(current.id)]
    urls.write_params("search", params)
    state["search.last"], state["search.filters"] = request, chosen
    state["search.seen"] = shown
    return request


@st.fragment
def _filters_switch() -> None:
    """Shows the filters where the page is too narrow to keep them in sight; frame.css reads it and says where."""
    st.toggle("Filters", key="search.filters_in_sight")


def _request(chosen: SearchFilters) -> SearchRequest:
    state = st.session_state
    return SearchRequest(
        question=state["question"].strip(),
        filters=chosen,
        profile=state["search.profile"],
        only_routed=state["search.routed"],
        removed_chips=tuple(state["search.without"]),
        rerank=state["search.rerank"],
    )


_DETECTED = "Detected in your question – click to ignore"


def draw_chips(result: SearchResult) -> None:
    """What was recognised in the question. A chip that is switched off stays visible and can be switched on again."""
    state = st.session_state
    known: dict[str, str] = state.setdefault("search.chips", {})
    terms = session.terms()
    for kind in state["search.without"]:  # what a link switches off was never shown here
        known.setdefault(kind, kind.replace(":", ": ").replace("_", " "))
    known |= {chip.kind: chip_title(chip, terms) for chip in result.route.chips}
    detected = [chip.kind for chip in result.route.chips]
    offered = list(dict.fromkeys([*detected, *state["search.without"]]))
    if not offered:
        return
    state["search.kept"] = detected
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(_DETECTED, width="content")
        st.pills(
            _DETECTED,
            offered,
            selection_mode="multi",
            key="search.kept",
            format_func=lambda kind: known[kind],
            on_change=_keep_chips,
            args=(offered,),
            label_visibility="collapsed",
        )


def _keep_chips(offered: list[str]) -> None:
    chosen = st.session_state["search.kept"]
    st.session_state["search.without"] = tuple(kind for kind in offered if kind not in chosen)
