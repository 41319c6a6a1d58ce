"""Which passages name what, in PostgreSQL. Names are looked up by equality alone: row-level security lets no index on
arrays be used (see the migration)."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    Connection,
    Float,
    Text,
    any_,
    cast,
    column,
    delete,
    func,
    insert,
    literal,
    select,
    text,
    true,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY

from core.documents import DocumentState, Passage
from core.entities import Entity, EntityPage, EntityType, KnownEntity
from core.filters import SearchFilters
from core.ports import PassageIds
from storage.database import Database
from storage.entity_models import ENTITIES
from storage.models import CHUNKS, DOCUMENTS
from storage.rows import storable_text
from storage.sql_filters import conditions

__all__ = ["SqlEntityGraph"]

_PLANNED = text("SELECT set_config('plan_cache_mode', 'force_custom_plan', true)")


class SqlEntityGraph:
    """core.entities.EntityGraph. A deleted document takes its entities along, an archived or failed one hides them."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def add(self, passages: Sequence[Passage], entities: Sequence[Entity]) -> None:
        """Keep what these documents' passages name, in place of what was kept of them. Raises StoreFailed."""
        told = {storable_text(entity.name): entity for entity in entities}
        holders: dict[tuple[int, str], set[int]] = {}
        for passage in passages:
            for name in {storable_text(name) for name in passage.entities} & told.keys():
                holders.setdefault((passage.document_id, name), set()).add(passage.id)
        rows = [
            self._row(document_id, told[name], spelling, sorted(ids) if spelling == name else [])
            for (document_id, name), ids in holders.items()
            for spelling in dict.fromkeys((name, *map(storable_text, told[name].aliases)))
        ]
        with self._database.transaction("storing entities") as connection:
            connection.execute(self._forgotten({passage.document_id for passage in passages}))
            if rows:
                connection.execute(insert(ENTITIES), rows)

    def _row(self, document_id: int, entity: Entity, spelling: str, ids: list[int]) -> dict[str, Any]:
        own = {"tenant_id": self._tenant, "document_id": document_id, "name": storable_text(entity.name)}
        said = {"spelling": spelling, "type": str(entity.type), "folded": spelling.casefold()}
        return own | said | {"passages": [int(i) for i in ids]}

    def delete(self, document_ids: Sequence[int]) -> None:
        """Forget what these documents name. Raises StoreFailed."""
        with self._database.transaction("deleting entities") as connection:
            connection.execute(self._forgotten(document_ids))

    @contextmanager
    def _reading(self, doing: str) -> Iterator[Connection]:
        """A transaction whose statements are planned for their values: one plan for any number of names reads the whole
        table, and takes fifty times as long."""
        with self._database.transaction(doing) as connection:
            connection.execute(_PLANNED)
            yield connection

    def _forgotten(self, document_ids: Any) -> Any:
        chosen = ENTITIES.c.document_id == any_(literal([int(i) for i in document_ids], ARRAY(BigInteger)))
        return delete(ENTITIES).where(ENTITIES.c.tenant_id == self._tenant, chosen)

    def known(self, names: Sequence[str]) -> Mapping[str, KnownEntity]:
        """Asked spelling → the entity it names. Raises StoreFailed."""
        asked = {name: storable_text(name) for name in names}
        if not asked:
            return {}
        with self._reading("looking for entities") as connection:
            rows = self._spelled(connection, {said.casefold() for said in asked.values()})
            short = {row.name for row in rows if row.spelling != row.name and row.spelling in set(asked.values())}
            missing = {name.casefold() for name in short} - {row.folded for row in rows if row.spelling == row.name}
            rows = [*rows, *(self._spelled(connection, missing) if missing else ())]
        own = [row for row in rows if row.spelling == row.name]
        there = sorted((_known(row, {}) for row in own), key=_first, reverse=True)
        by_name = {each.entity.name: each for each in there}
        by_folded = {each.entity.name.casefold(): each for each in there}
        aliases = [(row.spelling, by_name[row.name]) for row in rows if row.spelling != row.name if row.name in by_name]
        by_alias = dict(sorted(aliases, key=lambda pair: _first(pair[1]), reverse=True))
        found = {name: by_folded.get(said.casefold()) or by_alias.get(said) for name, said in asked.items()}
        return {name: each for name, each in found.items() if each is not None}

    def _spelled(self, connection: Connection, folded: set[str]) -> Sequence[Any]:
        """Entities of living documents with one of these spellings, and how many passages name them."""
        chosen = ENTITIES.c.folded == any_(literal(sorted(folded), ARRAY(Text)))
        query = self._living(_counted(ENTITIES.c.spelling, ENTITIES.c.folded)).where(chosen)
        return list(connection.execute(query))

    def _aliases(self, connection: Connection, names: Sequence[str]) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """(name, type) → its aliases, sorted, by the documents that name it."""
        holders = ENTITIES.alias("holders")
        folded = holders.c.folded == any_(literal(sorted({name.casefold() for name in names}), ARRAY(Text)))
        same = (
            (ENTITIES.c.tenant_id == holders.c.tenant_id)
            & (ENTITIES.c.document_id == holders.c.document_id)
            & (ENTITIES.c.name == holders.c.name)
        )
        query = (
            self._living(select(ENTITIES.c.name, ENTITIES.c.type, ENTITIES.c.spelling).distinct())
            .join(holders, same)
            .where(folded, holders.c.spelling == holders.c.name, ENTITIES.c.spelling != ENTITIES.c.name)
        )
        found: dict[tuple[str, str], list[str]] = {}
        for name, kind, spelling in connection.execute(query):
            found.setdefault((name, kind), []).append(spelling)
        return {key: tuple(sorted(spellings)) for key, spellings in found.items()}

    def holding(
        self, weights: Mapping[str, float], filters: SearchFilters, among: PassageIds | None, most: int
    ) -> Sequence[tuple[int, tuple[str, ...]]]:
        """Admissible passages that name any of these, by the sum of the weights they hold, then by id."""
        if not weights or most <= 0:
            return []
        asked = self._asked(weights)
        own = (ENTITIES.c.tenant_id == self._tenant, ENTITIES.c.folded == asked.c.folded)
        ids = func.unnest(ENTITIES.c.passages).label("id")
        held = (
            select(ids, asked.c.weight)
            .select_from(ENTITIES.join(asked, true()))
            .where(*own, ENTITIES.c.name == asked.c.name, ENTITIES.c.spelling == ENTITIES.c.name)
            .subquery()
        )
        weighed = select(held.c.id, func.sum(held.c.weight).label("weight")).group_by(held.c.id).subquery()
        query = (
            select(CHUNKS.c.id, CHUNKS.c.entities)
            .join(weighed, weighed.c.id == CHUNKS.c.id)
            .where(CHUNKS.c.tenant_id == self._tenant, *self._admissible(filters, among))
            .order_by(weighed.c.weight.desc(), CHUNKS.c.id)
            .limit(most)
        )
        with self._reading("searching by entities") as connection:
            return [(int(row.id), tuple(row.entities)) for row in connection.execute(query)]

    def _asked(self, weights: Mapping[str, float]) -> Any:
        """The names with their weights, as rows."""
        names = [storable_text(name) for name in weights]
        return (
            func.unnest(
                cast(names, ARRAY(Text)),
                cast([name.casefold() for name in names], ARRAY(Text)),
                cast([float(weight) for weight in weights.values()], ARRAY(Float(53))),
            )
            .table_valued(
                column("name", Text), column("folded", Text), column("weight", Float(53)), joins_implicitly=True
            )
            .render_derived("asked")
        )

    def rows(self, filters: SearchFilters, among: PassageIds | None) -> tuple[int, int]:
        """(passages in the library, those that may be found). Raises StoreFailed."""
        chosen = self._admissible(filters, among)
        found = func.count().filter(*chosen) if chosen else func.count()
        query = select(func.count(), found).select_from(CHUNKS).where(CHUNKS.c.tenant_id == self._tenant)
        with self._database.transaction("counting passages") as connection:
            before, after = connection.execute(query).one()
        return int(before), int(after)

    def _admissible(self, filters: SearchFilters, among: PassageIds | None) -> list[Any]:
        chosen: list[Any] = [*conditions(filters)]
        if among is not None:
            chosen.append(CHUNKS.c.id == any_(literal(np.asarray(among).tolist(), ARRAY(BigInteger))))
        return chosen

    def search(self, part: str, kind: EntityType | None, *, limit: int, offset: int = 0) -> EntityPage:
        """Entities whose name or alias holds `part`, those in most passages first, then by name. Raises StoreFailed."""
        folded = storable_text(part.strip().casefold())
        spelled = self._living(select(ENTITIES.c.name, ENTITIES.c.type)).where(
            func.strpos(ENTITIES.c.folded, folded) > 0
        )
        own = ENTITIES.c.spelling == ENTITIES.c.name
        entities = self._living(_counted()).where(own)
        if folded:
            entities = entities.where(tuple_(ENTITIES.c.name, ENTITIES.c.type).in_(spelled))
        if kind is not None:
            entities = entities.where(ENTITIES.c.type == str(kind))
        there = entities.subquery()
        name = there.c.name.collate("C")
        page = select(there).order_by(there.c.passages.desc(), name, there.c.type).limit(limit).offset(offset)
        with self._reading("looking through entities") as connection:
            total = int(connection.scalar(select(func.count()).select_from(there)) or 0)
            rows = connection.execute(page).all()
            aliases = self._aliases(connection, [row.name for row in rows])
        return EntityPage(tuple(_known(row, aliases) for row in rows), total)

    def _living(self, query: Any) -> Any:
        """Of documents that are neither archived nor failed."""
        same = (DOCUMENTS.c.tenant_id == ENTITIES.c.tenant_id) & (DOCUMENTS.c.id == ENTITIES.c.document_id)
        return query.join(DOCUMENTS, same).where(
            ENTITIES.c.tenant_id == self._tenant, ~DOCUMENTS.c.archived, DOCUMENTS.c.state != str(DocumentState.FAILED)
        )


def _counted(*others: Any) -> Any:
    """Names with their type (and more columns), and how many passages name them."""
    columns = (ENTITIES.c.name, ENTITIES.c.type, *others)
    passages = func.sum(func.cardinality(ENTITIES.c.passages)).label("passages")
    return select(*columns, passages).select_from(ENTITIES).group_by(*columns)


def _known(row: Any, aliases: Mapping[tuple[str, str], tuple[str, ...]]) -> KnownEntity:
    return KnownEntity(Entity(row.name, EntityType(row.type), aliases.get((row.name, row.type), ())), int(row.passages))


def _first(known: KnownEntity) -> tuple[int, str, str]:
    return -known.passages, known.entity.name, known.entity.type
