"""Insights and episodes with their evidence links in PostgreSQL."""
# Over 300 lines: two tables with the same columns, and the links of both, are one port.

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from math import ceil
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Connection,
    ForeignKeyConstraint,
    Index,
    Integer,
    Table,
    delete,
    func,
    insert,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.documents import Origin, Sector
from core.domain.sanitize import storable_text
from core.insights.store import (
    Episode,
    EvidenceLink,
    Insight,
    InsightCounts,
    InsightOrEpisode,
    InsightPage,
    InsightQuery,
    M,
    check_paging,
    insight_not_found,
    outdated_insight,
)
from storage.postgres.database import Database
from storage.postgres.document_projects import DOCUMENT_PROJECTS, KNOWN_DOCUMENTS, redact_purged
from storage.postgres.json_records import any_of, from_json, next_id, next_ids, storable, to_json
from storage.postgres.tables import BY_PROJECT, Base, JsonValue, allow, id_column, of_tenant, table_of

__all__ = ["EPISODES", "INSIGHTS", "LINKS", "EpisodeRow", "InsightRow", "LinkRow", "SqlInsightStore"]

_SEEN = f"({BY_PROJECT}) AND NOT EXISTS (SELECT FROM links WHERE links.tenant_id = {{1}}.tenant_id"
_SEEN += f" AND links.{{0}} = {{1}}.id AND links.document_id NOT IN {KNOWN_DOCUMENTS})"
"""An insight or episode is visible where its project is and that of every document it cites."""


class InsightRow(Base):
    """One insight."""

    __tablename__ = "insights"
    __table_args__ = (
        of_tenant(),
        Index("insights_newest", "tenant_id", text("at DESC"), text("id DESC")),
        Index("insights_of_document", "tenant_id", "document_id"),
        allow(
            "SELECT, INSERT, UPDATE (project, sector, tags, words, deleted_at, document_id, version, data)",
            seen=_SEEN.format("insight_id", "insights"),
        ),
    )

    id: Mapped[int] = id_column("insights_id_seq")
    project: Mapped[str | None]
    sector: Mapped[str]
    tags: Mapped[list[str]]
    words: Mapped[str]
    at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    document_id: Mapped[int]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]


class EpisodeRow(Base):
    """One episode: a question and its outcome."""

    __tablename__ = "episodes"
    __table_args__ = (
        of_tenant(),
        Index("episodes_newest", "tenant_id", text("at DESC"), text("id DESC")),
        Index("episodes_of_document", "tenant_id", "document_id"),
        allow(
            "SELECT, INSERT, UPDATE (project, sector, tags, words, deleted_at, document_id, version, data)",
            seen=_SEEN.format("episode_id", "episodes"),
        ),
    )

    id: Mapped[int] = id_column("episodes_id_seq")
    project: Mapped[str | None]
    sector: Mapped[str]
    tags: Mapped[list[str]]
    words: Mapped[str]
    at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    document_id: Mapped[int]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]


class LinkRow(Base):
    """A passage that supports an insight or episode. It outlives its document: the quote keeps the text."""

    __tablename__ = "links"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "insight_id"], ["insights.tenant_id", "insights.id"], ondelete="CASCADE"),
        ForeignKeyConstraint(["tenant_id", "episode_id"], ["episodes.tenant_id", "episodes.id"], ondelete="CASCADE"),
        CheckConstraint("num_nonnulls(insight_id, episode_id) = 1", name="links_of_one_memory"),
        Index("links_of_insight", "tenant_id", "insight_id"),
        Index("links_of_episode", "tenant_id", "episode_id"),
        Index("links_to_document", "tenant_id", "document_id"),
        allow("SELECT, INSERT, DELETE"),
    )

    id: Mapped[int] = id_column("links_id_seq")
    insight_id: Mapped[int | None]
    episode_id: Mapped[int | None]
    document_id: Mapped[int]
    data: Mapped[JsonValue]


INSIGHTS = table_of(InsightRow)
EPISODES = table_of(EpisodeRow)
LINKS = table_of(LinkRow)

_TABLES = {Origin.INSIGHT: INSIGHTS, Origin.EPISODE: EPISODES}
_OWNERS = {Origin.INSIGHT: LINKS.c.insight_id, Origin.EPISODE: LINKS.c.episode_id}


class SqlInsightStore:
    """Implements core.insights.store.InsightStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def add(self, insight: M) -> M:
        """Store a new insight or episode."""
        table = _TABLES[insight.origin]
        with self._database.transaction(f"storing an {insight.origin.value}") as connection:
            new = replace(self._redacted(connection, insight), id=next_id(connection, table), version=1)
            row = _row(new) | {"tenant_id": self._tenant, "id": new.id, "at": new.at, "document_id": new.document_id}
            connection.execute(insert(table).values(row))
            self._link(connection, new)
        return new

    def _redacted(self, connection: Connection, insight: M) -> M:
        return replace(insight, links=tuple(redact_purged(self._database, connection, insight.links)))

    def _link(self, connection: Connection, insight: InsightOrEpisode) -> None:
        """Replace the links of an insight or episode."""
        owner = _OWNERS[insight.origin]
        connection.execute(delete(LINKS).where(LINKS.c.tenant_id == self._tenant, owner == insight.id))
        ids = next_ids(connection, LINKS, len(insight.links))
        own = {"tenant_id": self._tenant, owner.name: insight.id}
        rows = [
            own | {"id": number, "document_id": link.document_id, "data": to_json(link)}
            for number, link in zip(ids, insight.links, strict=True)
        ]
        if rows:
            connection.execute(insert(LINKS), rows)

    def change(self, insight: M) -> M:
        """Store a changed insight or episode. Raises NotFound, and Outdated when it changed since it was read."""
        table = _TABLES[insight.origin]
        own = (table.c.tenant_id == self._tenant, table.c.id == insight.id)
        with self._database.transaction(f"storing an {insight.origin.value}") as connection:
            new = replace(self._redacted(connection, insight), version=insight.version + 1)
            statement = update(table).where(*own, table.c.version == insight.version).values(_row(new))
            document_id = connection.scalar(statement.returning(table.c.document_id))
            if document_id is None:
                existing = connection.scalar(select(table.c.id).where(*own))
                raise insight_not_found(type(insight), insight.id) if existing is None else outdated_insight(insight)
            self._link(connection, new)
        return replace(new, document_id=document_id)

    def assign_document(self, insight: InsightOrEpisode, document_id: int) -> None:
        """Store which document makes it searchable. Raises NotFound."""
        table = _TABLES[insight.origin]
        own = (table.c.tenant_id == self._tenant, table.c.id == insight.id)
        with self._database.transaction(f"storing an {insight.origin.value}") as connection:
            if connection.execute(update(table).where(*own).values(document_id=document_id)).rowcount == 0:
                raise insight_not_found(type(insight), insight.id)

    def find(self, kind: type[M], insight_id: int) -> M:
        """One insight or episode, also a deleted one. Raises NotFound."""
        insights = self._read(kind, _TABLES[kind.origin].c.id == insight_id)
        if not insights:
            raise insight_not_found(kind, insight_id)
        return insights[0]

    def listed(self, kind: type[M], query: InsightQuery, page: int, per_page: int) -> InsightPage[M]:
        """Insights or episodes, newest first. Raises BadRequest for an invalid limit."""
        check_paging(page, per_page)
        conditions = _conditions(_TABLES[kind.origin], query)
        with self._database.transaction("counting notes") as connection:
            own = _TABLES[kind.origin].c.tenant_id == self._tenant
            total = int(connection.scalar(select(func.count()).where(own, *conditions)) or 0)
        items = self._read(kind, *conditions, limit=per_page, offset=(page - 1) * per_page)
        return InsightPage(tuple(items), total, page, max(1, ceil(total / per_page)))

    def counts(self, kind: type[M], query: InsightQuery) -> InsightCounts:
        """Counts beside the filters of a list: of sectors and of tags under the other filters."""
        table = _TABLES[kind.origin]

        def matching(column: Any, filters: InsightQuery) -> Any:
            return select(column).where(table.c.tenant_id == self._tenant, *_conditions(table, filters)).subquery()

        every = matching(table.c.id, InsightQuery(deleted=query.deleted))
        sector_rows = matching(table.c.sector, replace(query, sectors=()))
        tag_rows = matching(func.unnest(table.c.tags).label("tag"), replace(query, tags=()))
        with self._database.transaction("counting notes") as connection:
            total = int(connection.scalar(select(func.count()).select_from(every)) or 0)
            sectors = connection.execute(
                select(sector_rows.c.sector, func.count()).group_by(sector_rows.c.sector)
            ).all()
            tags = connection.execute(select(tag_rows.c.tag, func.count()).group_by(tag_rows.c.tag)).all()
        return InsightCounts(total, {Sector(name): number for name, number in sectors}, dict(map(tuple, tags)))

    def about(self, kind: type[M], document_ids: Sequence[int]) -> Sequence[M]:
        """Those not deleted that link to any of these documents, newest first."""
        table, owner = _TABLES[kind.origin], _OWNERS[kind.origin]
        linked = select(owner).where(LINKS.c.tenant_id == self._tenant, LINKS.c.document_id == any_of(document_ids))
        return self._read(kind, table.c.deleted_at.is_(None), table.c.id.in_(linked))

    def behind(self, kind: type[M], document_ids: Sequence[int]) -> Mapping[int, M]:
        """Searchable document → its insight or episode, unless deleted."""
        table = _TABLES[kind.origin]
        insights = self._read(kind, table.c.deleted_at.is_(None), table.c.document_id == any_of(document_ids))
        return {insight.document_id: insight for insight in insights if insight.document_id}

    def renew_words(self, document_id: int) -> None:
        """Fold the texts again of all that link to a document, also of deleted ones: its quotes have changed."""
        kinds: tuple[type[InsightOrEpisode], ...] = (Insight, Episode)
        for kind in kinds:
            table, owner = _TABLES[kind.origin], _OWNERS[kind.origin]
            linked = select(owner).where(LINKS.c.tenant_id == self._tenant, LINKS.c.document_id == document_id)
            for each in self._read(kind, table.c.id.in_(linked)):
                words = {"words": _folded(each.searchable_text)}
                with self._database.transaction("storing a note") as connection:
                    own = (table.c.tenant_id == self._tenant, table.c.id == each.id)
                    connection.execute(update(table).where(*own).values(words))

    def every(self, kind: type[M]) -> Sequence[M]:
        """All of them, including deleted ones, oldest first."""
        return sorted(self._read(kind), key=lambda insight: insight.id)

    def projects_of(self, document_ids: Sequence[int]) -> Mapping[int, str | None]:
        """Document → its project, or the last one of a deleted document; those that never were are absent."""
        own = (DOCUMENT_PROJECTS.c.tenant_id == self._tenant, DOCUMENT_PROJECTS.c.document_id == any_of(document_ids))
        query = select(DOCUMENT_PROJECTS.c.document_id, DOCUMENT_PROJECTS.c.project).where(*own)
        with self._database.transaction("reading projects of documents") as connection:
            return {row.document_id: row.project for row in connection.execute(query)}

    def _read(self, kind: type[M], *conditions: Any, limit: int | None = None, offset: int = 0) -> Sequence[M]:
        """Those that meet the conditions, with their links, newest first."""
        table, owner = _TABLES[kind.origin], _OWNERS[kind.origin]
        columns = (table.c.id, table.c.document_id, table.c.version, table.c.data)
        query = select(*columns).where(table.c.tenant_id == self._tenant, *conditions)
        query = query.order_by(table.c.at.desc(), table.c.id.desc()).limit(limit).offset(offset)
        with self._database.transaction("reading notes") as connection:
            rows = connection.execute(query).all()
            own = (LINKS.c.tenant_id == self._tenant, owner == any_of([row.id for row in rows]))
            linked = (
                connection.execute(select(owner, LINKS.c.data).where(*own).order_by(LINKS.c.id)).all() if rows else []
            )
        links: dict[int, list[EvidenceLink]] = {}
        for insight_id, data in linked:
            links.setdefault(insight_id, []).append(from_json(EvidenceLink, data))
        return [_insight(kind, row, tuple(links.get(row.id, ()))) for row in rows]


def _insight(kind: type[M], row: Any, links: tuple[EvidenceLink, ...]) -> M:
    return replace(from_json(kind, row.data), id=row.id, document_id=row.document_id, version=row.version, links=links)


def _row(insight: InsightOrEpisode) -> dict[str, Any]:
    """The columns that a change stores; the searchable document is not among them."""
    return {
        "project": storable(insight.project),
        "sector": insight.sector.value,
        "tags": storable(insight.tags),
        "words": _folded(insight.searchable_text),
        "deleted_at": insight.deleted_at,
        "version": insight.version,
        "data": to_json(replace(insight, links=())),
    }


def _folded(text: str) -> str:
    return storable_text(text).casefold()


def _conditions(table: Table, query: InsightQuery) -> list[Any]:
    conditions: list[Any] = [table.c.deleted_at.is_not(None) if query.deleted else table.c.deleted_at.is_(None)]
    if words := _folded(query.words.strip()):
        conditions.append(func.strpos(table.c.words, words) > 0)
    if query.sectors:
        conditions.append(table.c.sector.in_([sector.value for sector in query.sectors]))
    if query.tags:
        conditions.append(table.c.tags.overlap(literal(storable(query.tags), table.c.tags.type)))
    if query.project is not None:
        conditions.append((table.c.project == storable_text(query.project)) | table.c.project.is_(None))
    return conditions
