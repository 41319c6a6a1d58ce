"""The command-line door: ingest, search, coverage, worker, evaluate."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from core.errors import FivefoldError

if TYPE_CHECKING:
    from core.documents import Document
    from core.results import SearchResult
    from core.workbench import Workbench
    from storage.scratch import NamedFile

__all__ = ["app", "main"]


class ToldGroup(TyperGroup):
    """Commands whose errors are told: message and hint on stderr, exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except FivefoldError as error:
            typer.echo(f"Error: {error.message}", err=True)
            if error.hint:
                typer.echo(error.hint, err=True)
            raise typer.Exit(2) from error


app = typer.Typer(
    cls=ToldGroup,
    help="The evidence workbench for document analysts.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

evaluate = typer.Typer(help="Measure the product on judged files, on a throw-away database.", no_args_is_help=True)
app.add_typer(evaluate, name="evaluate")

Project = Annotated[str | None, typer.Option("--project", help="A group of documents; none: shared by all projects.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Many = list[str] | None
Out = Annotated[Path | None, typer.Option("--json", help="Write the measures, and what was wrong, to this file.")]
UseLabels = Annotated[bool, typer.Option("--use-labels", help="Judged labels instead of the product's own.")]


def many(flag: str, help_text: str) -> Any:
    """A filter option that can be given several times."""
    return typer.Option(flag, help=f"{help_text} (may be repeated)")


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders; folders are read whole.")],
    project: Project = None,
) -> None:
    """Store files and make them searchable; one line per file. Exit code 1 when any file failed."""
    from core.printed import outcome_text
    from storage.opening import open_workbench, settings_from_environment
    from storage.scratch import files_of, settle

    files = files_of(paths)
    failed = 0
    with open_workbench(replace(settings_from_environment(), worker=True)) as workbench:
        for file, outcome in settle(workbench, files, project=project):
            typer.echo(outcome_text(file.name, outcome))
            failed += isinstance(outcome, FivefoldError) or outcome.failure != ""
    typer.echo(f"{len(files)} files, {failed} failed.")
    if failed:
        raise typer.Exit(1)


@app.command()
def search(
    question: str,
    truth: Annotated[Many, many("--truth", "regulatory, compliance, intent, reference or reality")] = None,
    domain: Annotated[Many, many("--domain", "e.g. taxes")] = None,
    authority: Annotated[Many, many("--authority", "government, vendor, industry, customer or internal")] = None,
    jurisdiction: Annotated[Many, many("--jurisdiction", "federal, country:XX, state:XX or global")] = None,
    source_type: Annotated[Many, many("--source-type", "upload, email, feed, paper, web or manual")] = None,
    temporal_class: Annotated[Many, many("--temporal-class", "evergreen, current, dated or historical")] = None,
    tag: Annotated[Many, many("--tag", "any of these tags")] = None,
    project: Annotated[Many, many("--project", "documents of this project and shared ones")] = None,
    date_from: Annotated[str | None, typer.Option(help="ISO date, inclusive.")] = None,
    date_to: Annotated[str | None, typer.Option(help="ISO date, inclusive: that whole day.")] = None,
    recency_months: Annotated[int | None, typer.Option(help="At most this many months of 30 days old.")] = None,
    include_undated: Annotated[bool, typer.Option(help="Let undated documents through a date filter.")] = False,
    only_routed: Annotated[bool, typer.Option(help="Leave out truths the question is not about.")] = False,
    profile: Annotated[str, typer.Option(help="How results are scored.")] = "balanced",
    top_k: Annotated[int | None, typer.Option(help="At most this many results.")] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question with scored, cited passages."""
    from core.filters import check_filters
    from core.queries import SearchRequest

    filters = check_filters(
        {
            "truths": truth,
            "domains": domain,
            "authorities": authority,
            "jurisdictions": jurisdiction,
            "source_types": source_type,
            "temporal_classes": temporal_class,
            "tags": tag,
            "projects": project,
            "date_from": date_from,
            "date_to": date_to,
            "recency_months": recency_months,
            "include_undated": include_undated,
        }
    )
    _answer(SearchRequest(question, filters, profile, top_k, only_routed), as_json)


def _answer(request: Any, as_json: bool) -> None:
    from core.search.report import result_data, result_text
    from storage.opening import open_workbench, settings_from_environment

    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        result: SearchResult = workbench.search(request)
    typer.echo(_json(result_data(result)) if as_json else result_text(result))


@app.command()
def coverage(
    topics: Annotated[list[str], typer.Argument(help="Topics, or a CSV file with a 'topic' column.")],
    project: Project = None,
    as_json: AsJson = False,
) -> None:
    """Say which topics are supported by which truth, and what to obtain where they are not."""
    from core.boards import Topic
    from core.coverage.report import board_data, board_text
    from core.coverage.topics import checked_topics, topics_from_csv
    from storage.opening import open_workbench, settings_from_environment

    named: list[str] = []
    for topic in topics:
        path = Path(topic)
        is_table = path.suffix.lower() == ".csv" and path.is_file()
        named += topics_from_csv(path.read_bytes(), path.name) if is_table else [topic]
    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        board = workbench.desk.glance([Topic(name) for name in checked_topics(named)], project)
    typer.echo(_json(board_data(board)) if as_json else board_text(board))


@app.command()
def worker() -> None:
    """Run queued ingestion jobs until stopped; any number of these may run on any number of machines."""
    from storage.opening import run_worker, settings_from_environment

    run_worker(settings_from_environment())


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
    profile: str = "balanced",
) -> None:
    """How well judged questions are answered, or rightly not."""
    from core.printed import grouped
    from core.tuning.answers import evaluate_search
    from core.tuning.judgments import read_labels, read_questions
    from storage.scratch import apply_labels, labelled_files

    judged, rows = read_questions(questions), read_labels(labels)
    with _filled(labelled_files(rows, files)) as (workbench, documents):
        if use_labels:
            apply_labels(workbench, rows, documents)

        def page_text(document_id: int, number: int) -> str:
            return workbench.page(document_id, number).text

        report = evaluate_search(judged, workbench.search, page_text, profile=profile)
    data = report.data()
    _told_measures(data, out)
    typer.echo(f"\n{grouped('kind', data['per_kind'])}")


@evaluate.command("coverage")
def evaluate_gaps(gaps: Path, labels: Path, files: Path, use_labels: UseLabels = False, out: Out = None) -> None:
    """How often the board finds the judged gaps, and only those."""
    from core.boards import Topic
    from core.tuning.gaps import evaluate_coverage
    from core.tuning.judgments import read_labels, read_topics
    from storage.scratch import apply_labels, labelled_files

    topics, rows = read_topics(gaps), read_labels(labels)
    with _filled(labelled_files(rows, files)) as (workbench, documents):
        if use_labels:
            apply_labels(workbench, rows, documents)
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


@contextmanager
def _filled(files: Sequence["NamedFile"]) -> "Iterator[tuple[Workbench, dict[str, Document]]]":
    """A throw-away workbench that holds the files, and its documents by SHA-256."""
    from storage.opening import settings_from_environment
    from storage.scratch import fill, scratch_workbench

    with scratch_workbench(settings_from_environment()) as workbench:
        documents = fill(workbench, files, on_file=_told_progress)
        for document in documents.values():
            if document.failure:
                typer.echo(f"failed: {document.name}: {document.failure}", err=True)
        workbench.warm()
        yield workbench, documents


def _told_progress(done: int, total: int) -> None:
    if sys.stderr.isatty() or done == total:
        typer.echo(f"\r{done} of {total} files ingested", err=True, nl=done == total)


def _told_measures(data: dict[str, Any], out: Path | None) -> None:
    """Single values as a table, and everything to the file."""
    from core.printed import aligned

    _written(data, out)
    typer.echo(aligned(("measure", "value"), [(name, v) for name, v in data.items() if isinstance(v, int | float)]))


def _written(data: dict[str, Any], out: Path | None) -> None:
    if out is not None:
        out.write_text(_json(data) + "\n", "utf-8")


def _json(data: Any) -> str:
    from core.printed import plain

    return json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False)


def main() -> None:
    """The command line."""
    app()


if __name__ == "__main__":
    main()
