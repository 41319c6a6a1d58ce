"""Documents in the trash."""

from datetime import datetime
from typing import Self

from pydantic import Field

from api.inputs import Shape
from core.library.trash import TrashedDocument

__all__ = ["TrashedShape"]


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
