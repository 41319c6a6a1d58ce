"""How far the library is enriched: the share, each operation, what failed and why, and the batch that does the rest."""

import streamlit as st

from core.enrich.operations import OPERATIONS
from core.enrich.values import Operation
from core.library.enrichment_counts import EnrichmentStatistics
from pages.parts import notices, session
from pages.parts.library import enrichment_run
from pages.parts.urls import page_path
from pages.parts.wording import count, plain, shortened

__all__ = ["draw_enrichment_state"]

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
    run = enrichment_run.current()
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
def _progress(run: enrichment_run.EnrichmentRun) -> None:
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
            on_click=enrichment_run.begin,
            args=(lacking,),
        )
        if failed:
            st.button(
                f"Try {count(len(failed), 'failed document')} again",
                icon=":material/refresh:",
                key="enrich.failed",
                on_click=enrichment_run.begin,
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
    names = {each.id: each.name for each in session.workbench().documents()}
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
