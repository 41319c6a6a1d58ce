"""Reads from the database what the vector cache needs: changed documents and their passages."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import text

from core.domain.errors import StoreFailed
from core.ports.stores import Vectors
from storage.postgres.database import Database
from storage.postgres.passages import CHUNKS, LIBRARY_CHANGES
from storage.vectors.cache.snapshot import LISTED, SINGLE, UNDATED, Columns, Postings, StringColumn

__all__ = ["ChangeFeed", "changes_since", "passages_in", "read_passages"]

_BLOCK = 8192  # passages read at a time, some 12 MB
_VERSION_BYTES = 16  # of the UUID that a change gives a document

# One statement, so one moment: the changes, and the oldest transaction still running then. Whatever is not visible yet
# has the number of that transaction or a higher one.
_CHANGES = (
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS next, pg_postmaster_start_time() AS started,"
    f" (SELECT string_agg(int8send(document_id) || uuid_send(version), '') FROM {LIBRARY_CHANGES.name}"
    " WHERE tenant_id = %(tenant)s AND changed_by >= %(since)s) AS noted"
)

_PASSAGES = text(f"SELECT count(*) FROM {CHUNKS.name} WHERE tenant_id = :tenant AND document_id = ANY(:documents)")

_TEXTS = (*SINGLE, *LISTED)
_UNDATED = int(UNDATED).to_bytes(8, "big", signed=True).hex()

# A few values for a whole block: the driver takes many times as long for thousands of rows.
_BLOCK_OF = f"""
SELECT
    string_agg(int8send(id), ''::bytea ORDER BY id) AS ids,
    string_agg(int8send(document_id), ''::bytea ORDER BY id) AS documents,
    string_agg(coalesce(timestamptz_send(date), '\\x{_UNDATED}'::bytea), ''::bytea ORDER BY id) AS moments,
    string_agg(boolsend(archived), ''::bytea ORDER BY id) AS archived,
    string_agg(boolsend(embedding IS NOT NULL), ''::bytea ORDER BY id) AS embedded,
    string_agg(vector_send(embedding), ''::bytea ORDER BY id) AS vectors,
    {", ".join(f"json_agg({name} ORDER BY id) AS {name}" for name in _TEXTS)}
FROM (
    SELECT id, document_id, date, archived, {", ".join(_TEXTS)},
        CASE WHEN embedded_by = %(model)s THEN embedding END AS embedding
    FROM {CHUNKS.name}
    WHERE tenant_id = %(tenant)s AND id > %(last)s AND (%(everything)s OR document_id = ANY(%(documents)s))
    ORDER BY id LIMIT %(rows)s
) AS chosen
"""


@dataclass(frozen=True, slots=True)
class ChangeFeed:
    """noted: document id → current version of its passages. next: what to pass to `changes_since` later. started: when
    the database server started; after a restart, transactions may be numbered anew."""

    noted: Mapping[int, bytes]
    next: int
    started: datetime


def changes_since(database: Database, since: int) -> ChangeFeed:
    """Documents whose passages changed since a transaction, perhaps with earlier ones; 0: all. Raises StoreFailed."""
    ((following, started, sent),) = database.read("looking for changes", _CHANGES, {"since": since})
    noted, size = bytes(sent or b""), 8 + _VERSION_BYTES
    entries = (noted[start : start + size] for start in range(0, len(noted), size))
    by_document = {int.from_bytes(entry[:8], "big"): entry[8:] for entry in entries}
    return ChangeFeed(by_document, following, started)


def passages_in(database: Database, documents: Sequence[int]) -> int:
    """How many passages these documents have. Raises StoreFailed."""
    with database.transaction("counting changes") as connection:
        counted = connection.scalar(_PASSAGES, {"tenant": database.tenant, "documents": list(documents)})
    return int(counted or 0)


def read_passages(
    database: Database, model: str, words: StringColumn, documents: Sequence[int] | None
) -> Iterator[tuple[Columns, Vectors]]:
    """The passages of these documents (None: of all) in blocks, ids ascending over all blocks; zeros for a vector that
    is missing or of another model. New words are added to `words`. Raises StoreFailed."""
    parameters: dict[str, Any] = {"tenant": database.tenant, "model": model, "last": -1, "rows": _BLOCK}
    parameters |= {"everything": documents is None, "documents": list(documents or ())}
    rows = _BLOCK
    while rows == _BLOCK:
        found = _block(database, parameters)
        rows = len(found["ids"] or b"") // 8
        if rows:
            columns = _columns(found, words)
            parameters["last"] = int(columns.ids[-1])
            yield columns, _vectors(found["vectors"] or b"", columns.embedded)


def _block(database: Database, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    from psycopg.rows import dict_row

    with database.transaction("copying the library") as connection:
        driver: Any = connection.connection.driver_connection
        # As bytes: text takes twice the space and twice the time.
        with driver.cursor(binary=True, row_factory=dict_row) as cursor:
            found: Mapping[str, Any] = cursor.execute(_BLOCK_OF, parameters).fetchone()
    return found


def _columns(found: Mapping[str, Any], words: StringColumn) -> Columns:
    def numbers(name: str, kind: str) -> NDArray[Any]:
        return np.frombuffer(found[name], dtype=kind)

    return Columns(
        ids=numbers("ids", ">i8").astype(np.int64),
        documents=numbers("documents", ">i8").astype(np.int64),
        moments=numbers("moments", ">i8").astype(np.int64),
        archived=numbers("archived", "?").copy(),
        embedded=numbers("embedded", "?").copy(),
        words=np.stack([words.numbers(found[name]) for name in SINGLE]),
        listed=tuple(Postings.of(found[name], words) for name in LISTED),
    )


def _vectors(sent: bytes, embedded: NDArray[np.bool_]) -> Vectors:
    """Vectors as pgvector sends them, each its width and then big-endian floats → a row per passage, or zeros."""
    count = int(np.count_nonzero(embedded))
    if not count:
        return np.zeros((len(embedded), 0), dtype=np.float32)
    width = int.from_bytes(sent[:2], "big")
    sizes = np.frombuffer(sent, dtype=">i2")
    if len(sent) != count * 4 * (width + 1) or (sizes.reshape(count, -1)[:, 0] != width).any():
        raise StoreFailed("Vectors of one model have different lengths.", "Have the documents read again.")
    vectors = np.zeros((len(embedded), width), dtype=np.float32)
    vectors[embedded] = np.frombuffer(sent, dtype=">f4").reshape(count, -1)[:, 1:]
    return vectors
