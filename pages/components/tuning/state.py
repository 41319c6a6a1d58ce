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
    "adopt",
    "ask",
    "asked",
    "begin",
    "called",
    "desk",
    "group_key",
    "moved",
    "problem",
    "restart",
    "retrieved",
    "slider_key",
    "standing",
    "suggestions",
    "told",
    "write",
]

DEPTHS = (10, 20)
"""How far down two rankings can be compared."""
_FRESH_SECONDS = 600.0  # how long candidates are tried on: the library may change under them
_KEPT = 4
_SENTENCES = 20
_EVERYTHING = SearchFilters()
_OURS = {"q", "routed", "without", "base", "trial", "depth", *(field.name for field in fields(SearchFilters))}
"""What the URL says of this view; the other views of the page have their own names."""


@dataclass(frozen=True, slots=True)
class TuningResult:
    """A question's candidates, brought once. result: under the profile it was asked with, shown as its own maximum
    says. sentences: passage id → the sentence that answers, of the passages that came first."""

    result: SearchResult
    sentences: Mapping[int, str]


def desk() -> EvaluationService:
    """The tuning service."""
    return session.workbench().evaluation


# The URL


def _params() -> dict[str, list[str]]:
    """The question with its filters, and what is tried, as the URL says it."""
    return {name: st.query_params.get_all(name) for name in st.query_params if name in _OURS}


def adopt(project: str | None) -> None:
    """Take over what the URL asks, when it was not this view that wrote it; without anything there, what was asked
    last. A trial belongs to the profile it was begun on."""
    state, params = st.session_state, _params()
    if "tune.question" in state and not urls.asks("tune", params) and state.get("tune.project") == project:
        return
    if not params:
        params = urls.last_said("tune", {})
    try:
        request = request_from(params)
    except BadFilters as wrong:
        problem(wrong)
        request = request_from({"q": params.get("q", [])})
    base = _base(params.get("base", [""])[0], project)
    text, depth = (params.get(name, [""])[0] for name in ("trial", "depth"))
    if text == state.get("tune.trial") and base.ref != state.get("tune.begun"):
        text = changes_in_text(_tried_on(base))
    state["tune.request"], state["tune.question"] = replace(request, profile=base.ref, top_k=None), request.question
    state["tune.base"], state["tune.depth"] = base.ref, next((n for n in DEPTHS if str(n) == depth), DEPTHS[0])
    state["tune.project"] = project
    rows = sliders(base)
    changes, problems = changes_from_text(text, rows)
    state.update({group_key(row.group): True for row in rows if row.key in changes})
    if problems:
        said = f"Part of the trial in the address is ignored: {'; '.join(problems)}."
        problem(BadRequest(said, "The sliders stand where the rest of it says."))
    restart(base, changes)


def _base(ref: str, project: str | None) -> ScoreProfile:
    book = desk().profiles
    try:
        return book.find(ref) if ref else book.default(project)
    except BadRequest as wrong:
        problem(wrong)
        return book.default(project)


def write(base: ScoreProfile, default: str) -> None:
    """Say in the URL what is looked at. default: the profile that need not be named unless something is tried on it."""
    request, changes = st.session_state["tune.request"], _tried_on(base)
    text, depth = changes_in_text(changes), st.session_state.get("tune.depth", DEPTHS[0])
    params = {name: values for name, values in params_of(request).items() if name in _OURS}
    params |= {"base": [base.ref]} if changes or base.ref != default else {}
    params |= {"trial": [text]} if text else {}
    params |= {"depth": [str(depth)]} if depth != DEPTHS[0] else {}
    urls.says("tune", params)
    old = _params()
    for name in old:
        if name not in params:
            del st.query_params[name]
    for name, values in params.items():
        if old.get(name) != values:
            st.query_params[name] = values
    st.session_state["tune.trial"] = text


# What is asked


def asked(base: ScoreProfile, project: str | None) -> SearchRequest:
    """The question as it stands in its field, within the project. A chip removed from another question is back."""
    state = st.session_state
    old, question = state["tune.request"], (state["tune.question"] or "").strip()
    kept = old.removed_chips if question == old.question else ()
    request: SearchRequest = replace(old, question=question, profile=base.ref, removed_chips=kept)
    state["tune.request"] = request
    if project is None or project in request.filters.projects:
        return request
    return replace(request, filters=request.filters.replace(projects=(project,)))


def ask(question: str, filters: SearchFilters = _EVERYTHING) -> None:
    """Look at another question, narrowed like this; a callback of buttons."""
    state = st.session_state
    state["tune.request"] = replace(state["tune.request"], filters=filters, only_routed=False)
    state["tune.question"] = question


def suggestions(project: str | None) -> Mapping[str, Mapping[str, SearchFilters]]:
    """Questions worth trying and what they are narrowed to, by where they come from."""
    found = {"Last searches": {question: _EVERYTHING for question, _, _ in session.workbench().search.recent()}}
    for each in desk().judging.sets(project):
        found[each.name] = {one.question: one.filters for one in desk().judging.questions(each.id)}
    return {name: questions for name, questions in found.items() if questions}


def retrieved(request: SearchRequest) -> TuningResult:
    """The candidates of a question, brought once per question and what narrows it. Raises what a search raises."""
    kept: dict[SearchRequest, tuple[float, TuningResult]] = st.session_state.setdefault("tune.retrieved", {})
    key, now = replace(request, profile="", top_k=None), time.monotonic()
    if key not in kept or now - kept[key][0] > _FRESH_SECONDS:
        found = desk().retrieved(replace(request, top_k=_SENTENCES))
        sentences = {hit.candidate.passage.id: hit.citations[0].quote for hit in found.hits if hit.citations}
        kept[key] = (now, TuningResult(replace(found, request=replace(request, top_k=None)), sentences))
    for old in list(kept)[: max(0, len(kept) - _KEPT)]:
        del kept[old]
    return kept[key][1]


# What is tried


def called(profile: ScoreProfile) -> str:
    """Name and version for people: "mine v2"."""
    return profile.ref.replace("@", " v")


def slider_key(key: str) -> str:
    """The widget key of a slider."""
    return f"tune.at.{key}"


def group_key(group: SliderGroup) -> str:
    """The widget key of a slider group."""
    return f"tune.group.{group.name}"


def begin(base: ScoreProfile) -> None:
    """Let the sliders stand where they were left on this profile, when they stood on another one."""
    if st.session_state.get("tune.begun") != base.ref:
        restart(base, _tried_on(base))


def restart(base: ScoreProfile, changes: Mapping[str, float]) -> None:
    """Let every slider stand where the base and these changes say; also a callback of buttons."""
    for name in [name for name in st.session_state if str(name).startswith(slider_key(""))]:
        del st.session_state[name]
    st.session_state["tune.begun"] = base.ref
    moved(base, changes)


def standing(rows: Sequence[Slider], base: ScoreProfile) -> dict[str, float]:
    """Slider key → where it stands; one not drawn yet stands where the base and the changes say."""
    changes = _tried_on(base)
    for row in rows:
        if slider_key(row.key) not in st.session_state:
            value = changes.get(row.key, value_of(base, row.key))
            st.session_state[slider_key(row.key)] = round(value) if row.whole else float(value)
    return {row.key: st.session_state[slider_key(row.key)] for row in rows}


def moved(base: ScoreProfile, changes: Mapping[str, float]) -> None:
    """Store the trial changes of a profile."""
    st.session_state.setdefault("tune.changes", {})[base.ref] = dict(changes)


def _tried_on(base: ScoreProfile) -> Mapping[str, float]:
    changes: Mapping[str, float] = st.session_state.get("tune.changes", {}).get(base.ref, {})
    return changes


# What is told once


def problem(what: FivefoldError) -> None:
    """Store an error to show."""
    st.session_state.setdefault("tune.problems", []).append(what)


def told() -> None:
    """Show errors of the URL and of the last action."""
    for what in st.session_state.pop("tune.problems", []):
        notices.error(what)
    if said := st.session_state.pop("tune.said", ""):
        st.toast(said, icon=":material/check:")
