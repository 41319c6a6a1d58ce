"""The tables, as the code sees them. How they are made is in migrations/versions; a test keeps the two in step.

`tenant_id` leads every primary key, so that a tenant can be placed on a shard of its own, and every table carries
row-level security from its first migration (see `storage.database`). Ids are bigints from one sequence per table, over
all tenants, so that an id in a citation never names another tenant's passage.
"""

from datetime import datetime
from typing import Any, cast

from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    BigInteger,
    Boolean,
    DateTime,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Sequence,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

__all__ = [
    "CHUNKS",
    "CORRECTIONS",
    "DOCUMENTS",
    "PAGES",
    "SEARCHES",
    "WORDS",
    "Base",
    "Correction",
    "DocumentRow",
    "KnowledgeChunk",
    "PageRow",
    "SearchedQuestion",
    "Tenant",
    "Word",
]


_FILTERED = [
    *("archived", "embedded_by", "document_id", "date", "truth", "domain", "authority", "jurisdiction"),
    *("temporal_class", "source_type", "origin", "sector", "project"),
]


class Base(DeclarativeBase):
    """Types common to all tables: text without a length, timestamps with a time zone."""

    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads it as a class variable
        str: Text(),
        int: BigInteger(),
        float: Float(53),
        bool: Boolean(),
        datetime: DateTime(timezone=True),
        bytes: LargeBinary(),
        list[str]: ARRAY(Text()),
        list[int]: ARRAY(Integer()),
        dict[str, Any]: JSONB(),
        list[dict[str, Any]]: JSONB(),
    }


class Tenant(Base):
    """Whoever must never see another's data."""

    __tablename__ = "tenants"

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=text("now()"))


class DocumentRow(Base):
    """One stored document; `core.documents.Document` says what the columns mean."""

    __tablename__ = "documents"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        # The same bytes are one living document per project, also when two sessions upload them at once.
        Index(
            "documents_living_bytes",
            "tenant_id",
            "sha256",
            "project",
            unique=True,
            postgresql_where=text("NOT archived"),
            postgresql_nulls_not_distinct=True,
        ),
        Index("documents_newest", "tenant_id", text("uploaded_at DESC"), text("id DESC")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("documents_id_seq"), primary_key=True)
    name: Mapped[str]
    sha256: Mapped[str]
    size_bytes: Mapped[int]
    state: Mapped[str]
    uploaded_at: Mapped[datetime]
    media_type: Mapped[str]
    paged: Mapped[bool]
    title: Mapped[str]
    project: Mapped[str | None]
    source_type: Mapped[str]
    labels: Mapped[dict[str, Any]]
    date: Mapped[datetime | None]
    tags: Mapped[list[str]]
    pages: Mapped[int] = mapped_column(Integer())
    passages: Mapped[int] = mapped_column(Integer())
    warnings: Mapped[list[str]]
    step: Mapped[str]
    failure: Mapped[str]
    remedy: Mapped[str]
    cure: Mapped[str] = mapped_column(server_default=text("'again'"))
    archived: Mapped[bool]
    origin: Mapped[str] = mapped_column(server_default=text("'document'"))
    owner: Mapped[str] = mapped_column(server_default=text("''"))
    url: Mapped[str] = mapped_column(server_default=text("''"))
    parent: Mapped[int | None]
    version_of: Mapped[int | None]
    readable: Mapped[str] = mapped_column(server_default=text("''"))


class PageRow(Base):
    """One page of extracted text."""

    __tablename__ = "pages"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(Integer(), primary_key=True)
    text: Mapped[str]
    label: Mapped[str]


class KnowledgeChunk(Base):
    """One passage, everything filters read beside it, and its vector.

    Filters never join: what they read of the document (project, archived …) is repeated here. Only documents that
    were ready have passages, so "ready" needs no join either. `sentences` is start, end, start, end …: sentence spans
    are only ever read with their passage, and 2n numbers in the row cost one read where a table of spans costs n rows.
    `evidence` is the truth's evidence. `embedding` has no fixed width, because the embedding model is a setting;
    `embedded_by` names the model, and vectors of different models never mix.
    """

    __tablename__ = "knowledge_chunks"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
        Index("knowledge_chunks_reading_order", "tenant_id", "document_id", "position"),
        # Holds what filters read, so that ids are filtered and counted without the wide rows they stand in.
        Index("knowledge_chunks_filters", "tenant_id", "id", postgresql_include=_FILTERED),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("knowledge_chunks_id_seq"), primary_key=True)
    document_id: Mapped[int]
    document_name: Mapped[str]
    position: Mapped[int] = mapped_column(Integer())
    page: Mapped[int] = mapped_column(Integer())
    start: Mapped[int] = mapped_column("span_start", Integer())
    end: Mapped[int] = mapped_column("span_end", Integer())
    text: Mapped[str]
    sentences: Mapped[list[int]]
    section: Mapped[str]
    context: Mapped[str]
    rows: Mapped[list[int] | None] = mapped_column("table_rows")
    truth: Mapped[str | None]
    truth_probability: Mapped[float]
    evidence: Mapped[list[dict[str, Any]]]
    domain: Mapped[str | None]
    authority: Mapped[str | None]
    jurisdiction: Mapped[str | None]
    date: Mapped[datetime | None]
    temporal_class: Mapped[str | None]
    source_type: Mapped[str]
    origin: Mapped[str]
    sector: Mapped[str | None]
    table_role: Mapped[str | None]
    project: Mapped[str | None]
    tags: Mapped[list[str]]
    entities: Mapped[list[str]]
    keywords: Mapped[list[str]]
    archived: Mapped[bool]
    meanings: Mapped[bytes]
    embedding: Mapped[Any | None] = mapped_column(VECTOR())
    embedded_by: Mapped[str | None]


class Correction(Base):
    """An analyst's label for these bytes. Rows are added, never changed: the latest per field holds."""

    __tablename__ = "corrections"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("corrections_of_bytes", "tenant_id", "sha256", "field", text("id DESC")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("corrections_id_seq"), primary_key=True)
    sha256: Mapped[str]
    field: Mapped[str]
    value: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]


class SearchedQuestion(Base):
    """A question that was asked, and how many hits it had."""

    __tablename__ = "searches"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("searches_newest", "tenant_id", text("id DESC")),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("searches_id_seq"), primary_key=True)
    question: Mapped[str]
    hits: Mapped[int] = mapped_column(Integer())
    at: Mapped[datetime]


class Word(Base):
    """A word of the library and what it means, by the embedding model. Rows are only added: a word that no passage
    holds any more does no harm."""

    __tablename__ = "words"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("words_newest", "tenant_id", "model", "id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    model: Mapped[str] = mapped_column(primary_key=True)
    stem: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("words_id_seq"))
    word: Mapped[str]
    codes: Mapped[bytes]


DOCUMENTS = cast(Table, DocumentRow.__table__)
PAGES = cast(Table, PageRow.__table__)
CHUNKS = cast(Table, KnowledgeChunk.__table__)
CORRECTIONS = cast(Table, Correction.__table__)
SEARCHES = cast(Table, SearchedQuestion.__table__)
WORDS = cast(Table, Word.__table__)
