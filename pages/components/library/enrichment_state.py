"""Enrichment of the whole library: its progress, and the batch that continues it."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from core.domain.documents import Document
from core.domain.errors import FivefoldError
from core.knowledge.enrichment import document_type_title
from core.library.enrichment.operations import OPERATIONS, EnrichmentReport, EnrichmentStatistics
from core.library.enrichment.service import EnrichmentService
from core.library.enrichment.values import Operation
from pages.components import notices, session
from pages.components.library import enrichment_state
from pages.components.urls import page_path
from pages.components.wording import count, plain, shortened

__all__ = ["EnrichmentRun", "begin", "current", "draw_enrichment_state", "drawn_words"]

_TOLD = (Operation.DOCUMENT_TYPE, Operation.KEYWORDS)


def drawn_words(documents: Sequence[Document]) -> Mapping[int, tuple[str, str]]:
    """Document → its type and its keywords, "" where none was drawn."""
    known = session.workbench().enrichment.of_many([each.id for each in documents], _TOLD)
    return {
        i: (document_type_title(each.document_type.value), ", ".join(each.keywords.words)) for i, each in known.items()
    }


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
class _EnrichmentRuns:
    """The last batch of this process."""

    lock: threading.Lock
    run: EnrichmentRun | None = None


@st.cache_resource(show_spinner=False)
def _shelf() -> _EnrichmentRuns:
    return _EnrichmentRuns(threading.Lock())


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


def _draw(desk: EnrichmentService, run: EnrichmentRun, document_ids: Sequence[int]) -> None:
    def on_document(done: int, total: int) -> None:
        run.done, run.total = done, total

    try:
        run.report = desk.enrich_many(document_ids, stop=lambda: run.stop, on_document=on_document)
    except FivefoldError as problem:
        run.problem = problem
    finally:
        run.running = False


_MOST_FAILURES = 20


def draw_enrichment_state() -> None:
    """Counts, the batch, one row per operation, and the failures."""
    told = session.workbench().enrichment.statistics()
    st.markdown(
        f"**{told.enriched:,} of {count(told.total, 'document')} enriched** – {told.rate:.0f} %"
        + (f" :small[· {told.total - told.embedded:,} hold no passages yet]" if told.total > told.embedded else "")
    )
    st.caption(
        "A summary, keywords, questions it answers, its type, the laws it cites and its dates are drawn from each"
        " document after it is read. All of it comes from the text, on this computer; what you change by hand stays."
    )
    if not _running():
        _begin(told)
    st.dataframe(
        [_row(operation, told) for operation in Operation],
        hide_index=True,
        height="content",
        row_height=32,
        column_config=_COLUMNS,
    )
    _failures(told)


def _running() -> bool:
    """Draw the batch under way; whether there is one."""
    run = enrichment_state.current()
    if run is None:
        return False
    if run.running:
        _progress(run)
        return True
    if run.problem is not None:
        notices.error(run.problem)
    elif run.report is not None and run.report.stopped:
        st.info(f"Stopped at {run.report.done:,} of {count(run.report.total, 'document')}. Nothing is lost.")
    return False


@st.fragment(run_every=0.5)
def _progress(run: enrichment_state.EnrichmentRun) -> None:
    if not run.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    words = f"{run.done:,} of {count(run.total, 'document')} done{' · stopping' if run.stop else ''}"
    bar.progress(min(1.0, run.done / max(1, run.total)), words)
    if stop.button(
        "Stop", icon=":material/stop:", width="stretch", help="What is done so far is kept.", key="enrich.stop"
    ):
        run.stop = True


def _begin(told: EnrichmentStatistics) -> None:
    desk = session.workbench().enrichment
    lacking, failed = desk.lacking(), desk.failed()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.button(
            f"Enrich {count(len(lacking), 'document')} that lack it" if lacking else "All documents are enriched",
            type="primary",
            icon=":material/auto_awesome:",
            disabled=not lacking,
            key="enrich.all",
            on_click=enrichment_state.begin,
            args=(lacking,),
        )
        if failed:
            st.button(
                f"Try {count(len(failed), 'failed document')} again",
                icon=":material/refresh:",
                key="enrich.failed",
                on_click=enrichment_state.begin,
                args=(failed,),
            )


def _row(operation: Operation, told: EnrichmentStatistics) -> dict[str, object]:
    counts = told.operations[operation]
    return {
        "What is drawn": OPERATIONS[operation].label,
        "Done": counts.done,
        "Share": counts.done / told.embedded if told.embedded else 0.0,
        "Missing": counts.missing,
        "Outdated": counts.outdated,
        "Failed": counts.failed,
    }


_COLUMNS = {
    "What is drawn": st.column_config.TextColumn(width=220),
    "Done": st.column_config.NumberColumn(width=80),
    "Share": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="percent", width=140),
    "Missing": st.column_config.NumberColumn(width=80),
    "Outdated": st.column_config.NumberColumn(
        width=80, help="Drawn by an older version of the product; drawn again by the next run"
    ),
    "Failed": st.column_config.NumberColumn(width=80),
}


def _failures(told: EnrichmentStatistics) -> None:
    if not told.failures:
        return
    names = {each.id: each.name for each in session.workbench().documents.list()}
    st.markdown(f"**{count(len(told.failures), 'failure')}**")
    for each in told.failures[:_MOST_FAILURES]:
        where, why = st.columns([3, 6])
        with where:
            st.page_link(
                page_path("library"),
                label=plain(shortened(names.get(each.document_id, ""), 60)),
                icon=":material/error:",
                query_params={"document": str(each.document_id)},
            )
        why.caption(plain(f"{OPERATIONS[each.operation].label}: {each.problem} {each.hint}"))
    if len(told.failures) > _MOST_FAILURES:
        st.caption(f"and {count(len(told.failures) - _MOST_FAILURES, 'failure')} more")
