"""The MCP server over standard input and output, for a client that starts it as its own process."""

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

import anyio

from api.mcp.server import mcp_server
from core.workbench import Workbench

__all__ = ["serve"]


def serve(opened: Callable[[], AbstractContextManager[Workbench]]) -> None:
    """Serve until the client closes standard input. opened: the library, opened at the first call of a tool."""
    lock, found = threading.Lock(), list[Workbench]()
    with ExitStack() as closing:

        def library() -> Workbench:
            with lock:
                if not found:
                    found.append(closing.enter_context(opened()))
                return found[0]

        anyio.run(mcp_server(lambda _request: library()).run_stdio_async)
