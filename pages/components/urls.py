"""URLs: requests as query parameters, links between pages, and the address of the page that is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from itertools import pairwise
from time import monotonic
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.domain.errors import BadFilters
from core.domain.filters import SearchFilters, check_filters
from core.domain.queries import SearchRequest

__all__ = [
    "Params",
    "current_params",
    "is_new_request",
    "last_recorded",
    "number_in",
    "page_path",
    "params_of",
    "record",
    "request_from",
    "write_params",
]

Params = Mapping[str, Sequence[str]]
"""Query parameters: name → values, in order."""

_FLAGS = ("include_undated", "strict_labels")

_NUMBERS = ("recency_months",)

_WORDS = ("date_from", "date_to", "tags_mode", "entities_mode")

_LISTS = tuple(
    field.name for field in fields(SearchFilters) if field.name not in {*_FLAGS, *_NUMBERS, *_WORDS, "archived"}
)

_ARCHIVED = {"only": True, "too": None}

_DEFAULT = SearchRequest("")

_MOST_SHOWN = 1_000
"""Results a link opens at once: more would take a browser minutes to draw. Chosen by hand."""

_MOST_DIGITS = 18  # of a number that any database keeps


def page_path(name: str) -> str:
    """The path of a page's file for links, relative to pages/frame, which holds the script behind every page."""
    return f"../{name}.py"


def number_in(text: str) -> int | None:
    """The whole number ≥ 0 a URL names, None for anything else.

    >>> number_in("12"), number_in("-1"), number_in("²"), number_in("9" * 5000)
    (12, None, None, None)
    """
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def request_from(params: Params) -> SearchRequest:
    """The request a URL asks for; parameters it does not know are left alone.

    Raises BadFilters with every problem of the filters.

    >>> request_from({"q": ["overtime"], "truths": ["regulatory"]}).filters.truths
    ('regulatory',)
    """
    top = number_in(_one(params, "top"))
    return SearchRequest(
        question=_one(params, "q"),
        filters=_filters(params),
        profile=_one(params, "profile") or _DEFAULT.profile,
        top_k=min(_MOST_SHOWN, max(1, top)) if top is not None else None,
        only_routed=_one(params, "routed") == "1",
        rerank=_one(params, "rerank"),
        removed_chips=tuple(dict.fromkeys(params.get("without", ()))),
    )


def _filters(params: Params) -> SearchFilters:
    filters = check_filters(_raw_filters(params))
    archived = _one(params, "archived")
    return filters.replace(archived=_ARCHIVED[archived]) if archived in _ARCHIVED else filters


def _raw_filters(params: Params) -> dict[str, Any]:
    raw: dict[str, Any] = {name: list(params[name]) for name in _LISTS if params.get(name)}
    raw |= {name: _one(params, name) for name in _WORDS if _one(params, name)}
    raw |= {name: _one(params, name) == "1" for name in _FLAGS if _one(params, name)}
    for name in _NUMBERS:
        if value := _one(params, name):
            number = number_in(value)
            raw[name] = value if number is None else number
    for name in ("documents", "exclude_documents"):
        if name in raw:
            raw[name] = _whole_numbers(name, raw[name])
    return raw


def _whole_numbers(name: str, values: Sequence[str]) -> list[int]:
    numbers = [number for value in values if (number := number_in(value)) is not None]
    if len(numbers) < len(values):
        raise BadFilters([f"{name} must be a list of numbers"])
    return numbers


def _one(params: Params, name: str) -> str:
    values = params.get(name, ())
    return values[0] if values else ""


def params_of(request: SearchRequest) -> dict[str, list[str]]:
    """The shortest query parameters that give the request back; defaults are left out.

    >>> params_of(SearchRequest("overtime", SearchFilters(truths=("intent",))))
    {'q': ['overtime'], 'truths': ['intent']}
    """
    params: dict[str, list[str]] = {"q": [request.question] if request.question else []}
    if request.profile != _DEFAULT.profile:
        params["profile"] = [request.profile]
    if request.rerank:
        params["rerank"] = [request.rerank]
    if request.top_k is not None:
        params["top"] = [str(request.top_k)]
    if request.only_routed:
        params["routed"] = ["1"]
    params["without"] = list(request.removed_chips)
    return {name: values for name, values in (params | _filter_params(request.filters)).items() if values}


def _filter_params(filters: SearchFilters) -> dict[str, list[str]]:
    params = {name: [str(value) for value in getattr(filters, name)] for name in _LISTS}
    for name in ("tags_mode", "entities_mode"):
        params[name] = ["all"] if getattr(filters, name) == "all" else []
    for name in ("date_from", "date_to"):
        moment = getattr(filters, name)
        params[name] = [moment.isoformat()] if moment is not None else []
    params["recency_months"] = [str(filters.recency_months)] if filters.recency_months is not None else []
    params |= {name: ["1"] if getattr(filters, name) else [] for name in _FLAGS}
    params["archived"] = [word for word, meaning in _ARCHIVED.items() if meaning is filters.archived]
    return params


_ECHO_SECONDS = 2.0
"""So long may a browser be behind. A link followed within that time to where one just was is taken for an echo."""


def current_params() -> dict[str, list[str]]:
    """The query parameters of the browser: name → values, in order."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def is_new_request(part: str, value: object) -> bool:
    """Whether the URL asks a part of the page for something that the part did not write itself. value: the part's
    parameters in the URL."""
    history: list[tuple[Any, float]] = st.session_state.get(_key(part), [])
    if not history:
        return True
    if value == history[-1][0]:
        return False
    run = get_script_run_ctx()
    if run is not None and run.is_history_navigation:
        return True
    since = monotonic() - _ECHO_SECONDS
    replaced = pairwise(history)
    return not any(written == value and at > since for (written, _), (_, at) in replaced)


def record(part: str, value: object) -> None:
    """Remember the value that a part of the page writes to the URL."""
    state, since = st.session_state, monotonic() - _ECHO_SECONDS
    history: list[tuple[Any, float]] = state.get(_key(part), [])
    if not history or value != history[-1][0]:
        recent = [each for each, (_, at) in pairwise(history) if at > since]
        state[_key(part)] = [*recent, *history[-1:], (value, monotonic())]


def last_recorded(part: str, otherwise: Any = None) -> Any:
    """The value that a part of the page wrote last."""
    history: list[tuple[Any, float]] = st.session_state.get(_key(part), [])
    return history[-1][0] if history else otherwise


def write_params(part: str, params: Mapping[str, Sequence[str]]) -> None:
    """Write all query parameters. They are recorded first, because a run can be interrupted in between."""
    record(part, params)
    if params != current_params():
        st.query_params.from_dict(params)


def _key(part: str) -> str:
    return f"address.{part}"
