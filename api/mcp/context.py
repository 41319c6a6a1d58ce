"""The library a tool call or resource read works on."""

from collections.abc import Callable

from mcp.server.mcpserver import Context
from starlette.requests import Request

from core.workbench import Workbench

__all__ = ["CallContext", "LibraryOf", "library"]

LibraryOf = Callable[[Request | None], Workbench]
"""The library as the sender of a request may see it; None for the one person behind standard input."""

CallContext = Context[LibraryOf, Request]
"""What the SDK hands to a tool."""


def library(context: CallContext) -> Workbench:
    """The library of a call. Raises NotSignedIn, AccessDenied, StoreFailed."""
    request = context.request_context
    return request.lifespan_context(request.request)
