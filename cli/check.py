"""The command `check`: compares the stores with the catalogue and repairs them, and tells what confines the readers."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import open_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.library.check import CheckReport

__all__ = ["check"]

Repair = Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")]


def check(repair: Repair = False) -> None:
    """Compare keywords, vectors and originals with the catalogue; tell what confines the process that reads files. Exit
    code 1 when something differs and stays so."""
    from bootstrap.environment import settings_from_environment
    from bootstrap.installation import reader_limits

    with open_library() as workbench:
        report = workbench.check.run(repair=repair)
    typer.echo("\n".join(_lines(report)))
    for each in reader_limits(settings_from_environment()):
        typer.echo(
            f"{'holds' if each.holds else 'lacks'}  reader: {each.name}.{'' if each.holds else f' {each.lacking}'}"
        )
    if not report.ok:
        raise typer.Exit(1)


def _lines(report: "CheckReport") -> "Iterator[str]":
    """What was compared, then each difference with its repair."""
    yield f"{report.documents:,} documents with {report.passages:,} passages in the catalogue."
    if not report.differences:
        yield "Keywords, vectors and originals agree with it."
    for each in report.differences:
        yield f"{'repaired' if each.repaired else 'differs'}  {each.store}: {each.message} {each.remedy}"
    if any(each.repairable and not each.repaired for each in report.differences):
        yield "Run 'check --repair' to repair this."
