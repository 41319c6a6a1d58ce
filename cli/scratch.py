"""What benchmarks share: a temporary library with files, and the output of measures."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from cli.options import progress, write_json

if TYPE_CHECKING:
    from bootstrap.scratch_library import NamedFile
    from core.domain.documents import Document
    from core.evaluation.judgments.files import LabelRow
    from core.workbench import Workbench

__all__ = ["filled_library", "labelled_library", "output_measures"]


@contextmanager
def filled_library(files: Sequence["NamedFile"]) -> "Iterator[tuple[Workbench, dict[str, Document]]]":
    """A temporary workbench with the files, and its documents by SHA-256."""
    from bootstrap.scratch_library import fill, scratch_workbench
    from bootstrap.workbench import settings_from_environment

    with scratch_workbench(settings_from_environment()) as workbench:
        documents = fill(workbench, files, on_file=progress("files ingested"))
        for document in documents.values():
            if document.failure:
                typer.echo(f"failed: {document.name}: {document.failure}", err=True)
        workbench.search.warm()
        yield workbench, documents


@contextmanager
def labelled_library(rows: "Sequence[LabelRow]", files: Path, use_labels: bool) -> "Iterator[Workbench]":
    """A temporary workbench with the judged files, and with their judged labels if wanted."""
    from bootstrap.scratch_library import apply_labels, labelled_files

    with filled_library(labelled_files(rows, files)) as (workbench, documents):
        if use_labels:
            apply_labels(workbench, rows, documents)
        yield workbench


def output_measures(data: dict[str, Any], out: Path | None) -> None:
    """Print the single values as a table, and write everything to the file."""
    from core.formats.terminal import aligned

    write_json(data, out)
    typer.echo(aligned(("measure", "value"), [(name, v) for name, v in data.items() if isinstance(v, int | float)]))
