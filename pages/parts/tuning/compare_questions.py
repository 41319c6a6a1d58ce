"""One measure question by question: what got worse or better, how the rankings differ, and a way to each question."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.experiments import Experiment, Outcome
from core.judged import GRADES
from core.tuning.comparison import Order, QuestionRow, by_question
from core.tuning.units import document_of
from pages.parts import session
from pages.parts.tuning.lab_state import go, remembered
from pages.parts.tuning.measure_looks import SIDES, name_of, side
from pages.parts.wording import count, plain, shortened

__all__ = ["draw"]

_LISTED, _ROW = 9, 35
_RANKED = 10


def draw(shown: Sequence[Experiment], measure: str) -> None:
    """Every question under one measure; one that is chosen is opened below. Drawn in a fragment."""
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.markdown(f"**{name_of(measure)} question by question**")
        order = Order.ASKED
        if len(shown) > 1:
            picked = st.segmented_control(
                "Order", list(Order), key="measure.order", default=Order.WORSE, required=True,
                format_func=lambda each: each.value, label_visibility="collapsed", persist_state="session",
            )  # fmt: skip
            order = Order(picked)
    ids = tuple(each.id for each in shown)
    rows = remembered("questions", (ids, measure, order), lambda: by_question(shown, measure, order))
    _counted(rows)
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
        _opened(shown, rows[chosen[0]])
    else:
        st.caption("Choose a question to see its rankings, and to open it in *Tune*.")


def _counted(rows: Sequence[QuestionRow]) -> None:
    gains = [row.gains[1] for row in rows if len(row.gains) == 2 and row.gains[1] is not None]
    if gains:
        up, down = sum(gain > 1e-9 for gain in gains), sum(gain < -1e-9 for gain in gains)
        st.caption(f"B is higher in {up:,}, lower in {down:,} and the same in {len(gains) - up - down:,} of them.")


def _cells(shown: Sequence[Experiment], row: QuestionRow) -> Mapping[str, object]:
    cells: dict[str, object] = {"Question": row.question, "Kind": row.kind}
    for place in range(len(shown)):
        cells[SIDES[place]] = row.values[place]
    for place in range(1, len(shown)):
        cells[f"{SIDES[place]} − A"] = row.gains[place]
        cells[f"Overlap {SIDES[place]}"] = row.overlaps[place]
    for place in range(len(shown)):
        part = row.unjudged[place]
        cells[f"Unjudged {SIDES[place]}"] = None if part is None else 100 * part
    for place in range(len(shown)):
        cells[f"First {SIDES[place]}"] = row.first[place]
    return cells


def _columns(shown: Sequence[Experiment]) -> dict[str, Any]:
    """How wide and how exact each column is."""
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {
        "Question": st.column_config.TextColumn(width="large", pinned=True),
        "Kind": st.column_config.TextColumn(width="small"),
    }
    for place, experiment in enumerate(shown):
        letter = SIDES[place]
        columns[letter] = number(format="%.3f", width=64, help=plain(side(place, experiment)))
        columns[f"{letter} − A"] = number(format="%+.3f", width=74)
        columns[f"Overlap {letter}"] = number(
            format="%.2f", width=84, help="How alike the two rankings are, the top counting most (RBO, p = 0.9)."
        )
        columns[f"Unjudged {letter}"] = number(
            format="%.0f%%", width=92, help="Share of the first ten results nobody has judged."
        )
        columns[f"First {letter}"] = st.column_config.TextColumn(width="medium", help="The document on top.")
    return columns


# One question


def _opened(shown: Sequence[Experiment], row: QuestionRow) -> None:
    """What stood where for one question, and the ways on."""
    with st.container(border=True):
        said, tune = st.columns([8, 2], vertical_alignment="center")
        said.markdown(f"**{plain(row.question)}** :gray[{plain(row.key)} · {plain(row.kind)}]")
        with tune.popover("Open in Tune", icon=":material/tune:", width="stretch"):
            for place, each in enumerate(shown):
                if st.button(f"With {plain(side(place, each))}", key=f"measure.tune.{place}", width="stretch"):
                    go("tune", q=row.question, base=each.profile.ref)
                    st.rerun()
        names = {document.sha256: document.name for document in session.workbench().documents()}
        for column, (place, each) in zip(st.columns(len(shown)), enumerate(shown), strict=True):
            with column:
                outcome = next((one for one in each.outcomes if one.question_id == row.question_id), None)
                _ranking(side(place, each), outcome, names)


def _ranking(head: str, outcome: Outcome | None, names: Mapping[str, str]) -> None:
    if outcome is None:
        st.caption(f"{plain(head)} did not ask it.")
        return
    st.caption(f"**{plain(head)}** · {count(outcome.hits, 'result')}")
    grades = {unit: grade for unit, _, grade in outcome.scored if grade in GRADES}
    lines = [
        f"{place}. {plain(_named(unit, names))} {_graded(grades.get(unit))}"
        for place, unit in enumerate(outcome.ranking[:_RANKED], 1)
    ]
    st.markdown("\n".join(lines) if lines else ":gray[Nothing was shown.]")


def _named(unit: str, names: Mapping[str, str]) -> str:
    """A passage by its document and page, or a document by its name."""
    sha256 = document_of(unit)
    name = shortened(names.get(sha256, f"{sha256[:10]} (no longer here)"), 44)
    return name if unit == sha256 else f"{name}, p. {unit.split(':')[1]}"


def _graded(grade: int | None) -> str:
    if grade is None:
        return ":gray[· unjudged]"
    return f":{'green' if grade else 'red'}[· **{grade}**, {GRADES[grade]}]"
