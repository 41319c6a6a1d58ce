"""The tables of changes made by hand: the sets, and in each what was changed of which document."""

from datetime import datetime
from typing import Annotated, Any, cast

from sqlalchemy import ForeignKeyConstraint, Index, Integer, Sequence, Table
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["CHANGES", "CHANGE_SETS", "Base", "ChangeRow", "ChangeSetRow"]

_Value = Annotated[dict[str, Any], mapped_column(JSON())]


class ChangeSetRow(Base):
    """What one person changed at once."""

    __tablename__ = "change_sets"
    __table_args__ = (ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),)

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("change_sets_id_seq"), primary_key=True)
    at: Mapped[datetime]
    who: Mapped[str]
    what: Mapped[str]
    undone_at: Mapped[datetime | None]
    undone_by: Mapped[str]


class ChangeRow(Base):
    """One field of one document; `data` is the whole value as JSON."""

    __tablename__ = "changes"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "set_id"], ["change_sets.tenant_id", "change_sets.id"], ondelete="CASCADE"),
        Index("changes_of_document", "tenant_id", "document_id", "set_id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    set_id: Mapped[int] = mapped_column(primary_key=True)
    position: Mapped[int] = mapped_column(Integer(), primary_key=True)
    document_id: Mapped[int]
    data: Mapped[_Value]


CHANGE_SETS = cast(Table, ChangeSetRow.__table__)
CHANGES = cast(Table, ChangeRow.__table__)
