"""The table that says which documents' passages changed; triggers write it, see migrations/versions/0008_mirror.py."""

from typing import cast
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Index, Table
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["CHANGES", "LibraryChange"]


class LibraryChange(Base):
    """The latest change of a document's passages. version: drawn anew at each; changed_by: the transaction's number.

    A deleted document keeps its row, so that whoever copied its passages learns that they are gone.
    """

    __tablename__ = "library_changes"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("library_changes_latest", "tenant_id", "changed_by"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[UUID]
    changed_by: Mapped[int]


CHANGES = cast(Table, LibraryChange.__table__)
