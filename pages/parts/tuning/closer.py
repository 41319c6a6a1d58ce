"""One measure looked at more closely: by kind of question, question by question, and over time."""

from collections.abc import Sequence

import streamlit as st

from core.experiments import Experiment
from core.tuning.comparison import KindRow, by_kind
from core.tuning.metrics import MEASURES
from core.tuning.trends import trend
from pages.parts import notices
from pages.parts.tuning import compare_questions
from pages.parts.tuning import measure_charts as charts
from pages.parts.tuning.compare import compared, figures
from pages.parts.tuning.lab_state import remembered
from pages.parts.tuning.measure_looks import name_of, share
from pages.parts.wording import plain

__all__ = ["draw"]

_MEASURE = "lab.measure"


@st.fragment
def draw(shown: Sequence[Experiment], listed: Sequence[Experiment]) -> None:
    """Which measure; then all there is to see of it. listed: every experiment of the set, for the trend."""
    with notices.told():
        measure = _picked(shown)
        _kinds(shown, measure)
        compare_questions.draw(shown, measure)
        _trend(listed, measure, [each.profile.name for each in shown])


def _picked(shown: Sequence[Experiment]) -> str:
    names = [row.measure.name for row in compared(shown).rows]
    if st.session_state.get(_MEASURE) not in names:
        st.session_state[_MEASURE] = names[0]
    picked = st.pills(
        "Looked at more closely", names, key=_MEASURE, required=True, format_func=name_of, persist_state="session"
    )
    return picked or names[0]


def _kinds(shown: Sequence[Experiment], measure: str) -> None:
    """The measure for each kind of question, where there are several."""
    mark = (tuple(each.id for each in shown), measure)
    rows = remembered("kinds", mark, lambda: by_kind(shown, measure))
    if len(rows) < 2:
        return
    st.markdown(f"**{name_of(measure)} by kind of question**")
    st.table([_kind(shown, row, measure) for row in rows], border="horizontal", hide_index=True)


def _kind(shown: Sequence[Experiment], row: KindRow, measure: str) -> dict[str, str]:
    unjudged = " · ".join(share(each) for each in row.unjudged)
    cells = figures(shown, MEASURES[measure], row.values, row.gains)
    return {"Kind": plain(row.kind), "Questions": f"{row.questions:,}", **cells, "Unjudged": unjudged}


def _trend(listed: Sequence[Experiment], measure: str, first: Sequence[str]) -> None:
    """The measure over time, once there are two points to join. first: profiles that keep their colours of above."""
    lines = trend(listed, measure)
    if sum(len(line.points) for line in lines) < 2:
        return
    places = {name: place for place, name in enumerate(dict.fromkeys(first))}
    lines = tuple(sorted(lines, key=lambda line: places.get(line.profile, len(places))))
    more = f", the {charts.MOST_LINES} measured last" if len(lines) > charts.MOST_LINES else ""
    st.markdown(f"**{name_of(measure)} over time** :gray[· a line per profile{more}]")
    st.plotly_chart(
        charts.trend_lines(lines, dark=st.context.theme.type == "dark"),
        config={"displayModeBar": False},
        key="measure.trend",
        alt=f"{name_of(measure)} of every profile over time",
    )
    said = []
    if any(words != "another version" for line in lines for point in line.points for words in point.changed):
        said.append("An open mark: the judgments or the library had changed since the measurement before.")
    unjudged = ", ".join(f"{plain(line.points[-1].ref)} {share(line.points[-1].unjudged)}" for line in lines)
    st.caption(" ".join([*said, f"Unjudged of the first ten, at the last measurement: {unjudged}."]))
