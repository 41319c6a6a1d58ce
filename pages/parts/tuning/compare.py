"""Experiments side by side: what each stood on, every measure with its interval, and the differences."""

import time
from collections.abc import Sequence

import streamlit as st

from core.experiments import Experiment, Interval
from core.judged import QuestionSet
from core.moments import right_now
from core.printed import json_text
from core.tuning.comparison import UNJUDGED_MOST, Comparison, comparison, turn
from core.tuning.comparison_data import comparison_data, comparison_table
from core.tuning.lab import Ground
from core.tuning.metrics import MEASURES, Measure
from core.tuning.significance import Paired
from pages.parts.data.exports import rows_csv
from pages.parts.tuning import measure_charts as charts
from pages.parts.tuning.judge_state import FIRST, SECOND
from pages.parts.tuning.lab_state import go, lab, remembered
from pages.parts.tuning.measure_looks import (
    LABELS,
    SIDES,
    TURNS,
    figure,
    name_of,
    p_words,
    share,
    side,
    signed,
    span,
)
from pages.parts.wording import ago, count, plain

__all__ = ["compared", "draw", "figures", "ground_now"]

_FRESH_SECONDS = 30.0


def draw(questions: QuestionSet, shown: Sequence[Experiment]) -> None:
    """The experiments, what to doubt about them, and their measures as a table and a picture."""
    found = compared(shown)
    _heads(questions, shown)
    _doubts(questions, found)
    # Of more than two the table needs the room of both.
    with st.grid(2 if len(shown) <= 2 else 1, min_column_width=470, gap="large"):
        with st.container(gap="xsmall"):
            _table(found)
        with st.container(gap="xsmall"):
            st.plotly_chart(
                charts.interval_dots(found, dark=st.context.theme.type == "dark"),
                config={"displayModeBar": False},
                key="measure.dots",
                alt="Every measure with its interval",
            )
            st.caption("Marks are means over the questions, lines their 95 % intervals.")


def compared(shown: Sequence[Experiment]) -> Comparison:
    """The experiments side by side, worked out once."""
    return remembered("comparison", tuple(each.id for each in shown), lambda: comparison(shown))


# What each stood on


def _heads(questions: QuestionSet, shown: Sequence[Experiment]) -> None:
    """A line per experiment: its letter, profile, and how it came about; and all of it as files."""
    lines, files = st.columns([8, 2], vertical_alignment="top")
    now = ground_now(questions.id)
    with lines, st.container(gap="xxsmall"):
        for place, each in enumerate(shown):
            st.markdown(_head(place, each, now))
    with files.popover("Download", icon=":material/download:", width="stretch"):
        _files(shown)


def _head(place: int, each: Experiment, now: Ground) -> str:
    at = each.finished_at or each.started_at
    parts = [f"**{SIDES[place]} {plain(each.profile.ref)}**", count(len(each.outcomes), "question")]
    parts += [f"{ago(at, right_now())} by {plain(each.who)}"]
    parts += [f"{share(each.unjudged)} of the first ten unjudged"]
    parts += [f"“{plain(each.note)}”"] if each.note else []
    since = [
        words
        for words, differs in (
            ("judgments", each.judgments_version != now.judgments_version),
            ("the library", each.corpus_hash != now.corpus_hash),
        )
        if differs
    ]
    if since:
        have = "has" if since == ["the library"] else "have"
        parts += [f":orange[:material/history: {' and '.join(since)} {have} changed since]"]
    return " · ".join(parts)


def ground_now(set_id: int) -> Ground:
    """What a measurement would stand on now, as it was a few seconds ago at most."""
    return remembered("ground", (set_id, int(time.monotonic() // _FRESH_SECONDS)), lambda: lab().ground(set_id))


def _files(shown: Sequence[Experiment]) -> None:
    """Everything that is drawn, as rows and as data; made when it is asked for."""
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


def _doubts(questions: QuestionSet, found: Comparison) -> None:
    for doubt in found.doubts:
        st.warning(doubt, icon=":material/balance:")
    over = [
        f"{share(each.unjudged)}{f' ({SIDES[place]})' if len(found.experiments) > 1 else ''}"
        for place, each in enumerate(found.experiments)
        if each.unjudged is not None and each.unjudged > UNJUDGED_MOST
    ]
    if not over:
        return
    names = [each.profile.name for each in found.experiments[:2]]
    with st.container(border=True):
        said, judge = st.columns([8, 2], vertical_alignment="center")
        said.markdown(
            f":orange[:material/rule:] **{' and '.join(over)} of the first ten results nobody has judged.** They count"
            " as irrelevant: figures may be too low, and a difference may only be one in what was judged."
        )
        judge.button(
            "Judge them", key="measure.judge", icon=":material/gavel:", width="stretch", on_click=_judge,
            args=(questions.id, names),
        )  # fmt: skip


def _judge(set_id: int, names: Sequence[str]) -> None:
    """Judge the results of these profiles put together."""
    for key, name in zip((FIRST, SECOND), names, strict=False):
        st.session_state[key] = name
    go("judge", set=str(set_id))


# Measures


def _table(found: Comparison) -> None:
    """Every measure: of two the difference has columns of its own, of more it stands beside each value."""
    two = len(found.experiments) == 2
    rows = []
    for row in found.rows:
        cells = {"Measure": f"**{name_of(row.measure.name)}**".replace(" ", "\u00a0")}
        cells |= figures(found.experiments, row.measure, row.values, row.gains)
        if two:
            pair = row.gains[1]
            cells["n"] = "" if pair is None else f"{pair.n:,}"
        rows.append(cells)
    st.table(rows, border="horizontal", hide_index=True)
    with st.popover("What they mean", icon=":material/help:", type="tertiary"):
        for name, measure in MEASURES.items():
            better = "" if measure.higher_is_better else ":gray[ · less is better]"
            st.markdown(f"**{LABELS.get(name, name)}** {measure.words}{better}")
        st.markdown(
            ":gray[Behind each figure stand the ends of its 95 % bootstrap interval. **p** is how often chance alone"
            " would make a difference as large (paired randomisation test); ▲ ▼ from p < 0.05 on, ≈ may be chance.]"
        )


def figures(
    experiments: Sequence[Experiment],
    measure: Measure,
    values: Sequence[Interval | None],
    gains: Sequence[Paired | None],
) -> dict[str, str]:
    """The cells of one line of a table: a value per experiment, and what differs."""
    two = len(experiments) == 2
    cells = {
        side(place, experiments[place], 18): _value(value) + ("" if two else _beside(measure, gains[place]))
        for place, value in enumerate(values)
    }
    return cells | (_difference(measure, gains[1]) if two else {})


def _value(held: Interval | None) -> str:
    return "–" if held is None else f"{figure(held.mean)} :gray[{span(held)}]"


def _difference(measure: Measure, pair: Paired | None) -> dict[str, str]:
    if pair is None:
        return {"B − A": "–", "p": ""}
    symbol, colour = TURNS[turn(measure, pair)]
    words = f":{colour}[**{symbol} {signed(pair.gain.mean)}**] :gray[{span(pair.gain, sign=True)}]"
    return {"B − A": words, "p": p_words(pair.p_value)}


def _beside(measure: Measure, pair: Paired | None) -> str:
    """A difference from the first, with its p."""
    if pair is None:
        return ""
    symbol, colour = TURNS[turn(measure, pair)]
    change = f"{symbol}\u00a0{signed(pair.gain.mean)}"
    return f" :{colour}[{change}] :gray[p\u00a0{p_words(pair.p_value)}]"
