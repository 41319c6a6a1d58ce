"""Loads generated documents into a separate database with COPY.

Connects as the database's owner, because row-level security does not allow COPY for the role that searches.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bench.library import MadeDocument, Stock
from bootstrap.workbench import OpenWorkbench
from core.domain.int8_vectors import packed
from core.text.tokenize import stem
from storage.postgres.database import Database, conninfo_of
from storage.postgres.documents import DOCUMENTS, PAGES, document_values
from storage.postgres.passages import CHUNKS, passage_values
from storage.postgres.word_vectors import WORDS

__all__ = ["load", "owner"]

_TOGETHER = 20  # documents per transaction
_SEED = 5


def owner(database: Database) -> Any:
    """A connection as the login role, which bypasses row-level security; vectors are sent as arrays."""
    import psycopg
    from pgvector.psycopg import register_vector

    connection = psycopg.connect(conninfo_of(database.engine.url), autocommit=True)
    register_vector(connection)
    return connection


def load(
    library: OpenWorkbench,
    stock: Stock,
    documents: Iterable[MadeDocument],
    keep: Callable[[Sequence[MadeDocument]], None] = lambda some: None,
) -> None:
    """Store the documents with their vectors, entities and words, and let the server look at what it got.

    keep: is given the documents as they are stored.
    """
    database, name, words = library.database, library.embedder.name, set[str]()
    with owner(database) as connection:
        for some in _batches(documents):
            with connection.transaction():
                _copy_documents(connection, database.tenant, some, name)
            library.stores.graph.add([p for each in some for p in each.passages], stock.entities)
            words.update(word for each in some for word in each.words)
            keep(some)
        _copy_words(connection, (database.tenant, name), stock, sorted(words))
        for table in ("documents", "knowledge_chunks", "words"):
            connection.execute(f"SELECT setval('{table}_id_seq', (SELECT max(id) FROM {table}))")
        connection.execute("VACUUM ANALYZE")


def _batches(documents: Iterable[MadeDocument]) -> Iterable[list[MadeDocument]]:
    waiting: list[MadeDocument] = []
    for each in documents:
        waiting.append(each)
        if len(waiting) == _TOGETHER:
            yield waiting
            waiting = []
    if waiting:
        yield waiting


def _copy_documents(connection: Any, tenant: str, some: Sequence[MadeDocument], model: str) -> None:
    from psycopg.types.json import Jsonb

    documents, pages, passages = [], [], []
    for each in some:
        own = {"tenant_id": tenant, "document_id": each.document.id}
        values = document_values(each.document) | {"tenant_id": tenant, "id": each.document.id}
        documents.append(values | {"labels": Jsonb(values["labels"])})
        pages += [own | {"number": page.number, "text": page.text, "label": page.label} for page in each.pages]
        passages += [
            passage_values(passage) | own | {"embedding": vector, "embedded_by": model}
            for passage, vector in zip(each.passages, each.vectors, strict=True)
        ]
    for table, rows in ((DOCUMENTS, documents), (PAGES, pages), (CHUNKS, passages)):
        _copy(connection, table.name, rows)


def _copy_words(connection: Any, of: tuple[str, str], stock: Stock, made: Sequence[str]) -> None:
    """The words of the text as they were measured, and the made ones as if they meant anything."""
    known = dict(zip(stock.words.stems, zip(stock.words.words, stock.words.codes, strict=True), strict=True))
    fresh = {stem(word): word for word in made}
    codes = packed(np.random.default_rng(_SEED).normal(size=(len(fresh), stock.vectors.shape[1])).astype(np.float32))
    known |= dict(zip(fresh, zip(fresh.values(), codes, strict=True), strict=True))
    own = {"tenant_id": of[0], "model": of[1]}
    rows = [own | {"stem": s, "word": word, "codes": row.tobytes()} for s, (word, row) in known.items()]
    _copy(connection, WORDS.name, [row | {"id": number} for number, row in enumerate(rows, 1)])


def _copy(connection: Any, table: str, rows: Sequence[dict[str, Any]]) -> None:
    """Rows of equal columns, binary: each value in the type its column has."""
    if not rows:
        return
    columns = list(rows[0])
    query = "SELECT atttypid FROM pg_attribute WHERE attrelid = %s::regclass AND attname = %s"
    types = [connection.execute(query, (table, column)).fetchone()[0] for column in columns]
    with (
        connection.cursor() as cursor,
        cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT binary)") as copy,
    ):
        copy.set_types(types)
        for row in rows:
            copy.write_row([row[column] for column in columns])
