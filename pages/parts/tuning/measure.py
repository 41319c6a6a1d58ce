"""The Measure view: a question set measured under one profile or two, held against each other, and kept."""

from collections.abc import Sequence

import streamlit as st

from core.boards import RunState
from core.errors import NotFound
from core.experiments import Experiment, ExperimentKind
from core.judged import QuestionSet
from core.queries import ScoreProfile
from pages.parts import notices
from pages.parts.tuning import closer, compare, experiments, sets
from pages.parts.tuning.lab_running import running
from pages.parts.tuning.lab_state import begin, busy, finished, lab, profile_chooser, tell, tuning, whole
from pages.parts.tuning.measure_looks import SIDES
from pages.parts.wording import count, plain

__all__ = ["view"]

_RUNS = "runs"


def view(project: str | None) -> None:
    """What is measured with what; what is under way; what was found; and every experiment that was kept."""
    tell()
    with notices.told():
        _room(project)


def _room(project: str | None) -> None:
    chosen, one, other, press = st.columns([4, 3, 3, 2], vertical_alignment="bottom")
    with chosen:
        questions = sets.chooser(project)
    if questions is None:
        sets.first_set(project)
        return
    with one:
        first = profile_chooser("Profile A", "a", project)
    with other:
        second = profile_chooser("Profile B, to compare", "b", project, optional=True)
    refs = list(dict.fromkeys(each.ref for each in (first, second) if each is not None))
    listed = list(lab().experiments(questions.id))
    press.button(
        "Measure",
        key="measure.begin",
        type="primary",
        icon=":material/straighten:",
        width="stretch",
        help=f"Asks every question of the set with {' and '.join(refs)}, and keeps what was found.",
        on_click=begin,
        args=(questions, refs),
        disabled=busy(listed, ExperimentKind.MEASURED, refs),
    )
    under_way = running(listed, ExperimentKind.MEASURED)
    picked = _picked(listed)
    if picked:
        _kept_only(picked)
    shown = picked or _latest(listed, first, second)
    if shown:
        _found(questions, shown, listed, first, second, alone=bool(picked))
    elif not under_way:
        _nothing(questions, first)
    if any(each.state is RunState.DONE for each in listed):
        experiments.draw(questions, listed)


def _found(
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
            f"{plain(second.ref)} has not been measured with this set yet. *Measure* asks both anew.",
            icon=":material/straighten:",
        )
    compare.draw(questions, shown)
    closer.draw(shown, listed)


def _latest(listed: Sequence[Experiment], first: ScoreProfile | None, second: ScoreProfile | None) -> list[Experiment]:
    """What was last measured with the two profiles; nothing as long as the first was not."""
    assert first is not None  # one is always chosen
    own = finished(listed, first.ref)
    other = finished(listed, second.ref) if second is not None and second.ref != first.ref else None
    return [whole(each.id) for each in (own, other) if each is not None] if own is not None else []


def _picked(listed: Sequence[Experiment]) -> list[Experiment]:
    """The kept experiments that the URL names, in its order."""
    done = {each.id for each in listed if each.state is RunState.DONE}
    named = [int(part) for part in st.query_params.get(_RUNS, "").split(".") if part.isdecimal()]
    found = []
    for number in dict.fromkeys(each for each in named if each in done):
        try:
            found.append(whole(number))
        except NotFound:  # deleted since it was listed
            continue
    return found[: len(SIDES)]


def _kept_only(picked: Sequence[Experiment]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        words = "Kept experiments side by side" if len(picked) > 1 else "A kept experiment"
        st.markdown(f":material/history: **{words}**, not the latest of the profiles chosen above", width="stretch")
        st.button("Back to the latest", key="measure.back", icon=":material/undo:", on_click=_back)


def _back() -> None:
    del st.query_params[_RUNS]


def _nothing(questions: QuestionSet, first: ScoreProfile | None) -> None:
    asked = len(tuning().judging.questions(questions.id))
    if not asked:
        words = "Add questions to it under *Judge*, or take them from a file."
        notices.empty(":material/quiz:", f"{plain(questions.name)} holds no questions", words)
        return
    ref = plain(first.ref) if first else ""
    words = (
        f"Press *Measure*: each of the {count(asked, 'question')} is asked, and what is found is held against what"
        " people have graded."
    )
    notices.empty(":material/straighten:", f"{ref} has not been measured with this set", words)
