"""The Optimise view: searches for better weights on judged questions, validates them on others, and saves them on
request."""
# Longer than 300 lines: one view with the form that saves its result.

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from core.domain.coverage import RunState
from core.domain.evaluation import Experiment, ExperimentKind, MetricChange, OptimiserResult, OptimiserSettings
from core.domain.queries import ScoreProfile
from core.evaluation.tuning.optimiser import RAISABLE, WeightChange, weight_changes
from core.knowledge.factors import factor_table
from core.knowledge.glossary import meaning
from core.search.explanation import factor_label
from pages.components import notices, rights
from pages.components.chart_view import draw_chart
from pages.components.tuning import question_sets
from pages.components.tuning.changes_since import changed_since, changed_words
from pages.components.tuning.charts import (
    decimal,
    interval_text,
    measure_label,
    p_words,
    palette,
    percent,
    set_frame,
    signed,
    whiskers,
)
from pages.components.tuning.experiment_state import (
    draw_unfinished,
    experiment_runner,
    full_experiment,
    is_running,
    open_in_sliders,
    profile_chooser,
    save_button,
    show_outcome,
    start_experiments,
)
from pages.components.wording import count, plain

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

__all__ = ["gain_chart", "view", "weight_bars"]


def gain_chart(found: OptimiserResult, measure: str, *, dark: bool = False) -> "Figure":
    """The measure with its interval: under the current weights, under the found ones on the training questions, and on
    held-out questions, which decide."""
    from plotly.graph_objects import Figure, Scatter

    colours = palette(dark=dark)
    rows = (
        ("In use now", found.baseline, colours.quiet, "circle", "the weights in use, on all questions"),
        (
            "Found, on what it<br>was found on",
            found.training,
            colours.quiet,
            "circle-open",
            "flatters: it has seen them",
        ),
        ("Found, on questions<br>it had not seen", found.held_out, colours.sides[0], "diamond", "this one counts"),
    )
    drawn = Figure()
    for index, (label, interval, colour, symbol, words) in enumerate(rows):
        drawn.add_trace(
            Scatter(
                x=[interval.mean], y=[index], mode="markers+text", text=[decimal(interval.mean)],
                textposition="top right", textfont={"size": 13, "color": colours.ink},
                error_x=whiskers([interval], colour),
                marker={"size": 12, "color": colour, "symbol": symbol, "line": {"width": 2, "color": colour}},
                hovertemplate=f"{label.replace('<br>', ' ')}: {decimal(interval.mean)}, 95% interval"
                f" {interval_text(interval)}<br>{words}<extra></extra>",
            )
        )  # fmt: skip
    drawn.add_vline(found.baseline.mean, line={"color": colours.quiet, "width": 1, "dash": "dot"})
    set_frame(drawn, 60 + 58 * len(rows), dark=dark)
    ends = [end for _, interval, *_ in rows for end in (interval.low, interval.high)]
    drawn.update_xaxes(range=[max(0.0, min(ends) - 0.06), min(1.02, max(ends) + 0.06)], tickformat=".2f")
    drawn.update_xaxes(title={"text": measure_label(measure), "standoff": 6})
    drawn.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=[f"{label} " for label, *_ in rows], showgrid=False,
        range=[len(rows) - 0.5, -0.6],
    )  # fmt: skip
    return drawn


def weight_bars(changes: Sequence[WeightChange], *, dark: bool = False) -> "Figure":
    """The found weights as bars, the weights in use as lines across them, and how far the folds differ as a thin line.

    changes: heaviest first.
    """
    from plotly.graph_objects import Bar, Figure, Scatter

    colours, positions = palette(dark=dark), list(range(len(changes)))
    drawn = Figure(
        Bar(
            orientation="h", x=[each.after for each in changes], y=positions, width=0.56, name="found",
            marker={"color": colours.good, "cornerradius": 2}, customdata=[_change_words(each) for each in changes],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )  # fmt: skip
    _spread(drawn, changes, colours.ink)
    drawn.add_trace(
        Scatter(
            x=[each.before for each in changes], y=positions, mode="markers", name="in use now", hoverinfo="skip",
            marker={
                "symbol": "line-ns-open", "size": 24, "color": colours.mark, "line": {"width": 3, "color": colours.mark}
            },
        )
    )  # fmt: skip
    set_frame(drawn, 60 + 34 * len(changes), dark=dark, legend=True)
    drawn.update_xaxes(range=[-0.01, None], tickformat=".2f", rangemode="tozero")
    drawn.update_yaxes(
        tickvals=positions, ticktext=[f"{factor_label(each.factor)} " for each in changes],
        range=[len(changes) - 0.5, -0.5], showgrid=False,
    )  # fmt: skip
    return drawn


def _spread(drawn: "Figure", changes: Sequence[WeightChange], ink: str) -> None:
    """A thin line per factor, from the least to the most it got over the folds."""
    from plotly.graph_objects import Scatter

    for index, each in enumerate(changes):
        drawn.add_trace(
            Scatter(
                x=[each.low, each.high], y=[index, index], mode="lines+markers", line={"width": 1.4, "color": ink},
                marker={"symbol": "line-ns-open", "size": 9, "color": ink, "line": {"width": 1.4, "color": ink}},
                showlegend=False, hoverinfo="skip",
            )
        )  # fmt: skip


def _change_words(each: WeightChange) -> str:
    change = f"{factor_label(each.factor)}: {each.before:.3f} → {each.after:.3f}"
    return f"{change}<br>{each.low:.3f} to {each.high:.3f} over the folds"


_USUAL = ("similarity", "keyword", "best_sentence_similarity", "synonym_match")

_LISTED, _ROW = 8, 35  # questions visible without scrolling; pixels of a row

_PRESETS = OptimiserSettings(())


def view(project: str | None) -> None:
    """The settings of a search for weights, its progress, and its result."""
    show_outcome()
    with notices.show_errors():
        _draw_view(project)


def _draw_view(project: str | None) -> None:
    chosen, one, what, press = st.columns([3, 3, 2, 4], vertical_alignment="bottom")
    with chosen:
        questions = question_sets.choose_set(project)
    if questions is None:
        question_sets.draw_first_set(project)
        return
    with one:
        base = profile_chooser("Start from", "a", project)
    assert base is not None  # one is always chosen
    measure = what.selectbox(
        "Raise", RAISABLE, key="optimise.measure", format_func=measure_label, persist_state="session"
    )
    settings = _settings_form(base, measure)
    listed = list(experiment_runner().experiments(questions.id))
    rights.button(
        "evaluation.experiments.begin",
        "Search for better weights",
        key="optimise.begin",
        type="primary",
        icon=":material/auto_fix_high:",
        width="stretch",
        on_click=start_experiments,
        args=(questions, [base.ref]),
        kwargs={"optimising": settings},
        disabled=is_running(listed, ExperimentKind.OPTIMISED, [base.ref]),
        on=press,
    )
    under_way = draw_unfinished(listed, ExperimentKind.OPTIMISED)
    done = [each for each in listed if each.kind is ExperimentKind.OPTIMISED and each.state is RunState.DONE]
    if done:
        _results(_choose_search(done, base))
    elif not under_way:
        _nothing_found()


def _settings_form(base: ScoreProfile, measure: str) -> OptimiserSettings:
    """Which factors are weighed, and how long it searches."""
    known = list(factor_table().rows)
    usual = [name for name in known if base.weights.get(name) or name in _USUAL]
    factors = st.multiselect(
        "Factors that are weighed; all others weigh nothing",
        known,
        default=usual,
        key=f"optimise.factors.{base.ref}",
        format_func=factor_label,
        persist_state="session",
    )
    with st.expander("How it searches", icon=":material/settings:"):
        trials, folds, seed = st.columns(3)
        return OptimiserSettings(
            tuple(factors),
            measure,
            trials.number_input(
                "Mixes tried", 10, 2_000, _PRESETS.trials, 10, key="optimise.trials", persist_state="session",
                help="For each fold, and for all questions together.",
            ),
            folds.number_input(
                "Folds", 2, 20, _PRESETS.folds, key="optimise.folds", persist_state="session",
                help="How many parts the questions are split into, evenly by kind. Each part is held out once.",
            ),
            seed.number_input(
                "Seed", 0, 2**31 - 1, _PRESETS.seed, key="optimise.seed", persist_state="session",
                help="The same seed finds the same weights on the same library and judgments.",
            ),
        )  # fmt: skip


def _nothing_found() -> None:
    notices.empty(
        ":material/auto_fix_high:",
        "No search for weights yet",
        "Weights are found on a part of the judged questions and measured on the rest. They are recommended only when"
        " the gain on questions they had not seen is more than chance.",
    )


def _choose_search(done: Sequence[Experiment], base: ScoreProfile) -> Experiment:
    """The search that is shown: the newest from this base, else the newest, unless another one is chosen."""
    if len(done) == 1:
        return full_experiment(done[0].id)
    known = {each.id: each for each in sorted(done, key=lambda each: (each.profile.ref != base.ref, -each.id))}
    picked = st.selectbox(
        "Search",
        list(known),
        key=f"optimise.search.{base.ref}.{done[0].id}",
        format_func=lambda number: _search_title(known[number]),
        label_visibility="collapsed",
    )
    return full_experiment(picked)


def _search_title(each: Experiment) -> str:
    at, settings = each.finished_at or each.started_at, each.optimising
    raised = f" · {measure_label(settings.measure)} · seed {settings.seed}" if settings else ""
    worth = "" if each.optimised is None else f" · {signed(each.optimised.gain.mean)} held out"
    return f"{at:%Y-%m-%d %H:%M} · from {each.profile.ref}{raised}{worth}"


# What was found
def _results(experiment: Experiment) -> None:
    found, settings = experiment.optimised, experiment.optimising
    if found is None or settings is None:
        return
    _verdict(experiment, found, settings)
    changes = weight_changes(experiment.profile, found)
    dark = st.context.theme.type == "dark"
    with st.grid(2, min_column_width=470, gap="large"):
        with st.container(gap="xsmall"):
            st.markdown(
                f"**What it is worth** :gray[· {measure_label(settings.measure)}, 95% intervals]",
                help=meaning("held_out"),
            )
            draw_chart(gain_chart(found, settings.measure, dark=dark), key="optimise.worth")
            _gain(found, settings)
        with st.container(gap="xsmall"):
            st.markdown("**What it would change**")
            draw_chart(weight_bars(changes, dark=dark), key="optimise.weights")
            st.caption("Thin lines: the least and the most a factor got over the folds.")
            _unstable_weights(changes)
    _weights(changes)
    _questions(experiment, found, settings)
    _apply(experiment, found)


def _verdict(experiment: Experiment, found: OptimiserResult, settings: OptimiserSettings) -> None:
    if found.recommended:
        st.success(plain(found.verdict), icon=":material/thumb_up:")
    else:
        st.warning(plain(found.verdict), icon=":material/do_not_disturb_on:")
    parts = [
        f"From **{plain(experiment.profile.ref)}**",
        f"{settings.trials:,} mixes for each of {settings.folds} folds and for all questions",
        f"reproducible (seed {settings.seed})",
        f"{percent(experiment.unjudged)} of the first ten unjudged",
    ]
    (changes,) = changed_since([experiment], experiment.set_id)
    parts += [f":orange[:material/history: {changed_words(changes)}]"] if changes else []
    st.caption(" · ".join(parts))


def _gain(found: OptimiserResult, settings: OptimiserSettings) -> None:
    """The gain on held-out questions, and how much of the training gain was overfitting."""
    ends = interval_text(found.gain, sign=True)
    gain = f"**{signed(found.gain.mean)}**{f' ({ends})' if ends else ''}, p {p_words(found.p_value)}"
    seen = found.training.mean - found.held_out.mean
    memory = (
        f" On the questions it was found on it seems {decimal(seen)} better still: that part is overfitting."
        if seen > 0
        else ""
    )
    st.caption(f"Gain on {count(found.gain.n, 'question')} not seen: {gain}.{memory}")


def _unstable_weights(changes: Sequence[WeightChange]) -> None:
    wide = [factor_label(each.factor) for each in changes if each.wide]
    if wide:
        st.caption(
            f":orange[:material/width:] The folds do not agree on {', '.join(wide)}: these questions do not decide"
            " what it should weigh."
            if len(wide) == 1
            else f":orange[:material/width:] The folds do not agree on {', '.join(wide)}: these questions do not"
            " decide what they should weigh."
        )


def _weights(changes: Sequence[WeightChange]) -> None:
    with st.expander("The weights in numbers", icon=":material/table_rows:"):
        rows = [
            {
                "Factor": factor_label(each.factor),
                "In use": f"{each.before:.3f}",
                "Found": f"{each.after:.3f}",
                "Change": signed(each.after - each.before),
                "Over the folds": f"{each.low:.3f} to {each.high:.3f}" + (" :orange[wide]" if each.wide else ""),
            }
            for each in changes
        ]
        st.table(rows, border="horizontal", hide_index=True)


def _questions(experiment: Experiment, found: OptimiserResult, settings: OptimiserSettings) -> None:
    """The held-out questions that got worse, and those that got better."""
    with st.grid(2, min_column_width=470, gap="large"):
        for head, changes, key in (
            ("Got worse", found.worse, "optimise.worse"),
            ("Got better", found.better, "optimise.better"),
        ):
            with st.container(gap="xsmall"):
                st.markdown(f"**{head}** :gray[· {count(len(changes), 'held-out question')}]")
                if changes:
                    _question_table(experiment, changes, key)
                else:
                    st.caption("None.")


def _question_table(experiment: Experiment, changes: Sequence[MetricChange], key: str) -> None:
    number = st.column_config.NumberColumn
    event = st.dataframe(
        [
            {"Question": each.question, "Change": each.after - each.before, "In use": each.before,
             "Found": each.after, "Kind": each.kind}
            for each in changes
        ],
        key=f"{key}.{experiment.id}",
        hide_index=True,
        placeholder="–",
        height=_ROW * (min(len(changes), _LISTED) + 1) + 3,
        column_config={
            "Question": st.column_config.TextColumn(width=236),
            "In use": number(format="%.3f", width=70),
            "Found": number(format="%.3f", width=70),
            "Change": number(format="%+.3f", width=76),
        },
        on_select="rerun",
        selection_mode="single-row",
    )  # fmt: skip
    chosen = event["selection"]["rows"]
    if chosen and chosen[0] < len(changes):
        change = changes[chosen[0]]
        st.button(
            "Open it in Sliders", key=f"{key}.tune", icon=":material/tune:", on_click=open_in_sliders,
            args=(experiment, change.key, change.question),
        )  # fmt: skip


# Taking it over
def _apply(experiment: Experiment, found: OptimiserResult) -> None:
    with st.container(border=True):
        st.markdown("**Apply weights** :gray[· everything else of the profile stays as it is]")
        ready = found.recommended or st.checkbox(
            "Save although the gain is not significant", key=f"optimise.although.{experiment.id}"
        )
        note = f"{found.verdict} Experiment {experiment.id} on '{experiment.set_name}'."
        save_button(
            found.profile, experiment.profile, note, f"optimise.keep.{experiment.id}", "Apply as a new version",
            ready=ready,
        )  # fmt: skip
