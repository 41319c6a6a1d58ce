"""Experiments side by side: their data, every measure with its confidence interval, and each question."""
# Longer than 300 lines: the comparison by measure and by question show the same two experiments.

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.evaluation import GRADES, Experiment, Interval, QuestionOutcome, QuestionSet
from core.evaluation.experiment_report import comparison_data, comparison_table
from core.evaluation.judgments.units import UnitIndex, document_of
from core.evaluation.metrics.comparison import (
    UNJUDGED_MOST,
    ExperimentComparison,
    QuestionComparison,
    QuestionOrder,
    by_question,
    comparison,
    turn,
)
from core.evaluation.metrics.measures import MEASURES, Measure
from core.evaluation.metrics.significance import PairedTest
from core.formats.terminal import json_text
from pages.components.chart_view import draw_chart
from pages.components.data.rows import rows_csv
from pages.components.tuning.changes_since import changed_since, changed_words
from pages.components.tuning.charts import (
    LABELS,
    OUTCOME_SIGNS,
    SIDES,
    decimal,
    interval_dots,
    interval_text,
    measure_label,
    p_words,
    percent,
    side_label,
    signed,
)
from pages.components.tuning.experiment_state import cached, open_in_sliders, open_view
from pages.components.tuning.judge_state import FIRST, SECOND, judgment_service
from pages.components.tuning.passage_labels import passage_title
from pages.components.wording import ago, count, plain, shorten

__all__ = ["compare_experiments", "draw_comparison", "draw_questions", "value_cells"]

_LISTED, _ROW = 9, 35  # questions visible without scrolling; pixels of a row

_RANKED = 10  # ranks shown of one question: as many as results on a page


def draw_questions(shown: Sequence[Experiment], measure: str) -> None:
    """Every question under one measure; one that is chosen is opened below. Drawn in a fragment."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{measure_label(measure)} question by question**")
        order = QuestionOrder.ASKED
        if len(shown) > 1:
            picked = st.segmented_control(
                "Order", list(QuestionOrder), key="measure.order", default=QuestionOrder.WORSE, required=True,
                format_func=lambda each: each.value, label_visibility="collapsed", persist_state="session",
            )  # fmt: skip
            order = QuestionOrder(picked)
    ids = tuple(each.id for each in shown)
    rows = cached("questions", (ids, measure, order), lambda: by_question(shown, measure, order))
    _count_line(rows)
    event = st.dataframe(
        [_cells(shown, row) for row in rows],
        key=f"measure.questions.{'.'.join(map(str, ids))}.{measure}.{order.name}",
        hide_index=True,
        placeholder="–",
        height=_ROW * (min(len(rows), _LISTED) + 1) + 3,
        column_config=_columns(shown),
        on_select="rerun",
        selection_mode="single-row",
    )
    chosen = event["selection"]["rows"]
    if chosen and chosen[0] < len(rows):
        _question_detail(shown, rows[chosen[0]])
    else:
        st.caption("Choose a question to see its rankings, and to open it in *Sliders*.")


def _count_line(rows: Sequence[QuestionComparison]) -> None:
    gains = [row.gains[1] for row in rows if len(row.gains) == 2 and row.gains[1] is not None]
    if gains:
        up, down = sum(gain > 1e-9 for gain in gains), sum(gain < -1e-9 for gain in gains)
        st.caption(f"B is higher in {up:,}, lower in {down:,} and the same in {len(gains) - up - down:,} of them.")


def _cells(shown: Sequence[Experiment], row: QuestionComparison) -> Mapping[str, object]:
    cells: dict[str, object] = {"Question": row.question, "Kind": row.kind}
    for index in range(len(shown)):
        cells[SIDES[index]] = row.values[index]
    for index in range(1, len(shown)):
        cells[f"{SIDES[index]} − A"] = row.gains[index]
        cells[f"Overlap {SIDES[index]}"] = row.overlaps[index]
    for index in range(len(shown)):
        part = row.unjudged[index]
        cells[f"Unjudged {SIDES[index]}"] = None if part is None else 100 * part
    for index in range(len(shown)):
        cells[f"First {SIDES[index]}"] = row.first[index]
    return cells


def _columns(shown: Sequence[Experiment]) -> dict[str, Any]:
    """How wide and how exact each column is."""
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {
        "Question": st.column_config.TextColumn(width="large", pinned=True),
        "Kind": st.column_config.TextColumn(width="small"),
    }
    for index, experiment in enumerate(shown):
        letter = SIDES[index]
        columns[letter] = number(format="%.3f", width=64, help=plain(side_label(index, experiment)))
        columns[f"{letter} − A"] = number(format="%+.3f", width=74)
        columns[f"Overlap {letter}"] = number(
            format="%.2f", width=84, help="How alike the two rankings are, the top counting most (RBO, p = 0.9)."
        )
        columns[f"Unjudged {letter}"] = number(
            format="%.0f%%", width=92, help="Share of the first ten results that nobody has judged."
        )
        columns[f"First {letter}"] = st.column_config.TextColumn(width="medium", help="The document on top.")
    return columns


# One question
def _question_detail(shown: Sequence[Experiment], row: QuestionComparison) -> None:
    """What stood where for one question, and the ways on."""
    with st.container(border=True):
        text_column, tune = st.columns([8, 2], vertical_alignment="center")
        text_column.markdown(f"**{plain(row.question)}** :gray[{plain(row.key)} · {plain(row.kind)}]")
        with tune.popover("Open in Sliders", icon=":material/tune:", width="stretch"):
            for number, each in enumerate(shown):
                if st.button(f"With {plain(side_label(number, each))}", key=f"measure.tune.{number}", width="stretch"):
                    open_in_sliders(each, row.key, row.question)
                    st.rerun()
        index = judgment_service().index()
        for column, (number, each) in zip(st.columns(len(shown)), enumerate(shown), strict=True):
            with column:
                outcome = next((one for one in each.outcomes if one.question_id == row.question_id), None)
                _ranking(side_label(number, each), outcome, index)


def _ranking(head: str, outcome: QuestionOutcome | None, index: UnitIndex) -> None:
    if outcome is None:
        st.caption(f"{plain(head)} did not ask it.")
        return
    st.caption(f"**{plain(head)}** · {count(outcome.hits, 'result')}")
    grades = {unit: grade for unit, _, grade in outcome.scored if grade in GRADES}
    lines = [
        f"{rank}. {plain(_unit_name(unit, index))} {_grade_text(grades.get(unit))}"
        for rank, unit in enumerate(outcome.ranking[:_RANKED], 1)
    ]
    st.markdown("\n".join(lines) if lines else ":gray[Nothing was shown.]")


def _unit_name(unit: str, index: UnitIndex) -> str:
    """A passage by its document, place and opening words; a document by its name."""
    document, passage = index.document(unit), index.passage(unit)
    if passage is not None:
        return passage_title(passage, document)
    return shorten(document.name if document else f"{document_of(unit)[:10]} (no longer here)", 44)


def _grade_text(grade: int | None) -> str:
    if grade is None:
        return ":gray[· unjudged]"
    return f":{'green' if grade else 'red'}[· **{grade}**, {GRADES[grade]}]"


def draw_comparison(questions: QuestionSet, shown: Sequence[Experiment]) -> None:
    """The experiments, what to doubt about them, and their measures as a table and a picture."""
    found = compare_experiments(shown)
    _experiment_lines(questions, shown)
    _doubts(questions, found)
    # Of more than two the table needs the room of both.
    with st.grid(2 if len(shown) <= 2 else 1, min_column_width=470, gap="large"):
        with st.container(gap="xsmall"):
            _table(found)
        with st.container(gap="xsmall"):
            draw_chart(
                interval_dots(found, dark=st.context.theme.type == "dark"),
                key="measure.dots",
                alt="Every measure with its interval",
            )
            st.caption("Marks are means over the questions; lines are 95% intervals, shown from five questions on.")


def compare_experiments(shown: Sequence[Experiment]) -> ExperimentComparison:
    """The experiments side by side, worked out once."""
    return cached("comparison", tuple(each.id for each in shown), lambda: comparison(shown))


# What each stood on
def _experiment_lines(questions: QuestionSet, shown: Sequence[Experiment]) -> None:
    """A line per experiment: its letter, profile, and how it came about; and all of it as files."""
    lines, files = st.columns([8, 2], vertical_alignment="top")
    changes = changed_since(shown, questions.id)
    with lines, st.container(gap="xxsmall"):
        for index, each in enumerate(shown):
            st.markdown(_experiment_line(index, each, changed_words(changes[index])))
    with files.popover("Download", icon=":material/download:", width="stretch"):
        _files(shown)


def _experiment_line(index: int, each: Experiment, since: str) -> str:
    at = each.finished_at or each.started_at
    parts = [f"**{SIDES[index]} {plain(each.profile.ref)}**", count(len(each.outcomes), "question")]
    parts += [f"{ago(at, utc_now())} by {plain(each.who)}"]
    parts += [f"{percent(each.unjudged)} of the first ten unjudged"]
    parts += [f"“{plain(each.note)}”"] if each.note else []
    parts += [f":orange[:material/history: {since}]"] if since else []
    return " · ".join(parts)


def _files(shown: Sequence[Experiment]) -> None:
    """Downloads of the comparison; a file is made when its button is pressed."""
    called = "-".join(str(each.id) for each in shown)
    for label, made, name, mime in (
        ("Questions (CSV)", lambda: rows_csv(*comparison_table(shown)), f"experiment-{called}.csv", "text/csv"),
        (
            "All of it (JSON)",
            lambda: json_text(comparison_data(shown)),
            f"experiment-{called}.json",
            "application/json",
        ),
    ):
        st.download_button(
            label, made, name, mime, key=f"measure.file.{name}", icon=":material/download:", width="stretch",
            on_click="ignore",
        )  # fmt: skip


# What to doubt
def _doubts(questions: QuestionSet, found: ExperimentComparison) -> None:
    for doubt in found.doubts:
        st.warning(doubt, icon=":material/balance:")
    over = [
        f"{percent(each.unjudged)}{f' ({SIDES[index]})' if len(found.experiments) > 1 else ''}"
        for index, each in enumerate(found.experiments)
        if each.unjudged is not None and each.unjudged > UNJUDGED_MOST
    ]
    if not over:
        return
    names = [each.profile.name for each in found.experiments[:2]]
    with st.container(border=True):
        text_column, judge = st.columns([8, 2], vertical_alignment="center")
        text_column.markdown(
            f":orange[:material/rule:] **{' and '.join(over)} of the first ten results are not judged.** They count"
            " as irrelevant: figures may be too low, and a difference may only be one in what was judged."
        )
        judge.button(
            "Judge them", key="measure.judge", icon=":material/gavel:", width="stretch", on_click=_open_judging,
            args=(questions.id, names),
        )  # fmt: skip


def _open_judging(set_id: int, names: Sequence[str]) -> None:
    """Judge the results of these profiles put together."""
    for key, name in zip((FIRST, SECOND), names, strict=False):
        st.session_state[key] = name
    open_view("judge", set=str(set_id))


# Measures
def _table(found: ExperimentComparison) -> None:
    """Every measure: for two experiments the difference has its own columns, for more it is beside each value."""
    two = len(found.experiments) == 2
    rows = []
    for row in found.rows:
        cells = {"Measure": f"**{measure_label(row.measure.name)}**".replace(" ", "\u00a0")}
        cells |= value_cells(found.experiments, row.measure, row.values, row.gains)
        counted = row.gains[1].n if two and row.gains[1] else max((each.n for each in row.values if each), default=0)
        cells["n"] = f"{counted:,}"
        rows.append(cells)
    st.table(rows, border="horizontal", hide_index=True)
    with st.popover("What they mean", icon=":material/help:", type="tertiary"):
        for name, measure in MEASURES.items():
            better = "" if measure.higher_is_better else ":gray[ · less is better]"
            st.markdown(f"**{LABELS.get(name, name)}** {measure.words}{better}")
        st.markdown(
            ":gray[**n** questions are counted. From five on, the ends of the 95% bootstrap interval follow each"
            " figure. **p** is how often chance alone would make a difference as large (paired randomisation"
            " test); ▲ ▼ from p < 0.05 on, ≈ may be chance.]"
        )


def value_cells(
    experiments: Sequence[Experiment],
    measure: Measure,
    values: Sequence[Interval | None],
    gains: Sequence[PairedTest | None],
) -> dict[str, str]:
    """The cells of one line of a table: a value per experiment, and what differs."""
    two = len(experiments) == 2
    cells = {
        side_label(index, experiments[index], 18): _interval_words(value)
        + ("" if two else _difference_words(measure, gains[index]))
        for index, value in enumerate(values)
    }
    return cells | (_difference(measure, gains[1]) if two else {})


def _interval_words(interval: Interval | None) -> str:
    return "–" if interval is None else f"{decimal(interval.mean)}{_gray(interval_text(interval))}"


def _gray(words: str) -> str:
    return f" :gray[{words}]" if words else ""


def _difference(measure: Measure, pair: PairedTest | None) -> dict[str, str]:
    if pair is None:
        return {"B − A": "–", "p": ""}
    symbol, colour = OUTCOME_SIGNS[turn(measure, pair)]
    words = f":{colour}[**{symbol} {signed(pair.gain.mean)}**]{_gray(interval_text(pair.gain, sign=True))}"
    return {"B − A": words, "p": p_words(pair.p_value)}


def _difference_words(measure: Measure, pair: PairedTest | None) -> str:
    """A difference from the first, with its p."""
    if pair is None:
        return ""
    symbol, colour = OUTCOME_SIGNS[turn(measure, pair)]
    change = f"{symbol}\u00a0{signed(pair.gain.mean)}"
    return f" :{colour}[{change}] :gray[p\u00a0{p_words(pair.p_value)}]"
