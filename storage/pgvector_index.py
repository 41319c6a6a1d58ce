"""Dense search in PostgreSQL: the vectors lie in the passages' own rows, so that one transaction holds both."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, and_, any_, func, literal, select, text, update
from sqlalchemy.dialects.postgresql import ARRAY

from core.documents import Passage
from core.filters import SearchFilters
from core.ports import Vectors
from core.results import LegHit, LegHits
from storage.database import Database
from storage.models import KnowledgeChunk
from storage.sql_filters import conditions

__all__ = ["PgvectorIndex"]

_BATCH = 500  # vectors per statement, some 2 MB
_FILL = text(
    "UPDATE knowledge_chunks AS chunk SET embedding = fresh.vector::vector, embedded_by = :model"
    " FROM unnest(CAST(:ids AS bigint[]), CAST(:vectors AS text[])) AS fresh (id, vector)"
    " WHERE chunk.tenant_id = :tenant AND chunk.id = fresh.id"
    " AND (chunk.embedding IS DISTINCT FROM fresh.vector::vector OR chunk.embedded_by IS DISTINCT FROM :model)"
)


class PgvectorIndex:
    """ports.VectorIndex over the rows the catalogue stores. `model`: only vectors of this model are searched.

    Search is an exact scan of the admissible rows, so that k admissible passages give k hits at any selectivity.
    `update` has nothing to do: filters read the very rows `Catalogue.save_labels` has changed.
    """

    def __init__(self, database: Database, model: str) -> None:
        self._database, self._model = database, model

    def add(self, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store or replace the vectors of stored passages; a row that has its vector already is not written again."""
        if len(passages) != len(vectors):
            raise ValueError(f"{len(passages)} passages, but {len(vectors)} vectors")
        with self._database.transaction("storing vectors") as connection:
            for start in range(0, len(passages), _BATCH):
                rows = slice(start, start + _BATCH)
                fresh = {"ids": [p.id for p in passages[rows]], "vectors": [str(v.tolist()) for v in vectors[rows]]}
                connection.execute(_FILL, {"tenant": self._database.tenant, "model": self._model, **fresh})

    def update(self, passages: Sequence[Passage]) -> None:
        """Nothing to follow: the filters' columns and the vectors are in one row."""

    def delete(self, document_ids: Sequence[int]) -> None:
        """Take the vectors out of these documents' rows; the rows are the catalogue's."""
        chosen = KnowledgeChunk.document_id == any_(literal(list(document_ids), ARRAY(KnowledgeChunk.id.type)))
        with self._database.transaction("deleting vectors") as connection:
            connection.execute(
                update(KnowledgeChunk).where(self._ours(), chosen).values(embedding=None, embedded_by=None)
            )

    def search(self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id. Raises StoreFailed."""
        # OFFSET 0 keeps the planner from pushing ORDER BY … LIMIT into an approximate index, which would look at the
        # nearest rows first and filter afterwards: fewer than k hits come back when few rows are admissible.
        admissible = (
            select(KnowledgeChunk.id, KnowledgeChunk.embedding)
            .where(self._ours(), *conditions(filters))
            .offset(literal(0))
            .subquery("admissible")
        )
        distance = admissible.c.embedding.cosine_distance(vector).label("distance")
        nearest = (
            select(admissible.c.id, distance, func.count().over().label("admitted"))
            .order_by(distance, admissible.c.id)
            .limit(max(top_k, 1))
        )
        with self._database.transaction("searching by meaning") as connection:
            total = connection.scalar(select(func.count()).select_from(KnowledgeChunk).where(self._ours())) or 0
            rows = connection.execute(nearest).all()
        hits = tuple(LegHit(int(row.id), _cosine(row.distance)) for row in rows[: max(top_k, 0)])
        return LegHits(hits, rows_before=int(total), rows_after=int(rows[0].admitted) if rows else 0)

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine, in [-1, 1], per passage; ids without a vector are absent. Raises StoreFailed."""
        chosen = KnowledgeChunk.id == any_(literal([int(i) for i in passage_ids], ARRAY(KnowledgeChunk.id.type)))
        measured = select(KnowledgeChunk.id, KnowledgeChunk.embedding.cosine_distance(vector)).where(
            self._ours(), chosen
        )
        with self._database.transaction("comparing meanings") as connection:
            return {int(i): _cosine(distance) for i, distance in connection.execute(measured)}

    def count(self) -> int:
        """Passages with a vector of this model."""
        with self._database.transaction("counting vectors") as connection:
            return connection.scalar(select(func.count()).select_from(KnowledgeChunk).where(self._ours())) or 0

    def _ours(self) -> ColumnElement[bool]:
        return and_(KnowledgeChunk.tenant_id == self._database.tenant, KnowledgeChunk.embedded_by == self._model)


def _cosine(distance: float) -> float:
    """Cosine of a pgvector cosine distance; 0 where a vector of length 0 has none."""
    return 0.0 if math.isnan(distance) else min(max(1.0 - distance, -1.0), 1.0)
