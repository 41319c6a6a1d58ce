"""Insights and episodes in PostgreSQL. Values travel as JSON, written and read by their own types."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from sqlalchemy import BigInteger, Connection, Table, any_, cast, delete, func, insert, literal, select, update
from sqlalchemy import Sequence as Ids
from sqlalchemy.dialects.postgresql import ARRAY

from core.documents import Origin, Sector
from core.memories import (
    Link,
    M,
    Memory,
    MemoryCounts,
    MemoryPage,
    MemoryQuery,
    check_paging,
    no_memory,
    outdated_memory,
)
from storage.database import Database
from storage.json_values import read, written
from storage.memory_models import EPISODES, INSIGHTS, LINKS
from storage.rows import storable_text

__all__ = ["SqlMemoryStore"]

_TABLES = {Origin.INSIGHT: INSIGHTS, Origin.EPISODE: EPISODES}
_OWNERS = {Origin.INSIGHT: LINKS.c.insight_id, Origin.EPISODE: LINKS.c.episode_id}


class SqlMemoryStore:
    """core.memories.MemoryStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def add(self, memory: M) -> M:
        """Store a new one."""
        table = _TABLES[memory.origin]
        with self._database.transaction(f"storing an {memory.origin.value}") as connection:
            (new_id,) = _ids(connection, f"{table.name}_id_seq", 1)
            new = replace(memory, id=new_id, version=1)
            row = _row(new) | {"tenant_id": self._tenant, "id": new_id, "at": new.at, "document_id": new.document_id}
            connection.execute(insert(table).values(row))
            self._link(connection, new)
        return new

    def _link(self, connection: Connection, memory: Memory) -> None:
        """The links of a memory, in the place of those before."""
        owner = _OWNERS[memory.origin]
        connection.execute(delete(LINKS).where(LINKS.c.tenant_id == self._tenant, owner == memory.id))
        ids = _ids(connection, "links_id_seq", len(memory.links))
        own = {"tenant_id": self._tenant, owner.name: memory.id}
        rows = [
            own | {"id": number, "document_id": link.document_id, "data": written(link)}
            for number, link in zip(ids, memory.links, strict=True)
        ]
        if rows:
            connection.execute(insert(LINKS), rows)

    def change(self, memory: M) -> M:
        """Store it as changed since it was read. Raises Outdated, NotFound."""
        table, new = _TABLES[memory.origin], replace(memory, version=memory.version + 1)
        own = (table.c.tenant_id == self._tenant, table.c.id == memory.id)
        with self._database.transaction(f"storing an {memory.origin.value}") as connection:
            kept = update(table).where(*own, table.c.version == memory.version).values(_row(new))
            document_id = connection.scalar(kept.returning(table.c.document_id))
            if document_id is None:
                known = connection.scalar(select(table.c.id).where(*own))
                raise no_memory(type(memory), memory.id) if known is None else outdated_memory(memory)
            self._link(connection, new)
        return replace(new, document_id=document_id)

    def place(self, memory: Memory, document_id: int) -> None:
        """Keep which document is its searchable side. Raises NotFound."""
        table = _TABLES[memory.origin]
        own = (table.c.tenant_id == self._tenant, table.c.id == memory.id)
        with self._database.transaction(f"storing an {memory.origin.value}") as connection:
            if connection.execute(update(table).where(*own).values(document_id=document_id)).rowcount == 0:
                raise no_memory(type(memory), memory.id)

    def find(self, kind: type[M], memory_id: int) -> M:
        """Living or deleted. Raises NotFound."""
        found = self._read(kind, _TABLES[kind.origin].c.id == memory_id)
        if not found:
            raise no_memory(kind, memory_id)
        return found[0]

    def listed(self, kind: type[M], query: MemoryQuery, page: int, per_page: int) -> MemoryPage[M]:
        """Newest first. Raises BadRequest for limits no list has."""
        check_paging(page, per_page)
        wanted = _wanted(_TABLES[kind.origin], query)
        with self._database.transaction("counting notes") as connection:
            own = _TABLES[kind.origin].c.tenant_id == self._tenant
            total = int(connection.scalar(select(func.count()).where(own, *wanted)) or 0)
        items = self._read(kind, *wanted, limit=per_page, offset=(page - 1) * per_page)
        return MemoryPage(tuple(items), total, page, max(1, ceil(total / per_page)))

    def counts(self, kind: type[M], project: str | None) -> MemoryCounts:
        """Of the living ones of a project and of the whole library; None: of all."""
        table = _TABLES[kind.origin]
        own = (table.c.tenant_id == self._tenant, *_wanted(table, MemoryQuery(project=project)))
        tag = func.unnest(table.c.tags).label("tag")
        each = select(tag).where(*own).subquery()
        with self._database.transaction("counting notes") as connection:
            sectors = connection.execute(
                select(table.c.sector, func.count()).where(*own).group_by(table.c.sector)
            ).all()
            tags = connection.execute(select(each.c.tag, func.count().label("number")).group_by(each.c.tag)).all()
        by_sector = {Sector(name): number for name, number in sectors}
        return MemoryCounts(sum(by_sector.values()), by_sector, {row.tag: row.number for row in tags})

    def about(self, kind: type[M], document_ids: Sequence[int]) -> Sequence[M]:
        """The living ones that link to any of these documents, newest first."""
        table, owner = _TABLES[kind.origin], _OWNERS[kind.origin]
        linked = select(owner).where(LINKS.c.tenant_id == self._tenant, LINKS.c.document_id == _any_of(document_ids))
        return self._read(kind, table.c.deleted_at.is_(None), table.c.id.in_(linked))

    def behind(self, kind: type[M], document_ids: Sequence[int]) -> Mapping[int, M]:
        """Searchable document → the living memory it belongs to."""
        table = _TABLES[kind.origin]
        found = self._read(kind, table.c.deleted_at.is_(None), table.c.document_id == _any_of(document_ids))
        return {memory.document_id: memory for memory in found if memory.document_id}

    def every(self, kind: type[M]) -> Sequence[M]:
        """All of them, deleted ones too, oldest first."""
        return sorted(self._read(kind), key=lambda memory: memory.id)

    def _read(self, kind: type[M], *conditions: Any, limit: int | None = None, offset: int = 0) -> Sequence[M]:
        """Those that fulfil the conditions, with their links, newest first."""
        table, owner = _TABLES[kind.origin], _OWNERS[kind.origin]
        columns = (table.c.id, table.c.document_id, table.c.version, table.c.data)
        query = select(*columns).where(table.c.tenant_id == self._tenant, *conditions)
        query = query.order_by(table.c.at.desc(), table.c.id.desc()).limit(limit).offset(offset)
        with self._database.transaction("reading notes") as connection:
            rows = connection.execute(query).all()
            own = (LINKS.c.tenant_id == self._tenant, owner == _any_of([row.id for row in rows]))
            linked = (
                connection.execute(select(owner, LINKS.c.data).where(*own).order_by(LINKS.c.id)).all() if rows else []
            )
        links: dict[int, list[Link]] = {}
        for memory_id, data in linked:
            links.setdefault(memory_id, []).append(read(Link, data))
        return [_memory(kind, row, tuple(links.get(row.id, ()))) for row in rows]


def _memory(kind: type[M], row: Any, links: tuple[Link, ...]) -> M:
    return replace(read(kind, row.data), id=row.id, document_id=row.document_id, version=row.version, links=links)


def _row(memory: Memory) -> dict[str, Any]:
    """What a change stores; where its searchable side stands is no part of it."""
    return {
        "project": None if memory.project is None else storable_text(memory.project),
        "sector": memory.sector.value,
        "tags": [storable_text(tag) for tag in memory.tags],
        "words": _folded(memory.told),
        "deleted_at": memory.deleted_at,
        "version": memory.version,
        "data": written(replace(memory, links=())),
    }


def _folded(text: str) -> str:
    return storable_text(text).casefold()


def _wanted(table: Table, query: MemoryQuery) -> list[Any]:
    wanted: list[Any] = [table.c.deleted_at.is_not(None) if query.deleted else table.c.deleted_at.is_(None)]
    if words := _folded(query.words.strip()):
        wanted.append(func.strpos(table.c.words, words) > 0)
    if query.sectors:
        wanted.append(table.c.sector.in_([sector.value for sector in query.sectors]))
    if query.tags:
        wanted.append(table.c.tags.overlap(literal([storable_text(tag) for tag in query.tags], table.c.tags.type)))
    if query.project is not None:
        wanted.append((table.c.project == storable_text(query.project)) | table.c.project.is_(None))
    return wanted


def _any_of(ids: Sequence[int]) -> Any:
    return any_(cast([int(each) for each in ids], ARRAY(BigInteger)))


def _ids(connection: Connection, sequence: str, count: int) -> list[int]:
    """The next ids, ascending."""
    rows = func.generate_series(1, count).table_valued("number")
    return sorted(connection.scalars(select(Ids(sequence).next_value()).select_from(rows)).all())
