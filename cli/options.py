"""Options that several commands share, their progress output, and the JSON file of an evaluation."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from core.domain.queries import ScoreProfile
    from core.ports.stores import Profiles

__all__ = ["Factors", "Folds", "Measure", "Out", "Profile", "Seed", "Trials", "profile_of", "progress", "written"]

Out = Annotated[Path | None, typer.Option("--json", help="Write the measures, and what was wrong, to this file.")]

Profile = Annotated[
    str | None, typer.Option("--profile", help="How results are scored: name or name@version; none: the default.")
]

Measure = Annotated[str, typer.Option("--measure", help="What to raise.")]

Trials = Annotated[int, typer.Option("--trials", help="Mixes tried, for each fold and for all questions.")]

Folds = Annotated[int, typer.Option("--folds", help="Parts of the questions, each held out once.")]

Seed = Annotated[int, typer.Option("--seed", help="The same seed finds the same weights.")]

Factors = Annotated[
    list[str] | None,
    typer.Option("--factor", help="A factor to weigh (may be repeated); none: all that any profile weighs."),
]


def profile_of(known: "Profiles", ref: str | None, project: str | None = None) -> "ScoreProfile":
    """The profile of this name, else the project's default. Raises BadRequest."""
    return known.default(project) if ref is None else known.find(ref)


def progress(words: str) -> Callable[[int, int], None]:
    """A callback that prints progress on a terminal, and elsewhere only the end."""

    def told(done: int, total: int) -> None:
        if sys.stderr.isatty() or done == total:
            typer.echo(f"\r{done} of {total} {words}", err=True, nl=done == total)

    return told


def written(data: dict[str, Any], out: Path | None) -> None:
    """Write data as JSON if a file is given. Raises BadRequest when it cannot be written."""
    from core.formats.terminal import json_text

    if out is None:
        return
    try:
        out.write_text(json_text(data) + "\n", "utf-8")
    except OSError as error:
        raise BadRequest(
            f"'{out}' cannot be written: {error.strerror}.", "Name a file in a folder that is there."
        ) from error


Project = Annotated[str | None, typer.Option("--project", help="A group of documents; none: shared by all projects.")]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
