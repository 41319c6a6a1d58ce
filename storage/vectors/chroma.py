# Longer than 300 lines: the index and the filters in its query language are one noun.
"""Dense search in Chroma: in the data folder, or a server by URL. The catalogue stays in PostgreSQL."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import product
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.errors import BadRequest, StoreFailed, StoreUnavailable
from core.domain.filters import FIELDS, FilterField, SearchFilters
from core.domain.results import LegHit, LegHits
from core.ports.stores import PassageIds, Vectors

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.models.Collection import Collection

    from storage.vectors.local_chroma import LocalChroma, LocalCollection

__all__ = ["ChromaIndex", "embedded_client", "metadata", "server_client", "where"]

_EXACT_ROWS = 20_000
"""Up to so many admissible rows are ranked here, one by one: 30 MB of 384 numbers each. Chroma's own graph search loses
hits under a filter (recall 0.88 at 5% of 100,000 rows)."""

_OVERSAMPLING = 10
"""Beyond that the graph is asked for this many times the hits wanted: what it misses is far down what it returns."""

_UNREACHABLE = "Check that Chroma runs, and that FIVEFOLD_CHROMA_URL is right where it is set, then try again."

_EF_SEARCH = 400  # candidates the graph keeps while searching; at 100 it misses some of the best 10


def embedded_client(folder: Path) -> "ClientAPI":
    """The Chroma of a folder, which only one process may open. Sends no usage statistics. Raises StoreFailed."""
    import chromadb
    from chromadb.config import Settings

    with _failures("opening its folder"):
        folder.mkdir(parents=True, exist_ok=True)
        return chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))


def server_client(url: str, token: str = "") -> "ClientAPI":
    """A client of the server at `url`. token: sent with each request, as `Authorization: Bearer …`.

    Raises BadRequest for an invalid URL, StoreFailed when Chroma does not answer.
    """
    import chromadb
    from chromadb.config import Settings

    settings = Settings(anonymized_telemetry=False)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadRequest(f"'{url}' is not the URL of a Chroma server.", "Write it as http://host:8000.")
    if token:
        settings.chroma_client_auth_provider = "chromadb.auth.token_authn.TokenAuthClientProvider"
        settings.chroma_client_auth_credentials = token
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 8000)
    try:
        with _failures("connecting"):
            return chromadb.HttpClient(parts.hostname, port, ssl=secure, settings=settings)
    except ValueError as error:  # raised by Chroma when no server answers
        raise StoreUnavailable(f"No Chroma server answers at {url}.", _UNREACHABLE) from error


class ChromaIndex:
    """Implements core.ports.stores.VectorIndex with one collection per tenant and model, which keeps them apart.

    connect, model: called at first use, so that a page is drawn before Chroma and the embedding model are loaded; after
    a failure the next caller tries again. model: the one in use. prepared: the model whose vectors are being prepared
    beside those in use, "" for none: changed labels and deletions reach them too.
    """

    def __init__(
        self,
        connect: "Callable[[], ClientAPI | LocalChroma]",
        tenant: str,
        model: Callable[[], str],
        prepared: Callable[[], str] = lambda: "",
    ) -> None:
        self._connect, self._tenant, self._model, self._prepared = connect, tenant, model, prepared
        self._lock = Lock()
        self._client: ClientAPI | LocalChroma | None = None
        self._opened: tuple[str, Collection | LocalCollection] | None = None

    def of(self, model: str) -> "ChromaIndex":
        """The vectors of another model in the same Chroma."""
        return ChromaIndex(self._connected, self._tenant, lambda: model)

    def drop_others(self, models: Sequence[str]) -> None:
        """Delete the tenant's collections of all other models. Raises StoreFailed."""
        with _failures("deleting the vectors of another model"):
            for each in self._connected().list_collections():
                about = each.metadata or {}
                if about.get("tenant") == self._tenant and about.get("model") not in models:
                    self._connected().delete_collection(each.name)

    def _connected(self) -> "ClientAPI | LocalChroma":
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _collection(self) -> "Collection | LocalCollection":
        """The collection of the model in use; opened again when the model has changed."""
        client, model = self._connected(), self._model()
        with self._lock:
            if self._opened is None or self._opened[0] != model:
                digest = blake2b(f"{self._tenant}\0{model}".encode(), digest_size=16).hexdigest()
                collection = client.get_or_create_collection(
                    f"fivefold-{digest}",
                    embedding_function=None,
                    configuration={"hnsw": {"space": "cosine", "ef_search": _EF_SEARCH}},
                    metadata={"tenant": self._tenant, "model": model},
                )
                self._opened = model, collection
            return self._opened[1]

    def _all(self) -> "Iterator[ChromaIndex]":
        """The collection of the model whose vectors are being prepared, where there is one, too."""
        yield self
        prepared = self._prepared()
        if prepared and prepared != self._model():
            yield self.of(prepared)

    def _batches(self, count: int) -> Iterator[slice]:
        size = min(self._connected().get_max_batch_size(), 1000)
        return (slice(start, start + size) for start in range(0, count, size))

    def add(self, passages: Sequence[Passage], vectors: Vectors, *, embedded_by: str = "") -> None:
        """Store or replace vectors with their filter fields. Raises StoreFailed."""
        if len(passages) != len(vectors):
            raise ValueError(f"{len(passages)} passages, but {len(vectors)} vectors")
        if embedded_by and embedded_by != self._model():
            self.of(embedded_by).add(passages, vectors)
            return
        with _failures("storing vectors"):
            for rows in self._batches(len(passages)):
                self._collection().upsert(
                    ids=[str(p.id) for p in passages[rows]],
                    embeddings=np.asarray(vectors[rows], dtype=np.float32),
                    metadatas=[metadata(p) for p in passages[rows]],
                )

    def update(self, passages: Sequence[Passage]) -> None:
        """New labels for passages that have a vector; others are ignored. Raises StoreFailed."""
        with _failures("updating labels"):
            for index, rows in product(self._all(), list(self._batches(len(passages)))):
                by_id = {str(p.id): p for p in passages[rows]}
                known = index._collection().get(ids=list(by_id), include=[])["ids"]
                if known:
                    index._collection().update(ids=known, metadatas=[metadata(by_id[i]) for i in known])

    def delete(self, document_ids: Sequence[int], *, but: Sequence[Passage] = ()) -> None:
        """Delete every passage of these documents. but: those that stay. Raises StoreFailed."""
        retained = {str(each.id) for each in but}
        with _failures("deleting vectors"):
            for index, rows in product(self._all(), list(self._batches(len(document_ids)))):
                narrowed = where(SearchFilters(documents=tuple(document_ids[rows]), archived=None))
                stored = index._collection().get(where=narrowed, include=[])["ids"]
                removed = [each for each in stored if each not in retained]
                for some in self._batches(len(removed)):
                    index._collection().delete(ids=removed[some])

    def ping(self) -> None:
        """Raises StoreFailed when Chroma does not answer."""
        self.count()

    def search(
        self, vector: NDArray[np.float32], filters: SearchFilters, top_k: int, among: PassageIds | None = None
    ) -> LegHits:
        """The top_k admissible passages by cosine, best first; ties by passage id. Raises StoreFailed."""
        narrowed = where(filters)
        with _failures("searching by meaning"):
            total = self._collection().count()
            if among is not None:
                admissible = sorted(map(int, self._collection().get(where=narrowed, include=[])["ids"]))
                chosen = np.intersect1d(np.array(admissible, dtype=np.int64), among, assume_unique=True)
                if len(chosen) < len(admissible):
                    return LegHits(_ranked(self.similarities(vector, chosen.tolist()), top_k), total, len(chosen))
            few = self._collection().get(where=narrowed, include=["embeddings"], limit=_EXACT_ROWS + 1)
            if len(few["ids"]) <= _EXACT_ROWS:
                return LegHits(_ranked(_cosines(vector, few), top_k), total, len(few["ids"]))
            admitted = len(self._collection().get(where=narrowed, include=[])["ids"])
            near = self._collection().query(
                query_embeddings=np.asarray(vector, dtype=np.float32).reshape(1, -1),
                where=narrowed,
                n_results=min(admitted, max(top_k, 1) * _OVERSAMPLING),
                include=["embeddings"],
            )
            found = _cosines(vector, {"ids": near["ids"][0], "embeddings": (near["embeddings"] or [[]])[0]})
            if len(found) < min(top_k, admitted):
                found = _cosines(vector, self._collection().get(where=narrowed, include=["embeddings"]))
        return LegHits(_ranked(found, top_k), total, admitted)

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        """Every admissible passage's id and vector, ids ascending. Raises StoreFailed."""
        with _failures("reading vectors"):
            ids = sorted(map(int, self._collection().get(where=where(filters), include=[])["ids"]))
            for rows in self._batches(len(ids)):
                answer = self._collection().get(ids=[str(i) for i in ids[rows]], include=["embeddings"])
                by_id = dict(
                    zip(map(int, answer["ids"]), np.asarray(answer["embeddings"], dtype=np.float32), strict=True)
                )
                known = [i for i in ids[rows] if i in by_id]
                if known:
                    yield np.array(known, dtype=np.int64), np.stack([by_id[i] for i in known])

    def similarities(self, vector: NDArray[np.float32], passage_ids: Sequence[int]) -> Mapping[int, float]:
        """Exact cosine, in [-1, 1], per passage; ids without a vector are absent. Raises StoreFailed."""
        found: dict[int, float] = {}
        ids = [str(int(i)) for i in dict.fromkeys(passage_ids)]
        with _failures("comparing meanings"):
            for rows in self._batches(len(ids)):
                found |= _cosines(vector, self._collection().get(ids=ids[rows], include=["embeddings"]))
        return found

    def vectors(self, passage_ids: Sequence[int]) -> Mapping[int, NDArray[np.float32]]:
        """The stored vectors; ids without one are absent. Raises StoreFailed."""
        ids = [str(int(i)) for i in dict.fromkeys(passage_ids)]
        found: dict[int, NDArray[np.float32]] = {}
        with _failures("reading vectors"):
            for rows in self._batches(len(ids)):
                answer = self._collection().get(ids=ids[rows], include=["embeddings"])
                stored = np.asarray(answer["embeddings"], dtype=np.float32)
                found |= dict(zip(map(int, answer["ids"]), stored, strict=True))
        return found

    def count(self) -> int:
        """Passages with a vector. Raises StoreFailed."""
        with _failures("counting vectors"):
            return self._collection().count()

    def passage_ids(self) -> PassageIds:
        """Every passage with a vector, ascending. Raises StoreFailed."""
        with _failures("listing vectors"):
            return np.array(sorted(map(int, self._collection().get(include=[])["ids"])), dtype=np.int64)

    def discard(self, passage_ids: PassageIds) -> None:
        """Delete the vectors of these passages. Raises StoreFailed."""
        with _failures("deleting vectors"):
            for rows in self._batches(len(passage_ids)):
                self._collection().delete(ids=[str(i) for i in passage_ids[rows].tolist()])

    def vacuum(self) -> None:
        """Nothing: Chroma has no call for it; `chroma vacuum` does it while Chroma is stopped."""


def _cosines(vector: NDArray[np.float32], records: Mapping[str, Any]) -> dict[int, float]:
    """Cosine of the vector with each record's embedding; 0 for an embedding of length 0."""
    if not len(records["ids"]):
        return {}
    stored = np.asarray(records["embeddings"], dtype=np.float64)
    query = np.asarray(vector, dtype=np.float64).ravel()
    lengths = np.linalg.norm(stored, axis=1) * np.linalg.norm(query)
    cosines = np.divide(stored @ query, lengths, out=np.zeros(len(stored)), where=lengths > 0)
    return dict(zip(map(int, records["ids"]), np.clip(cosines, -1, 1).tolist(), strict=True))


def _ranked(cosines: Mapping[int, float], top_k: int) -> tuple[LegHit, ...]:
    best = sorted(cosines.items(), key=lambda item: (-item[1], item[0]))[: max(top_k, 0)]
    return tuple(LegHit(passage_id, score) for passage_id, score in best)


@contextmanager
def _failures(doing: str) -> Iterator[None]:
    """Maps errors of Chroma and its HTTP client to StoreFailed."""
    import httpx
    from chromadb.errors import ChromaError

    try:
        yield
    except (ChromaError, httpx.HTTPError, OSError) as error:
        detail = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        failure = StoreFailed if isinstance(error, ChromaError) else StoreUnavailable
        raise failure(f"Chroma failed while {doing}: {detail}.", _UNREACHABLE) from error


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_MICROSECOND = timedelta(microseconds=1)


def _microseconds(moment: datetime) -> int:
    """
    >>> _microseconds(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (moment - _EPOCH) // _MICROSECOND


def metadata(passage: Passage) -> dict[str, Any]:
    """The filter fields of a passage. Chroma merges metadata, so None removes a key that the record had."""
    fields: dict[str, Any] = {
        "archived": passage.archived,
        "date": None if passage.date is None else _microseconds(passage.date),
        "undated": passage.date is None,
        "shared": passage.project is None,
        "possible_labels": sorted(set(passage.possible_labels)) or None,
    }
    for field in FIELDS:
        value = getattr(passage, field.attribute)
        if field.many:
            fields[field.attribute] = sorted({str(one) for one in value}) or None
        else:
            fields[field.attribute] = _plain_value(value)
    return fields


def _plain_value(value: Any) -> Any:
    """An enum member as its value; Chroma takes plain strings and numbers."""
    return str(value) if isinstance(value, str) else value


def where(filters: SearchFilters) -> dict[str, Any] | None:
    """The filter as a Chroma `where`; None for no restriction. `recency_months` must have been resolved."""
    parts: list[dict[str, Any]] = []
    if filters.archived is not None:
        parts.append({"archived": filters.archived})
    if filters.dated:
        parts.append(_date_condition(filters))
    for field in FIELDS:
        parts += _field_conditions(field, filters)
    return _combine("$and", parts) if parts else None


def _combine(operator: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Joins conditions; Chroma rejects $and and $or with a single part."""
    return parts[0] if len(parts) == 1 else {operator: parts}


def _date_condition(filters: SearchFilters) -> dict[str, Any]:
    within: list[dict[str, Any]] = [{"undated": False}]
    if filters.date_from is not None:
        within.append({"date": {"$gte": _microseconds(filters.date_from)}})
    if filters.date_to is not None:
        within.append({"date": {"$lte": _microseconds(filters.date_to)}})
    dated = _combine("$and", within)
    return _combine("$or", [dated, {"undated": True}]) if filters.include_undated else dated


def _field_conditions(field: FilterField, filters: SearchFilters) -> Iterator[dict[str, Any]]:
    key = field.attribute
    included = [_plain_value(value) for value in getattr(filters, field.name)]
    unwanted = [_plain_value(value) for value in getattr(filters, f"exclude_{field.name}")]
    if field.many:
        every = getattr(filters, f"{field.name}_mode") == "all"
        if included:
            yield _combine("$and" if every else "$or", [{key: {"$contains": value}} for value in included])
        if unwanted:
            yield _combine("$and", [{key: {"$not_contains": value}} for value in unwanted])
        return
    if included:
        ways: list[dict[str, Any]] = [{key: {"$in": included}}]
        if field.name == "projects":  # a passage without a project belongs to every project
            ways.append({"shared": True})
        ways += [{"possible_labels": {"$contains": value}} for value in filters.possible_values(field)]
        yield _combine("$or", ways)
    if unwanted:
        yield {key: {"$nin": unwanted}}
