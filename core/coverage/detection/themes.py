"""Proposes topics by clustering the library's passages and naming each cluster by its distinguishing keywords."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from core.coverage.topics import described
from core.domain.coverage import Topic, TopicOrigin
from core.domain.documents import Origin, Passage, Truth
from core.domain.filters import SearchFilters
from core.knowledge.workspace_terms import WorkspaceTerms
from core.ports.catalogue import Catalogue
from core.ports.stores import VectorIndex
from core.text.tokenize import STOP_WORDS, stem, words

__all__ = ["clusters"]

# Chosen by hand, not fitted.
MOST = 24  # topics proposed
_SAMPLE = 20_000  # most passages clustered
_LEAST_PASSAGES = 3  # of a cluster
_HELD_BY = 0.12  # least share of a cluster's passages that contain a keyword
_KEYWORDS = 6  # per cluster
_NAMED_BY = 3  # keywords in a topic's name
_SEED = 20_240_229
_IDLE = frozenset(
    "http https www com gov org html pdf page pages section chapter table figure example note see".split()
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def clusters(
    catalogue: Catalogue, vectors: VectorIndex, project: str | None, terms: WorkspaceTerms, most: int = MOST
) -> tuple[Topic, ...]:
    """At most `most` topics from clusters of the project's passages, largest first. Deterministic.

    K-means over the passages' vectors, k = √(passages ÷ 2) within bounds; above 20,000 passages every n-th is used.
    Table rows are ignored; clusters of fewer than three other passages are dropped. Names come from class-based TF-IDF
    (Grootendorst 2022, §3.3) over words and word pairs. Raises StoreFailed.
    """
    ids, rows = _sample(
        vectors, SearchFilters(origins=(Origin.DOCUMENT.value,), projects=(project,) if project else ())
    )
    if len(ids) < 2 * _LEAST_PASSAGES:
        return ()
    from sklearn.cluster import MiniBatchKMeans

    count = int(min(most, max(2, (len(ids) / 2) ** 0.5)))
    model = MiniBatchKMeans(count, random_state=_SEED, n_init=5, batch_size=1024)
    groups = model.fit_predict(rows)
    passages = catalogue.passages(ids.tolist())
    texts = [
        [passages[i] for i in ids[groups == group].tolist() if i in passages and passages[i].truth is not Truth.REALITY]
        for group in range(count)
    ]
    kept = sorted((group for group in texts if len(group) >= _LEAST_PASSAGES), key=len, reverse=True)
    named = _named(kept)
    topics = {name.casefold(): _topic(name, keywords, project, terms) for name, keywords in named if name}
    return tuple(topics.values())


def _sample(vectors: VectorIndex, filters: SearchFilters) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    blocks = list(vectors.blocks(filters))
    if not blocks:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    ids, rows = np.concatenate([ids for ids, _ in blocks]), np.concatenate([rows for _, rows in blocks])
    step = -(-len(ids) // _SAMPLE)
    return ids[::step], rows[::step]


def _topic(name: str, keywords: Sequence[str], project: str | None, terms: WorkspaceTerms) -> Topic:
    return described(Topic(name, project=project, origin=TopicOrigin.CLUSTER, keywords=tuple(keywords)), terms)


def _named(groups: Sequence[Sequence[Passage]]) -> list[tuple[str, tuple[str, ...]]]:
    """A name and keywords per group. weight = tf · ln(1 + average size ÷ f), tf within the group, f over all groups,
    word pairs × 1.3; a word counts once per passage, so that one long passage does not name its group."""
    counts = [_counts(group) for group in groups]
    total: Counter[str] = sum((count for count, _ in counts), Counter[str]())
    average = sum(total.values()) / max(1, len(groups))
    named = []
    for (count, written), group in zip(counts, groups, strict=True):
        weights = {
            term: number / len(group) * log(1 + average / total[term]) * (1.3 if " " in term else 1.0)
            for term, number in count.items()
            if number >= max(2, _HELD_BY * len(group))
        }
        best = sorted(weights, key=lambda term: (-weights[term], term))
        keywords = _apart(best, _KEYWORDS)
        named.append((" ".join(_written(keywords[:_NAMED_BY], written)), _written(keywords, written)))
    return named


def _counts(group: Sequence[Passage]) -> tuple[Counter[str], Mapping[str, Counter[str]]]:
    """Number of passages of the group with each stem or stem pair, and the spellings of each with their counts."""
    count: Counter[str] = Counter()
    written: dict[str, Counter[str]] = {}
    for passage in group:
        said = words(passage.text)
        telling = [word if _WORD.fullmatch(word) and word not in STOP_WORDS | _IDLE else "" for word in said]
        terms: dict[str, str] = {stem(word): word for word in telling if word}
        pairs = pairwise(telling)
        terms |= {f"{stem(a)} {stem(b)}": f"{a} {b}" for a, b in pairs if a and b and a != b}
        count.update(terms.keys())
        for term, word in terms.items():
            written.setdefault(term, Counter())[word] += 1
    return count, written


def _apart(terms: Sequence[str], most: int) -> list[str]:
    """The best terms that share no stem."""
    kept: list[str] = []
    used: set[str] = set()
    for term in terms:
        stems = set(term.split())
        if not stems & used:
            kept.append(term)
            used |= stems
        if len(kept) == most:
            break
    return kept


def _written(terms: Sequence[str], written: Mapping[str, Counter[str]]) -> tuple[str, ...]:
    return tuple(max(written[term].items(), key=lambda item: (item[1], item[0]))[0] for term in terms)
