"""The Measure view: measures a question set under one or two profiles, compares them, and lists stored experiments."""
# Longer than 300 lines: one view with the detail of a measure below it.

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.domain.coverage import RunState
from core.domain.errors import NotFound
from core.domain.evaluation import Experiment, ExperimentKind, QuestionSet
from core.domain.queries import ScoreProfile
from core.evaluation.metrics.comparison import KindComparison, by_kind, trend
from core.evaluation.metrics.measures import MEASURES
from core.knowledge.glossary import meaning
from pages.components import notices, rights
from pages.components.chart_view import draw_chart
from pages.components.tuning import compare, question_sets
from pages.components.tuning.changes_since import changed_since
from pages.components.tuning.charts import LABELS, MOST_LINES, SIDES, measure_label, percent, trend_lines
from pages.components.tuning.compare import compare_experiments, value_cells
from pages.components.tuning.experiment_state import (
    apply_change,
    cached,
    draw_unfinished,
    experiment_runner,
    full_experiment,
    is_running,
    latest_finished,
    profile_chooser,
    show_outcome,
    start_experiments,
)
from pages.components.tuning.state import evaluation_service
from pages.components.wording import count, plain

__all__ = ["draw_measure_detail", "draw_stored", "view"]

_LISTED, _ROW = 8, 35  # experiments visible without scrolling; pixels of a row


def draw_stored(questions: QuestionSet, listed: Sequence[Experiment]) -> None:
    """The stored experiments, with actions for the selected ones."""
    done = [each for each in listed if each.state is RunState.DONE]
    st.divider()
    st.markdown(f"**Saved runs** :gray[· {count(len(done), 'experiment')} with this set]")
    changes = changed_since(done, questions.id)
    event = st.dataframe(
        [_cells(each, changed) for each, changed in zip(done, changes, strict=True)],
        key=f"measure.kept.{questions.id}.{len(done)}.{done[0].id}",
        hide_index=True,
        placeholder="–",
        height=_ROW * (min(len(done), _LISTED) + 1) + 3,
        column_config=_columns(),
        on_select="rerun",
        selection_mode="multi-row",
    )
    chosen = [done[index] for index in event["selection"]["rows"] if index < len(done)]
    _experiment_actions(chosen)


def _cells(each: Experiment, changed: Sequence[str]) -> Mapping[str, object]:
    measures = {LABELS[name]: each.measures[name].mean if name in each.measures else None for name in MEASURES}
    searched = each.kind is ExperimentKind.OPTIMISED
    return {
        "When": f"{each.finished_at or each.started_at:%Y-%m-%d %H:%M}",
        "Profile": each.profile.ref,
        **measures,
        "Unjudged": percent(each.unjudged),
        "Changed since": ", ".join(changed) or "nothing",
        "By": f"{each.who}{', scheduled' if each.scheduled and each.who != 'schedule' else ''}",
        "Note": f"searched for weights{': ' if each.note else ''}{each.note}" if searched else each.note,
        "Last judgment": each.judgments_version or None,
        "No.": each.id,
    }


def _columns() -> dict[str, Any]:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    measures = {
        LABELS[name]: number(format="%.3f", width=100 if " " in LABELS[name] else 72, help=measure.words)
        for name, measure in MEASURES.items()
    }
    return {
        "When": text(pinned=True),
        "Profile": text(pinned=True),
        **measures,
        "Unjudged": text(help=meaning("unjudged")),
        "Changed since": text(
            help="Whether questions came or went, something was judged, or the library has changed, since then."
        ),
        "Note": text(width="medium"),
        "Last judgment": number(format="%d", help="The number of the last judgment it knew."),
        "No.": number(format="%d"),
    }


def _experiment_actions(chosen: Sequence[Experiment]) -> None:
    if not chosen:
        st.caption("Select one to open, annotate or delete it; select several to compare them.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        several = len(chosen) > 1
        st.button(
            f"Compare {len(chosen)}" if several else "Look at it",
            key="measure.kept.show",
            type="primary",
            icon=":material/compare:" if several else ":material/visibility:",
            on_click=_show,
            args=([each.id for each in chosen],),
            disabled=len(chosen) > len(SIDES),
            help=f"At most {len(SIDES)} at once." if len(chosen) > len(SIDES) else None,
        )
        if not several:
            _note(chosen[0])
        with st.popover("Delete", icon=":material/delete:"):
            st.markdown(f"Delete {count(len(chosen), 'experiment')} for good? Questions and judgments stay.")
            rights.button(
                "evaluation.experiments.delete",
                "Delete", key="measure.kept.delete", type="primary", on_click=_delete,
                args=([each.id for each in chosen],),
            )  # fmt: skip


def _show(ids: Sequence[int]) -> None:
    """Compare these experiments, the oldest as the baseline."""
    st.query_params["runs"] = ".".join(str(number) for number in sorted(ids))


def _note(experiment: Experiment) -> None:
    key = f"measure.note.{experiment.id}"
    st.text_input(
        "Note",
        value=experiment.note,
        key=key,
        placeholder="Write a note beside it",
        label_visibility="collapsed",
        max_chars=300,
        on_change=_annotate,
        args=(experiment.id, key),
    )


def _annotate(experiment_id: int, key: str) -> None:
    note = st.session_state[key]
    if apply_change(lambda: experiment_runner().annotate(experiment_id, note), "Note saved."):
        st.session_state.get("lab.whole", {}).pop(experiment_id, None)


def _delete(ids: Sequence[int]) -> None:
    def work() -> None:
        for number in ids:
            experiment_runner().delete(number)

    apply_change(work, f"{count(len(ids), 'experiment')} deleted.")
    for number in ids:
        st.session_state.get("lab.whole", {}).pop(number, None)


_MEASURE = "lab.measure"


@st.fragment
def draw_measure_detail(shown: Sequence[Experiment], listed: Sequence[Experiment]) -> None:
    """Which measure; then all there is to see of it. listed: every experiment of the set, for the trend."""
    with notices.show_errors():
        measure = _picked_measure(shown)
        _kinds(shown, measure)
        compare.draw_questions(shown, measure)
        _trend(listed, measure, [each.profile.name for each in shown])


def _picked_measure(shown: Sequence[Experiment]) -> str:
    names = [row.measure.name for row in compare_experiments(shown).rows]
    if st.session_state.get(_MEASURE) not in names:
        st.session_state[_MEASURE] = names[0]
    picked = st.pills(
        "Measure in detail", names, key=_MEASURE, required=True, format_func=measure_label, persist_state="session"
    )
    return picked or names[0]


def _kinds(shown: Sequence[Experiment], measure: str) -> None:
    """The measure for each kind of question, where there are several."""
    mark = (tuple(each.id for each in shown), measure)
    rows = cached("kinds", mark, lambda: by_kind(shown, measure))
    if len(rows) < 2:
        return
    st.markdown(f"**{measure_label(measure)} by kind of question**")
    st.table([_kind(shown, row, measure) for row in rows], border="horizontal", hide_index=True)


def _kind(shown: Sequence[Experiment], row: KindComparison, measure: str) -> dict[str, str]:
    unjudged = " · ".join(percent(each) for each in row.unjudged)
    cells = value_cells(shown, MEASURES[measure], row.values, row.gains)
    return {"Kind": plain(row.kind), "Questions": f"{row.questions:,}", **cells, "Unjudged": unjudged}


def _trend(listed: Sequence[Experiment], measure: str, first: Sequence[str]) -> None:
    """The measure over time, once there are two points to join. first: profiles that keep their colours of above."""
    lines = trend(listed, measure)
    if sum(len(line.points) for line in lines) < 2:
        return
    order = {name: index for index, name in enumerate(dict.fromkeys(first))}
    lines = tuple(sorted(lines, key=lambda line: order.get(line.profile, len(order))))
    more = f", the {MOST_LINES} measured last" if len(lines) > MOST_LINES else ""
    st.markdown(f"**{measure_label(measure)} over time** :gray[· a line per profile{more}]")
    draw_chart(
        trend_lines(lines, dark=st.context.theme.type == "dark"),
        key="measure.trend",
        alt=f"{measure_label(measure)} of every profile over time",
    )
    notes = []
    if any(words != "another version" for line in lines for point in line.points for words in point.changed):
        notes.append("An open mark: the judgments or the library had changed since the measurement before.")
    unjudged = ", ".join(f"{plain(line.points[-1].ref)} {percent(line.points[-1].unjudged)}" for line in lines)
    st.caption(" ".join([*notes, f"Unjudged of the first ten, at the last measurement: {unjudged}."]))


_RUNS = "runs"


def view(project: str | None) -> None:
    """The set and profiles to measure, running experiments, results, and every stored experiment."""
    show_outcome()
    with notices.show_errors():
        _draw_view(project)


def _draw_view(project: str | None) -> None:
    chosen, one, other, press = st.columns([4, 3, 3, 2], vertical_alignment="bottom")
    with chosen:
        questions = question_sets.choose_set(project)
    if questions is None:
        question_sets.draw_first_set(project)
        return
    with one:
        first = profile_chooser("Profile A", "a", project)
    with other:
        second = profile_chooser("Profile B, to compare", "b", project, optional=True)
    refs = list(dict.fromkeys(each.ref for each in (first, second) if each is not None))
    listed = list(experiment_runner().experiments(questions.id))
    rights.button(
        "evaluation.experiments.begin",
        "Measure",
        key="measure.begin",
        type="primary",
        icon=":material/straighten:",
        width="stretch",
        help=f"Asks every question of the set with {' and '.join(refs)}, and keeps what was found.",
        on_click=start_experiments,
        args=(questions, refs),
        disabled=is_running(listed, ExperimentKind.MEASURED, refs),
        on=press,
    )
    under_way = draw_unfinished(listed, ExperimentKind.MEASURED)
    picked = _picked_experiments(listed)
    if picked:
        _stored_heading(picked)
    shown = picked or _latest(listed, first, second)
    if shown:
        _results(questions, shown, listed, first, second, alone=bool(picked))
    elif not under_way:
        _nothing_measured(questions, first)
    if any(each.state is RunState.DONE for each in listed):
        draw_stored(questions, listed)


def _results(
    questions: QuestionSet,
    shown: Sequence[Experiment],
    listed: Sequence[Experiment],
    first: ScoreProfile | None,
    second: ScoreProfile | None,
    *,
    alone: bool,
) -> None:
    if not alone and second is not None and first is not None and second.ref != first.ref and len(shown) < 2:
        st.info(
            f"{plain(second.ref)} has not been measured with this set yet. *Measure* runs both.",
            icon=":material/straighten:",
        )
    compare.draw_comparison(questions, shown)
    draw_measure_detail(shown, listed)


def _latest(listed: Sequence[Experiment], first: ScoreProfile | None, second: ScoreProfile | None) -> list[Experiment]:
    """The latest experiments with the two profiles; empty if the first has none."""
    assert first is not None  # one is always chosen
    own = latest_finished(listed, first.ref)
    other = latest_finished(listed, second.ref) if second is not None and second.ref != first.ref else None
    return [full_experiment(each.id) for each in (own, other) if each is not None] if own is not None else []


def _picked_experiments(listed: Sequence[Experiment]) -> list[Experiment]:
    """The stored experiments that the URL names, in its order."""
    done = {each.id for each in listed if each.state is RunState.DONE}
    named = [int(part) for part in st.query_params.get(_RUNS, "").split(".") if part.isdecimal()]
    found = []
    for number in dict.fromkeys(each for each in named if each in done):
        try:
            found.append(full_experiment(number))
        except NotFound:  # deleted since it was listed
            continue
    return found[: len(SIDES)]


def _stored_heading(picked: Sequence[Experiment]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        words = "Saved runs side by side" if len(picked) > 1 else "A kept experiment"
        st.markdown(f":material/history: **{words}**, not the latest of the profiles chosen above", width="stretch")
        st.button("Back to the latest", key="measure.back", icon=":material/undo:", on_click=_show_latest)


def _show_latest() -> None:
    del st.query_params[_RUNS]


def _nothing_measured(questions: QuestionSet, first: ScoreProfile | None) -> None:
    number = len(evaluation_service().judging.questions(questions.id))
    if not number:
        words = "Add questions to it under *Judge*, or take them from a file."
        notices.empty(":material/quiz:", f"{plain(questions.name)} has no questions", words)
        return
    ref = plain(first.ref) if first else ""
    words = (
        f"Press *Measure*: {'the question' if number == 1 else f'each of the {number:,} questions'} is asked, and the"
        " results are compared with the judgments."
    )
    notices.empty(":material/straighten:", f"{ref} has not been measured with this set", words)
