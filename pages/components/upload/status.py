"""The state of all uploads in one line: what was read, waits, failed or has an uncertain label, and the progress."""

import streamlit as st

from core.library.upload_queue import UploadCounts, UploadPace
from pages.components import cards, session
from pages.components.upload import state
from pages.components.wording import count, plain, shorten_middle

__all__ = ["draw_status"]

_MOST_NAMES = 2  # running files named; chosen by hand


def draw_status(now: UploadCounts) -> None:
    """The counts and the progress, drawn again every second while files are read."""
    busy, first = bool(now.running), [now]

    @st.fragment(run_every=1.0 if busy else None)
    def drawn() -> None:
        counts = first.pop() if first else session.workbench().upload_queue.counts(cards.SURE)
        if busy and not counts.running:
            st.rerun()
        if counts.all:
            _counts(counts)
            _progress(counts)

    drawn()


def _counts(counts: UploadCounts) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="upload_status"):
        for words in _count_words(counts):
            st.markdown(words, width="content")
        st.space("stretch")
        if counts.doubtful and st.button(
            f"Check {count(counts.doubtful, 'uncertain label')}",
            key="upload.check",
            icon=":material/rule:",
            type="primary" if state.opened() is None else "secondary",
            help="One after the other, each beside the text of its document.",
        ):
            state.open_uncertain()
            st.rerun()


def _count_words(counts: UploadCounts) -> list[str]:
    """The counts as safe markdown, each with its sign.

    >>> [words.rpartition(": ")[2] for words in _count_words(UploadCounts(running=2, failed=1, doubtful=3, done=4))]
    ['**7** read', '**2** in progress', '**1** failed]', '**3** uncertain labels]']
    """
    read = counts.done + counts.doubtful
    failed = f":material/error: **{counts.failed:,}** failed"
    uncertain = f":material/help: **{counts.doubtful:,}** {count(counts.doubtful, 'uncertain label').partition(' ')[2]}"
    return [
        f":material/check_circle: **{read:,}** read",
        f":material/hourglass_empty: **{counts.running:,}** in progress",
        f":red[{failed}]" if counts.failed else failed,
        f":orange[{uncertain}]" if counts.doubtful else uncertain,
    ]


def _progress(counts: UploadCounts) -> None:
    """A progress bar of the running files; draws nothing when all are read."""
    if not counts.running:
        return
    queue = session.workbench().upload_queue
    read, pace = queue.read_since(), queue.pace()
    parts = [f"{read:,} of {count(read + counts.running, 'file')} done"]  # read, or failed
    if pace.files_per_minute:
        parts += [f"{_rounded(pace.files_per_minute)} a minute", _time_left(pace, counts.running)]
    now = queue.reading(_MOST_NAMES + 1)
    names = ", ".join(plain(shorten_middle(each.name, 40)) for each in now[:_MOST_NAMES])
    parts += [f"now {names}{' and more' if len(now) > _MOST_NAMES else ''}"] if now else []
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.progress(read / (read + counts.running), " · ".join(parts))
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


def _time_left(pace: UploadPace, files: int) -> str:
    """
    >>> _time_left(UploadPace(60.0), 30), _time_left(UploadPace(1.0), 2), _time_left(UploadPace(10.0), 2000)
    ('less than a minute left', 'about 2 min left', 'about 3.3 hours left')
    """
    minutes = pace.minutes_left(files) or 0.0
    if minutes < 1:
        return "less than a minute left"
    return f"about {minutes:.0f} min left" if minutes < 90 else f"about {minutes / 60:.1f} hours left"
