"""The command-line door's `evaluate` group: how well the product does, on judged files or on the library's own sets."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli_citations import citations
from cli_experiments import (
    NOBODY,
    Factors,
    Folds,
    Measure,
    Out,
    Profile,
    Seed,
    Trials,
    factors_of,
    measure_set,
    optimise,
    optimised,
    profile_of,
    progress,
    written,
)
from cli_fit import fit_classifier

if TYPE_CHECKING:
    from core.documents import Document
    from core.tuning.judgments import LabelRow
    from core.workbench import Workbench
    from storage.scratch import NamedFile

__all__ = ["evaluate"]

evaluate = typer.Typer(
    help="Measure the product on a question set of the library, or on judged files on a throw-away database.",
    no_args_is_help=True,
)

UseLabels = Annotated[bool, typer.Option("--use-labels", help="Judged labels instead of the product's own.")]

evaluate.command("run")(measure_set)
evaluate.command("optimise")(optimise)
evaluate.command("citations")(citations)
evaluate.command("fit-classifier")(fit_classifier)


@evaluate.command()
def classification(
    labels: Path,
    files: Path,
    hide_names: Annotated[bool, typer.Option("--hide-names", help="Give the files neutral names.")] = False,
    out: Out = None,
) -> None:
    """How often the labels given are the judged ones."""
    from core.printed import aligned, grouped
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
    typer.echo(f"\n{aligned(('documents', 'said', 'right'), report.bins)}")


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
    from core.tables.built_in import BUILT_IN
    from core.tuning.answers import check_questions, evaluate_search
    from core.tuning.judgments import read_labels, read_questions

    judged, rows, asked = read_questions(questions), read_labels(labels), profile_of(BUILT_IN, profile)
    check_questions(judged)
    with _labelled(rows, files, use_labels) as workbench:

        def page_text(document_id: int, number: int) -> str:
            return workbench.page(document_id, number).text

        tuning = workbench.tuning
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
    """Whether other weights than a profile's would answer judged questions better, also those not learnt from."""
    from core.experiments import Optimising
    from core.tables.built_in import BUILT_IN
    from core.tables.profiles import profiles
    from core.tuning.answers import check_questions, kept_questions
    from core.tuning.judgments import read_labels, read_questions
    from core.tuning.optimise import check_optimising
    from core.tuning.report import optimised_data, optimised_text

    judged, rows, current = read_questions(questions), read_labels(labels), profile_of(BUILT_IN, profile)
    wanted = Optimising(factors_of(profiles().values(), factors), measure, trials, folds, seed)
    check_questions(judged)
    check_optimising(wanted)
    with _labelled(rows, files, use_labels) as workbench:
        kept, _ = kept_questions(judged, workbench.tuning.judging, questions.name)
        ended, found = optimised(workbench, kept.id, current, wanted, NOBODY, "")
    written(optimised_data(ended, found), out)
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
    written(data, out)
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
        documents = fill(workbench, files, on_file=progress("files ingested"))
        for document in documents.values():
            if document.failure:
                typer.echo(f"failed: {document.name}: {document.failure}", err=True)
        workbench.warm()
        yield workbench, documents


def _told_measures(data: dict[str, Any], out: Path | None) -> None:
    """Single values as a table, and everything to the file."""
    from core.printed import aligned

    written(data, out)
    typer.echo(aligned(("measure", "value"), [(name, v) for name, v in data.items() if isinstance(v, int | float)]))
