"""Writing passages in bulk. Row-level security rules COPY out: rows go in by one prepared statement, pipelined."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from core.documents import Document, Passage
from core.ports import Vectors
from storage.models import CHUNKS, DOCUMENTS
from storage.rows import DOCUMENT_ROW, PASSAGE_ROW, EmbeddingDumper, document_from, passage_from, passage_values

__all__ = ["insert_passages", "next_ids", "read_documents", "read_passages", "update_passages"]

_VECTOR_COLUMNS = ("embedding", "embedded_by")
_COLUMNS = [column for column in CHUNKS.c if column.name not in _VECTOR_COLUMNS]  # to show a passage needs no vector

_FIXED = ("tenant_id", "id", "document_id", "meanings")
_NAMES = [column.name for column in _COLUMNS]
_CHANGING = [name for name in _NAMES if name not in _FIXED]
_INSERT = (
    f"INSERT INTO {CHUNKS.name} ({', '.join(_NAMES)}, embedded_by, embedding)"
    f" VALUES ({', '.join(f'%({name})s' for name in _NAMES)}, %(embedded_by)s, %(embedding)b::real[]::vector)"
)
_READ = ", ".join(PASSAGE_ROW.values())
_UPDATE = (
    f"UPDATE {CHUNKS.name} SET {', '.join(f'{name} = %({name})s' for name in _CHANGING)}"
    " WHERE tenant_id = %(tenant_id)s AND id = %(id)s"
)


def read_passages(
    connection: Connection, tenant: str, *, ids: Sequence[int] | None = None, document_id: int | None = None
) -> Sequence[Passage]:
    """These passages, or those of one document, in reading order.

    By the driver alone and in binary: by way of SQLAlchemy's types, two hundred rows take three times as long.
    """
    chosen, value = ("id = ANY(%s)", list(map(int, ids))) if ids is not None else ("document_id = %s", document_id)
    query = f"SELECT {_READ} FROM {CHUNKS.name} WHERE tenant_id = %s AND {chosen} ORDER BY position"
    with _driver(connection).cursor(binary=True) as cursor:
        return [passage_from(row) for row in cursor.execute(query, (tenant, value)).fetchall()]


def read_documents(connection: Connection, tenant: str, ids: Sequence[int]) -> Sequence[Document]:
    """These documents, in any order; read as passages are."""
    from psycopg.rows import dict_row

    query = f"SELECT {DOCUMENT_ROW} FROM {DOCUMENTS.name} WHERE tenant_id = %s AND id = ANY(%s)"
    with _driver(connection).cursor(binary=True, row_factory=dict_row) as cursor:
        return [document_from(row) for row in cursor.execute(query, (tenant, list(map(int, ids)))).fetchall()]


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


def next_ids(connection: Connection, count: int) -> list[int]:
    """That many fresh passage ids, ascending."""
    query = text("SELECT nextval('knowledge_chunks_id_seq') FROM generate_series(1, :count)")
    return sorted(connection.scalars(query, {"count": count}))


def insert_passages(
    connection: Connection, tenant: str, passages: Sequence[Passage], vectors: Vectors, embedded_by: str | None
) -> None:
    """Store new passages; their vectors (float32, shape (n, dim)) too when the model that made them is named."""
    rows: list[dict[str, Any]] = []
    for position, passage in enumerate(passages):
        embedding = None if embedded_by is None else np.asarray(vectors[position], dtype=np.float32)
        rows.append(passage_values(passage) | {"tenant_id": tenant, "embedding": embedding, "embedded_by": embedded_by})
    _execute_many(connection, _INSERT, rows)


def update_passages(connection: Connection, tenant: str, passages: Sequence[Passage]) -> None:
    """Store what changed of known passages; their vectors stay."""
    _execute_many(connection, _UPDATE, [passage_values(passage) | {"tenant_id": tenant} for passage in passages])


def _execute_many(connection: Connection, statement: str, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    with _driver(connection).cursor() as cursor:
        cursor.adapters.register_dumper(np.ndarray, EmbeddingDumper)
        cursor.executemany(statement, rows)
