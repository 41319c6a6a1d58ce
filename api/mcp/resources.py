"""Documents and their pages as resources of the MCP server."""

from collections.abc import Callable
from dataclasses import dataclass

from api.mcp.context import CallContext, library
from core.domain.errors import NotFound
from core.formats.terminal import json_text

__all__ = ["TEMPLATES", "Template"]


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
