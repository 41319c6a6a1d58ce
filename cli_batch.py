"""The `batch` command: the questions of a CSV, asked one after the other, and what became of each as a file."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli_experiments import Profile, profile_of, progress
from core.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from core.filters import SearchFilters
    from core.search.batch import Batch
    from core.workbench import Workbench

__all__ = ["Narrow", "batch", "narrowing"]

Narrow = Annotated[
    list[str] | None,
    typer.Option("--filter", help="field=value, also exclude_…, e.g. exclude_domains=taxes (may be repeated)"),
]


def batch(
    questions: Annotated[Path, typer.Argument(help="A CSV with the column 'question', and any filter as a column.")],
    out: Annotated[Path, typer.Option("--out", help="Where the outcome goes: a file ending in .csv or .xlsx.")],
    narrow: Narrow = None,
    profile: Profile = None,
) -> None:
    """Ask many questions, and write hits per truth and the best sentence of each. Exit code 1 when any search failed or
    any row was refused."""
    from core.batch_files import totals_rows
    from core.printed import aligned
    from core.search.batch import Outcome, run_batch, totals
    from storage.opening import open_workbench, settings_from_environment

    data = _bytes(questions)
    written = _format(out)
    outcomes: list[Outcome] = []
    with open_workbench(replace(settings_from_environment(), worker=False)) as workbench:
        asked = _read(data, questions.name, narrow or (), profile, workbench)
        for each in asked.problems:
            column = f", {each.field}" if each.field else ""
            typer.echo(f"refused: row {each.row}{column}: {each.problem}", err=True)
        for notice in asked.notices:
            typer.echo(f"! {notice}", err=True)
        told = progress("questions asked")

        def on_outcome(outcome: Outcome) -> None:
            outcomes.append(outcome)
            told(len(outcomes), len(asked.questions))

        run_batch(asked.questions, workbench.search_many, on_outcome=on_outcome)
    _write(out, written(asked, outcomes))
    counts = totals(asked, outcomes)
    typer.echo(aligned(("what", "number"), totals_rows(counts)))
    if counts.failed or counts.refused:
        raise typer.Exit(1)


def narrowing(said: "Sequence[str]", workbench: "Workbench") -> "SearchFilters":
    """Filters given as field=value; documents may be named. Raises BadRequest."""
    from core.batch_csv import filters_from

    return filters_from(said, _documents(workbench))


def _documents(workbench: "Workbench") -> "Mapping[str, Sequence[int]]":
    """Document name → the ids of those that bear it."""
    named: dict[str, list[int]] = {}
    for each in workbench.documents():
        named.setdefault(each.name, []).append(each.id)
    return named


def _read(data: bytes, name: str, narrow: "Sequence[str]", profile: str | None, workbench: "Workbench") -> "Batch":
    from core.batch_csv import read_batch

    book = workbench.tuning.profiles
    return read_batch(
        data,
        name,
        filters=narrowing(narrow, workbench),
        profile=profile_of(book, profile).ref if profile else "",
        profiles={name for ref in book.every() for name in (ref, ref.partition("@")[0])},
        documents=_documents(workbench),
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadRequest(f"'{path}' cannot be read: {error.strerror}.", "Name a CSV file that is there.") from error


def _format(out: Path) -> Any:
    """What writes a file of this ending; told before any question is asked."""
    from core.batch_files import batch_csv, batch_xlsx

    written = {".csv": batch_csv, ".xlsx": batch_xlsx}.get(out.suffix.lower())
    if written is None:
        raise BadRequest(f"'{out.name}' ends neither in .csv nor in .xlsx.", "Name the outcome's file accordingly.")
    return written


def _write(out: Path, data: bytes) -> None:
    try:
        out.write_bytes(data)
    except OSError as error:
        hint = "Name a file in a folder that is there."
        raise BadRequest(f"'{out}' cannot be written: {error.strerror}.", hint) from error
