"""Experiments under way: how far they are, how to stop them, and how to begin again with one that did not end well."""

import streamlit as st

from core.boards import RunState
from core.errors import NotFound
from core.experiments import Experiment, ExperimentKind
from core.moments import right_now
from core.tuning.lab import interrupted
from pages.parts import notices, session
from pages.parts.tuning.lab_state import did, lab
from pages.parts.wording import ago, count, plain

__all__ = ["running"]

_ENDED = (RunState.STOPPED, RunState.FAILED)


def running(listed: list[Experiment], kind: ExperimentKind) -> bool:
    """Draw what there is to say of unfinished experiments of a set; whether one is under way.

    listed: newest first. Of those that ended without a result only the newest is told, and not once a newer one is
    done.
    """
    own = [each for each in listed if each.kind is kind]
    under_way = False
    for each in own:
        if each.state is RunState.RUNNING:
            under_way = _unfinished(each) or under_way
    if own and own[0].state in _ENDED and not under_way:
        _ended(own[0])
    return under_way


def _unfinished(experiment: Experiment) -> bool:
    here = session.lab_run(experiment.id)
    if here is not None and here.running:
        _progress(here, experiment)
        return True
    if here is not None and here.problem is not None:
        notices.error(here.problem)
    if not interrupted(experiment, right_now()):
        _elsewhere(experiment)
        return True
    words = f"{_what(experiment)} was interrupted {_at(experiment)}, {ago(experiment.beat_at, right_now())}."
    _again(experiment, words)
    return False


@st.fragment(run_every=0.5)
def _progress(run: session.LabRun, experiment: Experiment) -> None:
    if not run.running:
        st.rerun()
    bar, stop = st.columns([7, 1], vertical_alignment="center")
    total = run.total or experiment.total
    waits = "loading the models …" if not session.ready() else "beginning …"
    words = _how_far(experiment, run.done, total) if run.done else waits
    bar.progress(
        min(1.0, run.done / max(1, total)), f"{_what(experiment)} · {words}{' · stopping' if run.stop else ''}"
    )
    pressed = stop.button(
        "Stop", key=f"lab.stop.{run.experiment_id}", icon=":material/stop:", width="stretch", disabled=run.stop
    )
    if pressed:
        run.stop = True


@st.fragment(run_every=3.0)
def _elsewhere(experiment: Experiment) -> None:
    """It is carried out by another process: a command, the clock, or another server."""
    with notices.told():
        try:
            current = lab().experiment(experiment.id)
        except NotFound:
            st.rerun()
        if current.state is not RunState.RUNNING or interrupted(current, right_now()):
            st.rerun()
        words = _how_far(current, current.done, current.total)
        st.progress(min(1.0, current.done / max(1, current.total)), f"{_what(current)} elsewhere · {words}")


def _what(experiment: Experiment) -> str:
    """What is done, as the beginning of a line."""
    verb = "Measuring" if experiment.kind is ExperimentKind.MEASURED else "Searching from"
    return f"{verb} **{plain(experiment.profile.ref)}**"


def _how_far(experiment: Experiment, done: int, total: int) -> str:
    wanted = experiment.optimising
    if wanted is None:
        return f"{done:,} of {count(total, 'question')} asked"
    mixes = wanted.trials * (wanted.folds + 1)
    asked = total - mixes
    if done <= asked:
        return f"{done:,} of {count(asked, 'question')} asked"
    tried = done - asked
    part = (tried - 1) // wanted.trials
    on = f"without fold {part + 1} of {wanted.folds}" if part < wanted.folds else "on all questions"
    return f"{tried:,} of {count(mixes, 'mix', 'mixes')} tried, {on}"


def _at(experiment: Experiment) -> str:
    steps = "step" if experiment.optimising else "question"
    return f"at {experiment.done:,} of {count(experiment.total, steps)}"


def _ended(experiment: Experiment) -> None:
    if experiment.state is RunState.FAILED:
        _again(experiment, f"{_what(experiment)} failed. {plain(experiment.problem)}")
    else:
        _again(experiment, f"{_what(experiment)} was stopped {_at(experiment)}.")


def _again(experiment: Experiment, words: str) -> None:
    said, again, away = st.columns([7, 2, 1], vertical_alignment="center")
    said.warning(words, icon=":material/stop_circle:")
    again.button(
        "Begin again",
        key=f"lab.again.{experiment.id}",
        icon=":material/play_arrow:",
        type="primary",
        width="stretch",
        on_click=_begin_again,
        args=(experiment.id,),
    )
    away.button(
        "",
        key=f"lab.forget.{experiment.id}",
        icon=":material/delete:",
        width="stretch",
        help="Forget this attempt",
        on_click=_forget,
        args=(experiment.id,),
    )


def _begin_again(experiment_id: int) -> None:
    did(lambda: session.experiment(experiment_id))


def _forget(experiment_id: int) -> None:
    did(lambda: lab().delete(experiment_id))
