"""The tables of insights and episodes. `data` holds the whole value as JSON but its links; the columns beside it are
what is looked for, and hold where both say something.

Rows are never deleted: a deleted memory keeps its own, with the moment of its deletion. `words` is what it tells, in
lower case by Python's rules, because the server's own depend on its locale.
"""

from datetime import datetime
from typing import Annotated, Any, cast

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, Integer, Sequence, Table, text
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["EPISODES", "INSIGHTS", "LINKS", "Base", "EpisodeRow", "InsightRow", "LinkRow"]

_Value = Annotated[dict[str, Any], mapped_column(JSON())]


class InsightRow(Base):
    """One note on evidence."""

    __tablename__ = "insights"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("insights_newest", "tenant_id", text("at DESC"), text("id DESC")),
        Index("insights_of_document", "tenant_id", "document_id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("insights_id_seq"), primary_key=True)
    project: Mapped[str | None]
    sector: Mapped[str]
    tags: Mapped[list[str]]
    words: Mapped[str]
    at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    document_id: Mapped[int]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[_Value]


class EpisodeRow(Base):
    """One question with what came of it."""

    __tablename__ = "episodes"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("episodes_newest", "tenant_id", text("at DESC"), text("id DESC")),
        Index("episodes_of_document", "tenant_id", "document_id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("episodes_id_seq"), primary_key=True)
    project: Mapped[str | None]
    sector: Mapped[str]
    tags: Mapped[list[str]]
    words: Mapped[str]
    at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    document_id: Mapped[int]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[_Value]


class LinkRow(Base):
    """One passage that an insight or episode rests on. It outlives its document: the quote still says what it was."""

    __tablename__ = "links"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "insight_id"], ["insights.tenant_id", "insights.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "episode_id"], ["episodes.tenant_id", "episodes.id"], ondelete="CASCADE"),
        CheckConstraint("num_nonnulls(insight_id, episode_id) = 1", name="links_of_one_memory"),
        Index("links_of_insight", "tenant_id", "insight_id"),
        Index("links_of_episode", "tenant_id", "episode_id"),
        Index("links_to_document", "tenant_id", "document_id"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("links_id_seq"), primary_key=True)
    insight_id: Mapped[int | None]
    episode_id: Mapped[int | None]
    document_id: Mapped[int]
    data: Mapped[_Value]


INSIGHTS = cast(Table, InsightRow.__table__)
EPISODES = cast(Table, EpisodeRow.__table__)
LINKS = cast(Table, LinkRow.__table__)
