"""The commands `app` and `mcp`: the pages with the REST API, and the MCP server on standard input and output."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from core.workbench import Workbench

__all__ = ["app", "mcp"]

_APP = Path(__file__).parents[1] / "app.py"


def app(
    port: Annotated[int, typer.Option(help="Port to listen on.", min=1, max=65535)] = 8501,
    address: Annotated[
        str, typer.Option(help="Address to listen on; others than this machine need sign-in.")
    ] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the pages in the browser.")] = True,
) -> None:
    """Serve the pages, the REST API under /api and the MCP server under /mcp, until stopped."""
    options = {"port": port, "address": address, "headless": str(not browser).lower()}
    flags = [text for name, value in options.items() for text in (f"--server.{name}", str(value))]
    environment = {"FORWARDED_ALLOW_IPS": "", **os.environ}
    os.execve(sys.executable, [sys.executable, "-m", "streamlit", "run", str(_APP), *flags], environment)


def mcp() -> None:
    """Serve the library to an MCP client over standard input and output, until the client ends it."""
    from api.mcp.server import serve

    serve(_library)


@contextmanager
def _library() -> "Iterator[Callable[[], Workbench]]":
    """Gives the configured library as the owner of this machine sees it, or the owner of FIVEFOLD_MCP_TOKEN, who is
    asked for at each call. Raises StoreFailed; the call raises NotSignedIn for a token that does not count.
    """
    from bootstrap.workbench import open_workbench, settings_from_environment
    from core.domain.people import Door, local_principal

    settings = replace(settings_from_environment(), worker=False)
    library = open_workbench(settings)
    token, tokens = settings.mcp_token, library.workbench.tokens

    def seen() -> "Workbench":
        return library.for_principal(tokens.verify(token, Door.MCP) if token else local_principal(Door.MCP))

    try:
        yield seen
    finally:
        library.close()
