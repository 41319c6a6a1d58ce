"""The Threshold view: score distributions of relevant and irrelevant results, thresholds and their effects."""
# Longer than 300 lines: one view with the figures of its charts.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.evaluation import Experiment, ExperimentKind, QuestionSet
from core.domain.queries import ScoreProfile
from core.evaluation.tuning.thresholds import ThresholdEffect, ThresholdEffects, ThresholdHelp, cuts_of
from core.knowledge.glossary import meaning
from pages.components import notices, rights
from pages.components.chart_view import draw_chart
from pages.components.tuning import question_sets
from pages.components.tuning.changes_since import changed_since, changed_words
from pages.components.tuning.charts import palette, percent, set_frame
from pages.components.tuning.experiment_state import (
    cached,
    draw_unfinished,
    experiment_runner,
    full_experiment,
    is_running,
    latest_finished,
    profile_chooser,
    save_button,
    show_outcome,
    start_experiments,
)
from pages.components.wording import ago, count, plain

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["ThresholdMark", "threshold_chart", "view"]

_HEIGHT = 470  # pixels of both charts

_CLOSE = 0.09  # labels of marks closer than twice this overlap


@dataclass(frozen=True, slots=True)
class ThresholdMark:
    """A threshold to be marked. kind: "use" (the profile's), "offer" (suggested) or "try" (the slider's)."""

    value: float
    words: str
    kind: str


_DASHES = {"use": "dash", "offer": "dot", "try": "solid"}


def threshold_chart(found: ThresholdHelp, marks: Sequence[ThresholdMark], *, dark: bool = False) -> "Figure":
    """Above: how many relevant results (up) and irrelevant ones (down) have which score. Below: precision and recall of
    keeping what scores at least so much; left out where there is no curve. Thresholds go through both."""
    from plotly.subplots import make_subplots

    curve = bool(found.thresholds)
    drawn = make_subplots(
        rows=2 if curve else 1, cols=1, shared_xaxes=True, vertical_spacing=0.13,
        row_heights=[0.55, 0.45] if curve else [1.0],
    )  # fmt: skip
    set_frame(drawn, _HEIGHT if curve else _HEIGHT // 2, dark=dark)
    _histogram(drawn, found, dark=dark)
    if curve:
        _curves(drawn, found, dark=dark)
    _draw_marks(drawn, marks, dark=dark)
    drawn.update_layout(margin={"l": 8, "r": 16, "t": 24 + 18 * _rows(marks), "b": 8}, bargap=0.08, barmode="relative")
    drawn.update_xaxes(range=[found.edges[0], found.edges[-1]], showgrid=False)
    drawn.update_xaxes(title={"text": "Score", "standoff": 4}, row=2 if curve else 1, col=1)
    return drawn


def _histogram(drawn: "Figure", found: ThresholdHelp, *, dark: bool) -> None:
    from plotly.graph_objects import Bar

    colours = palette(dark=dark)
    middles = [(low + high) / 2 for low, high in zip(found.edges, found.edges[1:], strict=False)]
    ranges = [f"{low:.2f} to {high:.2f}" for low, high in zip(found.edges, found.edges[1:], strict=False)]
    for name, counts, sign, colour in (
        ("relevant", found.relevant, 1, colours.good),
        ("irrelevant", found.irrelevant, -1, colours.bad),
    ):
        drawn.add_trace(
            Bar(
                x=middles, y=[sign * number for number in counts], marker={"color": colour}, name=name,
                customdata=[f"{n:,} {name}<br>score {where}" for n, where in zip(counts, ranges, strict=True)],
                hovertemplate="%{customdata}<extra></extra>",
            ),
            row=1, col=1,
        )  # fmt: skip
    most, least = max(found.relevant, default=0), max(found.irrelevant, default=0)
    step = max(1, -(-max(most, least) // 4))
    ticks = list(range(-step * (least // step), most + 1, step))
    drawn.update_yaxes(
        range=[-1.15 * max(least, 1), 1.15 * max(most, 1)], tickvals=ticks,
        ticktext=[f"{abs(tick):,} " for tick in ticks], zeroline=True, zerolinecolor=colours.quiet, row=1, col=1,
    )  # fmt: skip
    for words, y, anchor, colour in (
        ("▲ relevant", 1.0, "top", colours.good),
        ("▼ irrelevant", 0.0, "bottom", colours.bad),
    ):
        drawn.add_annotation(
            text=f"<b>{words}</b>", x=1, xref="x domain", y=y, yref="y domain", xanchor="right", yanchor=anchor,
            showarrow=False, font={"size": 13, "color": colour},
        )  # fmt: skip


def _curves(drawn: "Figure", found: ThresholdHelp, *, dark: bool) -> None:
    from plotly.graph_objects import Scatter

    colours = palette(dark=dark)
    ends = [found.edges[0], *found.thresholds]
    for name, values, colour, dash in (
        ("precision", found.precision, colours.sides[1], "solid"),
        ("recall", found.recall, colours.sides[0], "dashdot"),
    ):
        drawn.add_trace(
            Scatter(
                x=ends, y=[values[0], *values], mode="lines", name=name,
                line={"color": colour, "width": 2.5, "dash": dash, "shape": "vh"},
                hovertemplate=f"from %{{x:.3f}} on: {name} %{{y:.0%}}<extra></extra>",
            ),
            row=2, col=1,
        )  # fmt: skip
    for name, x, colour in (("━━ precision", 0.86, colours.sides[1]), ("━ · recall", 1.0, colours.sides[0])):
        drawn.add_annotation(
            text=name, x=x, xref="x2 domain", y=1.04, yref="y2 domain", xanchor="right", yanchor="bottom",
            showarrow=False, font={"size": 13, "color": colour},
        )  # fmt: skip
    drawn.update_yaxes(range=[-0.03, 1.05], tickformat=".0%", tickvals=[0, 0.25, 0.5, 0.75, 1], row=2, col=1)


def _rows(marks: Sequence[ThresholdMark]) -> int:
    return len({level for _, level in _levels(marks)}) - 1 if marks else 0


def _levels(marks: Sequence[ThresholdMark]) -> list[tuple[ThresholdMark, int]]:
    """Each mark with the level of its label, so that labels of close marks do not overlap."""
    placed: list[tuple[ThresholdMark, int]] = []
    for mark in sorted(marks, key=lambda each: each.value):
        near = {level for other, level in placed if abs(other.value - mark.value) < _CLOSE * 2}
        placed.append((mark, next(level for level in range(len(marks)) if level not in near)))
    return placed


def _draw_marks(drawn: "Figure", marks: Sequence[ThresholdMark], *, dark: bool) -> None:
    colours = palette(dark=dark)
    inks = {"use": colours.mark, "offer": colours.offer, "try": colours.ink}
    for mark, level in _levels(marks):
        drawn.add_shape(
            type="line", x0=mark.value, x1=mark.value, xref="x", y0=0, y1=1, yref="paper",
            line={"color": inks[mark.kind], "width": 2, "dash": _DASHES[mark.kind]},
        )  # fmt: skip
        drawn.add_annotation(
            text=f"{mark.words} {mark.value:.3f}", x=mark.value, xref="x", y=1, yref="paper", yanchor="bottom",
            yshift=2 + 18 * level, showarrow=False, font={"size": 12, "color": inks[mark.kind]},
        )  # fmt: skip


_SAME = 5e-4  # half a step of the three decimals shown

_MOST_QUESTIONS = 12  # questions listed per group; chosen by hand


def view(project: str | None) -> None:
    """The profile to measure, its score distribution, the effect of every threshold, and saving one."""
    show_outcome()
    with notices.show_errors():
        _draw_view(project)


def _draw_view(project: str | None) -> None:
    chosen, one, press = st.columns([4, 4, 2], vertical_alignment="bottom")
    with chosen:
        questions = question_sets.choose_set(project)
    if questions is None:
        question_sets.draw_first_set(project)
        return
    with one:
        profile = profile_chooser("Profile", "a", project)
    assert profile is not None  # one is always chosen
    listed = list(experiment_runner().experiments(questions.id))
    rights.button(
        "evaluation.experiments.begin",
        "Measure", key="threshold.begin", icon=":material/straighten:", width="stretch", on_click=start_experiments,
        args=(questions, [profile.ref]), help="Asks every question again, with the latest grades.",
        disabled=is_running(listed, ExperimentKind.MEASURED, [profile.ref]), on=press,
    )  # fmt: skip
    under_way = draw_unfinished(listed, ExperimentKind.MEASURED)
    latest = latest_finished(listed, profile.ref)
    if latest is not None:
        _draw_measured(questions, full_experiment(latest.id), profile)
    elif not under_way:
        notices.empty(
            ":material/vertical_align_center:",
            f"{plain(profile.ref)} has not been measured with this set",
            "Press *Measure*: the scores of graded results show where to cut.",
        )


def _draw_measured(questions: QuestionSet, experiment: Experiment, profile: ScoreProfile) -> None:
    cuts = cached("cuts", experiment.id, lambda: cuts_of(experiment))
    parts = [
        f"Measured {ago(experiment.finished_at or experiment.started_at, utc_now())}",
        count(len(experiment.outcomes), "question"),
        f"{cuts.relevant:,} relevant and {cuts.irrelevant:,} irrelevant results graded",
        f"{percent(experiment.unjudged)} of the first ten unjudged",
    ]
    (changes,) = changed_since([experiment], questions.id)
    parts += [f":orange[:material/history: {changed_words(changes)}]"] if changes else []
    st.caption(" · ".join(parts))
    if cuts.help.suggested is None:
        st.info(f"{cuts.help.words} Judge some results, then measure again.", icon=":material/gavel:")
    if cuts.doubts:
        st.warning("\n\n".join(cuts.doubts), icon=":material/balance:")
    if cuts.triples:
        _threshold_trial(cuts, experiment, profile)


@st.fragment
def _threshold_trial(cuts: ThresholdEffects, experiment: Experiment, profile: ScoreProfile) -> None:
    """The slider, the pictures it is marked in, and what it would do beside the threshold in use."""
    with notices.show_errors():
        show_outcome()
        value = _slider(cuts, experiment, profile)
        marks = _marks(cuts, profile, value)
        draw_chart(
            threshold_chart(cuts.help, marks, dark=st.context.theme.type == "dark"),
            key="threshold.picture",
            alt="Scores of relevant and irrelevant results, and precision and recall over the threshold",
        )
        st.caption("Precision: share of what is shown that is relevant. Recall: share of the relevant that is shown.")
        tried = cuts.at(value)
        st.markdown(_effect_words(tried, cuts.at(profile.threshold), profile))
        _table(cuts, marks)
        _affected_questions(tried, {outcome.key: outcome.question for outcome in experiment.outcomes})
        _save(tried, cuts, experiment, profile)


def _slider(cuts: ThresholdEffects, experiment: Experiment, profile: ScoreProfile) -> float:
    """The threshold that is tried, at first the suggested one."""
    start = profile.threshold if cuts.help.suggested is None else cuts.help.suggested
    return st.slider(
        "Threshold: what scores less is not shown", 0.0, 1.0, round(start, 3), 0.005, format="%.3f",
        key=f"threshold.at.{experiment.id}", help=meaning("threshold"),
    )  # fmt: skip


def _marks(cuts: ThresholdEffects, profile: ScoreProfile, value: float) -> Sequence[ThresholdMark]:
    """The current threshold, the suggested one, and the slider's if it differs."""
    marks = [ThresholdMark(profile.threshold, "in use", "use")]
    if cuts.help.suggested is not None:
        marks.append(ThresholdMark(cuts.help.suggested, "suggested", "offer"))
    if all(abs(mark.value - value) > _SAME for mark in marks):
        marks.append(ThresholdMark(value, "slider", "try"))
    return marks


def _effect_words(tried: ThresholdEffect, used: ThresholdEffect, profile: ScoreProfile) -> str:
    """What the slider's threshold does, and how that differs from the one in use."""
    counts = tried.counts
    relevant = counts.relevant_retained + counts.relevant_lost
    irrelevant = counts.irrelevant_retained + counts.irrelevant_dropped
    summary = (
        f"From **{tried.threshold:.3f}** on, **{counts.relevant_retained:,} of {relevant:,} relevant** results are kept"
        f" and **{counts.irrelevant_dropped:,} of {irrelevant:,} irrelevant** ones dropped."
    )
    new_losing = [key for key in tried.losing if key not in used.losing]
    found_again = [key for key in used.losing if key not in tried.losing]
    changes = [
        (new_losing, "lose their last relevant result", "loses its last relevant result"),
        (found_again, "get a relevant result back", "gets a relevant result back"),
        ([key for key in tried.silent if key not in used.silent], "are left without any", "is left without any"),
        (
            [key for key in used.answered if key not in tried.answered],
            "that nothing answers would rightly be shown nothing",
            "that nothing answers would rightly be shown nothing",
        ),
    ]
    differences = [
        f"{count(len(keys), 'question')} {many if len(keys) > 1 else one}" for keys, many, one in changes if keys
    ]
    if abs(tried.threshold - profile.threshold) <= _SAME:
        return f"{summary} It is the threshold in use."
    against = f" Against {profile.threshold:.3f}, in use now: "
    return summary + against + (f"{'; '.join(differences)}." if differences else "no question is answered otherwise.")


def _table(cuts: ThresholdEffects, marks: Sequence[ThresholdMark]) -> None:
    rows = []
    for mark in marks:
        cut = cuts.at(mark.value)
        counts = cut.counts
        nothing = len(cut.refused) + len(cut.answered)
        rows.append(
            {
                "Threshold": f"**{mark.value:.3f}** {mark.words}",
                "Relevant kept": f"{counts.relevant_retained:,}",
                "Relevant lost": f"{counts.relevant_lost:,}",
                "Irrelevant dropped": f"{counts.irrelevant_dropped:,}",
                "Irrelevant kept": f"{counts.irrelevant_retained:,}",
                "Lose their last relevant": f"{len(cut.losing):,}",
                "Left without any": f"{len(cut.silent):,}",
                "Rightly shown nothing": f"{len(cut.refused):,} of {nothing:,}" if nothing else "–",
            }
        )
    st.table(rows, border="horizontal", hide_index=True)


def _affected_questions(cut: ThresholdEffect, questions: Mapping[str, str]) -> None:
    """Which questions a threshold costs something, and which are shown something although nothing answers them."""
    groups = (
        ("Lose their last relevant result", cut.losing),
        ("Have an answer and are shown nothing", cut.silent),
        ("Nothing answers them, and they are shown something", cut.answered),
    )
    some = [(head, keys) for head, keys in groups if keys]
    if not some:
        return
    with st.expander("The questions behind the slider", icon=":material/quiz:"):
        for head, keys in some:
            st.markdown(f"**{head}** · {len(keys):,}")
            lines = [f"- {plain(questions.get(key, key))} :gray[{plain(key)}]" for key in keys[:_MOST_QUESTIONS]]
            more = len(keys) - _MOST_QUESTIONS
            st.markdown("\n".join([*lines, *([f"- … and {more:,} more"] if more > 0 else [])]))


def _save(tried: ThresholdEffect, cuts: ThresholdEffects, experiment: Experiment, profile: ScoreProfile) -> None:
    with st.container(border=True):
        st.markdown(f"**Keep {tried.threshold:.3f}** :gray[· all else of {plain(profile.ref)} stays as it is]")
        counts = tried.counts
        note = (
            f"Threshold {profile.threshold:g} → {tried.threshold:g}: {counts.relevant_retained} of {cuts.relevant}"
            f" relevant results kept, {counts.irrelevant_dropped} of {cuts.irrelevant} irrelevant dropped. Experiment"
            f" {experiment.id} on '{experiment.set_name}'."
        )
        save_button(
            replace(profile, threshold=tried.threshold),
            profile,
            note,
            f"threshold.keep.{experiment.id}",
            "Save version",
            ready=abs(tried.threshold - profile.threshold) > _SAME,
        )
