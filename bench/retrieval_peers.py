"""Peers of the retrieval benchmark on the same vectors: stock pgvector with an HNSW index, and Chroma."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bench.library import SELECTIVITIES, jurisdictions_of
from bench.library_loading import owner
from bench.measured import clock, resident_megabytes
from bench.retrieval_exact import TOP, Answers, answered
from core.ports.stores import Vectors
from storage.postgres.database import Database

__all__ = ["Peer", "measure_chroma", "measure_hnsw"]

_MEMORY = "2GB"  # for building the graph: with the default it takes four times as long
_WAYS = (
    ("ef_search 100", 100, "off"),
    ("ef_search 200", 200, "off"),
    ("ef_search 200, iterative", 200, "relaxed_order"),
)
_AT_ONCE = 5000  # records given to Chroma at a time


@dataclass(frozen=True, slots=True)
class Peer:
    """Measurements of a peer. dense: way → share → answers. not_run: why there are none, "" if there are. megabytes: of
    its index or, if embedded, of its process."""

    dense: dict[str, dict[float, Answers]]
    seconds: float
    megabytes: float
    not_run: str = ""


def measure_hnsw(database: Database, asked: Vectors, most_seconds: float) -> Peer:
    """A plain table beside ours, its graph built after it was filled. Not run when that takes longer."""
    from psycopg.errors import QueryCanceled

    width = asked.shape[1]
    with owner(database) as connection:
        connection.execute(f"CREATE TABLE stock (id bigint, jurisdiction text, embedding halfvec({width}))")
        connection.execute("INSERT INTO stock SELECT id, jurisdiction, embedding FROM knowledge_chunks")
        connection.execute(f"SET maintenance_work_mem = '{_MEMORY}'; SET max_parallel_maintenance_workers = 1")
        connection.execute(f"SET statement_timeout = '{most_seconds:.0f}s'")
        try:
            with clock() as taken:
                connection.execute("CREATE INDEX stock_graph ON stock USING hnsw (embedding halfvec_cosine_ops)")
        except QueryCanceled:
            return Peer({}, taken.seconds, 0.0, f"its index was not built within {most_seconds:.0f} s")
        finally:
            connection.execute("RESET statement_timeout")
        connection.execute("ANALYZE stock")
        size = connection.execute("SELECT pg_relation_size('stock_graph')").fetchone()[0]
        dense = {f"pgvector HNSW, {name}": _by_hnsw(connection, asked, *how) for name, *how in _WAYS}
    return Peer(dense, taken.seconds, size / 1e6)


def _by_hnsw(connection: Any, asked: Vectors, ef_search: int, iterative: str) -> dict[float, Answers]:
    connection.execute(f"SET hnsw.ef_search = {ef_search}; SET hnsw.iterative_scan = {iterative}")

    def ask(wanted: Sequence[str], vector: Any) -> list[int]:
        among = "WHERE jurisdiction = ANY(%s)" if wanted else ""
        query = f"SELECT id FROM stock {among} ORDER BY embedding <=> %s::halfvec LIMIT {TOP}"
        given = (list(wanted), vector) if wanted else (vector,)
        return [row[0] for row in connection.execute(query, given).fetchall()]

    return {share: answered(asked, partial(ask, jurisdictions_of(share))) for share in SELECTIVITIES}


def measure_chroma(folder: Path, files: Sequence[Path], asked: Vectors, most_seconds: float) -> Peer:
    """An embedded Chroma with default settings, filled in batches; run it in a separate process. Not run when filling
    would take longer, extrapolated from its pace."""
    from storage.vectors.chroma import chroma_client

    vectors, jurisdictions = (np.load(file, mmap_mode="r") for file in files)
    before = resident_megabytes()
    client = chroma_client(folder=folder)
    collection = client.create_collection("stock", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    with clock() as taken:
        size = min(_AT_ONCE, client.get_max_batch_size())
        for first in range(0, len(vectors), size):
            with clock() as batch:
                rows = range(first, min(first + size, len(vectors)))
                held = [{"jurisdiction": str(each)} for each in jurisdictions[first : rows.stop]]
                ids = [str(row + 1) for row in rows]
                collection.add(ids=ids, embeddings=np.array(vectors[first : rows.stop]), metadatas=held)
            foreseen = batch.seconds * (len(vectors) - rows.stop) / len(rows)
            if foreseen > most_seconds:
                return Peer({}, 0.0, 0.0, f"from {rows.stop} on, filling it would take {foreseen:.0f} s more")

    def ask(wanted: Sequence[str], vector: Any) -> list[int]:
        where: Any = {"jurisdiction": {"$in": list(wanted)}} if wanted else None
        found = collection.query(query_embeddings=vector.reshape(1, -1), where=where, n_results=TOP, include=[])
        return [int(each) for each in found["ids"][0]]

    dense = {share: answered(asked, partial(ask, jurisdictions_of(share))) for share in SELECTIVITIES}
    return Peer({"Chroma's query": dense}, taken.seconds, resident_megabytes() - before)
