"""What the library speaks of: its passages grouped by meaning, each group named by the words that set it apart."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log

import numpy as np
from numpy.typing import NDArray

from core.boards import Topic, TopicOrigin
from core.coverage.topic_edits import described
from core.documents import Origin, Passage, Truth
from core.filters import SearchFilters
from core.matching import STOP_WORDS, stem, words
from core.ports import Catalogue, VectorIndex

__all__ = ["clusters"]

MOST = 24
_SAMPLE = 20_000
_LEAST_PASSAGES = 3
_HELD_BY = 0.12
_KEYWORDS = 6
_NAMED_BY = 3
_SEED = 20_240_229
_IDLE = frozenset(
    "http https www com gov org html pdf page pages section chapter table figure example note see".split()
)
_WORD = re.compile(r"[^\W\d_]{3,}")


def clusters(catalogue: Catalogue, vectors: VectorIndex, project: str | None, most: int = MOST) -> tuple[Topic, ...]:
    """At most `most` topics of the project's passages, the largest groups first; the same library gives the same ones.

    Groups are found by k-means over the passages' vectors, k = √(passages ÷ 2) within bounds; of a larger library
    every n-th passage is looked at. Rows of tables name no topic; a group of fewer than three other passages is left
    out. Named by class-based TF-IDF (Grootendorst 2022, §3.3) over words and
    pairs of words. Raises StoreFailed.
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
    topics = {name.casefold(): _topic(name, keywords, project) for name, keywords in named if name}
    return tuple(topics.values())


def _sample(vectors: VectorIndex, filters: SearchFilters) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    blocks = list(vectors.blocks(filters))
    if not blocks:
        return np.empty(0, np.int64), np.empty((0, 0), np.float32)
    ids, rows = np.concatenate([ids for ids, _ in blocks]), np.concatenate([rows for _, rows in blocks])
    step = -(-len(ids) // _SAMPLE)
    return ids[::step], rows[::step]


def _topic(name: str, keywords: Sequence[str], project: str | None) -> Topic:
    return described(Topic(name, project=project, origin=TopicOrigin.CLUSTER, keywords=tuple(keywords)))


def _named(groups: Sequence[Sequence[Passage]]) -> list[tuple[str, tuple[str, ...]]]:
    """A name and keywords per group. weight = tf · ln(1 + average size ÷ f), tf within the group, f over all groups;
    a word counts once per passage, so that one long table does not name its group."""
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
    """Passages of the group that hold each stem or pair of stems, and how each is mostly written."""
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
