"""Builds the MCP server: its tools, its resources, and what it says about itself."""

import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.types import ToolAnnotations

from api.mcp import resources, tools
from api.mcp.context import LibraryOf
from core.domain.errors import FivefoldError, NotFound

__all__ = ["INSTRUCTIONS", "mcp_server"]

INSTRUCTIONS = """\
Fivefold is a library of documents, each passage labelled with one of five truths: regulatory (what the law requires), \
compliance (what our own rules say), intent (what the customer wants), reference (what is recommended) and reality \
(what the data show).
Find passages with hybrid_search, or ask all five truths at once with answer. Read around a passage with read_passage. \
Cite every sentence you write with the citation_id of what it rests on, as in: Deposits are due monthly [42.3]. Then \
run cite_check on your text and correct what it does not find supported. When a tool says that nothing answers, say \
so; do not guess."""

_P = ParamSpec("_P")
_R = TypeVar("_R")

_READ_ONLY = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def mcp_server(library_of: LibraryOf) -> MCPServer[LibraryOf]:
    """An MCP server over the library. Tools run in threads; nothing is opened before the first call."""

    @asynccontextmanager
    async def lifespan(_server: MCPServer[LibraryOf]) -> AsyncIterator[LibraryOf]:
        yield library_of

    with _own_logging():
        server = MCPServer[LibraryOf](
            "fivefold",
            title="Fivefold",
            description="The evidence workbench for document analysts.",
            instructions=INSTRUCTIONS,
            lifespan=lifespan,
        )
    for tool, title in tools.TOOLS.items():
        server.add_tool(_tool(tool), title=title, annotations=_READ_ONLY, structured_output=True)
    for template in resources.TEMPLATES:
        server.resource(
            template.uri, name=template.name, description=template.description, mime_type=template.mime_type
        )(_resource(template.read))
    return server


@contextmanager
def _own_logging() -> Iterator[None]:
    """Keep the logging of this process: the SDK's server sets up the root logger when it is made."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def _tool(tool: Callable[_P, _R]) -> Callable[_P, _R]:
    """The tool, whose errors for users become tool errors with message and hint."""

    @wraps(tool)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return tool(*args, **kwargs)
        except FivefoldError as error:
            raise ToolError(_words(error)) from error

    return called


def _resource(read: Callable[_P, str]) -> Callable[_P, str]:
    """The reader of a resource, whose errors for users become resource errors."""

    @wraps(read)
    def called(*args: _P.args, **kwargs: _P.kwargs) -> str:
        try:
            return read(*args, **kwargs)
        except NotFound as error:
            raise ResourceNotFoundError(_words(error)) from error
        except FivefoldError as error:
            raise ResourceError(_words(error)) from error

    return called


def _words(error: FivefoldError) -> str:
    return f"{error.message}\n{error.hint}".strip()
