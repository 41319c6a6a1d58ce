"""Session state of the answer by five truths: the answer, and the synthesis written from it."""

import time
from dataclasses import replace

import streamlit as st

from core.answers.context import context_of
from core.answers.synthesis import Synthesis
from core.domain.five_truths import FiveTruthsAnswer
from core.domain.queries import SearchRequest
from pages.components import session

__all__ = ["ask_again", "asked", "synthesis_of", "write"]

_FRESH_SECONDS = 120.0  # how long an answer is reused: the library may change under it
_Key = tuple[str, SearchRequest]


def asked(request: SearchRequest) -> FiveTruthsAnswer:
    """The answer to a request, cached for _FRESH_SECONDS. Raises what AnswerService.ask raises."""
    kept, key, now = _kept(), _key(request), time.monotonic()
    if key not in kept or now - kept[key][0] > _FRESH_SECONDS:
        with st.spinner("Asking all five truths …"):
            answer = session.workbench().answers.ask(request.question, filters=request.filters, profile=request.profile)
        kept[key] = (now, answer)
    return kept[key][1]


def ask_again(request: SearchRequest) -> None:
    """Drop the cached answer, so that the next call searches again."""
    _kept().pop(_key(request), None)


def _kept() -> dict[_Key, tuple[float, FiveTruthsAnswer]]:
    """Beside the results `session.answer` keeps: `session.forget_answers` forgets both when the library changes."""
    kept: dict[_Key, tuple[float, FiveTruthsAnswer]] = st.session_state.setdefault("answers", {})
    return kept


def _key(request: SearchRequest) -> _Key:
    """The parts of a request an answer of five reads."""
    return "five truths", replace(request, top_k=None, only_routed=False, removed_chips=())


def write(answer: FiveTruthsAnswer) -> Synthesis:
    """Write the synthesis and store it in the session."""
    text: Synthesis = session.workbench().answers.write(answer)
    st.session_state["answer.synthesis"] = text
    return text


def synthesis_of(answer: FiveTruthsAnswer) -> Synthesis | None:
    """The synthesis written last, while the answer still cites the same sentences."""
    text: Synthesis | None = st.session_state.get("answer.synthesis")
    return text if text is not None and text.block == context_of(answer) else None
