"""The tables of likenesses and versions, and the index that finds what replaced a document."""

from datetime import datetime
from typing import Annotated, Any, cast

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, Integer, Sequence, Table, text
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import DOCUMENTS, Base

__all__ = [
    "BUCKETS",
    "PAIRS",
    "SIGNATURES",
    "VERSION_DECISIONS",
    "Base",
    "BucketRow",
    "PairRow",
    "SignatureRow",
    "VersionDecisionRow",
]

_Value = Annotated[dict[str, Any], mapped_column(JSON())]
_OF_SIGNATURE = ("signatures.tenant_id", "signatures.document_id")

Index(
    "documents_replaced", DOCUMENTS.c.tenant_id, DOCUMENTS.c.version_of, postgresql_where=text("version_of IS NOT NULL")
)


class SignatureRow(Base):
    """One document's signature. minima: 128 numbers of 32 bits, little-endian."""

    __tablename__ = "signatures"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
        Index("signatures_named", "tenant_id", "name_key", postgresql_where=text("name_key <> ''")),
        Index("signatures_titled", "tenant_id", "title_key", postgresql_where=text("title_key <> ''")),
        Index("signatures_from", "tenant_id", "url", postgresql_where=text("url <> ''")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    triples: Mapped[int] = mapped_column(Integer())
    minima: Mapped[bytes]
    name_key: Mapped[str]
    title_key: Mapped[str]
    url: Mapped[str]


class BucketRow(Base):
    """One bucket a document lies in. A row each, because row-level security keeps indexes on arrays from being used."""

    __tablename__ = "signature_buckets"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], _OF_SIGNATURE, ondelete="CASCADE"),
        Index("signature_buckets_of_document", "tenant_id", "document_id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    bucket: Mapped[int] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)


class PairRow(Base):
    """Two documents that are alike; the lower id first."""

    __tablename__ = "document_pairs"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "first"], _OF_SIGNATURE, ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "second"], _OF_SIGNATURE, ondelete="CASCADE"),
        CheckConstraint("first < second", name="document_pairs_in_order"),
        Index("document_pairs_of_second", "tenant_id", "second"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    first: Mapped[int] = mapped_column(primary_key=True)
    second: Mapped[int] = mapped_column(primary_key=True)
    same: Mapped[float]
    first_kept: Mapped[float]
    second_kept: Mapped[float]
    suggested: Mapped[bool]


class VersionDecisionRow(Base):
    """One line of the log. `data` holds the whole value; one, other: the two files, the lower hash first."""

    __tablename__ = "version_decisions"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("version_decisions_counted", "tenant_id", "one", "other", "number", unique=True),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("version_decisions_id_seq"), primary_key=True)
    one: Mapped[str]
    other: Mapped[str]
    number: Mapped[int] = mapped_column(Integer())
    verdict: Mapped[str]
    at: Mapped[datetime]
    data: Mapped[_Value]


SIGNATURES = cast(Table, SignatureRow.__table__)
BUCKETS = cast(Table, BucketRow.__table__)
PAIRS = cast(Table, PairRow.__table__)
VERSION_DECISIONS = cast(Table, VersionDecisionRow.__table__)
