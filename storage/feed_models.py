"""The tables of feeds: the feeds that are followed, and which of their entries are documents. `data` holds the whole
value as JSON; the columns beside it are what is looked for."""

from typing import Annotated, Any, cast

from sqlalchemy import ForeignKeyConstraint, Index, Sequence, Table
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["FEEDS", "FEED_ENTRIES", "Base", "FeedEntryRow", "FeedRow"]


class FeedRow(Base):
    """One feed. An address is followed once for each project."""

    __tablename__ = "feeds"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("feeds_once", "tenant_id", "url", "project", unique=True, postgresql_nulls_not_distinct=True),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("feeds_id_seq"), primary_key=True)
    url: Mapped[str]
    project: Mapped[str | None]
    data: Mapped[Annotated[dict[str, Any], mapped_column(JSON())]]


class FeedEntryRow(Base):
    """One entry that was made a document, and the digest it had then."""

    __tablename__ = "feed_entries"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "feed_id"], ["feeds.tenant_id", "feeds.id"], ondelete="CASCADE"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    feed_id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    digest: Mapped[str]


FEEDS = cast(Table, FeedRow.__table__)
FEED_ENTRIES = cast(Table, FeedEntryRow.__table__)
