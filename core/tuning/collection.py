"""How well each leg and the default profile rank a retrieval test collection."""

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256

from core.documents import Document
from core.queries import SearchRequest
from core.results import SearchResult
from core.tuning.judgments import Collection
from core.tuning.metrics import mean, ranking_measures

__all__ = ["evaluate_collection", "ids_of"]

_DEPTH = 100
_LEGS = ("dense", "sparse", "fused")
_MEASURES = {"nDCG@10": "ndcg@10", "R@100": "recall@100"}


def evaluate_collection(
    collection: Collection,
    ids: Mapping[int, Sequence[str]],
    search: Callable[[SearchRequest], SearchResult],
    *,
    profile: str = "balanced",
) -> dict[str, dict[str, float]]:
    """Leg or profile → {ndcg@10, recall@100}.

    ids: stored document → the collection's ids of it (several where the collection holds the same text twice).

    The legs' own ranks order their lists. The profile's list is its hits, then what it dropped by falling score: a
    ranking measure judges the order, and the threshold only cuts it off.
    """
    rankings: dict[str, dict[str, Sequence[str]]] = {name: {} for name in (*_LEGS, profile)}
    for query, text in collection.queries.items():
        result = search(SearchRequest(text, profile=profile, top_k=_DEPTH))
        for leg in _LEGS:
            rankings[leg][query] = _ids(_leg_order(result, leg), ids)
        rankings[profile][query] = _ids(_profile_order(result), ids)
    return {name: _measured(collection.grades, ranking) for name, ranking in rankings.items()}


def ids_of(texts: Mapping[str, str], documents: Mapping[str, Document]) -> dict[int, list[str]]:
    """Stored document → the collection's ids of its text. documents: SHA-256 of the text's bytes → document."""
    ids: dict[int, list[str]] = {}
    for name, text in texts.items():
        document = documents.get(sha256(text.encode()).hexdigest())
        if document is not None:
            ids.setdefault(document.id, []).append(name)
    return ids


def _measured(grades: Mapping[str, Mapping[str, int]], ranking: Mapping[str, Sequence[str]]) -> dict[str, float]:
    measured = ranking_measures(grades, ranking, tuple(_MEASURES))
    return {key: mean([values[name] for values in measured.values()]) for name, key in _MEASURES.items()}


def _leg_order(result: SearchResult, leg: str) -> list[int]:
    placed = [(c.signals.ranks[leg], c.passage.document_id) for c in result.candidates if leg in c.signals.ranks]
    return [document for _, document in sorted(placed)]


def _profile_order(result: SearchResult) -> list[int]:
    scored = [(dropped.score.total, dropped.candidate.passage) for dropped in result.dropped if dropped.score]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [hit.candidate.passage.document_id for hit in result.hits] + [passage.document_id for _, passage in scored]


def _ids(documents: Sequence[int], ids: Mapping[int, Sequence[str]]) -> list[str]:
    """The collection's ids, each once, in the order of the documents."""
    return [name for document in dict.fromkeys(documents) for name in ids[document]]
