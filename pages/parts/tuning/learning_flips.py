"""What new lessons would change in documents read before: looked at with count and stop, then applied."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import streamlit as st

from core.errors import FivefoldError
from core.library.lessons import LessonDesk
from core.library.lessons_flips import Applied, Flip, Preview
from pages.parts import notices, session
from pages.parts.labels import field_title, value_title
from pages.parts.person import who
from pages.parts.wording import count, plain, squeezed

__all__ = ["draw_flips", "forget_preview"]

_MOST_ROWS, _ROW_HEIGHT = 12, 32


@dataclass(slots=True)
class _Task:
    """Looking or applying in the background. It outlives the tab that started it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    running: bool = False
    stop: bool = False
    doing: str = ""
    done: int = 0
    total: int = 0
    name: str = ""
    preview: Preview | None = None
    applied: Applied | None = None
    problem: FivefoldError | None = None


@st.cache_resource(show_spinner=False)
def _task() -> _Task:
    return _Task()


def forget_preview() -> None:
    """Labels were changed in another way: what was looked at no longer holds."""
    task = _task()
    if not task.running:
        task.preview = task.applied = None


def draw_flips(lessons: LessonDesk, newest: int) -> None:
    """A button to look, how far the look is, what it found, and a button to apply that. newest: version of the
    lessons."""
    task = _task()
    if task.running:
        _progress(task)
        return
    if task.problem is not None:
        notices.error(task.problem)
    if task.applied is not None:
        _told(task.applied)
        task.applied = None
    preview = task.preview
    stale = preview is not None and preview.version != newest
    words, look = st.columns([5, 2], vertical_alignment="center")
    with words:
        st.caption(_heading(preview, stale=stale))
    look.button(
        "What would change" if preview is None or stale else "Look again",
        key="learning.look",
        icon=":material/preview:",
        width="stretch",
        help="Lists the documents nobody confirmed that these lessons would label otherwise. Nothing is changed.",
        on_click=_look,
        args=(lessons, task),
    )
    if preview is not None and preview.flips and not stale:
        _listed(lessons, task, preview)


def _heading(preview: Preview | None, *, stale: bool) -> str:
    if preview is None or stale:
        since = "The lessons have changed since you looked. " if stale else ""
        return f"{since}Documents read before keep their labels until you have looked at what would change."
    left = f" {count(preview.left, 'document')} not looked at, because it was stopped." if preview.left else ""
    considered = f"of {count(preview.considered, 'document')} with labels nobody confirmed"
    if not preview.flips:
        return f":material/check: Lessons {preview.version} would change none {considered}.{left}"
    documents = len({each.document_id for each in preview.flips})
    return f"Lessons {preview.version} would change {documents:,} {considered}.{left} Confirmed labels never change."


def _listed(lessons: LessonDesk, task: _Task, preview: Preview) -> None:
    table = st.dataframe(
        [_row(each, preview.version) for each in preview.flips],
        hide_index=True,
        placeholder="",
        row_height=_ROW_HEIGHT,
        height="content" if len(preview.flips) <= _MOST_ROWS else 36 + _ROW_HEIGHT * _MOST_ROWS,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"learning.flips.{preview.version}.{len(preview.flips)}",
        column_config={
            "Sure": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.2f", width=90),
            "Document": st.column_config.TextColumn(width=230),
            "Would be": st.column_config.TextColumn(width=150),
            "Because it": st.column_config.TextColumn(width=340),
        },
    )
    chosen = [preview.flips[row] for row in table["selection"]["rows"]] or list(preview.flips)
    some = len(chosen) < len(preview.flips)
    words, apply = st.columns([5, 2], vertical_alignment="center")
    words.caption(
        "Only the selected rows are changed; the passages follow." if some else "Select rows to change only these."
    )
    apply.button(
        f"Change {count(len(chosen), 'label')}",
        key="learning.apply",
        icon=":material/done_all:",
        type="primary",
        width="stretch",
        help="Passages and searches follow at once. It can be undone below.",
        on_click=_apply,
        args=(lessons, task, replace(preview, flips=tuple(chosen)), who() or "analyst"),
    )


def _row(each: Flip, version: int) -> dict[str, Any]:
    before, after = each.before.value, each.after.value
    return {
        "Document": each.name,
        "Label": field_title(each.field),
        "Now": value_title(each.field, before) if before else "unknown",
        "Would be": value_title(each.field, after) if after else "unknown",
        "Sure": each.after.probability if after else None,
        "Because it": each.lesson.removesuffix(f" (lessons {version})"),
    }


def _told(applied: Applied) -> None:
    st.success(
        f"{count(applied.labels, 'label')} of {count(applied.documents, 'document')} changed; their passages followed.",
        icon=":material/done_all:",
    )
    if applied.left:
        st.caption("Left as they are: " + " ".join(plain(each) for each in applied.left[:5]))


def _look(lessons: LessonDesk, task: _Task) -> None:
    def work() -> None:
        task.preview = lessons.flips.preview(_heard(task), lambda: task.stop)

    _start(task, "looked at", work)


def _apply(lessons: LessonDesk, task: _Task, preview: Preview, person: str) -> None:
    def work() -> None:
        task.applied = lessons.flips.apply(preview, person, _heard(task), lambda: task.stop)
        task.preview = lessons.flips.preview(stop=lambda: task.stop)

    session.forget_answers()
    _start(task, "changed", work)


def _heard(task: _Task) -> Callable[[int, int, str], None]:
    def on_document(done: int, total: int, name: str) -> None:
        task.done, task.total, task.name = done, total, name

    return on_document


def _start(task: _Task, doing: str, work: Callable[[], None]) -> None:
    with task.lock:
        if task.running:
            return
        task.running, task.stop, task.problem, task.applied = True, False, None, None
        task.doing, task.done, task.total, task.name = doing, 0, 0, ""
    threading.Thread(target=_run, args=(task, work), name="lessons", daemon=True).start()


def _run(task: _Task, work: Callable[[], None]) -> None:
    try:
        work()
    except FivefoldError as problem:
        task.problem = problem
    finally:
        task.running = False


@st.fragment(run_every=0.5)
def _progress(task: _Task) -> None:
    if not task.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    current = f"now {plain(squeezed(task.name, 60))}" if session.ready() and task.name else "loading the models …"
    words = f"{task.done:,} of {count(task.total, 'document')} {task.doing} · {current}"
    bar.progress(task.done / max(1, task.total), f"{words}{' · stopping' if task.stop else ''}")
    if stop.button("Stop", key="learning.stop", icon=":material/stop:", width="stretch"):
        task.stop = True
