"""Drawing from many documents in the background: it outlives the tab that began it, and can be stopped."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.errors import FivefoldError
from core.library.enrichment import EnrichmentDesk
from core.library.enrichment_counts import EnrichmentReport
from pages.parts import session

__all__ = ["EnrichmentRun", "begin", "current"]


@dataclass(slots=True)
class EnrichmentRun:
    """A batch of this process. `stop` ends it after the document under way; report: how it ended; problem: why it could
    not go on."""

    total: int
    done: int = 0
    stop: bool = False
    running: bool = True
    report: EnrichmentReport | None = None
    problem: FivefoldError | None = None


@dataclass(slots=True)
class _Shelf:
    """The last batch of this process."""

    lock: threading.Lock
    run: EnrichmentRun | None = None


@st.cache_resource(show_spinner=False)
def _shelf() -> _Shelf:
    return _Shelf(threading.Lock())


def current() -> EnrichmentRun | None:
    """The batch under way here, or the last one that was."""
    return _shelf().run


def begin(document_ids: Sequence[int]) -> None:
    """Begin a batch, unless one is under way."""
    shelf, desk = _shelf(), session.workbench().enrichment
    with shelf.lock:
        if shelf.run is not None and shelf.run.running:
            return
        run = shelf.run = EnrichmentRun(len(document_ids))
        threading.Thread(target=_draw, args=(desk, run, document_ids), name="enrichment", daemon=True).start()


def _draw(desk: EnrichmentDesk, run: EnrichmentRun, document_ids: Sequence[int]) -> None:
    def on_document(done: int, total: int) -> None:
        run.done, run.total = done, total

    try:
        run.report = desk.enrich_many(document_ids, stop=lambda: run.stop, on_document=on_document)
    except FivefoldError as problem:
        run.problem = problem
    finally:
        run.running = False
