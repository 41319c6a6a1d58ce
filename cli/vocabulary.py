"""The command group `vocabulary`: domains, authorities and jurisdictions of the workspace and their words."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import open_library, print_or_write, read_file

if TYPE_CHECKING:
    from core.domain.vocabulary import Vocabulary
    from core.library.vocabulary.service import VocabularyService

__all__ = ["vocabulary"]

vocabulary = typer.Typer(
    help="Domains, authorities' names and jurisdictions: what this workspace adds to the product's words.",
    no_args_is_help=True,
)


class TextFormat(StrEnum):
    """File format of a vocabulary."""

    TOML = "toml"
    CSV = "csv"


@contextmanager
def _service() -> "Iterator[VocabularyService]":
    """Open the library's vocabulary service."""
    with open_library() as workbench:
        yield workbench.vocabulary


@vocabulary.command()
def show() -> None:
    """Every domain with what carries it, the names of authorities and places, and the versions."""
    with _service() as service:
        words = service.current()
        parts = [_domains(service, words), _names(words), _versions(service)]
    typer.echo("\n\n".join(part for part in parts if part))


def _domains(service: "VocabularyService", words: "Vocabulary") -> str:
    from core.formats.terminal import aligned
    from core.knowledge.domains import built_in_domains
    from core.knowledge.workspace_terms import WorkspaceTerms
    from core.library.vocabulary.edits import domain_keywords
    from core.library.vocabulary.service import VocabularyUsage

    used = service.in_use()
    titles = WorkspaceTerms(words).domains.titles
    rows = []
    for name, title in titles.items():
        own, usage = words.domain(name), used.get(name, VocabularyUsage())
        changed = "" if own.silent else "changed"
        state = "switched off" if own.off else changed if name in built_in_domains() else "own"
        rows.append((name, title, state, len(domain_keywords(words, name)), usage.documents, usage.passages))
    return aligned(("domain", "title", "state", "words", "documents", "passages"), rows)


def _names(words: "Vocabulary") -> str:
    from core.formats.terminal import aligned

    rows = [(each.authority.value, name) for each in words.authorities for name in each.names]
    for jurisdiction in words.jurisdictions:
        rows += [
            (jurisdiction.value, name)
            for name in (*filter(None, (jurisdiction.title,)), *jurisdiction.names, *jurisdiction.agencies)
        ]
    return aligned(("names", "as written"), rows) if rows else ""


def _versions(service: "VocabularyService") -> str:
    from core.formats.terminal import aligned

    rows = [
        (each.number, each.who, f"{each.at:%Y-%m-%d %H:%M}", each.note or " ".join(service.changes(each.number))[:80])
        for each in service.versions()
    ]
    return aligned(("version", "by", "at", "what"), rows) if rows else "Using built-in vocabulary only."


@vocabulary.command("import")
def import_vocabulary(
    source: Annotated[str, typer.Argument(help="A .toml or .csv file, or a pack: finance, privacy, procurement.")],
    who: Annotated[str, typer.Option("--who", help="Your name, saved with the change.")],
    note: Annotated[str, typer.Option("--note", help="Note saved with the new version.")] = "",
    replacing: Annotated[bool, typer.Option("--replace", help="Drop words that the file lacks.")] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Label the documents again; the app or a worker does it.")
    ] = False,
) -> None:
    """Add the words of a file or a pack as a new version, and say what it changed."""
    from core.library.vocabulary.edits import check_vocabulary, merge_vocabularies

    imported = _read_source(source)
    with _service() as service:
        newest = service.newest()
        known = newest.vocabulary if newest else type(imported)()
        version = service.save(
            imported if replacing else merge_vocabularies(known, imported),
            who=who,
            note=note or f"imported from {Path(source).name}",
            after=newest.number if newest else 0,
        )
        for change in service.changes(version.number):
            typer.echo(change)
        for notice in check_vocabulary(version.vocabulary).notices:
            typer.echo(f"Note: {notice}")
        typer.echo(f"Saved as version {version.number}.")
        if apply:
            run = service.relabelling.start(who)
            typer.echo(f"{run.total} documents will be labelled again.")


def _read_source(source: str) -> "Vocabulary":
    from core.library.vocabulary.toml_csv import from_file, packs

    if source in packs():
        return packs()[source].vocabulary
    hint = f"Check the path, or name a pack: {', '.join(packs())}."
    return from_file(read_file(Path(source), hint), Path(source).name)


@vocabulary.command()
def export(
    out: Annotated[Path | None, typer.Option("--out", help="Write to this file instead of printing.")] = None,
    form: Annotated[TextFormat, typer.Option("--format", help="toml or csv.")] = TextFormat.TOML,
) -> None:
    """What this workspace adds and changes, in a form that `vocabulary import` takes in."""
    from core.library.vocabulary.toml_csv import to_csv, to_toml

    with _service() as service:
        words = service.current()
    text = to_csv(words) if form is TextFormat.CSV else to_toml(words)
    print_or_write(text, out)
