"""Passages with their vectors in PostgreSQL: table, conversion between values and rows, bulk reads and writes."""
# Over 300 lines: a table, the conversion of its rows and its queries are read together.

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from pgvector.sqlalchemy import VECTOR
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.json import Jsonb
from sqlalchemy import (
    Connection,
    Index,
    Integer,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.documents import (
    Authority,
    Document,
    Origin,
    Passage,
    Sector,
    SourceType,
    Span,
    TableRole,
    TemporalClass,
    Truth,
)
from core.domain.frozen import maker_of
from core.domain.sanitize import storable_text
from storage.postgres.database import Database, array_literal
from storage.postgres.documents import driver_of, evidence_from_text
from storage.postgres.json_records import storable
from storage.postgres.tables import BY_PROJECT, Base, allow, id_column, of_document, of_tenant, table_of

__all__ = [
    "CHUNKS",
    "LIBRARY_CHANGES",
    "PASSAGE_ROW",
    "EmbeddingDumper",
    "LibraryChange",
    "PassageRow",
    "find_passages",
    "insert_passages",
    "latest_changes",
    "passage_from",
    "passage_values",
    "read_passages",
    "storable_passage",
    "stored_passage",
    "update_passages",
]

_FILTERED = [
    *("archived", "embedded_by", "document_id", "date", "truth", "domain", "authority", "jurisdiction"),
    *("temporal_class", "source_type", "origin", "sector", "project"),
]
_EMPTY, _NONE = text("''"), text("'{}'")  # the class below has a column named `text`


class PassageRow(Base):
    """One passage, everything filters read, and its vector.

    Filters never join: the document fields they read (project, archived …) are repeated here. Only documents that were
    ready have passages, so "ready" needs no join either. `sentences` contains the spans as start, end, start, end …:
    they are only read with their passage, so an array of 2n numbers costs one read, a separate table n rows.
    `evidence` is the evidence of the truth. `embedding` has no fixed width, because the embedding model is a setting;
    `embedded_by` names the model, and vectors of different models are never compared.
    """

    __tablename__ = "knowledge_chunks"
    __table_args__ = (
        of_document(),
        Index("knowledge_chunks_reading_order", "tenant_id", "document_id", "position"),
        # Contains what filters read, so that ids are filtered and counted without reading the wide rows.
        Index("knowledge_chunks_filters", "tenant_id", "id", postgresql_include=_FILTERED),
        allow("SELECT, INSERT, UPDATE, DELETE", seen=BY_PROJECT),
    )

    id: Mapped[int] = id_column("knowledge_chunks_id_seq")
    document_id: Mapped[int]
    document_name: Mapped[str]
    position: Mapped[int] = mapped_column(Integer())
    page: Mapped[int] = mapped_column(Integer())
    start: Mapped[int] = mapped_column("span_start", Integer())
    end: Mapped[int] = mapped_column("span_end", Integer())
    text: Mapped[str]
    sentences: Mapped[list[int]]
    section: Mapped[str]
    context: Mapped[str]
    rows: Mapped[list[int] | None] = mapped_column("table_rows")
    truth: Mapped[str | None]
    truth_probability: Mapped[float]
    evidence: Mapped[list[dict[str, Any]]]
    domain: Mapped[str | None]
    authority: Mapped[str | None]
    jurisdiction: Mapped[str | None]
    date: Mapped[datetime | None]
    temporal_class: Mapped[str | None]
    source_type: Mapped[str]
    origin: Mapped[str]
    sector: Mapped[str | None]
    table_role: Mapped[str | None]
    project: Mapped[str | None]
    tags: Mapped[list[str]]
    entities: Mapped[list[str]]
    keywords: Mapped[list[str]]
    possible_labels: Mapped[list[str]] = mapped_column(server_default=_NONE)
    archived: Mapped[bool]
    # Long texts are stored outside the row, vectors inside: an exact scan reads vectors and filter columns, no text.
    meanings: Mapped[bytes] = mapped_column(server_default=_EMPTY, info={"storage": "EXTERNAL"})
    embedding: Mapped[Any | None] = mapped_column(VECTOR(), info={"storage": "MAIN"})
    embedded_by: Mapped[str | None]


class LibraryChange(Base):
    """The latest change of a document's passages. version: new for each change; changed_by: the transaction id.

    A deleted document keeps its row, so that caches of its passages find out about the deletion.
    """

    __tablename__ = "library_changes"
    __table_args__ = (
        of_tenant(),
        Index("library_changes_latest", "tenant_id", "changed_by"),
        allow("SELECT, INSERT, UPDATE"),
    )

    document_id: Mapped[int] = mapped_column(primary_key=True)
    version: Mapped[UUID]
    changed_by: Mapped[int]


CHUNKS = table_of(PassageRow)
LIBRARY_CHANGES = table_of(LibraryChange)


def storable_passage(passage: Passage) -> Passage:
    """The passage with texts that PostgreSQL can store; sentence spans stay valid."""
    texts = ("text", "section", "context")
    clean: dict[str, Any] = {name: storable_text(getattr(passage, name)) for name in texts}
    lists: dict[str, Any] = {name: tuple(storable(getattr(passage, name))) for name in _LISTS}
    return replace(passage, **clean, **lists)


def stored_passage(document: Document, passage_id: int, position: int, passage: Passage) -> Passage:
    """The passage with what only the catalogue knows: ids, and the fields it copies from its document."""
    return replace(
        storable_passage(replace(passage, tags=passage.tags or document.tags)),
        id=passage_id,
        document_id=document.id,
        document_name=storable_text(document.name),
        position=position,
        project=document.project,
        source_type=document.source_type,
        archived=document.archived,
    )


_PASSAGE_COLUMNS = (
    *("id", "document_id", "document_name", "position", "page", "text", "section", "context", "truth_probability"),
    *("domain", "jurisdiction", "date", "project", "archived", "meanings"),
)
_CLOSED = {
    "authority": Authority,
    "temporal_class": TemporalClass,
    "sector": Sector,
    "table_role": TableRole,
    "truth": Truth,
}
_LISTS = ("tags", "entities", "keywords", "possible_labels")
_OPTIONAL = {name: {None: None} | {str(member): member for member in values} for name, values in _CLOSED.items()}
_MEMBERS: Mapping[str, Mapping[str | None, Any]] = _OPTIONAL | {
    "source_type": {str(member): member for member in SourceType},
    "origin": {str(member): member for member in Origin},
}
"""Column → stored word → enum member: a look-up, because two hundred passages are read per search."""


def passage_values(passage: Passage) -> dict[str, Any]:
    """The columns of a passage, without tenant and embedding. The driver converts lists and JSON."""
    plain: dict[str, Any] = {name: getattr(passage, name) for name in _PASSAGE_COLUMNS}
    closed: dict[str, Any] = {
        name: None if (value := getattr(passage, name)) is None else str(value) for name in _CLOSED
    }
    lists: dict[str, Any] = {name: list(getattr(passage, name)) for name in _LISTS}
    return {
        **plain,
        **closed,
        **lists,
        "span_start": passage.start,
        "span_end": passage.end,
        "sentences": [bound for span in passage.sentences for bound in (span.start, span.end)],
        "table_rows": None if passage.rows is None else list(passage.rows),
        "evidence": Jsonb([storable(asdict(item)) for item in passage.truth_evidence]),
        "source_type": str(passage.source_type),
        "origin": str(passage.origin),
    }


def passage_from(row: Sequence[Any]) -> Passage:
    """A passage from its values, in the order of `PASSAGE_ROW`."""
    values = list(row)
    for index, converted in _CONVERTED:
        values[index] = converted(values[index])
    passage: Passage = maker_of(Passage)(*values)
    return passage


def _spans(bounds: Sequence[int]) -> tuple[Span, ...]:
    return tuple(map(maker_of(Span), bounds[::2], bounds[1::2]))


_NAMED_OTHERWISE = {"start": "span_start", "end": "span_end", "rows": "table_rows", "truth_evidence": "evidence::text"}
PASSAGE_ROW = {field.name: _NAMED_OTHERWISE.get(field.name, field.name) for field in fields(Passage)}
"""Attribute of a passage → its column: one row of these, with evidence as text, makes a passage."""
_CONVERT: Mapping[str, Callable[[Any], Any]] = {
    "sentences": _spans,
    "truth_evidence": evidence_from_text,
    "rows": lambda pair: None if pair is None else tuple(pair),
    **dict.fromkeys(_LISTS, tuple),
    **{name: members.__getitem__ for name, members in _MEMBERS.items()},
}
_CONVERTED = [(index, _CONVERT[name]) for index, name in enumerate(PASSAGE_ROW) if name in _CONVERT]


class EmbeddingDumper(Dumper):
    """A float32 array of shape (dim,) as PostgreSQL's binary real[], which it casts to vector.

    Ten times as fast as writing the numbers as text, and exact.
    """

    format = Format.BINARY
    oid = 1021

    def dump(self, obj: NDArray[np.float32]) -> bytes:
        """Header (dimensions, no nulls, element type 700, length, first index), then size and big-endian value each."""
        items = np.empty(len(obj), dtype=[("bytes", ">i4"), ("value", ">f4")])
        items["bytes"], items["value"] = 4, obj
        return struct.pack(">5i", 1, 0, 700, len(obj), 1) + items.tobytes()


_VECTOR_COLUMNS = ("embedding", "embedded_by")
_COLUMNS = [column for column in CHUNKS.c if column.name not in _VECTOR_COLUMNS]  # displaying a passage needs no vector
_FIXED = ("tenant_id", "id", "document_id", "meanings", "keywords")  # keywords are written for whole documents
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
    connection: Connection, tenant: str, *, ids: Sequence[int] = (), document_ids: Sequence[int] = ()
) -> Sequence[Passage]:
    """The passages with these ids, or those of these documents, each document's in reading order.

    Uses the driver alone, in binary: SQLAlchemy's type conversion takes three times as long for two hundred rows.
    """
    chosen, numbers = ("document_id", document_ids) if document_ids else ("id", ids)
    query = f"SELECT {_READ} FROM {CHUNKS.name} WHERE tenant_id = %s AND {chosen} = ANY(%s) ORDER BY position"
    with driver_of(connection).cursor(binary=True) as cursor:
        return [passage_from(row) for row in cursor.execute(query, (tenant, list(map(int, numbers)))).fetchall()]


def find_passages(database: Database, ids: Sequence[int]) -> Sequence[Passage]:
    """The passages with these ids, each document's in reading order, in one round trip. Raises StoreFailed."""
    query = (
        f"SELECT {_READ} FROM {CHUNKS.name} WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::bigint[])"
        " ORDER BY position"
    )
    return [passage_from(row) for row in database.read("reading passages", query, {"ids": array_literal(ids)})]


def latest_changes(database: Database) -> str:
    """A digest of the latest changes of passages: another one after the next change. It takes many of them, because a
    transaction that began earlier may end later. Raises StoreFailed."""
    latest = (
        f"SELECT changed_by, version FROM {LIBRARY_CHANGES.name} WHERE tenant_id = %(tenant)s"
        f" ORDER BY changed_by DESC LIMIT {_LATEST}"
    )
    query = f"SELECT md5(string_agg(version::text, '' ORDER BY changed_by, version)) FROM ({latest}) AS latest"
    return str(database.read("looking for changes", query, {})[0][0])


_LATEST = 100  # documents, more than are stored at the same time. Chosen by hand.


def insert_passages(
    connection: Connection,
    tenant: str,
    passages: Sequence[Passage],
    vectors: Iterable[NDArray[np.float32] | None],
    embedded_by: str | None,
) -> None:
    """Store new passages, each with its vector (float32, shape (dim,)) of this model, or with None."""
    rows = [
        passage_values(passage) | {"tenant_id": tenant, "embedding": vector, "embedded_by": embedded_by}
        for passage, vector in zip(passages, vectors, strict=True)
    ]
    _execute_many(connection, _INSERT, rows)


def update_passages(connection: Connection, tenant: str, passages: Sequence[Passage]) -> None:
    """Store changed fields of existing passages; their vectors and keywords stay."""
    _execute_many(connection, _UPDATE, [passage_values(passage) | {"tenant_id": tenant} for passage in passages])


def _execute_many(connection: Connection, statement: str, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    with driver_of(connection).cursor() as cursor:
        cursor.adapters.register_dumper(np.ndarray, EmbeddingDumper)
        cursor.executemany(statement, rows)
