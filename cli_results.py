"""The command-line door's files of a search result: CSV, workbook, JSON or a brief in Markdown."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.errors import BadRequest

if TYPE_CHECKING:
    from core.results import SearchResult

__all__ = ["Format", "Out", "SearchFormat", "result_told"]


class SearchFormat(StrEnum):
    """How a search result is printed or written."""

    TEXT = "text"
    CSV = "csv"
    XLSX = "xlsx"
    JSON = "json"
    MARKDOWN = "markdown"


Format = Annotated[SearchFormat, typer.Option("--format", help="What the result is told as.")]
Out = Annotated[Path | None, typer.Option("--out", help="Write it to this file instead of printing it.")]


def result_told(result: "SearchResult", form: SearchFormat, out: Path | None) -> None:
    """Print a result, or write it to a file; a workbook is only written.

    Raises BadRequest for a workbook without a file, and when the file cannot be written.
    """
    from core.result_files import FORMATS
    from core.search.report import result_text

    if form is SearchFormat.XLSX and out is None:
        raise BadRequest("A workbook cannot be printed.", "Name a file with --out, e.g. --out results.xlsx.")
    made = f"{result_text(result)}\n".encode() if form is SearchFormat.TEXT else FORMATS[form.value].made(result)
    if out is None:
        typer.echo(made.decode("utf-8-sig"), nl=False)
        return
    try:
        out.write_bytes(made)
    except OSError as error:
        hint = "Name a file in a folder that is there."
        raise BadRequest(f"'{out}' cannot be written: {error.strerror}.", hint) from error
    typer.echo(f"Written to {out}.", err=True)
