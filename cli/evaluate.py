"""The command group `evaluate`: the library's own question sets, and benchmarks on judged files."""
# Longer than 300 lines: commands of one group that share their options and their output.

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from cli.classification import classification, collect_sources, fit_classifier
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
from cli.ranking import (
    evaluate_requirements,
    fit_answerability,
    fit_coverage,
    fit_truth_answers,
    fit_weights,
)
from cli.reranker import collect_questions, fit_reranker
from cli.scratch import filled_library, labelled_library, output_measures
from core.domain.errors import BadRequest, FivefoldError

if TYPE_CHECKING:
    from core.domain.evaluation import Experiment, OptimiserResult, OptimiserSettings, QuestionSet
    from core.domain.queries import ScoreProfile
    from core.evaluation.tuning.profile_registry import ProfileRegistry
    from core.ports.stores import Vectors
    from core.workbench import Workbench

__all__ = ["citations", "evaluate"]

evaluate = typer.Typer(
    help="Measure the product on a question set of the library, or on judged files in a temporary database.",
    no_args_is_help=True,
)

SetName = Annotated[str, typer.Option("--set", help="The name of a question set.")]

Project = Annotated[str | None, typer.Option("--project", help="Project of the set; none: the whole library.")]

Who = Annotated[str, typer.Option("--who", help="Your name, saved with the experiment.")]

Note = Annotated[str, typer.Option("--note", help="Note saved with the experiment.")]

Least = Annotated[list[str] | None, typer.Option("--min", help="measure=minimum mean (may be repeated)")]

Most = Annotated[list[str] | None, typer.Option("--max", help="measure=maximum mean (may be repeated)")]

_NOBODY = "command line"


UseLabels = Annotated[bool, typer.Option("--use-labels", help="Judged labels instead of the product's own.")]

evaluate.command("classification")(classification)
evaluate.command("fit-classifier")(fit_classifier)
evaluate.command("collect-sources")(collect_sources)
evaluate.command("fit-answerability")(fit_answerability)
evaluate.command("collect-questions")(collect_questions)
evaluate.command("fit-reranker")(fit_reranker)
evaluate.command("fit-truth-answers")(fit_truth_answers)
evaluate.command("fit-coverage")(fit_coverage)
evaluate.command("requirements")(evaluate_requirements)
evaluate.command("fit-weights")(fit_weights)


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
    from core.evaluation.experiment_report import experiment_data, experiment_text
    from core.evaluation.metrics.measures import bounds, missed

    limits = bounds(least or (), most or ())
    with open_library() as workbench:
        questions = _question_set(workbench, name, project)
        chosen = profile_of(workbench.evaluation.profiles, profile, questions.project)
        started = workbench.evaluation.experiments.begin(questions.id, chosen.ref, who, note=note)
        now = _finish(workbench, started)
        before = _last(workbench, now)
    short = missed(limits, now.measures)
    write_json(experiment_data(now, before) | {"missed": [str(each) for each in short]}, out)
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
    from core.domain.evaluation import OptimiserSettings
    from core.evaluation.experiment_report import optimised_data, optimised_text

    if save_as is not None and not who.strip():
        raise BadRequest("A profile is saved in somebody's name.", "Give --who beside --apply.")
    with open_library() as workbench:
        registry, questions = workbench.evaluation.profiles, _question_set(workbench, name, project)
        current = profile_of(registry, profile, questions.project)
        if save_as is not None:
            _refuse_name(registry, current, save_as)
        settings = OptimiserSettings(
            _factors_of((current, *registry.choices().values()), factors), measure, trials, folds, seed
        )
        ended, found = _optimise_weights(workbench, questions.id, current, settings, who or _NOBODY, note)
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


def _factors_of(known: Iterable["ScoreProfile"], named: Sequence[str] | None) -> tuple[str, ...]:
    """The factors named (former names too), else all that any of these profiles weighs, in the order of their table."""
    from core.domain.profiles import current_factor_name
    from core.knowledge.factors import factor_table

    weighed = {name for each in known for name in each.weights}
    if named:
        return tuple(dict.fromkeys(current_factor_name(name) for name in named))
    return tuple(name for name in factor_table().rows if name in weighed)


def _optimise_weights(
    workbench: "Workbench", set_id: int, current: "ScoreProfile", settings: "OptimiserSettings", who: str, note: str
) -> "tuple[Experiment, OptimiserResult]":
    """Start and run a weight optimisation. Raises BadRequest, and FivefoldError when it failed."""
    started = workbench.evaluation.experiments.begin(set_id, current.ref, who, note=note, optimising=settings)
    ended = _finish(workbench, started)
    assert ended.optimised is not None  # what a finished search always has
    return ended, ended.optimised


def _finish(workbench: "Workbench", started: "Experiment") -> "Experiment":
    """The finished experiment. Raises FivefoldError with why, when it failed."""
    from core.domain.coverage import RunState

    ended = workbench.evaluation.experiments.carry_out(started.id, on_step=progress("steps done"))
    if ended.state is not RunState.DONE:
        raise FivefoldError(f"Experiment {ended.id} is {ended.state}.", ended.problem)
    return ended


def _last(workbench: "Workbench", now: "Experiment") -> "Experiment | None":
    """The last measurement of the same set with a profile of the same name before this one, with its outcomes."""
    from core.domain.coverage import RunState

    runner = workbench.evaluation.experiments
    for each in runner.experiments(now.set_id):
        same = (each.kind, each.profile.name) == (now.kind, now.profile.name)
        if same and each.state is RunState.DONE and each.id < now.id:
            return runner.experiment(each.id)
    return None


@evaluate.command()
def citations(questions: Path, profile: Profile = None, out: Out = None) -> None:
    """How exact the citations are with which the library answers a file of questions.

    Exit code 1 when a quote is not, letter for letter, what its page says.
    """
    from core.evaluation.benchmarks.citations import evaluate_citations
    from core.evaluation.judgments.files import read_questions
    from core.formats.terminal import aligned, grouped

    judged = read_questions(questions)
    with open_library() as workbench:
        chosen = profile_of(workbench.evaluation.profiles, profile, None)
        report = evaluate_citations(
            judged,
            lambda request: workbench.search.run(request, remember=False),
            lambda document_id, number: workbench.documents.page(document_id, number).text,
            workbench.documents.original,
            profile=chosen.ref,
            on_question=progress("questions asked"),
            timer=perf_counter,
        )
    data = report.data()
    write_json(data, out)
    typer.echo(aligned(("measure", "value"), [(name, v) for name, v in data.items() if isinstance(v, int | float)]))
    typer.echo(f"\n{grouped('kind', data['per_kind'])}")
    for wrong in data["wrong"]:
        problem = wrong["problem"] or _problem(wrong)
        typer.echo(f"wrong: {wrong['document']}, page {wrong['page']}: {problem}: {wrong['quote'][:120]!r}")
    if any(not wrong["exact"] for wrong in data["wrong"]):
        raise typer.Exit(1)


def _problem(wrong: dict[str, int]) -> str:
    """The problem of a citation as text."""
    if not wrong["exact"]:
        return "the quote is not what the page says"
    if not wrong["marked"]:
        return "not marked"
    return f"{wrong['covered']} of {wrong['words']} words covered, {wrong['strays']} letters too many"


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
    from core.evaluation.benchmarks.search import check_questions, evaluate_search
    from core.evaluation.judgments.files import read_labels, read_questions
    from core.formats.terminal import grouped
    from core.knowledge.profiles import BUILT_IN

    judged, rows, chosen = read_questions(questions), read_labels(labels), profile_of(BUILT_IN, profile)
    check_questions(judged)
    with labelled_library(rows, files, use_labels) as workbench:

        def page_text(document_id: int, number: int) -> str:
            return workbench.documents.page(document_id, number).text

        service = workbench.evaluation
        report = evaluate_search(judged, service.judging, service.retrieved, page_text, profile=chosen.ref)
    data = report.data()
    output_measures(data, out)
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
    """Whether other weights than a profile's would answer judged questions better, also those not learnt from."""
    from core.domain.evaluation import OptimiserSettings
    from core.evaluation.benchmarks.search import check_questions, store_questions
    from core.evaluation.experiment_report import optimised_data, optimised_text
    from core.evaluation.judgments.files import read_labels, read_questions
    from core.evaluation.tuning.optimiser import check_optimising
    from core.knowledge.profiles import BUILT_IN, profiles

    judged, rows, current = read_questions(questions), read_labels(labels), profile_of(BUILT_IN, profile)
    settings = OptimiserSettings(_factors_of(profiles().values(), factors), measure, trials, folds, seed)
    check_questions(judged)
    check_optimising(settings)
    with labelled_library(rows, files, use_labels) as workbench:
        stored, _ = store_questions(judged, workbench.evaluation.judging, questions.name)
        ended, found = _optimise_weights(workbench, stored.id, current, settings, _NOBODY, "")
    write_json(optimised_data(ended, found), out)
    typer.echo(optimised_text(ended, found))


@evaluate.command("coverage")
def evaluate_gaps(gaps: Path, labels: Path, files: Path, use_labels: UseLabels = False, out: Out = None) -> None:
    """How often the board finds the judged gaps, and only those."""
    from core.domain.coverage import Topic
    from core.evaluation.benchmarks.coverage import evaluate_coverage
    from core.evaluation.judgments.files import read_labels, read_topics

    topics, rows = read_topics(gaps), read_labels(labels)
    with labelled_library(rows, files, use_labels) as workbench:
        report = evaluate_coverage(topics, workbench.coverage.glance([Topic(topic.topic) for topic in topics]))
    data = report.data()
    output_measures(data, out)
    for wrong in data["wrong"]:
        typer.echo(
            f"wrong: {wrong['topic']} / {wrong['truth']} is {wrong['judged']}; {wrong['reason']} {wrong['best']}"
        )


@evaluate.command()
def ir(folder: Path, out: Out = None) -> None:
    """How well each leg and the default profile rank a test collection (corpus.jsonl, queries.jsonl, qrels.tsv)."""
    from bootstrap.scratch_library import NamedFile
    from core.evaluation.benchmarks.search import evaluate_collection, ids_of
    from core.evaluation.judgments.files import read_collection
    from core.formats.terminal import grouped

    collection = read_collection(folder)
    texts = collection.texts()
    files = [NamedFile(f"{name}.txt", text.encode()) for name, text in texts.items()]
    with filled_library(files) as (workbench, documents):
        data = evaluate_collection(collection, ids_of(texts, documents), workbench.search.run)
    write_json(data, out)
    typer.echo(grouped("leg", data))


@evaluate.command("tables")
def evaluate_tables(folder: Path, out: Out = None) -> None:
    """How often questions to tables are answered rightly, or rightly refused, by kind of question; FOLDER holds
    questions.jsonl or questions.toml, and a folder of tables per set."""
    from bootstrap.scratch_library import scratch_table_services
    from core.evaluation.benchmarks.tables import by_kind, judged, read_asked, summary, wrong_text
    from core.formats.terminal import grouped

    questions = read_asked(folder)
    with scratch_table_services(folder, sorted({each.collection for each in questions})) as services:
        results = [judged(each, services[each.collection].ask(each.question)) for each in questions]
    typer.echo(f"{wrong_text(results)}\n")
    typer.echo(f"{grouped('kind', by_kind(results))}\n")
    output_measures(summary(results), out)


@evaluate.command("cite-check")
def evaluate_citation_check(pairs: Path, out: Out = None) -> None:
    """How often the citation check calls a sentence supported that is, or is not; PAIRS: document, quote, claim."""
    from core.evaluation.benchmarks.cite_check import evaluate_cite_check, read_pairs
    from core.formats.terminal import aligned, grouped

    judged = read_pairs(pairs)
    data = evaluate_cite_check(judged, _embed(), progress("claims judged")).data()
    write_json(data, out)
    typer.echo(aligned(("measure", "value"), [(name, v) for name, v in data.items() if isinstance(v, int | float)]))
    typer.echo(f"\n{grouped('change', data['per_change'])}")
    for wrong in data["wrong"]:
        typer.echo(f"wrong: {wrong['change']}, called {wrong['said']}: {wrong['claim']} [{wrong['quote'][:120]}]")


def _embed() -> "Callable[[Sequence[str]], Vectors]":
    """The configured embedding model. Raises ModelUnavailable."""
    from adapters.inference.embedder import load_embedder
    from bootstrap.environment import settings_from_environment

    settings = settings_from_environment()
    return load_embedder(settings.embedding_model, settings.data_folder / "models", 1).embed
