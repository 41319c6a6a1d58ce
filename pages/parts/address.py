"""The address of a page, without its echoes.

A browser tells its address with every click. A click made before it has heard of the address just written tells an
earlier one, which would undo what has just been done; going back in the history is told apart from that by Streamlit.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from urllib.parse import parse_qs

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

__all__ = ["Written", "heard"]

_ECHO_SECONDS = 5.0
"""So long may a browser be behind."""
_KEY = "address"

_Params = dict[str, list[str]]


@dataclass(slots=True)
class Written:
    """What the runs of a page left as its address. earlier: with the moment at which each was replaced; run: the one
    that is going on; bound: parameters that widgets hold, which the browser writes itself: they are no echo of ours."""

    page: str
    last: _Params
    earlier: list[tuple[_Params, float]] = field(default_factory=list)
    run: ScriptRunContext | None = None
    bound: set[str] = field(default_factory=set)

    def begin(self, run: ScriptRunContext, bound: Collection[str] = ()) -> _Params | None:
        """`run` goes on from here, also when another, in its own thread, has not yet heard that it is to stop. Gives
        the address to go back to, without what is bound, when `run` only heard an echo."""
        if self.run is not None and self.run is not run:
            self._now(_params(self.run.query_string))
        self.run = run
        self.bound.update(bound)
        self.last = self._own(self.last)
        self.earlier = [(self._own(params), since) for params, since in self.earlier]
        told = self._own(_params(run.query_string))
        if not run.is_history_navigation and self._is_echo(told):
            return self.last
        self._now(told)
        return None

    @property
    def names(self) -> set[str]:
        """Every parameter that is or was in its address lately."""
        return {name for params in (self.last, *(params for params, _ in self.earlier)) for name in params}

    def _own(self, params: _Params) -> _Params:
        return {name: values for name, values in params.items() if name not in self.bound}

    def end(self, run: ScriptRunContext) -> None:
        """A run that is broken off may not touch the session: what it wrote is read off the run itself."""
        if self.run is run:
            self._now(_params(run.query_string))
            self.run = None

    def _is_echo(self, told: _Params) -> bool:
        since = monotonic() - _ECHO_SECONDS
        self.earlier = [each for each in self.earlier if each[1] > since]
        return told != self.last and any(told == params for params, _ in self.earlier)

    def _now(self, params: _Params) -> None:
        params = self._own(params)
        if params != self.last:
            self.earlier.append((self.last, monotonic()))
            self.last = params


@contextmanager
def heard(page: str) -> Iterator[None]:
    """For one run of a page: the address it wrote last stays, although a click still tells an earlier one."""
    run = get_script_run_ctx()
    if run is None:  # not in a browser
        yield
        return
    written = st.session_state.get(_KEY)
    if written is None or written.page != page:
        written = st.session_state[_KEY] = Written(page, _params(run.query_string))
    with run.session_state.query_params() as known:
        bound = [name for name in {*known, *written.names} if known.is_bound(name)]
    if (meant := written.begin(run, bound)) is not None:
        _go_back(meant, written.bound)
    try:
        yield
    finally:
        written.end(run)


def _go_back(meant: _Params, bound: Collection[str]) -> None:
    """Write an address, what is bound left as it is."""
    for name in [name for name in st.query_params if name not in bound and name not in meant]:
        del st.query_params[name]
    for name, values in meant.items():
        st.query_params[name] = values


def _params(query: str) -> _Params:
    return parse_qs(query, keep_blank_values=True)
