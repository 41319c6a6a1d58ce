"""What the `evaluate` group does on the library's own question sets: measure them, and search for better weights."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.errors import BadRequest, FivefoldError

if TYPE_CHECKING:
    from core.experiments import Experiment, Optimised, Optimising
    from core.judged import QuestionSet
    from core.ports import Profiles
    from core.queries import ScoreProfile
    from core.tuning.profile_book import ProfileBook
    from core.workbench import Workbench

__all__ = [
    "NOBODY",
    "Factors",
    "Folds",
    "Measure",
    "Out",
    "Profile",
    "Seed",
    "Trials",
    "factors_of",
    "measure_set",
    "optimise",
    "optimised",
    "profile_of",
    "progress",
    "written",
]

Out = Annotated[Path | None, typer.Option("--json", help="Write the measures, and what was wrong, to this file.")]
SetName = Annotated[str, typer.Option("--set", help="The name of a question set.")]
Project = Annotated[str | None, typer.Option("--project", help="Whose set; none: the whole library's.")]
Profile = Annotated[
    str | None, typer.Option("--profile", help="How results are scored: name or name@version; none: the default.")
]
Who = Annotated[str, typer.Option("--who", help="In whose name the experiment is kept.")]
Note = Annotated[str, typer.Option("--note", help="What is kept beside the experiment.")]
Least = Annotated[list[str] | None, typer.Option("--min", help="measure=least mean (may be repeated)")]
Most = Annotated[list[str] | None, typer.Option("--max", help="measure=greatest mean (may be repeated)")]
Measure = Annotated[str, typer.Option("--measure", help="What to raise.")]
Trials = Annotated[int, typer.Option("--trials", help="Mixes tried, for each fold and for all questions.")]
Folds = Annotated[int, typer.Option("--folds", help="Parts of the questions, each held out once.")]
Seed = Annotated[int, typer.Option("--seed", help="The same seed finds the same weights.")]
Factors = Annotated[
    list[str] | None,
    typer.Option("--factor", help="A factor to weigh (may be repeated); none: all that any profile weighs."),
]

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
    from core.tuning.regression import bounds, missed
    from core.tuning.report import experiment_data, experiment_text

    wanted = bounds(least or (), most or ())
    with _library() as workbench:
        questions = _question_set(workbench, name, project)
        chosen = profile_of(workbench.tuning.profiles, profile, questions.project)
        begun = workbench.tuning.lab.begin(questions.id, chosen.ref, who, note=note)
        now = _carried_out(workbench, begun)
        before = _last(workbench, now)
    short = missed(wanted, now.measures)
    written(experiment_data(now, before) | {"missed": [str(each) for each in short]}, out)
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
    from core.experiments import Optimising
    from core.tuning.report import optimised_data, optimised_text

    if save_as is not None and not who.strip():
        raise BadRequest("A profile is saved in somebody's name.", "Give --who beside --apply.")
    with _library() as workbench:
        book, questions = workbench.tuning.profiles, _question_set(workbench, name, project)
        current = profile_of(book, profile, questions.project)
        if save_as is not None:
            _refuse_name(book, current, save_as)
        wanted = Optimising(factors_of((current, *book.choices().values()), factors), measure, trials, folds, seed)
        ended, found = optimised(workbench, questions.id, current, wanted, who or NOBODY, note)
        written(optimised_data(ended, found), out)
        typer.echo(optimised_text(ended, found))
        if save_as is not None:
            _apply(book, ended, found, save_as, who)


def _apply(book: "ProfileBook", ended: "Experiment", found: "Optimised", name: str, who: str) -> None:
    """Save what was found as the next version of a profile, or end with exit code 1 when it is not recommended."""
    if not found.recommended:
        typer.echo("Nothing was saved.", err=True)
        raise typer.Exit(1)
    past = book.versions(name)
    saved = book.save(
        replace(found.profile, name=name),
        who,
        note=f"{found.verdict} Experiment {ended.id} on '{ended.set_name}'.",
        origin=ended.profile.ref,
        after=past[0].profile.version if past else 0,
    )
    typer.echo(f"Saved as {saved.profile.ref}.")


def _refuse_name(book: "ProfileBook", current: "ScoreProfile", name: str) -> None:
    """Raises BadRequest for a name that cannot be saved under, before anybody has waited for the weights."""
    # Without weights it says what no other profile says, so that only its name can be wrong.
    [proposal] = book.proposals([replace(current, name=name, weights={})])
    if proposal.problem:
        raise BadRequest(proposal.problem)


@contextmanager
def _library() -> "Iterator[Workbench]":
    """The library of the settings; its queued files are left to others."""
    from storage.opening import open_workbench, settings_from_environment

    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        yield workbench


def _question_set(workbench: "Workbench", name: str, project: str | None) -> "QuestionSet":
    """The living set of this name: the project's before the whole library's. Raises BadRequest, naming those there
    are."""
    every = workbench.tuning.judging.sets(project)
    named = [each for each in every if each.name.casefold() == " ".join(name.split()).casefold()]
    found = [each for each in named if each.project in (None, project)]
    if found:
        return max(found, key=lambda each: each.project is not None)
    if named:
        raise BadRequest(f"'{named[0].name}' is a set of '{named[0].project}'.", f"Add --project '{named[0].project}'.")
    said = f"Sets are: {', '.join(each.name for each in every)}." if every else "Make one on the Tuning page."
    raise BadRequest(f"There is no question set '{name}'.", said)


def profile_of(known: "Profiles", ref: str | None, project: str | None = None) -> "ScoreProfile":
    """The profile named, else what the project searches with. Raises BadRequest."""
    return known.default(project) if ref is None else known.find(ref)


def factors_of(known: Iterable["ScoreProfile"], named: Sequence[str] | None) -> tuple[str, ...]:
    """The factors named, else all that any of these profiles weighs, in the order of their table."""
    from core.tables.factors import factor_table

    weighed = {name for each in known for name in each.weights}
    return tuple(dict.fromkeys(named or [name for name in factor_table().rows if name in weighed]))


def optimised(
    workbench: "Workbench", set_id: int, current: "ScoreProfile", wanted: "Optimising", who: str, note: str
) -> "tuple[Experiment, Optimised]":
    """A search for weights, begun and carried out. Raises BadRequest, and FivefoldError when it failed."""
    begun = workbench.tuning.lab.begin(set_id, current.ref, who, note=note, optimising=wanted)
    ended = _carried_out(workbench, begun)
    assert ended.optimised is not None  # what a finished search always has
    return ended, ended.optimised


def _carried_out(workbench: "Workbench", begun: "Experiment") -> "Experiment":
    """The finished experiment. Raises FivefoldError with why, when it failed."""
    from core.boards import RunState

    ended = workbench.tuning.lab.carry_out(begun.id, on_step=progress("steps done"))
    if ended.state is not RunState.DONE:
        raise FivefoldError(f"Experiment {ended.id} is {ended.state}.", ended.problem)
    return ended


def _last(workbench: "Workbench", now: "Experiment") -> "Experiment | None":
    """The last measurement of the same set with a profile of the same name before this one, with its outcomes."""
    from core.boards import RunState

    lab = workbench.tuning.lab
    for each in lab.experiments(now.set_id):
        same = (each.kind, each.profile.name) == (now.kind, now.profile.name)
        if same and each.state is RunState.DONE and each.id < now.id:
            return lab.experiment(each.id)
    return None


def progress(words: str) -> Callable[[int, int], None]:
    """Tells on a terminal how far it is, and elsewhere only the end."""

    def told(done: int, total: int) -> None:
        if sys.stderr.isatty() or done == total:
            typer.echo(f"\r{done} of {total} {words}", err=True, nl=done == total)

    return told


def written(data: dict[str, Any], out: Path | None) -> None:
    """Write data as JSON, if a file is wanted. Raises BadRequest when it cannot be written."""
    from core.printed import json_text

    if out is None:
        return
    try:
        out.write_text(json_text(data) + "\n", "utf-8")
    except OSError as error:
        raise BadRequest(
            f"'{out}' cannot be written: {error.strerror}.", "Name a file in a folder that is there."
        ) from error
