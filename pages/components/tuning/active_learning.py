"""Active learning: training versions, the label changes they would make or made, and accuracy over time."""
# Longer than 300 lines: the view and the preview of label changes work on the same training version.

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from core.domain.documents import Document
from core.domain.errors import FivefoldError
from core.evaluation.metrics.classifier_report import LabelRate
from core.knowledge.workspace_terms import WorkspaceTerms
from core.library.active_learning.corrections import ENOUGH, Period
from core.library.active_learning.label_changes import AppliedLabelChanges, LabelChange, LabelChangePreview
from core.library.active_learning.service import ActiveLearningService
from core.library.active_learning.store import LabelVerdict, LearningAction, LearningActionKind, TrainingVersion
from pages.components import notices, rights, session
from pages.components.chart_view import draw_chart
from pages.components.labels import field_title, value_title
from pages.components.urls import page_path
from pages.components.user_name import who
from pages.components.wording import count, plain, shorten_middle

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["accuracy_chart", "draw_label_changes", "draw_learning", "forget_preview"]

_MOST_ROWS, _ROW_HEIGHT = 12, 32  # rows visible without scrolling; pixels of a row


@dataclass(slots=True)
class _LabelChangeTask:
    """Looking or applying in the background. It outlives the tab that started it."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    running: bool = False
    stop: bool = False
    doing: str = ""
    done: int = 0
    total: int = 0
    name: str = ""
    preview: LabelChangePreview | None = None
    applied: AppliedLabelChanges | None = None
    problem: FivefoldError | None = None


def _task() -> _LabelChangeTask:
    return session.own(_LabelChangeTask)


def forget_preview() -> None:
    """Drop the preview after labels were changed elsewhere."""
    task = _task()
    if not task.running:
        task.preview = task.applied = None


def draw_label_changes(service: ActiveLearningService, newest: int) -> None:
    """A button to preview label changes, its progress and result, and a button to apply them. newest: the training
    version."""
    task = _task()
    if task.running:
        _progress(task)
        return
    if task.problem is not None:
        notices.error(task.problem)
    if task.applied is not None:
        _applied_message(task.applied)
        task.applied = None
    preview = task.preview
    stale = preview is not None and preview.version != newest
    words, look = st.columns([5, 2], vertical_alignment="center")
    with words:
        st.caption(_heading(preview, stale=stale))
    rights.button(
        "active_learning.label_changes.preview",
        "What would change" if preview is None or stale else "Look again",
        key="learning.look",
        icon=":material/preview:",
        width="stretch",
        help="Lists the documents nobody confirmed that these lessons would label otherwise. Nothing is changed.",
        on_click=_start_preview,
        args=(service, task),
        on=look,
    )
    if preview is not None and preview.changes and not stale:
        _change_table(service, task, preview)


def _heading(preview: LabelChangePreview | None, *, stale: bool) -> str:
    if preview is None or stale:
        since = "The lessons have changed since you looked. " if stale else ""
        return f"{since}Documents read before keep their labels until you have looked at what would change."
    left = f" {count(preview.left, 'document')} not looked at, because it was stopped." if preview.left else ""
    considered = f"of {count(preview.considered, 'document')} with labels nobody confirmed"
    if not preview.changes:
        return f":material/check: Lessons {preview.version} would change none {considered}.{left}"
    documents = len({each.document_id for each in preview.changes})
    return f"Lessons {preview.version} would change {documents:,} {considered}.{left} Confirmed labels never change."


def _change_table(service: ActiveLearningService, task: _LabelChangeTask, preview: LabelChangePreview) -> None:
    terms = session.terms()
    table = st.dataframe(
        [_row(each, preview.version, terms) for each in preview.changes],
        hide_index=True,
        placeholder="",
        row_height=_ROW_HEIGHT,
        height="content" if len(preview.changes) <= _MOST_ROWS else 36 + _ROW_HEIGHT * _MOST_ROWS,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"learning.flips.{preview.version}.{len(preview.changes)}",
        column_config={
            "Sure": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.2f", width=90),
            "Document": st.column_config.TextColumn(width=230),
            "Would be": st.column_config.TextColumn(width=150),
            "Because it": st.column_config.TextColumn(width=340),
        },
    )
    chosen = [preview.changes[row] for row in table["selection"]["rows"]] or list(preview.changes)
    some = len(chosen) < len(preview.changes)
    words, apply = st.columns([5, 2], vertical_alignment="center")
    words.caption(
        "Only the selected rows are changed; the passages follow." if some else "Select rows to change only these."
    )
    rights.button(
        "active_learning.label_changes.apply",
        f"Change {count(len(chosen), 'label')}",
        key="learning.apply",
        icon=":material/done_all:",
        type="primary",
        width="stretch",
        help="Passages and searches follow at once. It can be undone below.",
        on_click=_start_apply,
        args=(service, task, replace(preview, changes=tuple(chosen)), who() or "analyst"),
        on=apply,
    )


def _row(each: LabelChange, version: int, terms: WorkspaceTerms) -> dict[str, Any]:
    before, after = each.before.value, each.after.value
    return {
        "Document": each.name,
        "Label": field_title(each.field),
        "Now": value_title(each.field, before, terms) if before else "unknown",
        "Would be": value_title(each.field, after, terms) if after else "unknown",
        "Sure": each.after.probability if after else None,
        "Because it": each.reason.removesuffix(f" (lessons {version})"),
    }


def _applied_message(applied: AppliedLabelChanges) -> None:
    st.success(
        f"{count(applied.labels, 'label')} of {count(applied.documents, 'document')} changed; their passages followed.",
        icon=":material/done_all:",
    )
    if applied.left:
        st.caption("Left as they are: " + " ".join(plain(each) for each in applied.left[:5]))


def _start_preview(service: ActiveLearningService, task: _LabelChangeTask) -> None:
    def work() -> None:
        task.preview = service.label_changes.preview(_progress_callback(task), lambda: task.stop)

    _start(task, "looked at", work)


def _start_apply(
    service: ActiveLearningService, task: _LabelChangeTask, preview: LabelChangePreview, person: str
) -> None:
    def work() -> None:
        task.applied = service.label_changes.apply(preview, person, _progress_callback(task), lambda: task.stop)
        task.preview = service.label_changes.preview(stop=lambda: task.stop)

    session.forget_answers()
    _start(task, "changed", work)


def _progress_callback(task: _LabelChangeTask) -> Callable[[int, int, str], None]:
    def on_document(done: int, total: int, name: str) -> None:
        task.done, task.total, task.name = done, total, name

    return on_document


def _start(task: _LabelChangeTask, doing: str, work: Callable[[], None]) -> None:
    with task.lock:
        if task.running:
            return
        task.running, task.stop, task.problem, task.applied = True, False, None, None
        task.doing, task.done, task.total, task.name = doing, 0, 0, ""
    threading.Thread(target=_run, args=(task, work), name="lessons", daemon=True).start()


def _run(task: _LabelChangeTask, work: Callable[[], None]) -> None:
    try:
        work()
    except FivefoldError as problem:
        task.problem = problem
    finally:
        task.running = False


@st.fragment(run_every=0.5)
def _progress(task: _LabelChangeTask) -> None:
    if not task.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    current = f"now {plain(shorten_middle(task.name, 60))}" if session.ready() and task.name else "loading the models …"
    words = f"{task.done:,} of {count(task.total, 'document')} {task.doing} · {current}"
    bar.progress(task.done / max(1, task.total), f"{words}{' · stopping' if task.stop else ''}")
    if stop.button("Stop", key="learning.stop", icon=":material/stop:", width="stretch"):
        task.stop = True


_MOST_PERIODS = 26  # half a year of weeks


# Longer than 40 lines: one figure, top to bottom.
def accuracy_chart(periods: Sequence[Period], *, by_month: bool, dark: bool = False) -> "Figure":
    """One dot per period, oldest left, at most the last 26, with its plausible interval and how many labels it rests
    on. Periods of fewer than ten labels are hollow."""
    from plotly.graph_objects import Figure, Scatter

    shown = periods[-_MOST_PERIODS:]
    ink, line, ground = ("#e4e8ee", "#8fb2ea", "#14181f") if dark else ("#1f2733", "#34558b", "#ffffff")
    rates = [each.right for each in shown]
    names = [f"{each.start:%b %Y}" if by_month else f"Week of {each.start:%b %d, %Y}" for each in shown]
    figure = Figure(
        Scatter(
            x=list(range(len(shown))),
            y=[rate.share for rate in rates],
            mode="lines+markers",
            line={"color": line, "width": 1.5},
            marker={
                "size": 11,
                "color": [line if rate.n >= ENOUGH else ground for rate in rates],
                "line": {"color": line, "width": 2},
                "opacity": 1.0,
            },
            error_y={
                "type": "data",
                "symmetric": False,
                "array": [rate.high - rate.share for rate in rates],
                "arrayminus": [rate.share - rate.low for rate in rates],
                "color": line,
                "thickness": 1.2,
                "width": 4,
            },
            customdata=[
                f"{name}<br>{rate.right:,} of {rate.n:,} right: {rate.share:.0%} ({rate.low:.0%} to {rate.high:.0%})"
                for name, rate in zip(names, rates, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
            cliponaxis=False,
        )
    )
    ticks = [f"{each.start:{'%b<br>%Y' if by_month else '%b %d'}}<br>n {each.right.n:,}" for each in shown]
    figure.update_layout(height=250, margin={"l": 8, "r": 8, "t": 14, "b": 8}, paper_bgcolor="rgba(0,0,0,0)")
    figure.update_layout(plot_bgcolor="rgba(0,0,0,0)", showlegend=False, font={"color": ink})
    figure.update_yaxes(range=[0, 1.03], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], fixedrange=True)
    figure.update_xaxes(
        tickvals=list(range(len(shown))), ticktext=ticks, range=[-0.5, max(3.5, len(shown) - 0.5)], fixedrange=True
    )
    return figure


_MOST_CORRECTIONS, _MOST_ACTIONS, _MOST_NAMES = 8, 6, 3  # listed; chosen by hand

_FIELDS = ("all", "truth", "domain", "authority", "jurisdiction", "temporal_class")


def draw_learning() -> None:
    """Everything about active learning; draws nothing until a label is confirmed."""
    service = session.workbench().active_learning
    newest = service.newest()
    if newest is None:
        return
    with notices.show_errors():
        st.divider()
        st.markdown("#### What corrections taught", anchors=False)
        _training_summary(newest)
        _at_once_toggle(service)
        draw_label_changes(service, newest.number)
        _applied_actions(service)
        _accuracy_over_time(service)
        _last_corrections(service)


def _training_summary(newest: TrainingVersion) -> None:
    """The training version in use, and its value per label."""
    summary = f"Lessons {newest.number}, learned {newest.at:%Y-%m-%d %H:%M} UTC from "
    summary += count(len(newest.confirmed), "confirmed document")
    st.caption(
        f"{summary}. A document that reads like confirmed ones, and of"
        " which the classifier thinks alike, takes their label; the label says whose. Each confirmed document is left"
        " out in turn to see what the others would have made of it."
    )
    if not newest.outcomes:
        return
    names = {each.document_id: each.name for each in newest.confirmed}
    rows = [
        {
            "Label": field_title(each.field),
            "Confirmed": each.documents,
            "Right untaught": 100 * each.right_alone / each.documents,
            "Right when taught": 100 * each.right_taught / each.documents,
            "Used": "yes" if each.strength else "no: it would be worse",
            "Left out": _names_text([names[number] for number in each.unused if number in names]),
        }
        for each in newest.outcomes
    ]
    bar = st.column_config.ProgressColumn(min_value=0, max_value=100, format="%.0f%%")
    left_out_column = st.column_config.TextColumn(help="Confirmed documents whose lesson would make others wrong.")
    columns: Mapping[str, Any] = {"Right untaught": bar, "Right when taught": bar, "Left out": left_out_column}
    if not any(row["Left out"] for row in rows):
        rows = [{name: value for name, value in row.items() if name != "Left out"} for row in rows]
    st.dataframe(rows, hide_index=True, placeholder="–", row_height=32, column_config=columns)


def _names_text(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def _at_once_toggle(service: ActiveLearningService) -> None:
    choice = service.choice()
    st.toggle(
        "Apply new lessons to new documents at once",
        value=choice.at_once,
        key=f"learning.at_once.{choice.at_once}",
        help="Off: they are labelled by the lessons applied last. Documents read before change only when you apply.",
        on_change=_set_at_once,
        args=(service, not choice.at_once),
        disabled=not rights.may("active_learning.choose"),
    )


def _set_at_once(service: ActiveLearningService, at_once: bool) -> None:
    service.choose(at_once=at_once, who=who() or "analyst")


def _applied_actions(service: ActiveLearningService) -> None:
    """Applied label changes, each with an undo button."""
    acts = service.acts()
    undone = {each.number: each for each in acts if each.kind is LearningActionKind.UNDONE}
    applied: dict[int, list[LearningAction]] = {}
    for each in acts:
        if each.kind is LearningActionKind.APPLIED:
            applied.setdefault(each.number, []).append(each)
    if not applied:
        return
    st.markdown("**Applied**")
    for number, parts in list(applied.items())[:_MOST_ACTIONS]:
        words, undo = st.columns([6, 1], vertical_alignment="center")
        labels = sum(each.labels for each in parts)
        first = parts[-1]
        line = f"{first.at:%Y-%m-%d %H:%M} · {plain(first.who)} · {count(labels, 'label')} by lessons {first.version}"
        if number in undone:
            back = undone[number]
            words.caption(f":gray[~~{line}~~] undone {back.at:%Y-%m-%d %H:%M} by {plain(back.who)}")
            continue
        words.caption(line)
        rights.button(
            "active_learning.label_changes.undo",
            "Undo",
            key=f"learning.undo.{number}",
            icon=":material/undo:",
            width="stretch",
            help="Labels that have not been changed since are set back, and their passages too.",
            on_click=_undo,
            args=(service, number),
            on=undo,
        )


def _undo(service: ActiveLearningService, number: int) -> None:
    with notices.show_errors():
        done = service.label_changes.undo(number, who() or "analyst")
        forget_preview()
        session.forget_answers()
        left = f" {count(len(done.left), 'label')} changed since and stayed." if done.left else ""
        st.toast(f"{count(done.labels, 'label')} as before.{left}", icon=":material/undo:")


def _accuracy_over_time(service: ActiveLearningService) -> None:
    """How often people found automatic labels right, with what the numbers are worth."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**Found right, over time**", width="content")
        field = st.selectbox(
            "Label",
            _FIELDS,
            key="learned",
            bind="query-params",
            label_visibility="collapsed",
            format_func=lambda name: "All labels" if name == "all" else field_title(name),
            width=170,
        )
        per = st.segmented_control(
            "Per", ("week", "month"), default="week", required=True, key="per", bind="query-params",
            label_visibility="collapsed", format_func=lambda each: f"By {each}",
        )  # fmt: skip
    periods = service.accuracy(None if field in (None, "all") else field, by_month=per == "month")
    overall = LabelRate(sum(each.right.right for each in periods), sum(each.right.n for each in periods))
    if overall.n < ENOUGH:
        st.caption(_too_few(overall, str(per)))
        return
    st.caption(_accuracy_caption(periods, overall, str(per)))
    figure = accuracy_chart(periods, by_month=per == "month", dark=st.context.theme.type == "dark")
    alt = f"{overall.right:,} of {count(overall.n, 'label')} found right over {count(len(periods), str(per))}"
    draw_chart(figure, key="learning.over_time", alt=alt)


def _too_few(overall: LabelRate, per: str) -> str:
    if not overall.n:
        return f"Nobody has judged such a label yet. Once {ENOUGH} are, the share found right is shown here by {per}."
    return (
        f"Too few to say: {overall.right} of {overall.n} automatic labels people judged were right. From {ENOUGH} on"
        f" they are shown here by {per}."
    )


def _accuracy_caption(periods: Sequence[Period], overall: LabelRate, per: str) -> str:
    few = sum(each.right.n < ENOUGH for each in periods)
    caption = f"{overall.right:,} of {overall.n:,} automatic labels were right when a person first judged them"
    caption += f" ({overall.share:.0%}, 95% interval {overall.low:.0%} to {overall.high:.0%})."
    caption += " Uncertain ones are judged first, so the whole library is likely better."
    return caption + (f" Hollow: fewer than {ENOUGH} judged in that {per}, a hint at most." if few else "")


def _last_corrections(service: ActiveLearningService) -> None:
    """The latest corrections, each with an undo button."""
    corrections = service.recent_verdicts(_MOST_CORRECTIONS)
    if not corrections:
        return
    st.markdown("**Latest corrections**")
    terms = session.terms()
    with st.container(gap=None):
        for verdict, document in corrections:
            _correction_line(verdict, document, terms)


def _correction_line(verdict: LabelVerdict, document: Document, terms: WorkspaceTerms) -> None:
    words, link, back = st.columns([5, 6, 2], vertical_alignment="center", gap="small")
    given = value_title(verdict.field, verdict.given, terms) if verdict.given else "unknown"
    change = "as it said" if verdict.given == verdict.value else f"instead of {plain(given)}"
    value = plain(value_title(verdict.field, verdict.value, terms))
    words.markdown(f"{field_title(verdict.field)} **{value}** :gray[{change} · {plain(verdict.who)}]")
    link.page_link(
        page_path("library"),
        label=plain(shorten_middle(document.name, 48)),
        icon=":material/library_books:",
        query_params={"document": str(document.id)},
    )
    rights.button(
        "bulk_edit.withdraw_label",
        "Undo",
        key=f"learning.back.{document.id}.{verdict.field}",
        icon=":material/undo:",
        type="tertiary",
        help="The classifier's label is restored, and this lesson is forgotten.",
        on_click=_undo_correction,
        args=(document.id, verdict.field),
        on=back,
    )


def _undo_correction(document_id: int, field: str) -> None:
    with notices.show_errors():
        session.workbench().bulk_edit.withdraw_label(document_id, field, who() or "analyst")
        session.forget_answers()
        st.toast(f"{field_title(field)} is the classifier's again.", icon=":material/undo:")
