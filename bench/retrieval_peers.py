"""What search is compared with on the same vectors: exact search, pgvector with an HNSW index, and Chroma."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.library import SELECTIVITIES, MadeDocument, jurisdictions_of, owner
from bench.measured import clock, resident_megabytes
from core.domain.documents import Passage
from core.ports.stores import Vectors
from storage.postgres.database import Database

__all__ = ["TOP", "Answers", "Exact", "Peer", "StoredVectors", "answered", "measure_chroma", "measure_hnsw"]

TOP = 10  # recall@10, as such benchmarks report it
_BLOCK = 8192  # vectors multiplied at a time; bounds the memory
_PER_DOCUMENT = 4  # questions
_WORDS = 8  # of a question, at most
_EQUAL = 1e-6  # cosines that differ by less are equal


class StoredVectors:
    """The stored vectors in memory-mapped files for other processes: row n is passage n + 1. Questions are words of
    passages."""

    def __init__(self, folder: Path, passages: int, width: int) -> None:
        self.files = (folder / "vectors.npy", folder / "jurisdictions.npy")
        opened = np.lib.format.open_memmap
        self.vectors: Vectors = opened(self.files[0], mode="w+", dtype=np.float32, shape=(passages, width))
        self.jurisdictions: NDArray[np.str_] = opened(self.files[1], mode="w+", dtype="U16", shape=(passages,))
        self._questions: list[str] = []

    def note(self, some: Sequence[MadeDocument]) -> None:
        """What these documents hold."""
        for each in some:
            rows = slice(each.passages[0].id - 1, each.passages[-1].id)
            self.vectors[rows] = each.vectors
            self.jurisdictions[rows] = [passage.jurisdiction for passage in each.passages]
            chosen = each.passages[:: max(1, len(each.passages) // _PER_DOCUMENT)][:_PER_DOCUMENT]
            self._questions += [
                _question(passage, len(self._questions) + index) for index, passage in enumerate(chosen)
            ]

    def questions(self, count: int) -> list[str]:
        """So many, or as many as there are, spread over the library."""
        return self._questions[:: max(1, len(self._questions) // count)][:count]


def _question(passage: Passage, number: int) -> str:
    """Words in a row out of a passage: of its first sentence, with a made word, or of one in the middle."""
    sentence = passage.sentences[0 if number % 2 else len(passage.sentences) // 2].of(passage.text)
    return " ".join(sentence.split()[:_WORDS]).rstrip(".,;:") + "?"


@dataclass(frozen=True, slots=True)
class Answers:
    """Milliseconds and passages found, best first, per question."""

    milliseconds: tuple[float, ...]
    found: tuple[tuple[int, ...], ...]


def answered(vectors: Vectors, ask: Callable[[NDArray[np.float32]], Sequence[int]]) -> Answers:
    """Each vector asked once, after one that is not counted."""
    ask(vectors[-1])
    milliseconds, found = [], []
    for vector in vectors:
        with clock() as taken:
            ids = ask(vector)
        milliseconds.append(1000 * taken.seconds)
        found.append(tuple(int(i) for i in ids))
    return Answers(tuple(milliseconds), tuple(found))


class Exact:
    """Every cosine of some questions with the whole library, by numpy."""

    def __init__(self, stored: StoredVectors, vectors: Vectors) -> None:
        rows = range(0, len(stored.vectors), _BLOCK)
        self._cosines = np.concatenate([stored.vectors[at : at + _BLOCK] @ vectors.T for at in rows])
        self._jurisdictions = stored.jurisdictions

    def admitted(self, share: float) -> NDArray[np.bool_]:
        """Shape (n,), whether the filter of a share admits a passage."""
        jurisdictions = jurisdictions_of(share)
        return (
            np.isin(self._jurisdictions, jurisdictions)
            if jurisdictions
            else np.ones(len(self._jurisdictions), dtype=np.bool_)
        )

    def recall(self, answers: Answers, share: float) -> float:
        """Mean share of the best `TOP` admissible passages, or as many as there are, among the first `TOP` answers; a
        passage as near as the last of them counts."""
        admitted = self.admitted(share)
        there = self._cosines[admitted]
        most = min(TOP, len(there))
        least = np.partition(there, len(there) - most, axis=0)[len(there) - most] - _EQUAL
        hit = [
            sum(admitted[i - 1] and self._cosines[i - 1, number] >= least[number] for i in ids[:TOP])
            for number, ids in enumerate(answers.found)
        ]
        return float(np.mean(hit)) / most


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


def measure_hnsw(database: Database, vectors: Vectors, most_seconds: float) -> Peer:
    """A plain table beside ours, its graph built after it was filled. Not run when that takes longer."""
    from psycopg.errors import QueryCanceled

    width = vectors.shape[1]
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
        dense = {f"pgvector HNSW, {name}": _by_hnsw(connection, vectors, *how) for name, *how in _WAYS}
    return Peer(dense, taken.seconds, size / 1e6)


def _by_hnsw(connection: Any, vectors: Vectors, ef_search: int, iterative: str) -> dict[float, Answers]:
    connection.execute(f"SET hnsw.ef_search = {ef_search}; SET hnsw.iterative_scan = {iterative}")

    def ask(admitted: Sequence[str], vector: Any) -> list[int]:
        among = "WHERE jurisdiction = ANY(%s)" if admitted else ""
        query = f"SELECT id FROM stock {among} ORDER BY embedding <=> %s::halfvec LIMIT {TOP}"
        given = (list(admitted), vector) if admitted else (vector,)
        return [row[0] for row in connection.execute(query, given).fetchall()]

    return {share: answered(vectors, partial(ask, jurisdictions_of(share))) for share in SELECTIVITIES}


def measure_chroma(folder: Path, files: Sequence[Path], query_vectors: Vectors, most_seconds: float) -> Peer:
    """An embedded Chroma with default settings, filled in batches; run it in a separate process. Not run when filling
    would take longer, extrapolated from its pace."""
    from storage.vectors.chroma import embedded_client

    vectors, jurisdictions = (np.load(file, mmap_mode="r") for file in files)
    before = resident_megabytes()
    client = embedded_client(folder)
    collection = client.create_collection("stock", embedding_function=None, configuration={"hnsw": {"space": "cosine"}})
    with clock() as taken:
        size = min(_AT_ONCE, client.get_max_batch_size())
        for first in range(0, len(vectors), size):
            with clock() as batch:
                rows = range(first, min(first + size, len(vectors)))
                metadatas = [{"jurisdiction": str(each)} for each in jurisdictions[first : rows.stop]]
                ids = [str(row + 1) for row in rows]
                collection.add(ids=ids, embeddings=np.array(vectors[first : rows.stop]), metadatas=metadatas)
            foreseen = batch.seconds * (len(vectors) - rows.stop) / len(rows)
            if foreseen > most_seconds:
                return Peer({}, 0.0, 0.0, f"from {rows.stop} on, filling it would take {foreseen:.0f} s more")

    def ask(admitted: Sequence[str], vector: Any) -> list[int]:
        where: Any = {"jurisdiction": {"$in": list(admitted)}} if admitted else None
        found = collection.query(query_embeddings=vector.reshape(1, -1), where=where, n_results=TOP, include=[])
        return [int(each) for each in found["ids"][0]]

    dense = {share: answered(query_vectors, partial(ask, jurisdictions_of(share))) for share in SELECTIVITIES}
    return Peer({"Chroma's query": dense}, taken.seconds, resident_megabytes() - before)
