"""What a page wrote into its address, told apart from what somebody asks for there.

A part of the page adopts what the address asks for – a link was followed, or the history gone back – and else writes
there what it shows. A browser tells its address with every click; a click made before it has heard of the address just
written tells an earlier one. That is an echo, and would undo what has just been done.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from time import monotonic
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

__all__ = ["asks", "last_said", "says", "told", "write"]

_ECHO_SECONDS = 2.0
"""So long may a browser be behind. A link followed within that time to where one just was is taken for an echo."""


def told() -> dict[str, list[str]]:
    """The address as the browser tells it: parameter → values, in order."""
    return {name: st.query_params.get_all(name) for name in st.query_params}


def asks(part: str, told: object) -> bool:
    """Whether the address asks a part of the page for something that it did not say itself. told: what the address
    says to it."""
    said: list[tuple[Any, float]] = st.session_state.get(_key(part), [])
    if not said:
        return True
    if told == said[-1][0]:
        return False
    run = get_script_run_ctx()
    if run is not None and run.is_history_navigation:
        return True
    since = monotonic() - _ECHO_SECONDS
    replaced = pairwise(said)
    return not any(value == told and at > since for (value, _), (_, at) in replaced)


def says(part: str, value: object) -> None:
    """A part of the page says this in the address from here on."""
    state, since = st.session_state, monotonic() - _ECHO_SECONDS
    said: list[tuple[Any, float]] = state.get(_key(part), [])
    if not said or value != said[-1][0]:
        kept = [each for each, (_, at) in pairwise(said) if at > since]
        state[_key(part)] = [*kept, *said[-1:], (value, monotonic())]


def last_said(part: str, otherwise: Any = None) -> Any:
    """What a part of the page said last."""
    said: list[tuple[Any, float]] = st.session_state.get(_key(part), [])
    return said[-1][0] if said else otherwise


def write(part: str, params: Mapping[str, Sequence[str]]) -> None:
    """Say the whole address. In this order, because a run can be broken off between the two."""
    says(part, params)
    if params != told():
        st.query_params.from_dict(params)


def _key(part: str) -> str:
    return f"address.{part}"
