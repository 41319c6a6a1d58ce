"""What several commands share: options, the opened library, progress, and reading and writing files."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from core.domain.queries import ScoreProfile
    from core.ports.stores import Profiles
    from core.workbench import Workbench

__all__ = [
    "AsJson",
    "Factors",
    "Folds",
    "Measure",
    "Out",
    "Profile",
    "Project",
    "Seed",
    "Trials",
    "open_library",
    "print_or_write",
    "profile_of",
    "progress",
    "read_file",
    "write_file",
    "write_json",
]

Out = Annotated[Path | None, typer.Option("--json", help="Write the measures, and what was wrong, to this file.")]

Profile = Annotated[
    str | None, typer.Option("--profile", help="How results are scored: name or name@version; none: the default.")
]

Project = Annotated[str | None, typer.Option("--project", help="A group of documents; none: shared by all projects.")]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

Measure = Annotated[str, typer.Option("--measure", help="Measure to raise.")]

Trials = Annotated[int, typer.Option("--trials", help="Mixes tried, for each fold and for all questions.")]

Folds = Annotated[int, typer.Option("--folds", help="Parts of the questions, each held out once.")]

Seed = Annotated[int, typer.Option("--seed", help="The same seed finds the same weights.")]

Factors = Annotated[
    list[str] | None,
    typer.Option("--factor", help="A factor to weigh (may be repeated); none: all that any profile weighs."),
]


@contextmanager
def open_library(*, worker: bool = False) -> "Iterator[Workbench]":
    """The configured library, as whoever runs the command sees it: everything, and recorded in the audit log.

    worker: whether queued files are read meanwhile."""
    from bootstrap.workbench import open_workbench, settings_from_environment
    from core.domain.people import Door, local_principal

    with closing(open_workbench(replace(settings_from_environment(), worker=worker))) as library:
        yield library.for_principal(local_principal(Door.COMMAND))


def profile_of(known: "Profiles", ref: str | None, project: str | None = None) -> "ScoreProfile":
    """The profile of this name, else the project's default. Raises BadRequest."""
    return known.default(project) if ref is None else known.find(ref)


def progress(words: str) -> Callable[[int, int], None]:
    """A callback that prints progress on a terminal, and elsewhere only the end."""

    def on_step(done: int, total: int) -> None:
        if sys.stderr.isatty() or done == total:
            typer.echo(f"\r{done} of {total} {words}", err=True, nl=done == total)

    return on_step


def read_file(path: Path, hint: str) -> bytes:
    """The bytes of a file. Raises BadRequest with this hint when it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadRequest(f"'{path}' cannot be read: {error.strerror}.", hint) from error


def write_file(out: Path, data: bytes) -> None:
    """Write a file. Raises BadRequest when it cannot be written."""
    try:
        out.write_bytes(data)
    except OSError as error:
        hint = "Name a file in a folder that is there."
        raise BadRequest(f"'{out}' cannot be written: {error.strerror}.", hint) from error


def print_or_write(text: str, out: Path | None) -> None:
    """Print a text that ends its own lines, or write it to the file. Raises BadRequest when it cannot be written."""
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_file(out, text.encode())


def write_json(data: dict[str, Any], out: Path | None) -> None:
    """Write data as JSON if a file is given. Raises BadRequest when it cannot be written."""
    from core.formats.terminal import json_text

    if out is not None:
        write_file(out, f"{json_text(data)}\n".encode())
