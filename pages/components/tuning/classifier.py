"""Evaluation of the classifier on confirmed labels: it is run without them, then its metrics and mistakes are shown."""
# Longer than 300 lines: one view, top to bottom.

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.domain.documents import Labels
from core.domain.errors import FivefoldError
from core.evaluation.metrics.classifier_report import (
    BINDING_SURE,
    ClassifierEvaluation,
    ClassifierOpinion,
    ClassifierReport,
    LabelRate,
)
from pages.components import cards, notices, session
from pages.components.chart_view import draw_chart
from pages.components.pager import paged
from pages.components.styles import truth_style
from pages.components.tuning import charts
from pages.components.tuning.active_learning import draw_learning
from pages.components.urls import page_path
from pages.components.wording import count, plain, shorten_middle

__all__ = ["view"]

_PER_PAGE, _MOST_ROWS = 12, 14  # mistakes per page; rows visible without scrolling


@dataclass(slots=True)
class _EvaluationTask:
    """Evaluation of the classifier in the background. It outlives the tab that started it; its labels are kept.

    left: documents not evaluated when it last ended. problem: why it ended.
    """

    labels: dict[tuple[int, str], Labels] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    running: bool = False
    stop: bool = False
    done: int = 0
    total: int = 0
    name: str = ""
    left: int = 0
    problem: FivefoldError | None = None


def _task() -> _EvaluationTask:
    return session.own(_EvaluationTask)


def view() -> None:
    """The view: progress of the evaluation, metrics, charts and mistakes."""
    with notices.show_errors():
        service, task = session.workbench().evaluation.classifier, _task()
        waiting = service.waiting(task.labels)
        if waiting > task.left:
            _start_evaluation(service, task, waiting)
        if task.running:
            _progress(task)
        elif waiting and task.left:
            _resume_offer(service, task)
        report = service.report(task.labels, stop=lambda: True)
        if report.documents:
            _draw_report(report)
        elif not waiting:
            _nothing_confirmed(report)
        draw_learning()


def _start_evaluation(service: ClassifierEvaluation, task: _EvaluationTask, waiting: int) -> None:
    with task.lock:
        if task.running:
            return
        task.running, task.stop, task.problem = True, False, None
        task.done, task.total, task.name, task.left = 0, waiting, "", waiting
    threading.Thread(target=_evaluate, args=(service, task), name="ask classifier", daemon=True).start()


def _evaluate(service: ClassifierEvaluation, task: _EvaluationTask) -> None:
    def on_document(done: int, total: int, name: str) -> None:
        task.done, task.total, task.name = done, total, name

    try:
        service.report(task.labels, on_document, lambda: task.stop)
        task.left = service.waiting(task.labels)
    except FivefoldError as problem:
        task.problem = problem
    finally:
        task.running = False


@st.fragment(run_every=0.5)
def _progress(task: _EvaluationTask) -> None:
    if not task.running:
        st.rerun()
    bar, stop = st.columns([6, 1], vertical_alignment="center")
    current = f"now {plain(shorten_middle(task.name, 60))}" if session.ready() else "loading the models …"
    words = f"{task.done:,} of {count(task.total, 'document')} asked · {current}"
    bar.progress(task.done / max(1, task.total), f"{words}{' · stopping' if task.stop else ''}")
    if stop.button("Stop", icon=":material/stop:", width="stretch", help="What is asked so far is kept."):
        task.stop = True


def _resume_offer(service: ClassifierEvaluation, task: _EvaluationTask) -> None:
    """A stopped or failed evaluation: what is missing, and a button to resume."""
    if task.problem is not None:
        notices.error(task.problem)
    words, go_on = st.columns([6, 1], vertical_alignment="center")
    left_out = f"{count(task.left, 'confirmed document')} not asked yet and left out below. Nothing is lost."
    words.warning(left_out, icon=":material/stop_circle:")
    if go_on.button("Go on", icon=":material/play_arrow:", type="primary", width="stretch"):
        _start_evaluation(service, task, task.left)
        st.rerun()


def _nothing_confirmed(report: ClassifierReport) -> None:
    if not report.library:
        notices.empty_library(":material/fact_check:", "No document has been read yet")
        return
    notices.empty(
        ":material/fact_check:",
        "No truth is confirmed yet",
        "Confirm or correct labels on *Upload* or in *Library*. From about 30 on, this page shows how far the"
        " classifier can be trusted.",
    )
    with st.container(horizontal=True, horizontal_alignment="center", gap="medium"):
        st.page_link(page_path("library"), label="Open Library", icon=":material/library_books:")
        st.page_link(page_path("upload"), label="Open Upload", icon=":material/upload_file:")


def _draw_report(report: ClassifierReport) -> None:
    st.caption(
        "The classifier's own label for each document whose truth a person confirmed, decided without knowing any"
        " confirmed label. Only confirmed labels count as right."
    )
    _numbers(report)
    if report.warnings:
        st.warning("\n\n".join(plain(each) for each in report.warnings), icon=":material/balance:")
    _charts(report)
    _by_source(report)
    _mistakes(report)


def _numbers(report: ClassifierReport) -> None:
    metrics = (
        ("Judged", f"{report.documents:,} of {report.library:,}", "Documents whose truth a person confirmed."),
        ("Accuracy", _share(report.accuracy), "Share it has right; an abstention counts as wrong."),
        ("Of the decided", _share(report.decided), f"Share right of the {report.decided.n:,} it gave a truth."),
        ("Abstained", f"{report.abstained:,}", "Documents it gave no truth: two were too close, or nothing spoke."),
        (
            "Calibration error",
            f"{report.ece:.3f}" if report.decided.n else "–",
            "Average difference between stated probability and accuracy on decided documents. Up to 0.05 is good.",
        ),
        (
            "Confident and wrong",
            f"{report.binding_wrong:,}",
            f"Taken for regulatory or compliance with {BINDING_SURE:.2f} or more, and not. There should be none.",
        ),
    )
    with st.container(horizontal=True, gap="medium"):
        for label, value, help_text in metrics:
            st.metric(label, value, width="content", help=help_text)
    parts = [f"95% interval of accuracy {_interval(report.accuracy)}, of the decided {_interval(report.decided)}"]
    parts += [f"{report.agreed:,} confirmed as predicted today, {report.documents - report.agreed:,} corrected"]
    parts += [f"{name} right {rate.right:,} of {rate.n:,}" for name, rate in report.fields.items()]
    st.caption(" · ".join(parts))


def _share(rate: LabelRate) -> str:
    return f"{rate.share:.0%}" if rate.n else "–"


def _interval(rate: LabelRate) -> str:
    return f"{rate.low:.0%} to {rate.high:.0%}" if rate.n else "–"


def _charts(report: ClassifierReport) -> None:
    """The charts, two in a row where there is room."""
    dark = st.context.theme.type == "dark"
    with st.grid(2, min_column_width=470, gap="medium"):
        with st.container(gap="xsmall"):
            st.markdown("**Confusion matrix**")
            st.caption("Rows: confirmed by people. Columns: predicted. Blue is correct, orange is not.")
            matrix = charts.confusion_map(report.confusion, dark=dark)
            _chart(matrix, "confusion", f"{report.agreed:,} of {count(report.documents, 'document')} on the diagonal")
        with st.container(gap="xsmall"):
            _by_truth(report)
        with st.container(gap="xsmall"):
            _reliability(report, dark=dark)
        with st.container(gap="xsmall"):
            st.markdown("**If it abstained more, or less**")
            st.caption("Solid: accuracy on decided documents. Dotted: share of documents decided.")
            curve = charts.abstention_curve(report.curve, report.threshold, dark=dark)
            _chart(curve, "abstention", f"In use: abstain below {report.threshold:.2f}, {_share(report.decided)} right")


def _chart(figure: Any, key: str, alt: str) -> None:
    draw_chart(figure, key=f"classifier.{key}", alt=alt)


def _by_truth(report: ClassifierReport) -> None:
    """Recall and precision of each truth."""
    st.markdown("**Truth by truth**")
    st.caption("Recall: share of the confirmed that it finds. Precision: share of its labels that are right.")
    rows = []
    for truth in report.confusion.rows:
        found, borne_out = report.confusion.found(truth), report.confusion.borne_out(truth)
        rows.append(
            {
                "Truth": f"{truth_style(truth).symbol} {truth}",
                "Confirmed": found.n,
                "Recall": _percent(found),
                "Labelled": borne_out.n,
                "Precision": _percent(borne_out),
            }
        )
    _table(rows, row_height=46)


def _reliability(report: ClassifierReport, *, dark: bool) -> None:
    st.markdown("**Calibration**")
    if not report.bins:
        st.caption("With five decided documents, this shows how often it is right at each probability.")
        return
    sizes = sorted({each.right.n for each in report.bins})
    of = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    groups = f"{count(len(report.bins), 'group')} of {of} documents, by how sure it was"
    st.caption(f"Dots: {groups}. Below the dashed line: too sure.")
    figure = charts.reliability_diagram(report.bins, dark=dark)
    _chart(figure, "reliability", f"Calibration error {report.ece:.3f} over {count(len(report.bins), 'group')}")


def _by_source(report: ClassifierReport) -> None:
    st.markdown("**Where the documents come from**")
    rows = [
        {
            "By": share.by.capitalize(),
            "Value": share.value or f"no {share.by}",
            "Documents": share.right.n,
            "Right": _percent(share.right),
            "Plausibly": _interval(share.right),
            "Abstained": share.abstained,
        }
        for share in report.shares
    ]
    _table(rows, row_height=32)


def _table(rows: Sequence[Mapping[str, Any]], *, row_height: int) -> None:
    bar = st.column_config.ProgressColumn(min_value=0, max_value=100, format="%.0f%%")
    st.dataframe(
        rows,
        hide_index=True,
        placeholder="–",
        row_height=row_height,
        height="content" if len(rows) <= _MOST_ROWS else 36 + row_height * _MOST_ROWS,
        column_config=dict.fromkeys(("Recall", "Precision", "Right"), bar),
    )


def _percent(rate: LabelRate) -> float | None:
    return 100 * rate.share if rate.n else None


def _mistakes(report: ClassifierReport) -> None:
    """Documents whose label differs from the confirmed one, most confident first, each with a link to its labels."""
    st.markdown(f"**Differs from the confirmed label** · {count(len(report.wrong), 'document')}")
    if not report.wrong:
        st.caption(":material/check: It agrees with people on every confirmed document.")
        return
    st.caption("The most confident first. A label confirmed by mistake is listed, too: check before you decide.")
    shown = paged(report.wrong, _PER_PAGE, "classifier.wrong")
    for cell, head in zip(_mistake_columns(), ("It says", "Confirmed", "Document", "Next likely"), strict=True):
        cell.caption(head)
    for each in shown:
        _mistake_line(each)


def _mistake_columns() -> Sequence[Any]:
    return st.columns([5, 4, 11, 5], wrap=False, gap="small", vertical_alignment="center")


def _mistake_line(each: ClassifierOpinion) -> None:
    predicted, confirmed, document, other = _mistake_columns()
    with predicted:
        if each.given is None:
            st.badge("Abstained", icon=":material/help:", color="gray")
        else:
            cards.truth_badge(each.given, probability=each.probability)
    with confirmed:
        cards.truth_badge(each.confirmed)
    link = {"document": str(each.document_id)}
    document.page_link(
        page_path("library"),
        label=plain(shorten_middle(each.name, 42)),
        icon=":material/library_books:",
        query_params=link,
    )
    other.caption(f"{each.runner_up} {each.runner_up_probability:.2f}" if each.runner_up else "–")
