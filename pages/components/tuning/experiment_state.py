"""State shared by Measure, Optimise and Threshold: the chosen profile, running experiments, cached results."""
# Longer than 300 lines: three views share this state and the progress of a run.

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap.environment import utc_now
from core.domain.coverage import RunState
from core.domain.errors import BadRequest, NotFound
from core.domain.evaluation import Experiment, ExperimentKind, JudgedQuestion, QuestionSet
from core.domain.queries import ScoreProfile
from core.evaluation.experiments import ExperimentRunner, interrupted, request_of
from pages.components import background, notices, rights, session, urls
from pages.components.icon_button import icon_button
from pages.components.tuning.judge_state import select_by_id
from pages.components.tuning.saving import draw_save
from pages.components.tuning.state import evaluation_service, open_question
from pages.components.user_name import who
from pages.components.wording import ago, count, plain

__all__ = [
    "apply_change",
    "cached",
    "draw_unfinished",
    "experiment_runner",
    "full_experiment",
    "is_running",
    "latest_finished",
    "open_in_sliders",
    "open_view",
    "profile_chooser",
    "show_outcome",
    "start_experiments",
]

_Result = TypeVar("_Result")

_MOST_CACHED = 12  # experiments kept in the session; chosen by hand

_NONE = ""


def experiment_runner() -> ExperimentRunner:
    """The experiment runner."""
    return evaluation_service().experiments


# Which profile
def profile_chooser(label: str, name: str, project: str | None, *, optional: bool = False) -> ScoreProfile | None:
    """Choose a profile: the newest versions first, then all older ones.

    The URL parameter `name` holds the choice, so that a link opens the same view. None only if `optional` and nothing
    is chosen.
    """
    offered = _profile_titles(project, optional=optional)
    refs, state, url = list(offered), st.session_state, st.query_params.get(name, "")
    key = f"lab.{name}"
    if url and urls.is_new_request(key, url):
        state[key] = _known_ref(url)
    if state.get(key) not in offered:
        state[key] = refs[0]

    def chosen(number: int) -> None:
        state[key] = refs[number]

    select_by_id(label, dict(enumerate(offered.values())), refs.index(state[key]), key, chosen)
    ref: str = state[key]
    urls.record(key, ref)
    if ref and url != ref:
        st.query_params[name] = ref
    elif not ref and url:
        del st.query_params[name]
    return evaluation_service().profiles.find(ref) if ref else None


def _profile_titles(project: str | None, *, optional: bool) -> Mapping[str, str]:
    """Ref → what it is called, the one that holds first; a choice that may be left open begins with none."""
    registry = evaluation_service().profiles
    newest = {each.ref: each.ref for each in (registry.default(project), *registry.choices().values())}
    living = {ref.partition("@")[0] for ref in newest}
    older = {
        ref: f"{ref} · {'older' if profile.name in living else 'retired'}"
        for ref, profile in registry.every().items()
        if ref not in newest
    }
    return {**({_NONE: "None"} if optional else {}), **newest, **older}


def _known_ref(named: str) -> str:
    """The ref of what a URL names, be it a name or a ref; "" when there is no such profile."""
    try:
        return evaluation_service().profiles.find(named).ref
    except BadRequest:
        return _NONE


# What is kept
def full_experiment(experiment_id: int) -> Experiment:
    """An experiment with its outcomes; finished ones are cached. Raises NotFound."""
    cache: dict[int, Experiment] = st.session_state.setdefault("lab.whole", {})
    if experiment_id not in cache:
        found = experiment_runner().experiment(experiment_id)
        if found.state is not RunState.DONE:
            return found
        cache[experiment_id] = found
    for old in list(cache)[: max(0, len(cache) - _MOST_CACHED)]:
        del cache[old]
    return cache[experiment_id]


def latest_finished(listed: Sequence[Experiment], ref: str) -> Experiment | None:
    """The latest finished experiment with this version of a profile. listed: newest first."""
    return next((each for each in listed if each.state is RunState.DONE and each.profile.ref == ref), None)


def is_running(listed: Sequence[Experiment], kind: ExperimentKind, refs: Sequence[str]) -> bool:
    """Whether an experiment with one of these profiles is running."""
    return any(
        each.kind is kind
        and each.profile.ref in refs
        and each.state is RunState.RUNNING
        and not interrupted(each, utc_now())
        for each in listed
    )


def cached(name: str, mark: Hashable, work: Callable[[], _Result]) -> _Result:
    """A result kept in the session under a name; it is computed again when the mark changes."""
    return session.cached("lab.kept", name, mark, work)


# What a click does
def start_experiments(questions: QuestionSet, refs: Sequence[str], **how: Any) -> None:
    """Start one experiment per profile, each in the background; a button callback."""

    def work() -> None:
        for ref in dict.fromkeys(refs):
            background.start_experiment(experiment_runner().begin(questions.id, ref, who(), **how).id)

    apply_change(work)


def open_view(view: str, **params: str) -> None:
    """Open another view of the page with these URL parameters; a button callback."""
    for name, value in {"view": view, **params}.items():
        st.query_params[name] = value


def open_in_sliders(experiment: Experiment, key: str, question: str) -> None:
    """Open a question as the experiment asked it: with its filters, in the project of its set; a button callback."""
    judging = evaluation_service().judging
    fallback = JudgedQuestion(experiment.set_id, key, question)
    questions = {(each.key, each.question): each for each in judging.questions(experiment.set_id)}
    request = request_of(
        questions.get((key, question), fallback), judging.question_set(experiment.set_id), experiment.profile.ref
    )
    open_question(request)


def apply_change(change: Callable[[], object], message: str = "") -> bool:
    """Run a change in a callback; `show_outcome` shows what came of it. Returns whether it succeeded."""
    return notices.apply_change("lab", change, plain(message))


def show_outcome() -> None:
    """Show the outcome of the last change."""
    notices.show_outcome("lab")


_ENDED = (RunState.STOPPED, RunState.FAILED)


def draw_unfinished(listed: list[Experiment], kind: ExperimentKind) -> bool:
    """Draw the unfinished experiments of a set; returns whether one is running."""
    own = [each for each in listed if each.kind is kind]
    under_way = False
    for each in own:
        here = background.experiment_run(each.id)
        if each.state is RunState.RUNNING or (here is not None and here.running):  # a stop takes a few questions
            under_way = _draw_one(each) or under_way
    if own and own[0].state in _ENDED and not under_way:
        _draw_ended(own[0])
    return under_way


def _draw_one(experiment: Experiment) -> bool:
    here = background.experiment_run(experiment.id)
    if here is not None and here.running:
        _progress(here, experiment)
        return True
    if here is not None and here.problem is not None:
        notices.error(here.problem)
    if not interrupted(experiment, utc_now()):
        _progress_elsewhere(experiment)
        return True
    words = (
        f"{_activity(experiment)} was interrupted {_position_words(experiment)}, {ago(experiment.beat_at, utc_now())}."
    )
    _restart_offer(experiment, words)
    return False


@st.fragment(run_every=0.5)
def _progress(run: background.BackgroundRun, experiment: Experiment) -> None:
    if not run.running:
        st.rerun()
    bar, stop = st.columns([7, 1], vertical_alignment="center")
    total = run.total or experiment.total
    waits = "loading the models …" if not session.ready() else "beginning …"
    words = _progress_words(experiment, run.done, total) if run.done else waits
    bar.progress(
        min(1.0, run.done / max(1, total)), f"{_activity(experiment)} · {words}{' · stopping' if run.stop else ''}"
    )
    if _stopped(run.id, stop, disabled=run.stop):
        run.stop = True


def _stopped(experiment_id: int, on: DeltaGenerator, *, disabled: bool = False) -> bool:
    """The button that stops an experiment; whether it was pressed by somebody who may."""
    if rights.button(
        "evaluation.experiments.stop",
        "Stop",
        key=f"lab.stop.{experiment_id}",
        icon=":material/stop:",
        width="stretch",
        disabled=disabled,
        on=on,
    ):
        with notices.show_errors():
            experiment_runner().stop(experiment_id)
            return True
    return False


@st.fragment(run_every=3.0)
def _progress_elsewhere(experiment: Experiment) -> None:
    """It is carried out by another process: a command, the clock, or another server."""
    with notices.show_errors():
        try:
            current = experiment_runner().experiment(experiment.id)
        except NotFound:
            st.rerun()
        if current.state is not RunState.RUNNING or interrupted(current, utc_now()):
            st.rerun()
        bar, stop = st.columns([7, 1], vertical_alignment="center")
        words = _progress_words(current, current.done, current.total)
        bar.progress(min(1.0, current.done / max(1, current.total)), f"{_activity(current)} elsewhere · {words}")
        if _stopped(current.id, stop):
            st.rerun()


def _activity(experiment: Experiment) -> str:
    """What is running, as the beginning of a line."""
    verb = "Measuring" if experiment.kind is ExperimentKind.MEASURED else "Searching from"
    return f"{verb} **{plain(experiment.profile.ref)}**"


def _progress_words(experiment: Experiment, done: int, total: int) -> str:
    settings = experiment.optimising
    if settings is None:
        return f"{done:,} of {count(total, 'question')} asked"
    mixes = settings.trials * (settings.folds + 1)
    measured = total - mixes
    if done <= measured:
        return f"{done:,} of {count(measured, 'question')} asked"
    tried = done - measured
    part = (tried - 1) // settings.trials
    on = f"without fold {part + 1} of {settings.folds}" if part < settings.folds else "on all questions"
    return f"{tried:,} of {count(mixes, 'mix', 'mixes')} tried, {on}"


def _position_words(experiment: Experiment) -> str:
    steps = "step" if experiment.optimising else "question"
    return f"at {experiment.done:,} of {count(experiment.total, steps)}"


def _draw_ended(experiment: Experiment) -> None:
    if experiment.state is RunState.FAILED:
        _restart_offer(experiment, f"{_activity(experiment)} failed. {plain(experiment.problem)}")
    else:
        _restart_offer(experiment, f"{_activity(experiment)} was stopped {_position_words(experiment)}.")


def _restart_offer(experiment: Experiment, words: str) -> None:
    text_column, again, away = st.columns([7, 2, 1], vertical_alignment="center")
    text_column.warning(words, icon=":material/stop_circle:")
    rights.button(
        "evaluation.experiments.begin",
        "Begin again",
        key=f"lab.again.{experiment.id}",
        icon=":material/play_arrow:",
        type="primary",
        width="stretch",
        on_click=_restart,
        args=(experiment.id,),
        on=again,
    )
    with away:
        icon_button(
            ":material/delete:", "Remove this attempt", f"lab.forget.{experiment.id}", _delete, (experiment.id,)
        )


def _restart(experiment_id: int) -> None:
    apply_change(lambda: background.start_experiment(experiment_id))


def _delete(experiment_id: int) -> None:
    apply_change(lambda: experiment_runner().delete(experiment_id))


_SAVED_KEY = "lab.saved"


def save_button(made: ScoreProfile, base: ScoreProfile, note: str, key: str, label: str, *, ready: bool = True) -> None:
    """The row that saves `made`, and where it is found afterwards.

    note: why, stored with the version unless changed. ready: whether it may be saved yet.
    """

    def saved(profile: ScoreProfile) -> None:
        st.session_state[_SAVED_KEY] = (key, profile.ref)

    draw_save(made, base, key, label, note=note, ready=ready, on_saved=saved)
    _saved_message(key)


def _saved_message(key: str) -> None:
    """The saved version, with a link to the Profiles view."""
    about, ref = st.session_state.get(_SAVED_KEY, ("", ""))
    if about != key:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.success(
            f"Saved as **{plain(ref)}**. In *Profiles* it can be made the default, compared, and rolled back.",
            icon=":material/check:",
        )
        if st.button("Open in Profiles", key=f"{key}.open", icon=":material/history:"):
            open_view("profiles", profile=ref)
            st.rerun()  # also from within a fragment
