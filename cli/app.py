"""The command `app`: the pages in the browser, the REST API and the MCP server."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["app"]

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
