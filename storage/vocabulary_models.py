"""The tables of a workspace's vocabulary: its versions, and the runs that decided labels anew."""

from datetime import datetime
from typing import Any, cast

from sqlalchemy import ForeignKeyConstraint, Integer, Sequence, Table
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["APPLICATIONS", "VOCABULARIES", "ApplicationRow", "Base", "VocabularyRow"]


class VocabularyRow(Base):
    """One version. Rows are added, never changed; `data` holds the whole value as JSON."""

    __tablename__ = "vocabularies"
    __table_args__ = (ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),)

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(Integer(), primary_key=True)
    at: Mapped[datetime]
    data: Mapped[dict[str, Any]] = mapped_column(JSON())


class ApplicationRow(Base):
    """One run over the library, and how far it has come."""

    __tablename__ = "vocabulary_applications"
    __table_args__ = (ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),)

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("vocabulary_applications_id_seq"), primary_key=True)
    version: Mapped[int] = mapped_column(Integer())
    who: Mapped[str]
    at: Mapped[datetime]
    total: Mapped[int] = mapped_column(Integer())
    until: Mapped[int]
    done: Mapped[int] = mapped_column(Integer())
    changed: Mapped[int] = mapped_column(Integer())
    reached: Mapped[int]
    stopped: Mapped[bool]
    ended: Mapped[datetime | None]


VOCABULARIES = cast(Table, VocabularyRow.__table__)
APPLICATIONS = cast(Table, ApplicationRow.__table__)
