"""Processing progress of each document, and background work that was given up."""

from collections.abc import Mapping

import streamlit as st

from core.domain.documents import Document
from core.library.upload_queue import UploadCounts, UploadPace
from core.ports.job_queue import FailedWork, JobKind
from pages.components import session
from pages.components.wording import count, plain, squeezed

__all__ = ["STEPS", "draw_failed_work", "draw_progress", "share_done", "step_words"]

STEPS = ("waiting", "read", "load", "classify", "split", "embed", "store")
"""The steps of a file in their order."""

_NAMED = 2


def draw_progress(counts: UploadCounts) -> None:
    """The bar of what is on its way; nothing when all is read."""
    if not counts.running:
        return
    tray = session.workbench().upload_queue
    read, pace = tray.read_since(), tray.pace()
    told = [f"{read:,} of {count(read + counts.running, 'file')} read"]
    if pace.files_per_minute:
        told += [f"{_rounded(pace.files_per_minute)} a minute", _left(pace, counts.running)]
    now = tray.reading(_NAMED + 1)
    names = ", ".join(plain(squeezed(each.name, 40)) for each in now[:_NAMED])
    told += [f"now {names}{' and more' if len(now) > _NAMED else ''}"] if now else []
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(read / (read + counts.running), " · ".join(told))
        st.button(
            "Stop all",
            key="upload.stop",
            icon=":material/stop_circle:",
            type="tertiary",
            width="content",
            help="Files that wait or are being read stay in the list as stopped, and can be tried again.",
            on_click=_stop_all,
        )


def _stop_all() -> None:
    stopped = session.workbench().upload_queue.stop()
    st.toast(f"{count(stopped, 'file')} stopped.", icon=":material/stop_circle:")


def _rounded(number: float) -> str:
    """
    >>> _rounded(3.25), _rounded(41.7)
    ('3.2', '42')
    """
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def _left(pace: UploadPace, files: int) -> str:
    """
    >>> _left(Pace(60.0), 30), _left(Pace(1.0), 2), _left(Pace(10.0), 2000)
    ('less than a minute left', 'about 2 min left', 'about 3.3 hours left')
    """
    minutes = pace.minutes_left(files) or 0.0
    if minutes < 1:
        return "less than a minute left"
    return f"about {minutes:.0f} min left" if minutes < 90 else f"about {minutes / 60:.1f} hours left"


def share_done(document: Document) -> float:
    """How much of a file is done, in [0, 1], by its step: "embed 48/120" is further than "embed 12/120"."""
    step, _, within = document.step.partition(" ")
    done, _, total = within.partition("/")
    part = int(done) / int(total) if done.isdecimal() and total.isdecimal() and int(total) else 0.5
    return (STEPS.index(step) + part) / len(STEPS) if step in STEPS else 0.0


def step_words(document: Document) -> str:
    """The step of a file for people: "embed 48/120" is "embed: 48 of 120 passages"."""
    step, _, within = document.step.partition(" ")
    done, _, total = within.partition("/")
    return (
        f"{step}: {int(done):,} of {count(int(total), 'passage')}" if done.isdecimal() and total.isdecimal() else step
    )


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
    failed = session.workbench().jobs.failed()
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
            on_click=session.workbench().jobs.retry,
            args=(failed,),
        )
