"""The command `mcp`: the library as an MCP server over standard input and output."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from core.workbench import Workbench

__all__ = ["mcp"]


def mcp() -> None:
    """Serve the library to an MCP client over standard input and output, until the client ends it."""
    from api.mcp.stdio import serve

    serve(_library)


@contextmanager
def _library() -> "Iterator[Workbench]":
    """The configured library as the owner of this machine sees it, or the owner of FIVEFOLD_MCP_TOKEN.

    Raises NotSignedIn for a token that does not count, StoreFailed.
    """
    from bootstrap.workbench import open_workbench, settings_from_environment
    from core.domain.people import Door, local_principal

    settings = replace(settings_from_environment(), worker=False)
    library = open_workbench(settings)
    try:
        token = settings.mcp_token
        person = library.workbench.tokens.verify(token, Door.MCP) if token else local_principal(Door.MCP)
        yield library.for_principal(person)
    finally:
        library.close()
