"""The commands `backup`, `restore` and `check`: save, restore, compare and repair what the library stores."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import open_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.library.check import CheckReport
    from storage.backup.archive import Manifest

__all__ = ["backup", "check", "restore"]

File = Annotated[Path, typer.Argument(help="The backup: one file.")]
Verify = Annotated[
    bool,
    typer.Option("--verify", help="Restore the file into a temporary library and check it, instead of writing it."),
]
Recipients = Annotated[
    list[str] | None,
    typer.Option("--recipient", help="Encrypt for this public age key (age1…; may be repeated); none: not encrypted."),
]
Identity = Annotated[
    Path | None, typer.Option("--identity", help="File with the private age key of an encrypted backup.")
]


def backup(file: File, recipient: Recipients = None, verify: Verify = False, identity: Identity = None) -> None:
    """Write database and originals into one file while the app runs. --verify: rehearse restoring it; exit code 1 when
    something is missing."""
    from bootstrap import backup as backups
    from bootstrap.environment import settings_from_environment

    if not verify:
        manifest = backups.back_up(settings_from_environment(), file, recipient or ())
        typer.echo(f"{file} ({file.stat().st_size / 1e6:,.1f} MB): {_holds(manifest)}")
        return
    rehearsal = backups.rehearse(settings_from_environment(), file, identity)
    typer.echo(f"{file}: {_holds(rehearsal.manifest)}")
    found = f"{rehearsal.report.documents:,} documents with {rehearsal.report.passages:,} passages"
    typer.echo(f"Restored into a temporary library of the tenant: {found}.")
    for each in rehearsal.report.differences:
        typer.echo(f"differs  {each.store}: {each.message} {each.remedy}")
    if not rehearsal.ok:
        raise typer.Exit(1)


def restore(file: File, identity: Identity = None) -> None:
    """Fill an empty data folder, or the empty database of DATABASE_URL, from a backup."""
    from bootstrap import backup as backups
    from bootstrap.environment import settings_from_environment

    manifest = backups.restore(settings_from_environment(), file, identity)
    typer.echo(f"Restored: {_holds(manifest)}")


def _holds(manifest: "Manifest") -> str:
    words = f"{manifest.documents:,} documents, {manifest.passages:,} passages, {len(manifest.originals):,} originals,"
    lost = f" {len(manifest.missing):,} originals could not be read." if manifest.missing else ""
    return f"{words} taken {manifest.taken_at}.{lost}"


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
            f"{'active' if each.holds else 'lacks'}  reader: {each.name}.{'' if each.holds else f' {each.lacking}'}"
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
