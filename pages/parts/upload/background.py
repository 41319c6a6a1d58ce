"""Work in the background that failed for good: what it was, why, and the ways to settle it."""

from collections.abc import Mapping

import streamlit as st

from core.jobs import FailedWork, JobKind
from pages.parts import session
from pages.parts.wording import count, plain

__all__ = ["draw_failed_work"]

_TITLES: Mapping[JobKind, str] = {
    JobKind.INGEST: "Reading a file",
    JobKind.ENRICH: "Enriching a document",
    JobKind.FEED: "Fetching a feed",
    JobKind.FOLDER: "Looking through a folder",
    JobKind.LEARN: "Learning from corrections",
    JobKind.RELABEL: "Giving labels anew",
}
_SHOWN = 5


def draw_failed_work() -> None:
    """The latest of it; nothing where all went well."""
    failed = session.workbench().given_up()
    if not failed:
        return
    with st.container(border=True, gap="xsmall"):
        st.markdown(f":red[:material/error: {count(len(failed), 'job')} in the background failed]")
        for each in failed[:_SHOWN]:
            _row(each)
        if len(failed) > _SHOWN:
            st.caption(f"and {len(failed) - _SHOWN:,} more")


def _row(failed: FailedWork) -> None:
    title = _TITLES.get(failed.kind, str(failed.kind).capitalize())
    named = f" (number {failed.number})" if failed.number else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(plain(f"{title}{named}: {failed.reason} {failed.remedy}"), width="content")
        st.button(
            "Try again",
            key=f"work.again.{failed.kind}.{failed.number}",
            icon=":material/refresh:",
            type="tertiary",
            on_click=session.workbench().try_again,
            args=(failed,),
        )
