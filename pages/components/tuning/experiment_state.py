"""State shared by Measure, Optimise and Threshold: the chosen profile, running experiments, cached results."""
# Longer than 300 lines: three views share this state and the progress of a run.

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from bootstrap.environment import utc_now
from core.domain.coverage import RunState
from core.domain.errors import BadRequest, FivefoldError, NotFound
from core.domain.evaluation import Experiment, ExperimentKind, QuestionSet
from core.domain.queries import ScoreProfile
from core.evaluation.experiments import ExperimentRunner, interrupted
from core.evaluation.service import EvaluationService
from pages.components import notices, session, urls
from pages.components.tuning.select import choice
from pages.components.user_name import who
from pages.components.wording import ago, count, plain

__all__ = [
    "begin",
    "busy",
    "did",
    "finished",
    "go",
    "lab",
    "profile_chooser",
    "remembered",
    "running",
    "tell",
    "tuning",
    "whole",
]

_Worked = TypeVar("_Worked")

_KEPT = 12

_NONE = ""


def tuning() -> EvaluationService:
    """The service for profiles, judgments and experiments."""
    return session.workbench().evaluation


def lab() -> ExperimentRunner:
    """The experiment runner."""
    return tuning().lab


# Which profile
def profile_chooser(label: str, name: str, project: str | None, *, optional: bool = False) -> ScoreProfile | None:
    """Choose a profile: those offered now in their newest versions, then every version there ever was.

    What is chosen stands in the URL under `name`, so that a colleague opens the same view. None when nothing is chosen,
    which only an optional one allows.
    """
    offered = _offered(project, optional=optional)
    refs, state, url = list(offered), st.session_state, st.query_params.get(name, "")
    key = f"lab.{name}"
    if url and urls.asks(key, url):
        state[key] = _known(url)
    if state.get(key) not in offered:
        state[key] = refs[0]

    def chosen(number: int) -> None:
        state[key] = refs[number]

    choice(label, dict(enumerate(offered.values())), refs.index(state[key]), key, chosen)
    ref: str = state[key]
    urls.says(key, ref)
    if ref and url != ref:
        st.query_params[name] = ref
    elif not ref and url:
        del st.query_params[name]
    return tuning().profiles.find(ref) if ref else None


def _offered(project: str | None, *, optional: bool) -> Mapping[str, str]:
    """Ref → what it is called, the one that holds first; a choice that may be left open begins with none."""
    book = tuning().profiles
    newest = {each.ref: each.ref for each in (book.default(project), *book.choices().values())}
    living = {ref.partition("@")[0] for ref in newest}
    older = {
        ref: f"{ref} · {'older' if profile.name in living else 'retired'}"
        for ref, profile in book.every().items()
        if ref not in newest
    }
    return {**({_NONE: "None"} if optional else {}), **newest, **older}


def _known(named: str) -> str:
    """The ref of what a URL names, be it a name or a ref; "" when there is no such profile."""
    try:
        return tuning().profiles.find(named).ref
    except BadRequest:
        return _NONE


# What is kept
def whole(experiment_id: int) -> Experiment:
    """An experiment with its outcomes. What is done never changes but for its note. Raises NotFound."""
    kept: dict[int, Experiment] = st.session_state.setdefault("lab.whole", {})
    if experiment_id not in kept:
        found = lab().experiment(experiment_id)
        if found.state is not RunState.DONE:
            return found
        kept[experiment_id] = found
    for old in list(kept)[: max(0, len(kept) - _KEPT)]:
        del kept[old]
    return kept[experiment_id]


def finished(listed: Sequence[Experiment], ref: str) -> Experiment | None:
    """The latest that is done with this version of a profile. listed: newest first, as the lab lists them."""
    return next((each for each in listed if each.state is RunState.DONE and each.profile.ref == ref), None)


def busy(listed: Sequence[Experiment], kind: ExperimentKind, refs: Sequence[str]) -> bool:
    """Whether an experiment with one of these profiles is running."""
    return any(
        each.kind is kind
        and each.profile.ref in refs
        and each.state is RunState.RUNNING
        and not interrupted(each, utc_now())
        for each in listed
    )


def remembered(name: str, mark: Hashable, work: Callable[[], _Worked]) -> _Worked:
    """What was worked out under this name as long as the mark is the same; else it is worked out again."""
    kept: dict[str, tuple[Hashable, Any]] = st.session_state.setdefault("lab.kept", {})
    if name not in kept or kept[name][0] != mark:
        kept[name] = (mark, work())
    found: _Worked = kept[name][1]
    return found


# What a click does
def begin(questions: QuestionSet, refs: Sequence[str], **how: Any) -> None:
    """Start one experiment per profile, each in the background; a button callback."""

    def work() -> None:
        for ref in dict.fromkeys(refs):
            session.experiment(lab().begin(questions.id, ref, who(), **how).id)

    did(work)


def go(view: str, **params: str) -> None:
    """Open another view of the page with these URL parameters; a button callback."""
    for name, value in {"view": view, **params}.items():
        st.query_params[name] = value


def did(work: Callable[[], object], said: str = "") -> bool:
    """Run an action and store its message; the view shows any error. Returns whether it succeeded."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state["lab.problem"] = problem
        return False
    if said:
        st.session_state["lab.said"] = said
    return True


def tell() -> None:
    """Show the message of the last action."""
    problem: FivefoldError | None = st.session_state.pop("lab.problem", None)
    if problem is not None:
        notices.error(problem)
    if said := st.session_state.pop("lab.said", ""):
        st.toast(plain(said), icon=":material/check:")


_ENDED = (RunState.STOPPED, RunState.FAILED)


def running(listed: list[Experiment], kind: ExperimentKind) -> bool:
    """Draw the unfinished experiments of a set; returns whether one is running."""
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
    if not interrupted(experiment, utc_now()):
        _elsewhere(experiment)
        return True
    words = f"{_what(experiment)} was interrupted {_at(experiment)}, {ago(experiment.beat_at, utc_now())}."
    _again(experiment, words)
    return False


@st.fragment(run_every=0.5)
def _progress(run: session.ExperimentRun, experiment: Experiment) -> None:
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
        if current.state is not RunState.RUNNING or interrupted(current, utc_now()):
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
