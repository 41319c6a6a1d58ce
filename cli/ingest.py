"""The commands `ingest`, `read-again`, `worker`, `enrich` and `enrichment`: make files searchable and extract data."""

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import AsJson, Project, open_library, progress
from core.domain.errors import BadRequest, FivefoldError, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.library.enrichment.store import EnrichmentReport
    from core.workbench import Workbench

__all__ = ["enrich", "enrichment", "ingest", "read_again", "worker"]


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders; folders are read whole.")],
    project: Project = None,
) -> None:
    """Store files and make them searchable; one line per file. Exit code 1 when any file failed."""
    from bootstrap.scratch_library import drain, paths_of, settle
    from core.formats.terminal import outcome_text
    from core.library.upload_queue import NewFile

    files = [NewFile(name, path.read_bytes) for name, path in paths_of(paths).items()]
    failed = 0
    with open_library(worker=True) as workbench:
        for file, outcome in settle(workbench, files, project=project):
            typer.echo(outcome_text(file.name, outcome))
            failed += isinstance(outcome, FivefoldError) or outcome.failure != ""
        drain(workbench)
    typer.echo(f"{len(files)} files, {failed} failed.")
    if failed:
        raise typer.Exit(1)


def read_again(
    other_languages: Annotated[
        bool, typer.Option("--other-languages", help="Only documents in another language than English.")
    ] = False,
) -> None:
    """Queue every document to be read again, as after an update that reads more out of them. Corrections stay."""
    with open_library() as workbench:
        queued = workbench.documents.read_all_again(other_languages=other_languages)
        typer.echo(f"{queued} documents are queued; a worker reads them.")


def worker() -> None:
    """Run queued ingestion jobs until stopped; any number of these may run on any number of machines."""
    from bootstrap.workbench import run_worker, settings_from_environment

    run_worker(settings_from_environment(), Event().wait)


enrichment = typer.Typer(help="Summaries, keywords and questions of documents.", no_args_is_help=True)


def enrich(
    documents: Annotated[
        list[str] | None, typer.Argument(metavar="[DOCUMENT]...", help="Numbers or names; none: all that lack it.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every document, also those that are enriched.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only those on which something failed.")] = False,
) -> None:
    """Extract a summary, keywords, questions, type, citations and dates from documents. Exit code 1 when any failed.

    What was changed by hand stays. Stopped, and run again, it goes on where it ended.
    """

    if sum((bool(documents), every, failed)) > 1:
        raise BadRequest("Choose one of: documents, --all, --failed.", "Leave the others out.")
    with open_library() as workbench:
        service = workbench.enrichment
        chosen: Sequence[int]
        if documents:
            chosen = [_document(workbench, each) for each in documents]
        elif every:
            chosen = [each.id for each in workbench.documents.list() if each.passages]
        else:
            chosen = service.failed() if failed else service.lacking()
        again = every or bool(documents)
        report = service.enrich_many(chosen, again=again, on_document=progress("documents enriched"))
        names = {each.id: each.name for each in workbench.documents.list()}
    for each in report.failures:
        typer.echo(f"{names.get(each.document_id, each.document_id)}: {each.operation}: {each.problem} {each.hint}")
    typer.echo(_summary(report))
    if report.failures:
        raise typer.Exit(1)


def _document(workbench: "Workbench", name: str) -> int:
    """The document with this number, or else this name. Raises NotFound."""
    for each in workbench.documents.list():
        if name in (str(each.id), each.name):
            return each.id
    raise NotFound(
        f"There is no document '{name}' in the library.", "Give its number, or its name as the library shows it."
    )


def _summary(report: "EnrichmentReport") -> str:
    return f"{report.done} documents, {len({each.document_id for each in report.failures})} with failures."


@enrichment.command()
def statistics(as_json: AsJson = False) -> None:
    """How many documents are enriched, and how each operation went."""
    from core.formats.terminal import aligned, json_text

    with open_library() as workbench:
        stats = workbench.enrichment.statistics()
    rows = [(str(op), c.done, c.failed, c.outdated, c.missing) for op, c in stats.operations.items()]
    if as_json:
        heads = ("operation", "done", "failed", "outdated", "missing")
        counts = {
            "total": stats.total,
            "embedded": stats.embedded,
            "enriched": stats.enriched,
            "unenriched": stats.unenriched,
        }
        data = counts | {"rate": stats.rate, "operations": [dict(zip(heads, row, strict=True)) for row in rows]}
        typer.echo(json_text(data))
        return
    typer.echo(
        f"{stats.enriched} of {stats.total} documents enriched ({stats.rate:.0f}%), {stats.embedded} embedded.\n"
    )
    typer.echo(aligned(("operation", "done", "failed", "outdated", "missing"), rows))
