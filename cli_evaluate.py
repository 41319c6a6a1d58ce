"""The command-line door's `evaluate` group: how well the product does, on judged files or on the library's own sets."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.errors import BadRequest, FivefoldError

if TYPE_CHECKING:
    from core.documents import Document
    from core.experiments import Experiment, Optimised, Optimising
    from core.judged import QuestionSet
    from core.queries import ScoreProfile
    from core.tuning.judgments import LabelRow
    from core.tuning.profile_book import ProfileBook
    from core.workbench import Workbench
    from storage.scratch import NamedFile

__all__ = ["evaluate"]

evaluate = typer.Typer(
    help="Measure the product on a question set of the library, or on judged files on a throw-away database.",
    no_args_is_help=True,
)

Out = Annotated[Path | None, typer.Option("--json", help="Write the measures, and what was wrong, to this file.")]
UseLabels = Annotated[bool, typer.Option("--use-labels", help="Judged labels instead of the product's own.")]
SetName = Annotated[str, typer.Option("--set", help="The name of a question set.")]
Project = Annotated[str | None, typer.Option("--project", help="Whose set; none: the whole library's.")]
Profile = Annotated[str | None, typer.Option("--profile", help="name or name@version; none: the default.")]
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

_NOBODY = "command line"


@evaluate.command()
def classification(
    labels: Path,
    files: Path,
    hide_names: Annotated[bool, typer.Option("--hide-names", help="Give the files neutral names.")] = False,
    out: Out = None,
) -> None:
    """How often the labels given are the judged ones."""
    from core.printed import grouped
    from core.tuning.classification import evaluate_classification
    from core.tuning.judgments import read_labels, read_passages
    from storage.scratch import labelled_files

    rows = read_labels(labels)
    judged_passages = read_passages(labels.with_name("passages.jsonl"))
    with _filled(labelled_files(rows, files, hide_names=hide_names)) as (workbench, documents):
        report = evaluate_classification(rows, documents, judged_passages, workbench.passages_of)
    data = report.data()
    _told_measures(data, out)
    typer.echo(f"\n{grouped('truth', report.per_truth)}\n\n{grouped('source', report.per_source)}")


@evaluate.command("search")
def evaluate_questions(
    questions: Path,
    labels: Path,
    files: Path,
    use_labels: UseLabels = False,
    out: Out = None,
    profile: Profile = None,
) -> None:
    """How well judged questions are answered, or rightly not."""
    from core.printed import grouped
    from core.tuning.answers import evaluate_search
    from core.tuning.judgments import read_labels, read_questions

    judged, rows = read_questions(questions), read_labels(labels)
    with _labelled(rows, files, use_labels) as workbench:

        def page_text(document_id: int, number: int) -> str:
            return workbench.page(document_id, number).text

        tuning = workbench.tuning
        asked = _profile(workbench, profile, None)
        report = evaluate_search(judged, tuning.judging, tuning.retrieved, page_text, profile=asked.ref)
    data = report.data()
    _told_measures(data, out)
    typer.echo(f"\n{grouped('kind', data['per_kind'])}")


@evaluate.command()
def weights(
    questions: Path,
    labels: Path,
    files: Path,
    profile: Profile = None,
    measure: Measure = "ndcg@10",
    trials: Trials = 200,
    folds: Folds = 5,
    seed: Seed = 1,
    factors: Factors = None,
    use_labels: UseLabels = False,
    out: Out = None,
) -> None:
    """Whether other weights than a profile's would answer judged questions better, also those they were not found on."""
    from core.tuning.answers import kept_questions
    from core.tuning.judgments import read_labels, read_questions
    from core.tuning.report import optimised_data, optimised_text

    judged, rows = read_questions(questions), read_labels(labels)
    with _labelled(rows, files, use_labels) as workbench:
        current = _profile(workbench, profile, None)
        wanted = _wanted(workbench, current, measure, trials, folds, seed, factors)
        kept, _ = kept_questions(judged, workbench.tuning.judging, questions.name)
        ended, found = _optimised(workbench, kept.id, current, wanted, _NOBODY, "")
    _written(optimised_data(ended, found), out)
    typer.echo(optimised_text(ended, found))


@evaluate.command("coverage")
def evaluate_gaps(gaps: Path, labels: Path, files: Path, use_labels: UseLabels = False, out: Out = None) -> None:
    """How often the board finds the judged gaps, and only those."""
    from core.boards import Topic
    from core.tuning.gaps import evaluate_coverage
    from core.tuning.judgments import read_labels, read_topics

    topics, rows = read_topics(gaps), read_labels(labels)
    with _labelled(rows, files, use_labels) as workbench:
        report = evaluate_coverage(topics, workbench.desk.glance([Topic(topic.topic) for topic in topics]))
    data = report.data()
    _told_measures(data, out)
    for wrong in data["wrong"]:
        typer.echo(
            f"wrong: {wrong['topic']} / {wrong['truth']} is {wrong['judged']}; {wrong['reason']} {wrong['best']}"
        )


@evaluate.command()
def ir(folder: Path, out: Out = None) -> None:
    """How well each leg and the default profile rank a test collection (corpus.jsonl, queries.jsonl, qrels.tsv)."""
    from core.printed import grouped
    from core.tuning.collection import evaluate_collection, ids_of
    from core.tuning.judgments import read_collection
    from storage.scratch import NamedFile

    collection = read_collection(folder)
    texts = collection.texts()
    with _filled([NamedFile(f"{name}.txt", text.encode()) for name, text in texts.items()]) as (workbench, documents):
        data = evaluate_collection(collection, ids_of(texts, documents), workbench.search)
    _written(data, out)
    typer.echo(grouped("leg", data))


@evaluate.command("tables")
def evaluate_tables(questions: Path, folder: Path, out: Out = None) -> None:
    """How often questions to tables are answered rightly, or rightly refused; FOLDER holds a folder per set."""
    from core.tuning.table_questions import judged, read_questions, summary, wrong_text
    from storage.scratch_tables import scratch_desks

    asked = read_questions(questions)
    with scratch_desks(folder, sorted({each.collection for each in asked})) as desks:
        results = [judged(each, desks[each.collection].ask(each.question)) for each in asked]
    typer.echo(wrong_text(results))
    _told_measures(summary(results), out)


# On the library itself


@evaluate.command("run")
def measure_set(
    name: SetName,
    project: Project = None,
    profile: Profile = None,
    least: Least = None,
    most: Most = None,
    who: Who = _NOBODY,
    note: Note = "",
    out: Out = None,
) -> None:
    """Measure a question set, and keep the experiment. Exit code 1 when a minimum or maximum is missed."""
    from core.tuning.regression import bounds, missed
    from core.tuning.report import experiment_data, experiment_text

    wanted = bounds(least or (), most or ())
    with _library() as workbench:
        lab, questions = workbench.tuning.lab, _question_set(workbench, name, project)
        chosen = _profile(workbench, profile, questions.project)
        begun = lab.begin(questions.id, chosen.ref, who, note=note)
        now = _carried_out(workbench, begun)
        before = _last(workbench, now)
    short = missed(wanted, now.measures)
    _written(experiment_data(now, before) | {"missed": [str(each) for each in short]}, out)
    typer.echo(experiment_text(now, before))
    for each in short:
        typer.echo(f"Missed: {each}", err=True)
    if short:
        raise typer.Exit(1)


@evaluate.command()
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
    from core.tuning.report import optimised_data, optimised_text

    if save_as is not None and not who.strip():
        raise BadRequest("A profile is saved in somebody's name.", "Give --who beside --apply.")
    with _library() as workbench:
        book, questions = workbench.tuning.profiles, _question_set(workbench, name, project)
        current = _profile(workbench, profile, questions.project)
        if save_as is not None:
            _refuse_name(book, current, save_as)
        wanted = _wanted(workbench, current, measure, trials, folds, seed, factors)
        ended, found = _optimised(workbench, questions.id, current, wanted, who or _NOBODY, note)
        _written(optimised_data(ended, found), out)
        typer.echo(optimised_text(ended, found))
        if save_as is None:
            return
        if not found.recommended:
            typer.echo("Nothing was saved.", err=True)
            raise typer.Exit(1)
        past = book.versions(save_as)
        saved = book.save(
            replace(found.profile, name=save_as),
            who,
            note=f"{found.verdict} Experiment {ended.id} on '{ended.set_name}'.",
            origin=current.ref,
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
    every = [each for each in workbench.tuning.judging.sets(project) if each.project in (None, project)]
    found = [each for each in every if each.name.casefold() == " ".join(name.split()).casefold()]
    if not found:
        said = f"Sets are: {', '.join(each.name for each in every)}." if every else "Add one on the Tuning page."
        raise BadRequest(f"There is no question set '{name}'.", said)
    return max(found, key=lambda each: each.project is not None)


def _profile(workbench: "Workbench", ref: str | None, project: str | None) -> "ScoreProfile":
    """The profile named, else what the project searches with. Raises BadRequest."""
    book = workbench.tuning.profiles
    return book.default(project) if ref is None else book.find(ref)


def _wanted(
    workbench: "Workbench",
    current: "ScoreProfile",
    measure: str,
    trials: int,
    folds: int,
    seed: int,
    factors: Sequence[str] | None,
) -> "Optimising":
    """What to search for; without factors, all that any profile weighs, in the order of the table of factors."""
    from core.experiments import Optimising
    from core.tables.factors import factor_table

    weighed = {name for each in (current, *workbench.profiles().values()) for name in each.weights}
    chosen = factors or [name for name in factor_table().rows if name in weighed]
    return Optimising(tuple(dict.fromkeys(chosen)), measure, trials, folds, seed)


def _optimised(
    workbench: "Workbench", set_id: int, current: "ScoreProfile", wanted: "Optimising", who: str, note: str
) -> "tuple[Experiment, Optimised]":
    begun = workbench.tuning.lab.begin(set_id, current.ref, who, note=note, optimising=wanted)
    ended = _carried_out(workbench, begun)
    assert ended.optimised is not None  # what a finished search always has
    return ended, ended.optimised


def _carried_out(workbench: "Workbench", begun: "Experiment") -> "Experiment":
    """The finished experiment. Raises FivefoldError with why, when it failed."""
    from core.boards import RunState

    ended = workbench.tuning.lab.carry_out(begun.id, on_step=_progress("steps done"))
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


# On a throw-away database


@contextmanager
def _labelled(rows: "Sequence[LabelRow]", files: Path, use_labels: bool) -> "Iterator[Workbench]":
    """A throw-away workbench that holds judged files, with their judged labels if wanted."""
    from storage.scratch import apply_labels, labelled_files

    with _filled(labelled_files(rows, files)) as (workbench, documents):
        if use_labels:
            apply_labels(workbench, rows, documents)
        yield workbench


@contextmanager
def _filled(files: Sequence["NamedFile"]) -> "Iterator[tuple[Workbench, dict[str, Document]]]":
    """A throw-away workbench that holds the files, and its documents by SHA-256."""
    from storage.opening import settings_from_environment
    from storage.scratch import fill, scratch_workbench

    with scratch_workbench(settings_from_environment()) as workbench:
        documents = fill(workbench, files, on_file=_progress("files ingested"))
        for document in documents.values():
            if document.failure:
                typer.echo(f"failed: {document.name}: {document.failure}", err=True)
        workbench.warm()
        yield workbench, documents


def _progress(words: str) -> Callable[[int, int], None]:
    """Tells on a terminal how far it is, and elsewhere only the end."""

    def told(done: int, total: int) -> None:
        if sys.stderr.isatty() or done == total:
            typer.echo(f"\r{done} of {total} {words}", err=True, nl=done == total)

    return told


def _told_measures(data: dict[str, Any], out: Path | None) -> None:
    """Single values as a table, and everything to the file."""
    from core.printed import aligned

    _written(data, out)
    typer.echo(aligned(("measure", "value"), [(name, v) for name, v in data.items() if isinstance(v, int | float)]))


def _written(data: dict[str, Any], out: Path | None) -> None:
    from core.printed import json_text

    if out is not None:
        out.write_text(json_text(data) + "\n", "utf-8")
