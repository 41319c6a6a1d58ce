"""The commands `ingest`, `read-again` and `worker`: make files searchable."""

from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from cli.options import Project, open_library
from core.domain.errors import FivefoldError

__all__ = ["ingest", "read_again", "worker"]


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


def read_again() -> None:
    """Queue every document to be read again, as after an update that reads more out of them. Corrections stay."""
    with open_library() as workbench:
        typer.echo(f"{workbench.documents.read_all_again()} documents are queued; a worker reads them.")


def worker() -> None:
    """Run queued ingestion jobs until stopped; any number of these may run on any number of machines."""
    from bootstrap.workbench import run_worker, settings_from_environment

    run_worker(settings_from_environment(), Event().wait)
