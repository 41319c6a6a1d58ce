"""Commands of `evaluate` on the library's own question sets: measure them, and optimise weights."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import (
    Factors,
    Folds,
    Measure,
    Out,
    Profile,
    Seed,
    Trials,
    open_library,
    profile_of,
    progress,
    write_json,
)
from core.domain.errors import BadRequest, FivefoldError

if TYPE_CHECKING:
    from core.domain.evaluation import Experiment, OptimiserResult, OptimiserSettings, QuestionSet
    from core.domain.queries import ScoreProfile
    from core.evaluation.tuning.profile_registry import ProfileRegistry
    from core.workbench import Workbench

__all__ = ["NOBODY", "factors_of", "measure_set", "optimise", "optimise_weights"]

SetName = Annotated[str, typer.Option("--set", help="The name of a question set.")]

Project = Annotated[str | None, typer.Option("--project", help="Whose set; none: the whole library's.")]

Who = Annotated[str, typer.Option("--who", help="In whose name the experiment is kept.")]

Note = Annotated[str, typer.Option("--note", help="What is kept beside the experiment.")]

Least = Annotated[list[str] | None, typer.Option("--min", help="measure=least mean (may be repeated)")]

Most = Annotated[list[str] | None, typer.Option("--max", help="measure=greatest mean (may be repeated)")]

NOBODY = "command line"


def measure_set(
    name: SetName,
    project: Project = None,
    profile: Profile = None,
    least: Least = None,
    most: Most = None,
    who: Who = NOBODY,
    note: Note = "",
    out: Out = None,
) -> None:
    """Measure a question set, and keep the experiment. Exit code 1 when a minimum or maximum is missed."""
    from core.evaluation.experiment_report import experiment_data, experiment_text
    from core.evaluation.metrics.measures import bounds, missed

    wanted = bounds(least or (), most or ())
    with open_library() as workbench:
        questions = _question_set(workbench, name, project)
        chosen = profile_of(workbench.evaluation.profiles, profile, questions.project)
        started = workbench.evaluation.lab.begin(questions.id, chosen.ref, who, note=note)
        now = _finish(workbench, started)
        before = _last(workbench, now)
    short = missed(wanted, now.measures)
    write_json(experiment_data(now, before) | {"missed": [str(each) for each in short]}, out)
    typer.echo(experiment_text(now, before))
    for each in short:
        typer.echo(f"Missed: {each}", err=True)
    if short:
        raise typer.Exit(1)


def optimise(
    name: SetName,
    project: Project = None,
    profile: Profile = None,
    measure: Measure = "ndcg@10",
    trials: Trials = 200,
    folds: Folds = 5,
    seed: Seed = 1,
    factors: Factors = None,
    save_as: Annotated[str | None, typer.Option("--apply", help="Save what is recommended under this name.")] = None,
    who: Who = "",
    note: Note = "",
    out: Out = None,
) -> None:
    """Search for better weights on a question set. With --apply, exit code 1 when they are not recommended."""
    from core.domain.evaluation import OptimiserSettings
    from core.evaluation.experiment_report import optimised_data, optimised_text

    if save_as is not None and not who.strip():
        raise BadRequest("A profile is saved in somebody's name.", "Give --who beside --apply.")
    with open_library() as workbench:
        registry, questions = workbench.evaluation.profiles, _question_set(workbench, name, project)
        current = profile_of(registry, profile, questions.project)
        if save_as is not None:
            _refuse_name(registry, current, save_as)
        wanted = OptimiserSettings(
            factors_of((current, *registry.choices().values()), factors), measure, trials, folds, seed
        )
        ended, found = optimise_weights(workbench, questions.id, current, wanted, who or NOBODY, note)
        write_json(optimised_data(ended, found), out)
        typer.echo(optimised_text(ended, found))
        if save_as is not None:
            _apply(registry, ended, found, save_as, who)


def _apply(registry: "ProfileRegistry", ended: "Experiment", found: "OptimiserResult", name: str, who: str) -> None:
    """Save what was found as the next version of a profile, or end with exit code 1 when it is not recommended."""
    if not found.recommended:
        typer.echo("Nothing was saved.", err=True)
        raise typer.Exit(1)
    past = registry.versions(name)
    saved = registry.save(
        replace(found.profile, name=name),
        who,
        note=f"{found.verdict} Experiment {ended.id} on '{ended.set_name}'.",
        origin=ended.profile.ref,
        after=past[0].profile.version if past else 0,
    )
    typer.echo(f"Saved as {saved.profile.ref}.")


def _refuse_name(registry: "ProfileRegistry", current: "ScoreProfile", name: str) -> None:
    """Raises BadRequest for an invalid profile name, before the long optimisation starts."""
    # Without weights it says what no other profile says, so that only its name can be wrong.
    [proposal] = registry.proposals([replace(current, name=name, weights={})])
    if proposal.problem:
        raise BadRequest(proposal.problem)


def _question_set(workbench: "Workbench", name: str, project: str | None) -> "QuestionSet":
    """The active set of this name: the project's before the whole library's. Raises BadRequest naming the existing
    sets."""
    every = workbench.evaluation.judging.sets(project)
    named = [each for each in every if each.name.casefold() == " ".join(name.split()).casefold()]
    found = [each for each in named if each.project in (None, project)]
    if found:
        return max(found, key=lambda each: each.project is not None)
    if named:
        raise BadRequest(f"'{named[0].name}' is a set of '{named[0].project}'.", f"Add --project '{named[0].project}'.")
    hint = f"Sets are: {', '.join(each.name for each in every)}." if every else "Make one on the Tuning page."
    raise BadRequest(f"There is no question set '{name}'.", hint)


def factors_of(known: Iterable["ScoreProfile"], named: Sequence[str] | None) -> tuple[str, ...]:
    """The factors named (former names too), else all that any of these profiles weighs, in the order of their table."""
    from core.domain.profiles import current_factor_name
    from core.knowledge.factors import factor_table

    weighed = {name for each in known for name in each.weights}
    if named:
        return tuple(dict.fromkeys(current_factor_name(name) for name in named))
    return tuple(name for name in factor_table().rows if name in weighed)


def optimise_weights(
    workbench: "Workbench", set_id: int, current: "ScoreProfile", wanted: "OptimiserSettings", who: str, note: str
) -> "tuple[Experiment, OptimiserResult]":
    """Start and run a weight optimisation. Raises BadRequest, and FivefoldError when it failed."""
    started = workbench.evaluation.lab.begin(set_id, current.ref, who, note=note, optimising=wanted)
    ended = _finish(workbench, started)
    assert ended.optimised is not None  # what a finished search always has
    return ended, ended.optimised


def _finish(workbench: "Workbench", started: "Experiment") -> "Experiment":
    """The finished experiment. Raises FivefoldError with why, when it failed."""
    from core.domain.coverage import RunState

    ended = workbench.evaluation.lab.carry_out(started.id, on_step=progress("steps done"))
    if ended.state is not RunState.DONE:
        raise FivefoldError(f"Experiment {ended.id} is {ended.state}.", ended.problem)
    return ended


def _last(workbench: "Workbench", now: "Experiment") -> "Experiment | None":
    """The last measurement of the same set with a profile of the same name before this one, with its outcomes."""
    from core.domain.coverage import RunState

    lab = workbench.evaluation.lab
    for each in lab.experiments(now.set_id):
        same = (each.kind, each.profile.name) == (now.kind, now.profile.name)
        if same and each.state is RunState.DONE and each.id < now.id:
            return lab.experiment(each.id)
    return None
