"""The command-line app: registers all commands and prints errors."""

from typing import Any

import typer
from typer.core import TyperGroup

from cli.app import app as serve
from cli.app import mcp
from cli.backup import backup, check, restore
from cli.coverage import coverage
from cli.evaluate import evaluate
from cli.ingest import enrich, enrichment, ingest, read_again, worker
from cli.models import models
from cli.profiles import profiles
from cli.search import answer, ask, batch, rank, search
from cli.trash import trash
from cli.vocabulary import vocabulary
from core.domain.errors import FivefoldError

__all__ = ["app", "main"]


class ErrorReportingGroup(TyperGroup):
    """Command group that prints errors as message and hint on stderr, with exit code 2."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except FivefoldError as error:
            typer.echo(f"Error: {error.message}", err=True)
            if error.hint:
                typer.echo(error.hint, err=True)
            raise typer.Exit(2) from error


app = typer.Typer(
    cls=ErrorReportingGroup,
    help="The evidence workbench for document analysts.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

app.add_typer(profiles, name="profiles")
app.add_typer(vocabulary, name="vocabulary")
app.add_typer(models, name="models")
app.add_typer(trash, name="trash")
app.add_typer(enrichment, name="enrichment")
app.add_typer(evaluate, name="evaluate")
app.command("app")(serve)
app.command()(batch)
app.command()(backup)
app.command()(restore)
app.command()(check)
app.command()(rank)
app.command()(enrich)
app.command()(ingest)
app.command()(search)
app.command()(answer)
app.command()(ask)
app.command()(coverage)
app.command("read-again")(read_again)
app.command()(worker)
app.command()(mcp)


def main() -> None:
    """The command line."""
    app()
