"""The command-line door: ingest, search, batch, rank, answer, ask, coverage, worker, profiles, evaluate."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from cli_batch import Narrow, batch, narrowing
from cli_enrich import enrich, enrichment
from cli_evaluate import evaluate
from cli_experiments import Profile, profile_of
from cli_profiles import profiles
from cli_rank import rank
from cli_results import Format, Out, SearchFormat, result_told
from cli_vocabulary import vocabulary
from core.errors import FivefoldError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.queries import SearchRequest

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

app.add_typer(profiles, name="profiles")
app.add_typer(vocabulary, name="vocabulary")
app.add_typer(enrichment, name="enrichment")
app.add_typer(evaluate, name="evaluate")
app.command()(batch)
app.command()(rank)
app.command()(enrich)

Project = Annotated[str | None, typer.Option("--project", help="A group of documents; none: shared by all projects.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Many = list[str] | None


class BriefFormat(StrEnum):
    """How a brief is printed."""

    MARKDOWN = "markdown"
    HTML = "html"
    JSON = "json"


def many(flag: str, help_text: str) -> Any:
    """A filter option that can be given several times."""
    return typer.Option(flag, help=f"{help_text} (may be repeated)")


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders; folders are read whole.")],
    project: Project = None,
) -> None:
    """Store files and make them searchable; one line per file. Exit code 1 when any file failed."""
    from core.library.intray import NewFile
    from core.printed import outcome_text
    from storage.opening import open_workbench, settings_from_environment
    from storage.scratch import drain, paths_of, settle

    files = [NewFile(name, path.read_bytes) for name, path in paths_of(paths).items()]
    failed = 0
    with open_workbench(replace(settings_from_environment(), worker=True)) as workbench:
        for file, outcome in settle(workbench, files, project=project):
            typer.echo(outcome_text(file.name, outcome))
            failed += isinstance(outcome, FivefoldError) or outcome.failure != ""
        drain(workbench)
    typer.echo(f"{len(files)} files, {failed} failed.")
    if failed:
        raise typer.Exit(1)


# One option per filter: the signature is the command's documentation.
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
    narrow: Narrow = None,
    only_routed: Annotated[bool, typer.Option(help="Leave out truths the question is not about.")] = False,
    profile: Profile = None,
    top_k: Annotated[int | None, typer.Option(min=1, help="At most this many results.")] = None,
    rerank: Annotated[str, typer.Option(help="Read the best once more: fast, balanced or accurate.")] = "",
    as_json: AsJson = False,
    form: Format = SearchFormat.TEXT,
    out: Out = None,
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
    asked = SearchRequest(question, filters, top_k=top_k, only_routed=only_routed, rerank=rerank)
    _answer(asked, narrow or (), profile, SearchFormat.JSON if as_json else form, out)


def _answer(
    request: "SearchRequest", narrow: "Sequence[str]", profile: str | None, form: SearchFormat, out: Path | None
) -> None:
    """Tell the result under the profile named, else the default of the one project that is searched. narrow: filters
    inside those of the request, as field=value."""
    from core.search.narrow import narrowed
    from storage.opening import open_workbench, settings_from_environment

    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        filters = request.filters
        if narrow:
            filters = narrowed(filters.replace(archived=None), narrowing(narrow, workbench))
        scored = profile_of(workbench.tuning.profiles, profile, filters.project)
        result = workbench.search(replace(request, filters=filters, profile=scored.ref))
    result_told(result, form, out)


@app.command()
def answer(
    question: str,
    project: Annotated[
        str | None, typer.Option("--project", help="Documents and tables of it, and shared ones.")
    ] = None,
    profile: Profile = None,
    form: Annotated[BriefFormat, typer.Option("--format", help="What is printed.")] = BriefFormat.MARKDOWN,
) -> None:
    """Answer a question by all five truths, and print the brief."""
    from core.answers.brief import brief_data, brief_html, brief_markdown
    from core.filters import SearchFilters
    from core.printed import json_text
    from storage.opening import open_workbench, settings_from_environment

    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        asked = profile_of(workbench.tuning.profiles, profile, project).ref
        told = workbench.answer_five(question, filters=SearchFilters(), profile=asked, project=project)
    match form:
        case BriefFormat.MARKDOWN:
            typer.echo(brief_markdown(told), nl=False)
        case BriefFormat.HTML:
            typer.echo(brief_html(told))
        case BriefFormat.JSON:
            typer.echo(json_text(brief_data(told)))


@app.command()
def ask(question: str, project: Project = None) -> None:
    """Answer a question from the library's tables, with the SQL that counted it. Exit code 1 when they cannot."""
    from core.reality.printed import table_answer_text
    from storage.opening import open_workbench, settings_from_environment

    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        told = workbench.reality.ask(question, project)
    typer.echo(table_answer_text(told))
    if not told.answered:
        raise typer.Exit(1)


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
    from core.printed import json_text
    from storage.opening import open_workbench, settings_from_environment

    named: list[str] = []
    for topic in topics:
        path = Path(topic)
        is_table = path.suffix.lower() == ".csv" and path.is_file()
        named += topics_from_csv(path.read_bytes(), path.name) if is_table else [topic]
    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        board = workbench.desk.glance([Topic(name) for name in checked_topics(named)], project)
    typer.echo(json_text(board_data(board)) if as_json else board_text(board))


@app.command("read-again")
def read_again() -> None:
    """Queue every document to be read again, as after an update that reads more out of them. Corrections stay."""
    from storage.opening import open_workbench, settings_from_environment

    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        typer.echo(f"{workbench.read_again()} documents are queued; a worker reads them.")


@app.command()
def worker() -> None:
    """Run queued ingestion jobs until stopped; any number of these may run on any number of machines."""
    from storage.opening import run_worker, settings_from_environment

    run_worker(settings_from_environment())


def main() -> None:
    """The command line."""
    app()


if __name__ == "__main__":
    main()
