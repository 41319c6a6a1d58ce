"""Dense search in PostgreSQL: the vectors lie in the passages' own rows, so that one transaction holds both."""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Float, and_, any_, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by

from core.documents import Passage
from core.filters import SearchFilters
from core.ports import PassageIds, Vectors
from core.results import LegHit, LegHits
from storage.database import Database
from storage.models import KnowledgeChunk
from storage.sql_filters import conditions

__all__ = ["PgvectorIndex"]

_BLOCK = 8192  # vectors read at a time, some 12 MB
_BATCH = 500  # vectors per statement, some 2 MB
_FILL = text(
    "UPDATE knowledge_chunks AS chunk SET embedding = fresh.vector::vector, embedded_by = :model"
    " FROM unnest(CAST(:ids AS bigint[]), CAST(:vectors AS text[])) AS fresh (id, vector)"
    " WHERE chunk.tenant_id = :tenant AND chunk.id = fresh.id"
    " AND (chunk.embedding IS DISTINCT FROM fresh.vector::vector OR chunk.embedded_by IS DISTINCT FROM :model)"
)


class PgvectorIndex:
    """ports.VectorIndex over the rows the catalogue stores. model: only vectors of this model are searched; given as a
    function, it is asked for when first needed: deleting and relabelling need no model.

    Search is an exact scan of the admissible rows, so that k admissible passages give k hits at any selectivity.
    `update` has nothing to do: filters read the very rows `Catalogue.save_labels` has changed.
    """

    def __init__(self, database: Database, model: str | Callable[[], str]) -> None:
        self._database, self._named = database, model

    def _model(self) -> str:
        return self._named if isinstance(self._named, str) else self._named()

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace the vectors of stored passages; a row that has its vector already is not written again."""
        if len(passages) != len(vectors):
            raise ValueError(f"{len(passages)} passages, but {len(vectors)} vectors")
        with self._database.transaction("storing vectors") as connection:
            for start in range(0, len(passages), _BATCH):
                rows = slice(start, start + _BATCH)
                fresh = self._differing(connection, [p.id for p in passages[rows]], vectors[rows])
                if fresh:
                    new = {"ids": list(fresh), "vectors": [str(v.tolist()) for v in fresh.values()]}
                    connection.execute(_FILL, {"tenant": self._database.tenant, "model": self._model(), **new})

    def _differing(
        self, connection: Connection, ids: Sequence[int], vectors: Vectors
    ) -> Mapping[int, NDArray[np.float32]]:
        """Id → vector of those the rows do not hold already: to read them in bytes is quicker than to write them."""
        stored = select(KnowledgeChunk.id, func.vector_send(KnowledgeChunk.embedding)).where(self._ours(), _one_of(ids))
        held = {int(i): _from_bytes(sent) for i, sent in connection.execute(stored) if sent}
        return {
            i: vector
            for i, vector in zip(ids, vectors, strict=True)
            if i not in held or not np.array_equal(held[i], vector)
        }

    def update(self, passages: Sequence[Passage]) -> None:
        """Nothing to follow: the filters' columns and the vectors are in one row."""

    def delete(self, document_ids: Sequence[int]) -> None:
        """Take the vectors, of whatever model, out of these documents' rows; the rows are the catalogue's."""
        ours = KnowledgeChunk.tenant_id == self._database.tenant
        chosen = KnowledgeChunk.document_id == any_(literal(list(document_ids), ARRAY(KnowledgeChunk.id.type)))
        with self._database.transaction("deleting vectors") as connection:
            connection.execute(update(KnowledgeChunk).where(ours, chosen).values(embedding=None, embedded_by=None))

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id. Raises StoreFailed."""
        # No index can serve an order by a sum, so that the planner measures every admissible row. Ordered by the bare
        # product it might take an approximate index, which looks at the nearest rows first and filters afterwards:
        # fewer than k hits come back when few rows are admissible.
        distance = (KnowledgeChunk.embedding.max_inner_product(_unit(vector)) + literal(0.0, Float)).label("distance")
        admissible = conditions(filters)
        if among is not None:
            admissible.append(_one_of(among))
        nearest = (
            select(KnowledgeChunk.id, distance)
            .where(self._ours(), *admissible)
            .order_by(distance, KnowledgeChunk.id)
            .limit(max(top_k, 0))
        )
        # Counted apart, over the narrow index: beside the distances, each row's vector would be kept to be counted.
        admitted = func.count().filter(*admissible) if admissible else func.count()
        counted = select(func.count(), admitted).select_from(KnowledgeChunk).where(self._ours())
        with self._database.transaction("searching by meaning") as connection:
            before, after = connection.execute(counted).one()
            rows = connection.execute(nearest).all() if after else ()
        return LegHits(tuple(LegHit(int(row.id), _cosine(row.distance)) for row in rows), int(before), int(after))

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector, ids ascending. Raises StoreFailed."""
        last, rows = -1, _BLOCK
        while rows == _BLOCK:
            chosen = (
                select(KnowledgeChunk.id, KnowledgeChunk.embedding)
                .where(self._ours(), KnowledgeChunk.id > last, *conditions(filters))
                .order_by(KnowledgeChunk.id)
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
        measured = select(KnowledgeChunk.id, KnowledgeChunk.embedding.max_inner_product(_unit(vector))).where(
            self._ours(), _one_of(passage_ids)
        )
        with self._database.transaction("comparing meanings") as connection:
            return {int(i): _cosine(distance) for i, distance in connection.execute(measured)}

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors; ids without one are absent. Raises StoreFailed."""
        # As bytes: to read 384 numbers from text takes twenty times as long.
        stored = select(KnowledgeChunk.id, func.vector_send(KnowledgeChunk.embedding)).where(
            self._ours(), _one_of(passage_ids)
        )
        with self._database.transaction("reading vectors") as connection:
            return {int(i): _from_bytes(sent) for i, sent in connection.execute(stored) if sent}

    def count(self) -> int:
        """Passages with a vector of this model."""
        with self._database.transaction("counting vectors") as connection:
            return connection.scalar(select(func.count()).select_from(KnowledgeChunk).where(self._ours())) or 0

    def _ours(self) -> ColumnElement[bool]:
        return and_(KnowledgeChunk.tenant_id == self._database.tenant, KnowledgeChunk.embedded_by == self._model())


def _one_of(passage_ids: Sequence[int] | PassageIds) -> ColumnElement[bool]:
    """One array parameter, however many ids: the statement stays the same."""
    return KnowledgeChunk.id == any_(literal([int(i) for i in passage_ids], ARRAY(KnowledgeChunk.id.type)))


def _cosine(distance: float) -> float:
    """Cosine of pgvector's negative inner product of two vectors of length 1; 0 where one has length 0."""
    return min(max(-distance, -1.0), 1.0)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The asked vector with length 1, as the stored ones have; one of length 0 stays."""
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length else vector


def _many_from_bytes(sent: bytes, rows: int) -> Vectors:
    """Vectors of shape (rows, dim), one after the other as pgvector sends them."""
    numbers = np.frombuffer(sent, dtype=">f4").reshape(rows, -1)
    return numbers[:, 1:].astype(np.float32)  # the first four bytes of each say its width


def _from_bytes(sent: bytes) -> NDArray[np.float32]:
    """A vector of shape (dim,) as pgvector sends it: two numbers of two bytes, then big-endian floats."""
    return np.frombuffer(sent, dtype=">f4", offset=4).astype(np.float32)
