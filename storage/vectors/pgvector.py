"""Dense search in PostgreSQL: vectors are stored in the rows of the passages, so that one transaction covers both.

In front of it, the vector cache: it answers while it is up to date, else the database does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Float, and_, any_, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from core.domain.documents import Passage
from core.domain.filters import SearchFilters
from core.domain.results import LegHit, LegHits
from core.ports.stores import PassageIds, VectorIndex, Vectors
from storage.postgres.database import Database
from storage.postgres.filters import conditions
from storage.postgres.passages import PassageRow
from storage.vectors.cache.cache import WITHIN_SECONDS, VectorCache
from storage.vectors.cache.snapshot import Snapshot

__all__ = ["CachedVectorIndex", "PgvectorIndex"]

_BLOCK = 8192  # vectors read at a time, some 12 MB
_BATCH = 500  # vectors per statement, some 2 MB
_FILL = text(
    "UPDATE knowledge_chunks AS chunk SET embedding = fresh.vector::vector, embedded_by = :model"
    " FROM unnest(CAST(:ids AS bigint[]), CAST(:vectors AS text[])) AS fresh (id, vector)"
    " WHERE chunk.tenant_id = :tenant AND chunk.id = fresh.id"
    " AND (chunk.embedding IS DISTINCT FROM fresh.vector::vector OR chunk.embedded_by IS DISTINCT FROM :model)"
)


class PgvectorIndex:
    """Implements core.ports.stores.VectorIndex over the rows the catalogue stores. model: only vectors of this model
    are searched; a function is called at first use: deleting and relabelling need no model.

    Search is an exact scan of the admissible rows, so that k admissible passages give k hits at any selectivity.
    `update` does nothing: filters read the same rows that `Catalogue.edit_labels` changes.
    """

    def __init__(self, database: Database, model: str | Callable[[], str]) -> None:
        self._database, self._named = database, model

    def _model(self) -> str:
        return self._named if isinstance(self._named, str) else self._named()

    def add(self, passages: Sequence[Passage], vectors: Vectors, *, embedded_by: str = "") -> None:
        """Store or replace the vectors of stored passages; rows that already contain the vector are not written."""
        if len(passages) != len(vectors):
            raise ValueError(f"{len(passages)} passages, but {len(vectors)} vectors")
        model = embedded_by or self._model()
        with self._database.transaction("storing vectors") as connection:
            for start in range(0, len(passages), _BATCH):
                rows = slice(start, start + _BATCH)
                changed = self._changed_vectors(connection, [p.id for p in passages[rows]], vectors[rows], model)
                if changed:
                    new = {"ids": list(changed), "vectors": [str(v.tolist()) for v in changed.values()]}
                    connection.execute(_FILL, {"tenant": self._database.tenant, "model": model, **new})

    def _changed_vectors(
        self, connection: Connection, ids: Sequence[int], vectors: Vectors, model: str
    ) -> Mapping[int, NDArray[np.float32]]:
        """Id → vector where the stored one differs: reading stored vectors as bytes is faster than writing all."""
        ours = (PassageRow.tenant_id == self._database.tenant, PassageRow.embedded_by == model, _has_id(ids))
        stored = select(PassageRow.id, func.vector_send(PassageRow.embedding)).where(*ours)
        stored_vectors = {int(i): _from_bytes(sent) for i, sent in connection.execute(stored) if sent}
        return {
            i: vector
            for i, vector in zip(ids, vectors, strict=True)
            if i not in stored_vectors or not np.array_equal(stored_vectors[i], vector)
        }

    def update(self, passages: Sequence[Passage]) -> None:
        """Does nothing: filter columns and vectors are in the same row."""

    def delete(self, document_ids: Sequence[int], *, but: Sequence[Passage] = ()) -> None:
        """Remove these documents' vectors, of any model; the rows belong to the catalogue. but: whose vectors stay."""
        # A subquery is hashed; an array would be read through for each row.
        others = PassageRow.id.not_in(select(func.unnest(_array([each.id for each in but]))))
        self._clear(PassageRow.document_id == any_(_array(document_ids)), others)

    def _clear(self, *chosen: ColumnElement[bool]) -> None:
        rows = update(PassageRow).where(PassageRow.tenant_id == self._database.tenant, *chosen)
        with self._database.transaction("deleting vectors") as connection:
            connection.execute(rows.values(embedding=None, embedded_by=None))

    def ping(self) -> None:
        """Does nothing: the catalogue, in the same database, is asked at every step."""

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id. Raises StoreFailed."""
        # No index supports ORDER BY a sum, so the planner computes every admissible row. With the bare product it might
        # choose an approximate index, which takes the nearest rows first and filters afterwards: fewer than k hits
        # are returned when few rows are admissible.
        distance = (PassageRow.embedding.max_inner_product(_unit(vector)) + literal(0.0, Float)).label("distance")
        admissible = conditions(filters)
        if among is not None:
            admissible.append(_has_id(among))
        nearest = (
            select(PassageRow.id, distance)
            .where(self._of_tenant_and_model(), *admissible)
            .order_by(distance, PassageRow.id)
            .limit(max(top_k, 0))
        )
        # Counted separately, over the narrow index: a count beside the distances would carry each row's vector along.
        admitted = func.count().filter(*admissible) if admissible else func.count()
        counted = select(func.count(), admitted).select_from(PassageRow).where(self._of_tenant_and_model())
        with self._database.transaction("searching by meaning") as connection:
            before, after = connection.execute(counted).one()
            rows = connection.execute(nearest).all() if after else ()
        return LegHits(tuple(LegHit(int(row.id), _cosine(row.distance)) for row in rows), int(before), int(after))

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector, ids ascending. Raises StoreFailed."""
        last, rows = -1, _BLOCK
        while rows == _BLOCK:
            chosen = (
                select(PassageRow.id, PassageRow.embedding)
                .where(self._of_tenant_and_model(), PassageRow.id > last, *conditions(filters))
                .order_by(PassageRow.id)
                .limit(_BLOCK)
                .subquery()
            )
            # Two values for a whole block: thousands of rows of one vector each take the driver many times as long.
            packed = select(
                func.string_agg(func.int8send(chosen.c.id), aggregate_order_by(literal(b""), chosen.c.id)),
                func.string_agg(func.vector_send(chosen.c.embedding), aggregate_order_by(literal(b""), chosen.c.id)),
            )
            with self._database.transaction("reading vectors") as connection:
                sent_ids, sent = connection.execute(packed).one()
            ids = np.frombuffer(sent_ids or b"", dtype=">i8").astype(np.int64)
            rows = len(ids)
            if rows:
                last = int(ids[-1])
                yield ids, _many_from_bytes(sent, rows)

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine, in [-1, 1], per passage; ids without a vector are absent. Raises StoreFailed."""
        measured = select(PassageRow.id, PassageRow.embedding.max_inner_product(_unit(vector))).where(
            self._of_tenant_and_model(), _has_id(passage_ids)
        )
        with self._database.transaction("comparing meanings") as connection:
            return {int(i): _cosine(distance) for i, distance in connection.execute(measured)}

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors; ids without one are absent. Raises StoreFailed."""
        # As bytes: to read 384 numbers from text takes twenty times as long.
        stored = select(PassageRow.id, func.vector_send(PassageRow.embedding)).where(
            self._of_tenant_and_model(), _has_id(passage_ids)
        )
        with self._database.transaction("reading vectors") as connection:
            return {int(i): _from_bytes(sent) for i, sent in connection.execute(stored) if sent}

    def count(self) -> int:
        """Passages with a vector of this model."""
        counted = select(func.count()).select_from(PassageRow).where(self._of_tenant_and_model())
        with self._database.transaction("counting vectors") as connection:
            return connection.scalar(counted) or 0

    def passage_ids(self) -> PassageIds:
        """Every passage with a vector of this model, ascending."""
        # One value of eight bytes per id: 100,000 rows of one number each take the driver ten times as long.
        packed = select(func.string_agg(func.int8send(PassageRow.id), literal(b""))).where(self._of_tenant_and_model())
        with self._database.transaction("listing vectors") as connection:
            sent = connection.scalar(packed)
        return np.sort(np.frombuffer(sent or b"", dtype=">i8").astype(np.int64))

    def discard(self, passage_ids: PassageIds) -> None:
        """Remove the vectors from these passages' rows; the rows belong to the catalogue."""
        self._clear(_has_id(passage_ids))

    def vacuum(self) -> None:
        """Nothing: the vectors are in the rows of the passages, and PostgreSQL frees the room of deleted rows."""

    def _of_tenant_and_model(self) -> ColumnElement[bool]:
        return and_(PassageRow.tenant_id == self._database.tenant, PassageRow.embedded_by == self._model())


def _has_id(passage_ids: Sequence[int] | PassageIds) -> ColumnElement[bool]:
    """One array parameter for any number of ids, so that the statement stays the same."""
    return PassageRow.id == any_(_array(passage_ids))


def _array(ids: Sequence[int] | PassageIds) -> ColumnElement[list[int]]:
    return literal([int(i) for i in ids], ARRAY(PassageRow.id.type))


def _cosine(distance: float) -> float:
    """Cosine of pgvector's negative inner product of two vectors of length 1; 0 where one has length 0."""
    return min(max(-distance, -1.0), 1.0)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The vector scaled to length 1, like the stored ones; a zero vector stays."""
    query = np.asarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(query))
    return query / np.float32(length) if length else query


def _many_from_bytes(sent: bytes, rows: int) -> Vectors:
    """Vectors, shape (rows, dim), from pgvector's binary format, one after the other."""
    numbers = np.frombuffer(sent, dtype=">f4").reshape(rows, -1)
    return numbers[:, 1:].astype(np.float32)  # the first four bytes of each say its width


def _from_bytes(sent: bytes) -> NDArray[np.float32]:
    """A vector, shape (dim,), from pgvector's binary format: two 16-bit numbers, then big-endian floats."""
    return np.frombuffer(sent, dtype=">f4", offset=4).astype(np.float32)


class CachedVectorIndex:
    """Implements core.ports.stores.VectorIndex. Writes go to the cached index, which also answers while the cache
    cannot."""

    def __init__(self, index: VectorIndex, cache: VectorCache) -> None:
        self._index, self._cache = index, cache

    @property
    def notice(self) -> str:
        """A message for the user about the cache; "" when there is none."""
        return self._cache.notice

    def add(self, passages: Sequence[Passage], vectors: Vectors, *, embedded_by: str = "") -> None:
        """Store or replace the vectors of stored passages. Raises StoreFailed."""
        self._index.add(passages, vectors, embedded_by=embedded_by)
        self._cache.invalidate()

    def update(self, passages: Sequence[Passage]) -> None:
        """Changed filter fields of these passages. Raises StoreFailed."""
        self._index.update(passages)
        self._cache.invalidate()

    def delete(self, document_ids: Sequence[int], *, but: Sequence[Passage] = ()) -> None:
        """Delete the vectors of these documents. but: passages whose vectors stay. Raises StoreFailed."""
        self._index.delete(document_ids, but=but)
        self._cache.invalidate()

    def ping(self) -> None:
        """Raises StoreFailed when the cached index does not answer."""
        self._index.ping()

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id. Raises StoreFailed."""
        snapshot = self._cache.current()
        if snapshot is None or not _fits(snapshot, vector):
            return self._index.search(vector, filters, top_k, among)
        return snapshot.search(_unit(vector), filters, top_k, among)

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector, ids ascending. Raises StoreFailed."""
        snapshot = self._cache.current()
        return self._index.blocks(filters) if snapshot is None else snapshot.blocks(filters)

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine, in [-1, 1], per passage; ids without a vector are absent. Raises StoreFailed."""
        snapshot = self._cache.current(WITHIN_SECONDS)
        if snapshot is None or not _fits(snapshot, vector):
            return self._index.similarities(vector, passage_ids)
        found = snapshot.similarities(_unit(vector), passage_ids)
        missing = [i for i in passage_ids if i not in found]
        return {**found, **self._index.similarities(vector, missing)} if missing else found

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors; ids without one are absent. Raises StoreFailed."""
        snapshot = self._cache.current(WITHIN_SECONDS)
        if snapshot is None:
            return self._index.vectors(passage_ids)
        found = snapshot.vectors(passage_ids)
        missing = [i for i in passage_ids if i not in found]
        return {**found, **self._index.vectors(missing)} if missing else found

    def count(self) -> int:
        """Passages with a vector. Raises StoreFailed."""
        snapshot = self._cache.current()
        return self._index.count() if snapshot is None else snapshot.count()

    def passage_ids(self) -> PassageIds:
        """Every passage with a vector in the database, ascending. Raises StoreFailed."""
        return self._index.passage_ids()

    def discard(self, passage_ids: PassageIds) -> None:
        """Delete the vectors of these passages. Raises StoreFailed."""
        self._index.discard(passage_ids)
        self._cache.invalidate()

    def vacuum(self) -> None:
        """Rewrite the cache's file. Raises StoreFailed."""
        self._index.vacuum()
        self._cache.rewrite()


def _fits(snapshot: Snapshot, vector: NDArray[np.float32]) -> bool:
    """Whether the cached vectors have the length of the query vector; otherwise the database reports the error."""
    return snapshot.dimensions in (0, len(vector))
