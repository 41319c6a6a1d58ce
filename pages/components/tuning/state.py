"""Session state of the Tune view: the question, the base profile, the trial changes; and their URL."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import streamlit as st

from core.domain.errors import BadFilters, BadRequest, FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import ScoreProfile, SearchRequest
from core.domain.results import SearchResult
from core.evaluation.service import EvaluationService
from core.evaluation.tuning.sliders import Slider, SliderGroup, changes_from_text, changes_in_text, sliders, value_of
from pages.components import notices, session, urls
from pages.components.urls import params_of, request_from

__all__ = [
    "DEPTHS",
    "TuningResult",
    "add_problem",
    "begin_trial",
    "cached_candidates",
    "current_request",
    "evaluation_service",
    "group_key",
    "open_question",
    "profile_title",
    "read_url",
    "reset_sliders",
    "set_question",
    "show_outcome",
    "slider_key",
    "slider_values",
    "store_changes",
    "suggestions",
    "write_url",
]

DEPTHS = (10, 20)
"""How far down two rankings can be compared."""
_FRESH_SECONDS = 600.0  # how long candidates are tried on: the library may change under them
_MOST_CACHED = 4  # questions kept in the session; chosen by hand
_SENTENCES = 20  # as many as the deepest comparison
_EVERYTHING = SearchFilters()
_PARAMS = {"q", "routed", "without", "base", "trial", "depth", *(field.name for field in fields(SearchFilters))}
"""What the URL says of this view; the other views of the page have their own names."""


@dataclass(frozen=True, slots=True)
class TuningResult:
    """The candidates of a question, retrieved once. result: under the profile asked with, cut at its own maximum.
    sentences: passage id → best sentence, of the first passages."""

    result: SearchResult
    sentences: Mapping[int, str]


def evaluation_service() -> EvaluationService:
    """The service for profiles, judgments and experiments."""
    return session.workbench().evaluation


# The URL


def _params() -> dict[str, list[str]]:
    """The URL parameters of this view: the question with its filters, and the trial."""
    return {name: st.query_params.get_all(name) for name in st.query_params if name in _PARAMS}


def read_url(project: str | None) -> None:
    """Take over the URL unless this view wrote it; without parameters, the last request. A trial belongs to the profile
    it was begun on."""
    state, params = st.session_state, _params()
    if "tune.question" in state and not urls.is_new_request("tune", params) and state.get("tune.project") == project:
        return
    if not params:
        params = urls.last_recorded("tune", {})
    try:
        request = request_from(params)
    except BadFilters as wrong:
        add_problem(wrong)
        request = request_from({"q": params.get("q", [])})
    base = _base(params.get("base", [""])[0], project)
    text, depth = (params.get(name, [""])[0] for name in ("trial", "depth"))
    if text == state.get("tune.trial") and base.ref != state.get("tune.begun"):
        text = changes_in_text(_stored_changes(base))
    state["tune.request"], state["tune.question"] = replace(request, profile=base.ref, top_k=None), request.question
    state["tune.base"], state["tune.depth"] = base.ref, next((n for n in DEPTHS if str(n) == depth), DEPTHS[0])
    state["tune.project"] = project
    rows = sliders(base)
    changes, problems = changes_from_text(text, rows)
    state.update({group_key(row.group): True for row in rows if row.key in changes})
    if problems:
        message = f"Part of the trial in the address is ignored: {'; '.join(problems)}."
        add_problem(BadRequest(message, "The sliders follow the rest of it."))
    reset_sliders(base, changes)


def _base(ref: str, project: str | None) -> ScoreProfile:
    registry = evaluation_service().profiles
    try:
        return registry.find(ref) if ref else registry.default(project)
    except BadRequest as wrong:
        add_problem(wrong)
        return registry.default(project)


def write_url(base: ScoreProfile, default: str) -> None:
    """Write the current request and trial to the URL. default: the profile that is left out unless something is tried
    on it."""
    request, changes = st.session_state["tune.request"], _stored_changes(base)
    text, depth = changes_in_text(changes), st.session_state.get("tune.depth", DEPTHS[0])
    params = {name: values for name, values in params_of(request).items() if name in _PARAMS}
    params |= {"base": [base.ref]} if changes or base.ref != default else {}
    params |= {"trial": [text]} if text else {}
    params |= {"depth": [str(depth)]} if depth != DEPTHS[0] else {}
    urls.record("tune", params)
    old = _params()
    for name in old:
        if name not in params:
            del st.query_params[name]
    for name, values in params.items():
        if old.get(name) != values:
            st.query_params[name] = values
    st.session_state["tune.trial"] = text


# What is asked


def current_request(base: ScoreProfile, project: str | None) -> SearchRequest:
    """The current question within the project. Removed chips return with another question."""
    state = st.session_state
    old, question = state["tune.request"], (state["tune.question"] or "").strip()
    removed = old.removed_chips if question == old.question else ()
    request: SearchRequest = replace(old, question=question, profile=base.ref, removed_chips=removed)
    state["tune.request"] = request
    if project is None or project in request.filters.projects:
        return request
    return replace(request, filters=request.filters.replace(projects=(project,)))


def set_question(question: str, filters: SearchFilters = _EVERYTHING) -> None:
    """Look at another question, narrowed like this; a callback of buttons."""
    state = st.session_state
    state["tune.request"] = replace(state["tune.request"], filters=filters, only_routed=False)
    state["tune.question"] = question


def suggestions(project: str | None) -> Mapping[str, Mapping[str, SearchFilters]]:
    """Questions worth trying and what they are narrowed to, by where they come from."""
    found = {"Last searches": {question: _EVERYTHING for question, _, _ in session.workbench().search.recent()}}
    for each in evaluation_service().judging.sets(project):
        found[each.name] = {one.question: one.filters for one in evaluation_service().judging.questions(each.id)}
    return {name: questions for name, questions in found.items() if questions}


def open_question(request: SearchRequest) -> None:
    """Open a question in Sliders as it is asked, with its filters and no other ones; a callback of buttons."""
    for name in _params():
        del st.query_params[name]
    params = {name: values for name, values in params_of(request).items() if name in _PARAMS}
    for name, values in {**params, "base": request.profile, "view": "tune"}.items():
        st.query_params[name] = values


def cached_candidates(request: SearchRequest) -> TuningResult:
    """The candidates of a question, brought once per question and what narrows it. Raises what a search raises."""
    cache: dict[SearchRequest, tuple[float, TuningResult]] = st.session_state.setdefault("tune.retrieved", {})
    key, now = replace(request, profile="", top_k=None), time.monotonic()
    if key not in cache or now - cache[key][0] > _FRESH_SECONDS:
        found = evaluation_service().retrieved(replace(request, top_k=_SENTENCES))
        sentences = {hit.candidate.passage.id: hit.citations[0].quote for hit in found.hits if hit.citations}
        cache[key] = (now, TuningResult(replace(found, request=replace(request, top_k=None)), sentences))
    for old in list(cache)[: max(0, len(cache) - _MOST_CACHED)]:
        del cache[old]
    return cache[key][1]


# What is tried


def profile_title(profile: ScoreProfile) -> str:
    """Name and version for people: "mine v2"."""
    return profile.ref.replace("@", " v")


def slider_key(key: str) -> str:
    """The widget key of a slider. Sliders that were set anew have new keys: a value of the old ones that the browser
    sends late changes nothing."""
    return f"tune.at.{st.session_state.get('tune.sliders', 0)}.{key}"


def group_key(group: SliderGroup) -> str:
    """The widget key of a slider group."""
    return f"tune.group.{group.name}"


def begin_trial(base: ScoreProfile) -> None:
    """Restore the sliders of this profile after another one was open."""
    if st.session_state.get("tune.begun") != base.ref:
        reset_sliders(base, _stored_changes(base))


def reset_sliders(base: ScoreProfile, changes: Mapping[str, float]) -> None:
    """Set every slider to the base with these changes; also a callback of buttons."""
    for name in [name for name in st.session_state if str(name).startswith(slider_key(""))]:
        del st.session_state[name]
    st.session_state["tune.sliders"] = st.session_state.get("tune.sliders", 0) + 1
    st.session_state["tune.begun"] = base.ref
    store_changes(base, changes)


def slider_values(rows: Sequence[Slider], base: ScoreProfile) -> dict[str, float]:
    """Slider key → its value; one not drawn yet has the base's value with the changes."""
    changes = _stored_changes(base)
    for row in rows:
        if slider_key(row.key) not in st.session_state:
            value = changes.get(row.key, value_of(base, row.key))
            st.session_state[slider_key(row.key)] = round(value) if row.is_integer else float(value)
    return {row.key: st.session_state[slider_key(row.key)] for row in rows}


def store_changes(base: ScoreProfile, changes: Mapping[str, float]) -> None:
    """Store the trial changes of a profile."""
    st.session_state.setdefault("tune.changes", {})[base.ref] = dict(changes)


def _stored_changes(base: ScoreProfile) -> Mapping[str, float]:
    changes: Mapping[str, float] = st.session_state.get("tune.changes", {}).get(base.ref, {})
    return changes


def add_problem(what: FivefoldError) -> None:
    """Store an error to show."""
    st.session_state.setdefault("tune.problems", []).append(what)


def show_outcome() -> None:
    """Show errors of the URL and of the last action."""
    for what in st.session_state.pop("tune.problems", []):
        notices.error(what)
    if message := st.session_state.pop("tune.said", ""):
        st.toast(message, icon=":material/check:")
