"""What the Measure, Optimise and Threshold views share: the lab, which profile is looked at, what was read before."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from core.boards import RunState
from core.errors import BadRequest, FivefoldError
from core.experiments import Experiment, ExperimentKind
from core.judged import QuestionSet
from core.moments import right_now
from core.queries import ScoreProfile
from core.tuning.desk import TuningDesk
from core.tuning.lab import Lab, interrupted
from pages.parts import address, notices, session
from pages.parts.person import who
from pages.parts.tuning.choice import choice
from pages.parts.wording import plain

__all__ = [
    "begin",
    "busy",
    "did",
    "finished",
    "go",
    "lab",
    "profile_chooser",
    "remembered",
    "tell",
    "tuning",
    "whole",
]

_Worked = TypeVar("_Worked")
_KEPT = 12
_NONE = ""


def tuning() -> TuningDesk:
    """Where profiles, judgments and experiments are kept."""
    return session.workbench().tuning


def lab() -> Lab:
    """Where experiments are carried out and kept."""
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
    if url and address.asks(key, url):
        state[key] = _known(url)
    if state.get(key) not in offered:
        state[key] = refs[0]

    def chosen(number: int) -> None:
        state[key] = refs[number]

    choice(label, dict(enumerate(offered.values())), refs.index(state[key]), key, chosen)
    ref: str = state[key]
    address.says(key, ref)
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
    """Whether one of these profiles is measured, or searched from, right now."""
    return any(
        each.kind is kind
        and each.profile.ref in refs
        and each.state is RunState.RUNNING
        and not interrupted(each, right_now())
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
    """Begin an experiment per profile, each in the background; a callback of buttons."""

    def work() -> None:
        for ref in dict.fromkeys(refs):
            session.experiment(lab().begin(questions.id, ref, who(), **how).id)

    did(work)


def go(view: str, **params: str) -> None:
    """Open another view of the page with this in the URL; a callback of buttons."""
    for name, value in {"view": view, **params}.items():
        st.query_params[name] = value


def did(work: Callable[[], object], said: str = "") -> bool:
    """Do it and say so; what stands in the way is told by the view. Whether it was done."""
    try:
        work()
    except FivefoldError as problem:
        st.session_state["lab.problem"] = problem
        return False
    if said:
        st.session_state["lab.said"] = said
    return True


def tell() -> None:
    """What became of the last click."""
    problem: FivefoldError | None = st.session_state.pop("lab.problem", None)
    if problem is not None:
        notices.error(problem)
    if said := st.session_state.pop("lab.said", ""):
        st.toast(plain(said), icon=":material/check:")
