"""The command group `trash`: lists deleted documents, restores them, and deletes them for good."""

from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import open_library
from core.domain.errors import BadRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.library.trash import TrashedDocument
    from core.workbench import Workbench

__all__ = ["trash"]

trash = typer.Typer(
    help="The trash: list deleted documents, restore them, or delete them for good.", no_args_is_help=True
)

Named = Annotated[list[str] | None, typer.Argument(help="Documents, by number or name.")]
Who = Annotated[str, typer.Option(help="Who does it, for the history.")]


@trash.command("list")
def listed() -> None:
    """List what is in the trash, the last deleted first."""
    from bootstrap.environment import utc_now

    with open_library() as workbench:
        found, days = workbench.trash.listed(), workbench.trash.days
    for each in found:
        left = each.days_left(days, utc_now())
        stays = "stays" if left is None else f"{left} days left"
        who = each.who or "somebody"
        typer.echo(f"{each.document_id:>6}  {each.at:%Y-%m-%d %H:%M}  {stays:>12}  {each.name}  ({who})")
    if not found:
        typer.echo("The trash is empty.")


@trash.command()
def restore(documents: Named = None, who: Who = "command line") -> None:
    """Bring documents back with everything that belonged to them."""
    with open_library() as workbench:
        back = workbench.trash.restore(_chosen(workbench, documents, everything=False), who=who)
    for each in back:
        typer.echo(f"restored  {each.name}")


@trash.command()
def purge(
    documents: Named = None,
    everything: Annotated[bool, typer.Option("--all", help="Everything in the trash.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    who: Who = "command line",
) -> None:
    """Delete documents of the trash for good, with everything made from them; nothing brings them back."""
    with open_library() as workbench:
        ids = _chosen(workbench, documents, everything=everything)
        if not yes:
            typer.confirm(f"Delete {len(ids)} of the trash for good? Nothing brings them back.", abort=True)
        purged = workbench.trash.purge(ids, who=who)
    for each in purged:
        typer.echo(f"deleted for good  {each.name}")


def _chosen(workbench: "Workbench", named: "Sequence[str] | None", *, everything: bool) -> list[int]:
    """The ids of the documents that are named. Raises NotFound for one that is not in the trash."""
    found = workbench.trash.listed()
    if everything and not named:
        return [each.document_id for each in found]
    if everything or not named:
        raise BadRequest("Say which documents.", "Name them by number or name; 'trash list' shows both.")
    return [_one(name, found).document_id for name in named]


def _one(name: str, found: "Sequence[TrashedDocument]") -> "TrashedDocument":
    for each in found:
        if name in (str(each.document_id), each.name):
            return each
    raise NotFound(f"'{name}' is not in the trash.", "Look with 'trash list'.")
