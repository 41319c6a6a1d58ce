"""The registry of Reality tables and the SQL box's history. `data` holds the whole value as JSON; the columns beside it
are what is looked for."""

from datetime import datetime
from typing import Any, cast

from sqlalchemy import ForeignKeyConstraint, Index, Integer, Sequence, Table, text
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["HISTORY", "REALITY", "Base", "RealityTableRow", "SqlHistoryRow"]


class RealityTableRow(Base):
    """One version of one table. A name has one current version."""

    __tablename__ = "reality_tables"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
        Index("reality_tables_versions", "tenant_id", "name", "version", unique=True),
        Index("reality_tables_current", "tenant_id", "name", unique=True, postgresql_where=text("current")),
        Index("reality_tables_of_document", "tenant_id", "document_id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("reality_tables_id_seq"), primary_key=True)
    document_id: Mapped[int]
    name: Mapped[str]
    version: Mapped[int] = mapped_column(Integer())
    current: Mapped[bool]
    data: Mapped[dict[str, Any]]
    rejects: Mapped[list[dict[str, Any]]]


class SqlHistoryRow(Base):
    """One statement run in the SQL box. Rows are only added."""

    __tablename__ = "sql_history"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("sql_history_newest", "tenant_id", text("id DESC")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("sql_history_id_seq"), primary_key=True)
    at: Mapped[datetime]
    data: Mapped[dict[str, Any]]


REALITY = cast(Table, RealityTableRow.__table__)
HISTORY = cast(Table, SqlHistoryRow.__table__)
