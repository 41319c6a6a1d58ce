"""Named entities per document in PostgreSQL, and search by entity."""
# More than 300 lines: a table and all its queries are read together.

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any, NamedTuple

import numpy as np
from sqlalchemy import (
    BigInteger,
    Connection,
    Float,
    Index,
    Integer,
    Text,
    any_,
    bindparam,
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
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.documents import DocumentState, Passage
from core.domain.entities import Entity, EntityMentions, EntityPage, EntityType, KnownEntity, MentionPage
from core.domain.filters import SearchFilters
from core.domain.sanitize import storable_text
from core.ports.stores import PassageIds
from storage.postgres.database import Database
from storage.postgres.documents import DOCUMENTS
from storage.postgres.filters import conditions
from storage.postgres.passages import CHUNKS
from storage.postgres.tables import BY_DOCUMENT, Base, allow, of_document, table_of

__all__ = ["ENTITIES", "DocumentEntity", "SqlEntityGraph"]

_Ids = Annotated[list[int], mapped_column(ARRAY(BigInteger()))]


class DocumentEntity(Base):
    """One spelling of an entity in a document. The row whose spelling is the entity's name contains the passage ids;
    the rows of its aliases contain none. folded: the spelling after Python's casefold."""

    __tablename__ = "document_entities"
    __table_args__ = (
        of_document(),
        Index("document_entities_spelled", "tenant_id", "folded"),
        allow("SELECT, INSERT, UPDATE, DELETE", seen=BY_DOCUMENT),
    )

    document_id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    spelling: Mapped[str] = mapped_column(primary_key=True)
    type: Mapped[str]
    folded: Mapped[str]
    passages: Mapped[_Ids]


ENTITIES = table_of(DocumentEntity)

_PLANNED = text("SELECT set_config('plan_cache_mode', 'force_custom_plan', true)")


_ASKED = ("names", "folded", "weights", "among", "most")
_MOST_QUERIES = 32  # filters whose query is remembered. Chosen by hand.

_SPELLED = (
    "SELECT entity.name, entity.type, entity.spelling, entity.folded, sum(cardinality(entity.passages))::bigint"
    f" FROM {ENTITIES.name} AS entity"
    f" JOIN {DOCUMENTS.name} AS document ON document.tenant_id = entity.tenant_id AND document.id = entity.document_id"
    " WHERE entity.tenant_id = %(tenant)s AND entity.folded = ANY(%(folded)s::text[])"
    f" AND NOT document.archived AND document.state <> '{DocumentState.FAILED}'"
    " GROUP BY entity.name, entity.type, entity.spelling, entity.folded"
)


class _SpelledEntity(NamedTuple):
    """An entity under one of its spellings. passages: that name it, in documents in use; 0 for an alias."""

    name: str
    type: str
    spelling: str
    folded: str
    passages: int


class SqlEntityGraph:
    """Implements core.ports.stores.EntityGraph. Deleting a document deletes its entities; archived and failed
    documents are left out."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._naming_queries: dict[tuple[SearchFilters, bool], tuple[str, Mapping[str, Any]]] = {}

    def add(self, passages: Sequence[Passage], entities: Sequence[Entity]) -> None:
        """Store the entities of these documents' passages, replacing earlier ones. Raises StoreFailed."""
        self.add_each([(passages, entities)])

    def add_each(self, contents: Sequence[tuple[Sequence[Passage], Sequence[Entity]]]) -> None:
        """The same for the passages of several documents, each with its own entities. Raises StoreFailed."""
        rows = [row for passages, entities in contents for row in self._rows(passages, entities)]
        with self._database.transaction("storing entities") as connection:
            connection.execute(self._delete_of({each.document_id for passages, _ in contents for each in passages}))
            if rows:
                connection.execute(insert(ENTITIES), rows)

    def _rows(self, passages: Sequence[Passage], entities: Sequence[Entity]) -> list[dict[str, Any]]:
        by_stored_name = {storable_text(entity.name): entity for entity in entities}
        holders: dict[tuple[int, str], set[int]] = {}
        for passage in passages:
            for name in {storable_text(name) for name in passage.entities} & by_stored_name.keys():
                holders.setdefault((passage.document_id, name), set()).add(passage.id)
        return [
            self._row(document_id, by_stored_name[name], spelling, sorted(ids) if spelling == name else [])
            for (document_id, name), ids in holders.items()
            for spelling in dict.fromkeys((name, *map(storable_text, by_stored_name[name].aliases)))
        ]

    def _row(self, document_id: int, entity: Entity, spelling: str, ids: list[int]) -> dict[str, Any]:
        own = {"tenant_id": self._tenant, "document_id": document_id, "name": storable_text(entity.name)}
        columns = {"spelling": spelling, "type": str(entity.type), "folded": spelling.casefold()}
        return own | columns | {"passages": [int(i) for i in ids]}

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the entities of these documents. Raises StoreFailed."""
        with self._database.transaction("deleting entities") as connection:
            connection.execute(self._delete_of(document_ids))

    @contextmanager
    def _reading(self, doing: str) -> Iterator[Connection]:
        """A transaction that plans statements for their actual values: a generic plan for any number of names scans
        the whole table and takes fifty times as long."""
        with self._database.transaction(doing) as connection:
            connection.execute(_PLANNED)
            yield connection

    def _delete_of(self, document_ids: Any) -> Any:
        chosen = ENTITIES.c.document_id == any_(literal([int(i) for i in document_ids], ARRAY(BigInteger)))
        return delete(ENTITIES).where(ENTITIES.c.tenant_id == self._tenant, chosen)

    def known(self, names: Sequence[str]) -> Mapping[str, KnownEntity]:
        """Spelling asked for → its entity. Raises StoreFailed."""
        spellings = {name: storable_text(name) for name in names}
        if not spellings:
            return {}
        rows = self._of_spellings({spelling.casefold() for spelling in spellings.values()})
        short = {row.name for row in rows if row.spelling != row.name and row.spelling in set(spellings.values())}
        missing = {name.casefold() for name in short} - {row.folded for row in rows if row.spelling == row.name}
        rows = [*rows, *(self._of_spellings(missing) if missing else ())]
        own = [row for row in rows if row.spelling == row.name]
        counted = sorted((_known(row, {}) for row in own), key=_by_passages, reverse=True)
        by_name = {each.entity.name: each for each in counted}
        by_folded = {each.entity.name.casefold(): each for each in counted}
        aliases = [(row.spelling, by_name[row.name]) for row in rows if row.spelling != row.name if row.name in by_name]
        by_alias = dict(sorted(aliases, key=lambda pair: _by_passages(pair[1]), reverse=True))
        entries = {
            name: by_folded.get(spelling.casefold()) or by_alias.get(spelling) for name, spelling in spellings.items()
        }
        return {name: each for name, each in entries.items() if each is not None}

    def _of_spellings(self, folded: set[str]) -> Sequence["_SpelledEntity"]:
        """Entities of documents in use with one of these spellings, with their number of passages."""
        rows = self._database.read("looking for entities", _SPELLED, {"folded": sorted(folded)})
        return [_SpelledEntity(*row) for row in rows]

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
        entries: dict[tuple[str, str], list[str]] = {}
        for name, kind, spelling in connection.execute(query):
            entries.setdefault((name, kind), []).append(spelling)
        return {key: tuple(sorted(spellings)) for key, spellings in entries.items()}

    def passages_naming(
        self, weights: Mapping[str, float], filters: SearchFilters, among: PassageIds | None, most: int
    ) -> Sequence[tuple[int, tuple[str, ...]]]:
        """Admissible passages that name any of these entities, by sum of weights, then by id."""
        if not weights or most <= 0:
            return []
        query, bound = self._naming(filters, among is not None)
        names = [storable_text(name) for name in weights]
        values = {
            **bound,
            "names": names,
            "folded": [name.casefold() for name in names],
            "weights": [float(weight) for weight in weights.values()],
            "most": most,
        }
        if among is not None:
            values["among"] = np.asarray(among).tolist()
        rows = self._database.read("searching by entities", query, values)
        return [(passage_id, tuple(entities)) for passage_id, entities in rows]

    def _naming(self, filters: SearchFilters, among: bool) -> tuple[str, Mapping[str, Any]]:
        """The query of `passages_naming` as SQL, and the values of its filters: to build it takes longer than to ask
        it, and most searches share their filters with an earlier one."""
        known = self._naming_queries.get((filters, among))
        if known is None:
            compiled = self._naming_query(filters, among).compile(dialect=self._database.engine.dialect)
            bound = {name: value for name, value in compiled.params.items() if name not in _ASKED}
            if len(self._naming_queries) >= _MOST_QUERIES:
                self._naming_queries.clear()
            known = self._naming_queries[filters, among] = (str(compiled), bound)
        return known

    def _naming_query(self, filters: SearchFilters, among: bool) -> Any:
        spellings = (
            func.unnest(
                bindparam("names", type_=ARRAY(Text)),
                bindparam("folded", type_=ARRAY(Text)),
                bindparam("weights", type_=ARRAY(Float(53))),
            )
            .table_valued(
                column("name", Text), column("folded", Text), column("weight", Float(53)), joins_implicitly=True
            )
            .render_derived("asked")
        )
        own = (ENTITIES.c.tenant_id == self._tenant, ENTITIES.c.folded == spellings.c.folded)
        ids = func.unnest(ENTITIES.c.passages).label("id")
        holders = (
            select(ids, spellings.c.weight)
            .select_from(ENTITIES.join(spellings, true()))
            .where(*own, ENTITIES.c.name == spellings.c.name, ENTITIES.c.spelling == ENTITIES.c.name)
            .subquery()
        )
        weighed = select(holders.c.id, func.sum(holders.c.weight).label("weight")).group_by(holders.c.id).subquery()
        chosen: list[Any] = [CHUNKS.c.tenant_id == self._tenant, *conditions(filters)]
        if among:
            chosen.append(CHUNKS.c.id == any_(bindparam("among", type_=ARRAY(BigInteger))))
        return (
            select(CHUNKS.c.id, CHUNKS.c.entities)
            .join(weighed, weighed.c.id == CHUNKS.c.id)
            .where(*chosen)
            .order_by(weighed.c.weight.desc(), CHUNKS.c.id)
            .limit(bindparam("most", type_=Integer))
        )

    def rows(self, filters: SearchFilters, among: PassageIds | None) -> tuple[int, int]:
        """(passages in the library, passages that can be found). Raises StoreFailed."""
        chosen = self._admissible(filters, among)
        entries = func.count().filter(*chosen) if chosen else func.count()
        query = select(func.count(), entries).select_from(CHUNKS).where(CHUNKS.c.tenant_id == self._tenant)
        with self._database.transaction("counting passages") as connection:
            before, after = connection.execute(query).one()
        return int(before), int(after)

    def _admissible(self, filters: SearchFilters, among: PassageIds | None) -> list[Any]:
        chosen: list[Any] = [*conditions(filters)]
        if among is not None:
            chosen.append(CHUNKS.c.id == any_(literal(np.asarray(among).tolist(), ARRAY(BigInteger))))
        return chosen

    def search(self, part: str, kind: EntityType | None, *, limit: int, offset: int = 0) -> EntityPage:
        """Entities whose name or alias contains `part`, by number of passages, then by name. Raises StoreFailed."""
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
        counted = entities.subquery()
        name = counted.c.name.collate("C")
        page = select(counted).order_by(counted.c.passages.desc(), name, counted.c.type).limit(limit).offset(offset)
        with self._reading("looking through entities") as connection:
            total = int(connection.scalar(select(func.count()).select_from(counted)) or 0)
            rows = connection.execute(page).all()
            aliases = self._aliases(connection, [row.name for row in rows])
        return EntityPage(tuple(_known(row, aliases) for row in rows), total)

    def mentions(self, name: str, kind: EntityType, *, limit: int, offset: int = 0) -> MentionPage:
        """The living documents that mention an entity, most passages first. Raises StoreFailed."""
        stored, passages = storable_text(name), func.cardinality(ENTITIES.c.passages)
        columns = (ENTITIES.c.document_id, passages.label("passages"), ENTITIES.c.passages[1].label("first"))
        found = self._living(select(*columns)).where(
            ENTITIES.c.folded == stored.casefold(),
            ENTITIES.c.name == stored,
            ENTITIES.c.spelling == stored,
            ENTITIES.c.type == str(kind),
            passages > 0,
        )
        counted = found.subquery()
        page = select(counted).order_by(counted.c.passages.desc(), counted.c.document_id.desc())
        with self._reading("looking for documents that name an entity") as connection:
            total = int(connection.scalar(select(func.count()).select_from(counted)) or 0)
            rows = connection.execute(page.limit(limit).offset(offset)).all()
        return MentionPage(tuple(EntityMentions(row.document_id, row.passages, row.first) for row in rows), total)

    def _living(self, query: Any) -> Any:
        """The query restricted to documents that are neither archived nor failed."""
        same = (DOCUMENTS.c.tenant_id == ENTITIES.c.tenant_id) & (DOCUMENTS.c.id == ENTITIES.c.document_id)
        return query.join(DOCUMENTS, same).where(
            ENTITIES.c.tenant_id == self._tenant, ~DOCUMENTS.c.archived, DOCUMENTS.c.state != str(DocumentState.FAILED)
        )


def _counted(*others: Any) -> Any:
    """Names with their type (and further columns) and their number of passages."""
    columns = (ENTITIES.c.name, ENTITIES.c.type, *others)
    passages = func.sum(func.cardinality(ENTITIES.c.passages)).label("passages")
    return select(*columns, passages).select_from(ENTITIES).group_by(*columns)


def _known(row: Any, aliases: Mapping[tuple[str, str], tuple[str, ...]]) -> KnownEntity:
    return KnownEntity(Entity(row.name, EntityType(row.type), aliases.get((row.name, row.type), ())), int(row.passages))


def _by_passages(known: KnownEntity) -> tuple[int, str, str]:
    return -known.passages, known.entity.name, known.entity.type
