"""The MCP server: its tools, its resources, what it says about itself, and serving it on standard input and output."""

import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError
from mcp.types import ToolAnnotations

from api.mcp import tools
from api.mcp.context import CallContext, LibraryOf, library
from core.domain.errors import FivefoldError, NotFound
from core.formats.terminal import json_text
from core.workbench import Workbench

__all__ = ["INSTRUCTIONS", "TEMPLATES", "mcp_server", "serve"]


@dataclass(frozen=True, slots=True)
class Template:
    """A family of resources: its address with variables, and the function that reads one of them."""

    uri: str
    name: str
    description: str
    mime_type: str
    read: Callable[..., str]


def document(context: CallContext, document_id: str) -> str:
    """A document's name, labels, date and size as JSON. Raises NotFound."""
    found = library(context).documents.get(_number(document_id))
    return json_text(
        {
            "document_id": found.id,
            "name": found.name,
            "title": found.title,
            "state": found.state,
            "project": found.project,
            "tags": list(found.tags),
            "date": found.date.date().isoformat() if found.date else None,
            "labels": {name: label.value for name, label in found.labels.items()},
            "source_type": found.source_type,
            "url": found.url,
            "sha256": found.sha256,
            "size_bytes": found.size_bytes,
            "pages": [f"fivefold://documents/{found.id}/pages/{number}" for number in range(1, found.pages + 1)],
            "passages": found.passages,
            "warnings": list(found.warnings),
        }
    )


def page(context: CallContext, document_id: str, number: str) -> str:
    """The text of one page, as it was extracted. Raises NotFound."""
    documents = library(context).documents
    return documents.page(documents.get(_number(document_id)).id, _number(number)).text


def _number(text: str) -> int:
    """Raises NotFound for what is not the number of a document or page."""
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise NotFound(f"'{text}' is not the number of a document or page.", "Take it from a result of hybrid_search.")
    return int(text)


TEMPLATES = (
    Template(
        "fivefold://documents/{document_id}",
        "document",
        "A document: its name, labels, date and the addresses of its pages.",
        "application/json",
        document,
    ),
    Template(
        "fivefold://documents/{document_id}/pages/{number}",
        "page",
        "The extracted text of one page of a document.",
        "text/plain",
        page,
    ),
)


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
    for template in TEMPLATES:
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


def serve(opened: Callable[[], AbstractContextManager[Callable[[], Workbench]]]) -> None:
    """Serve until the client closes standard input. opened: the library, opened at the first call of a tool; it gives
    each call what the client may see then."""
    lock, found = threading.Lock(), list[Callable[[], Workbench]]()
    with ExitStack() as closing:

        def library() -> Workbench:
            with lock:
                if not found:
                    found.append(closing.enter_context(opened()))
            return found[0]()

        anyio.run(mcp_server(lambda _request: library()).run_stdio_async)
