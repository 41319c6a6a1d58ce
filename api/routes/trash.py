"""The trash: what was deleted, restored or deleted for good."""

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import Field

from api.inputs import Body, DocumentId, Id, Shape, with_example
from api.paging import PageOf, Paging, paged_list
from api.route import AtWork, guarded_router
from api.shapes.documents import DocumentShape
from core.library.trash import TrashedDocument

__all__ = ["routes"]


class TrashedShape(Shape):
    """A deleted document that can be restored."""

    id: int
    name: str
    sha256: str
    size_bytes: int
    project: str | None = Field(description="null: shared by all projects.")
    deleted_by: str
    deleted_at: datetime
    leaves_at: datetime | None = Field(description="When it is deleted for good; null: only when somebody does it.")
    contents: dict[str, int] = Field(description="What goes with it, such as passages, tables and comments.")

    @classmethod
    def of(cls, trashed: TrashedDocument, days: int) -> Self:
        return cls(
            id=trashed.document_id,
            name=trashed.name,
            sha256=trashed.sha256,
            size_bytes=trashed.size_bytes,
            project=trashed.project,
            deleted_by=trashed.who,
            deleted_at=trashed.at,
            leaves_at=trashed.leaves_at(days),
            contents=dict(trashed.contents),
        )


routes = guarded_router("trash")


@routes.get("/trash", response_model=PageOf[TrashedShape], summary="List the trash")
def list_trash(caller: AtWork, paging: Paging) -> dict[str, Any]:
    """Deleted documents, the last deleted first, with the day on which each is deleted for good."""
    trash = caller.workbench.trash
    days = trash.days
    return paged_list(paging, trash.listed(), lambda each: each.document_id, lambda each: TrashedShape.of(each, days))


class Chosen(Body):
    """The documents, by their numbers."""

    model_config = with_example({"documents": [12, 15]})

    documents: Annotated[list[Id], Field(min_length=1, max_length=1000)]


@routes.post("/trash/restore", response_model=list[DocumentShape], summary="Restore documents")
def restore_documents(caller: AtWork, chosen: Chosen) -> list[DocumentShape]:
    """Bring documents back with everything that belonged to them, under the same numbers."""
    return [DocumentShape.of(each) for each in caller.workbench.trash.restore(chosen.documents, who=caller.name)]


@routes.delete("/trash/{document_id}", status_code=204, summary="Delete a document for good")
def delete_for_good(caller: AtWork, document_id: DocumentId) -> None:
    """Delete a document of the trash with everything made from it; nothing brings it back."""
    caller.workbench.trash.purge([document_id], who=caller.name)
