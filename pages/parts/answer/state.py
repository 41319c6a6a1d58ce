"""What the answer of five remembers between two runs of the page: the answer itself, and what was written from it."""

import time
from dataclasses import replace

import streamlit as st

from core.answers.context import context_of
from core.answers.synthesis import Synthesis
from core.five_truths import FiveTruthsAnswer
from core.queries import SearchRequest
from pages.parts import session

__all__ = ["ask_again", "asked", "synthesis_of", "write"]

_FRESH_SECONDS = 120.0  # how long an answer is reused: the library may change under it
_Key = tuple[str, SearchRequest]


def asked(request: SearchRequest) -> FiveTruthsAnswer:
    """The answer to a request, kept for a while. Raises what Workbench.answer_five raises."""
    kept, key, now = _kept(), _key(request), time.monotonic()
    if key not in kept or now - kept[key][0] > _FRESH_SECONDS:
        with st.spinner("Asking all five truths …"):
            answer = session.workbench().answer_five(request.question, filters=request.filters, profile=request.profile)
        kept[key] = (now, answer)
    return kept[key][1]


def ask_again(request: SearchRequest) -> None:
    """Let the next look ask the library, not the memory."""
    _kept().pop(_key(request), None)


def _kept() -> dict[_Key, tuple[float, FiveTruthsAnswer]]:
    """Beside the results `session.answer` keeps: `session.forget_answers` forgets both when the library changes."""
    kept: dict[_Key, tuple[float, FiveTruthsAnswer]] = st.session_state.setdefault("answers", {})
    return kept


def _key(request: SearchRequest) -> _Key:
    """The parts of a request an answer of five reads."""
    return "five truths", replace(request, top_k=None, only_routed=False, removed_chips=())


def write(answer: FiveTruthsAnswer) -> Synthesis:
    """Have the answer written out, and keep the text."""
    text: Synthesis = session.workbench().synthesis(answer)
    st.session_state["answer.synthesis"] = text
    return text


def synthesis_of(answer: FiveTruthsAnswer) -> Synthesis | None:
    """The text written last, as long as the answer still rests on the same sentences."""
    text: Synthesis | None = st.session_state.get("answer.synthesis")
    return text if text is not None and text.block == context_of(answer) else None
