"""The command group `profiles`: versioned score profiles."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import open_library, print_or_write, read_file
from core.domain.errors import BadRequest

if TYPE_CHECKING:
    from core.evaluation.tuning.profile_registry import ProfileDraft, ProfileRegistry

__all__ = ["profiles"]

profiles = typer.Typer(help="Score profiles: those of the product, and the library's own.", no_args_is_help=True)

Project = Annotated[str | None, typer.Option("--project", help="Project of the default; none: the whole library.")]
Ref = Annotated[str, typer.Argument(metavar="NAME", help="name, or name@version.")]
Who = Annotated[str, typer.Option("--who", help="Your name, saved with the change.")]


@contextmanager
def _registry() -> "Iterator[ProfileRegistry]":
    """Open the library's profile registry."""
    with open_library() as workbench:
        yield workbench.evaluation.profiles


@profiles.command("list")
def list_profiles(project: Project = None) -> None:
    """Every profile in its newest version; the one that is searched with is marked."""
    from core.formats.terminal import aligned

    with _registry() as registry:
        default = registry.default(project)
        rows = []
        for each in registry.choices().values():
            newest = next(iter(registry.versions(each.name)), None)
            origin = (newest.who, f"{newest.at:%Y-%m-%d %H:%M}", newest.note) if newest else ("the product", "", "")
            rows.append(("*" if each.ref == default.ref else "", each.ref, *origin))
        retired = [each.profile.ref for each in registry.retired()]
    typer.echo(aligned(("", "profile", "by", "at", "note"), rows))
    if retired:
        typer.echo(f"\nRetired: {', '.join(retired)}.")


@profiles.command()
def show(name: Ref) -> None:
    """A profile as TOML, and how it came to be."""
    from core.evaluation.tuning.profile_registry import to_toml
    from core.formats.terminal import aligned

    with _registry() as registry:
        shown = registry.find(name)
        past = registry.versions(shown.name) if shown.version else ()
    typer.echo(to_toml([shown]), nl=False)
    if past:
        rows = [
            (
                each.profile.version,
                each.who,
                f"{each.at:%Y-%m-%d %H:%M}",
                each.origin,
                "retired" * each.retired or each.note,
            )
            for each in past
        ]
        typer.echo(f"\n{aligned(('version', 'by', 'at', 'from', 'note'), rows)}")


@profiles.command()
def diff(
    before: Annotated[str, typer.Argument(help="name, or name@version.")],
    after: Annotated[str, typer.Argument(help="name, or name@version.")],
) -> None:
    """What has to change to make the second profile of the first."""
    from core.evaluation.tuning.profile_registry import differences
    from core.formats.terminal import aligned

    with _registry() as registry:
        old, new = registry.find(before), registry.find(after)
    rows = [(each.key, _number(each.before), _number(each.after)) for each in differences(old, new)]
    typer.echo(aligned(("value", old.ref, new.ref), rows) if rows else f"{old.ref} and {new.ref} say the same.")


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.10g}"


@profiles.command()
def export(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="none: the library's own.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write to this file instead of printing.")] = None,
) -> None:
    """Profiles as TOML, which `profiles import` takes in."""
    from core.evaluation.tuning.profile_registry import to_toml

    with _registry() as registry:
        own = [each for each in registry.choices().values() if each.version]
        chosen = [registry.find(name) for name in names] if names else own
    if not chosen:
        raise BadRequest("This library has no profile of its own.", "Name one that comes with the product.")
    print_or_write(to_toml(chosen), out)


@profiles.command("import")
def import_profiles(
    file: Path,
    who: Who,
    note: Annotated[str, typer.Option("--note", help="Note saved with each new version.")] = "",
) -> None:
    """Save the profiles of a TOML file as new versions: all that differ, or none when one cannot be saved."""
    from core.evaluation.tuning.profile_registry import from_toml

    imported = from_toml(read_file(file, "Check the path."), file.name)
    with _registry() as registry:
        proposals = registry.proposals(imported.values())
        refused = next((each for each in proposals if each.problem), None)
        if refused is not None:
            raise BadRequest(refused.problem)
        for each in proposals:
            typer.echo(_save(registry, each, who, note))


def _save(registry: "ProfileRegistry", proposal: "ProfileDraft", who: str, note: str) -> str:
    if not proposal.worth_saving:
        return f"unchanged  {proposal.known.ref if proposal.known else proposal.profile.name}"
    own = proposal.profile
    return f"saved      {registry.save(own, who, note=note, after=proposal.after, embedder=own.embedder).profile.ref}"


@profiles.command()
def choose(
    name: Annotated[str, typer.Argument(help='A name; "" gives the choice back.')], who: Who, project: Project = None
) -> None:
    """Search with the newest version of a profile unless told otherwise."""
    with _registry() as registry:
        registry.choose(project, name, who)
        typer.echo(f"{project or 'The whole library'} searches with {registry.default(project).ref}.")


@profiles.command()
def rollback(name: str, version: int, who: Who) -> None:
    """Save what an older version says as the newest one."""
    with _registry() as registry:
        past = registry.versions(name)
        saved = registry.rollback(name, version, who, past[0].profile.version if past else 0)
        typer.echo(f"Saved as {saved.profile.ref}.")
