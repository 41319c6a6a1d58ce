"""Writing passages in bulk. Row-level security rules COPY out: rows go in by one prepared statement, pipelined."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, text

from core.documents import Passage
from core.ports import Vectors
from storage.models import CHUNKS
from storage.rows import EmbeddingDumper, passage_values

__all__ = ["insert_passages", "next_ids", "read_passages", "update_passages"]

_VECTOR_COLUMNS = ("embedding", "embedded_by")
_COLUMNS = [column for column in CHUNKS.c if column.name not in _VECTOR_COLUMNS]  # to show a passage needs no vector

_FIXED = ("tenant_id", "id", "document_id", "meanings")
_NAMES = [column.name for column in _COLUMNS]
_CHANGING = [name for name in _NAMES if name not in _FIXED]
_INSERT = (
    f"INSERT INTO {CHUNKS.name} ({', '.join(_NAMES)}, embedded_by, embedding)"
    f" VALUES ({', '.join(f'%({name})s' for name in _NAMES)}, %(embedded_by)s, %(embedding)b::real[]::vector)"
)
_READ = ", ".join(f"{name}::text AS {name}" if name == "evidence" else name for name in _NAMES)
_UPDATE = (
    f"UPDATE {CHUNKS.name} SET {', '.join(f'{name} = %({name})s' for name in _CHANGING)}"
    " WHERE tenant_id = %(tenant_id)s AND id = %(id)s"
)


def read_passages(
    connection: Connection, tenant: str, *, ids: Sequence[int] | None = None, document_id: int | None = None
) -> Sequence[Mapping[str, Any]]:
    """Rows for `rows.passage_from` in reading order: of these passages, or of one document.

    By the driver alone and in binary: by way of SQLAlchemy's types, two hundred rows take three times as long.
    """
    from psycopg.rows import dict_row

    chosen, value = ("id = ANY(%s)", list(map(int, ids))) if ids is not None else ("document_id = %s", document_id)
    driver: Any = connection.connection.driver_connection
    with driver.cursor(binary=True, row_factory=dict_row) as cursor:
        query = f"SELECT {_READ} FROM {CHUNKS.name} WHERE tenant_id = %s AND {chosen} ORDER BY position"
        found: Sequence[Mapping[str, Any]] = cursor.execute(query, (tenant, value)).fetchall()
    return found


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
    driver: Any = connection.connection.driver_connection
    with driver.cursor() as cursor:
        cursor.adapters.register_dumper(np.ndarray, EmbeddingDumper)
        cursor.executemany(statement, rows)
