"""The command group `models`: the embedding model of the library, and the change to another one."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import open_library
from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from core.library.embedding_models.service import ModelStatus

__all__ = ["models"]

models = typer.Typer(
    help="The embedding model of the library: show it, or embed the library with another one.",
    invoke_without_command=True,
)


@models.callback()
def show(context: typer.Context) -> None:
    """Show the embedding model in use, and how far the library is embedded with another one."""
    if context.invoked_subcommand is None:
        with open_library() as workbench:
            status = workbench.models.status()
            notices = workbench.models.notices
        typer.echo("\n".join([*_lines(status), *notices]))


def _lines(status: "ModelStatus") -> "Iterator[str]":
    name = f" ({status.in_use.name})" if status.in_use.name else ""
    yield f"In use: {status.in_use.label}{name}, {status.passages:,} passages."
    switch = status.switch
    if switch is None:
        return
    done = f"{switch.done:,} of {switch.total:,} passages"
    if switch.under_way:
        yield f"Being embedded with {switch.label} ({switch.dimensions} dimensions): {done}."
        if status.failed is not None:
            yield f"It stopped: {status.failed.reason} {status.failed.remedy}".rstrip()
    elif switch.cancelled:
        yield f"The change to {switch.label} was cancelled on {switch.ended:%Y-%m-%d %H:%M}, after {done}."
    else:
        yield f"Changed to {switch.label} ({switch.dimensions} dimensions) on {switch.ended:%Y-%m-%d %H:%M}."


@models.command()
def use(
    name: Annotated[
        str, typer.Argument(help="A sentence-transformers model by name or folder; 'default' for the one included.")
    ] = "",
    cancel: Annotated[bool, typer.Option("--cancel", help="Cancel the change; the library keeps its model.")] = False,
) -> None:
    """Embed the library with another model in the background; searches use the present vectors until it is complete."""
    if bool(name) is cancel:
        raise BadRequest("Give either a model or --cancel.", "For example: python -m cli models use default")
    with open_library() as workbench:
        if cancel:
            ended, in_use = workbench.models.cancel(), workbench.models.status().in_use.label
            typer.echo(f"Cancelled; {in_use} stays in use." if ended else "There is no change under way.")
            return
        begun = workbench.models.use(name)
        in_use = workbench.models.status().in_use.label
    if begun is None:
        typer.echo(f"{in_use} is in use already.")
        return
    typer.echo(
        f"Queued: the running app, or a worker, embeds the library with {begun.label} ({begun.dimensions} dimensions)."
        f" Searches use {in_use} until then; 'python -m cli models' shows how far it is."
    )
