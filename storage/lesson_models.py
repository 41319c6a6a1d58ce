"""The tables of learning: a record per document, what was learned, what was done with it, what people said of labels.

Vectors stand as float16 numbers one after the other; JSON columns hold whole values of core.
"""

from datetime import datetime
from typing import Annotated, Any, cast

from sqlalchemy import ForeignKeyConstraint, Index, Integer, Sequence, Table
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["ACTS", "RECORDS", "VERDICTS", "VERSIONS", "ActRow", "Base", "RecordRow", "VerdictRow", "VersionRow"]

_Value = Annotated[dict[str, Any], mapped_column(JSON())]
_Values = Annotated[list[dict[str, Any]], mapped_column(JSON())]


class RecordRow(Base):
    """A document as the classifier saw it. mean: of its sentences' vectors, which stand in segments."""

    __tablename__ = "lesson_records"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    model: Mapped[str]
    data: Mapped[_Value]
    mean: Mapped[bytes]
    segments: Mapped[bytes]


class VersionRow(Base):
    """What was learned at a time."""

    __tablename__ = "lesson_versions"
    __table_args__ = (ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),)

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(Integer(), primary_key=True)
    at: Mapped[datetime]
    data: Mapped[_Value]


class ActRow(Base):
    """What a person did with lessons; rows with one number are one application, the id of its first row."""

    __tablename__ = "lesson_acts"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("lesson_acts_of_application", "tenant_id", "number", "id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("lesson_acts_id_seq"), primary_key=True)
    number: Mapped[int]
    kind: Mapped[str]
    version: Mapped[int] = mapped_column(Integer())
    who: Mapped[str]
    at: Mapped[datetime]
    moves: Mapped[_Values]


class VerdictRow(Base):
    """What a person said of one label."""

    __tablename__ = "label_verdicts"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("label_verdicts_of_label", "tenant_id", "document_id", "field", "id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("label_verdicts_id_seq"), primary_key=True)
    document_id: Mapped[int]
    sha256: Mapped[str]
    field: Mapped[str]
    said: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]
    given: Mapped[str | None]
    automatic: Mapped[bool]
    move: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))


RECORDS = cast(Table, RecordRow.__table__)
VERSIONS = cast(Table, VersionRow.__table__)
ACTS = cast(Table, ActRow.__table__)
VERDICTS = cast(Table, VerdictRow.__table__)
