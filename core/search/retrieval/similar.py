"""More like this: the passages nearest to one passage, by vector and by shared rare words."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from core.domain.documents import Passage
from core.domain.filters import SearchFilters
from core.ports.catalogue import Catalogue
from core.ports.stores import SparseIndex, VectorIndex
from core.search.query.route import question_terms
from core.search.ranking.score import near_duplicates
from core.text.tokenize import index_stems, stem, words

__all__ = ["MOST", "SimilarPassage", "as_question", "rarest", "similar_to"]

MOST = 5  # passages returned. Chosen by hand, not fitted.
_FOUND = 60
"""Hits per method (vector, words): more than shown, because near duplicates are left out."""
_ASKED_WORDS = 40  # rare words searched for. Chosen by hand, not fitted.
_RARE_WORDS = 20
"""Shared words that count; many of the rarest words (numbers, names) occur in this passage alone."""
_MEANING, _WORDS = 0.7, 0.3  # weights of cosine and shared words. Chosen by hand, not fitted.
_LEAST = 0.25
"""Least cosine of a passage that shares no rare word: what counts as evidence in most profiles."""
_LONGEST_QUESTION = 400  # characters. Chosen by hand, not fitted.
_SYNTAX = re.compile(r"[\"“”„«»]|(?<!\S)-+(?=\S)|(?<=\w):(?=\S)")


@dataclass(frozen=True, slots=True)
class SimilarPassage:
    """A passage similar to another. cosine: of the two vectors, in [-1, 1], None where one has no vector. shared: rare
    words of the other that this one contains too, rarest first. share: their part of the rare words any passage shares,
    weighted by rarity, in [0, 1]. nearness = 0.7 · cosine (at least 0) + 0.3 · share, in [0, 1]; without a cosine the
    share alone.
    """

    passage: Passage
    cosine: float | None
    shared: tuple[str, ...]
    share: float

    @property
    def nearness(self) -> float:
        """In [0, 1]; see the class."""
        return self.share if self.cosine is None else _MEANING * max(self.cosine, 0.0) + _WORDS * self.share


def similar_to(
    passage: Passage,
    filters: SearchFilters,
    *,
    catalogue: Catalogue,
    vectors: VectorIndex,
    sparse: SparseIndex,
    most: int = MOST,
) -> tuple[SimilarPassage, ...]:
    """The admissible passages nearest to a stored passage, nearest first, ties by passage id. Leaves out the passage
    itself, near duplicates of it or of a nearer one, and passages with too little similarity.

    filters: resolved. Raises StoreFailed.
    """
    rare = rarest(sparse.rarity(question_terms(passage.text)))
    ids, cosines = _hits(passage, filters, tuple(rare), catalogue, vectors, sparse)
    candidates = [each for each in catalogue.passages(sorted(ids)).values() if filters.admits(each)]
    stems = {each.id: frozenset(index_stems(f"{each.context}\n{each.text}")) for each in candidates}
    common = {term: stem(term) for term in rare if any(stem(term) in contained for contained in stems.values())}
    weighed = {term: rare[term] for term in list(common)[:_RARE_WORDS]}
    similar = [_similarity_of(each, weighed, stems[each.id], cosines.get(each.id)) for each in candidates]
    similar = [each for each in similar if each.shared or (each.cosine or 0.0) >= _LEAST]
    similar.sort(key=lambda each: (-round(each.nearness, 9), each.passage.id))
    return _distinct(passage, similar, most)


def rarest(rarity: Mapping[str, float], most: int = _ASKED_WORDS) -> dict[str, float]:
    """The rarest words with their rarity, rarest first, ties as they come.

    >>> rarest({"form": 1.0, "w-2": 4.0, "due": 2.0}, 2)
    {'w-2': 4.0, 'due': 2.0}
    """
    ordered = sorted((term for term in rarity if rarity[term] > 0), key=lambda term: -rarity[term])
    return {term: rarity[term] for term in ordered[:most]}


def _hits(
    passage: Passage,
    filters: SearchFilters,
    terms: Sequence[str],
    catalogue: Catalogue,
    vectors: VectorIndex,
    sparse: SparseIndex,
) -> tuple[set[int], Mapping[int, float]]:
    """Ids found by vector or by words, without the passage itself, and the cosine of each that has a vector."""
    hits = sparse.search(terms, catalogue.admissible(filters), _FOUND).hits if terms else ()
    ids = {hit.passage_id for hit in hits}
    cosines: dict[int, float] = {}
    vector = vectors.vectors([passage.id]).get(passage.id)
    if vector is not None:
        cosines = {hit.passage_id: hit.score for hit in vectors.search(vector, filters, _FOUND).hits}
        unmeasured = sorted(ids - set(cosines))
        cosines |= vectors.similarities(vector, unmeasured) if unmeasured else {}
    return (ids | set(cosines)) - {passage.id}, cosines


def _similarity_of(
    passage: Passage, rare: Mapping[str, float], contained: Collection[str], cosine: float | None
) -> SimilarPassage:
    shared = tuple(term for term in rare if stem(term) in contained)
    total = fsum(rare.values())
    share = min(fsum(rare[term] for term in shared) / total, 1.0) if total > 0 else 0.0
    return SimilarPassage(passage, cosine, shared, share)


def _distinct(passage: Passage, similar: Sequence[SimilarPassage], most: int) -> tuple[SimilarPassage, ...]:
    """The nearest ones that are no near duplicates of the passage or of each other."""
    same = near_duplicates([passage.text, *(each.passage.text for each in similar)])
    distinct: list[SimilarPassage] = []
    chosen = {0}
    for number, each in enumerate(similar, start=1):
        if len(distinct) < most and not same[number] & chosen:
            distinct.append(each)
            chosen.add(number)
    return tuple(distinct)


def as_question(text: str) -> str:
    """A sentence of the library as a question: the whole sentence, because it is embedded too, but without anything
    that the search box would read as syntax (quotation marks, a leading minus, "word:value").

    >>> as_question('Deposit "withheld" taxes -monthly, see title:26.')
    'Deposit withheld taxes monthly, see title: 26.'
    """
    bare = " ".join(_SYNTAX.sub(lambda match: ": " if match.group() == ":" else " ", text).split())
    if len(bare) <= _LONGEST_QUESTION or not words(bare):
        return bare
    return bare[:_LONGEST_QUESTION].rsplit(" ", 1)[0]
