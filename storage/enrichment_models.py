"""The tables of what is drawn from documents: how each operation ended, and what analysts changed. `data` holds the
whole value as JSON; the columns beside it are what is counted."""

from datetime import datetime
from typing import Annotated, Any, cast

from sqlalchemy import ForeignKeyConstraint, Integer, Table
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["ENRICHMENTS", "ENRICHMENT_EDITS", "Base", "EnrichmentEditRow", "EnrichmentRow"]

_Value = Annotated[dict[str, Any], mapped_column(JSON())]
_Result = Annotated[dict[str, Any] | None, mapped_column(JSON(none_as_null=True))]


class EnrichmentRow(Base):
    """How one operation on one document ended; without data it failed, and `problem` says why."""

    __tablename__ = "enrichments"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    operation: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(Integer())
    reading: Mapped[int]
    at: Mapped[datetime]
    problem: Mapped[str]
    hint: Mapped[str]
    data: Mapped[_Result]


class EnrichmentEditRow(Base):
    """What an analyst changed of one operation's result."""

    __tablename__ = "enrichment_edits"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    operation: Mapped[str] = mapped_column(primary_key=True)
    data: Mapped[_Value]


ENRICHMENTS = cast(Table, EnrichmentRow.__table__)
ENRICHMENT_EDITS = cast(Table, EnrichmentEditRow.__table__)
