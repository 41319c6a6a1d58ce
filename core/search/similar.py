"""More like this: the passages nearest to one passage, by its meaning and by the rare words the two share."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from core.documents import Passage
from core.filters import SearchFilters
from core.matching import index_stems, stem, words
from core.ports import Catalogue, SparseIndex, VectorIndex
from core.search.collapse import alike
from core.search.route import question_terms

__all__ = ["MOST", "Similar", "as_question", "rarest", "similar_to"]

MOST = 5
_FOUND = 60
"""So many each of the two ways brings: those left out for being the same text must not be missed."""
_ASKED_WORDS = 40
_RARE_WORDS = 20
"""Many of the rarest words stand in this passage alone (numbers, names): the rarest that others hold too count."""
_MEANING, _WORDS = 0.7, 0.3
_LEAST = 0.25
"""Least cosine of a passage that shares no rare word: what counts as evidence in most profiles."""
_LONGEST_QUESTION = 400
_SYNTAX = re.compile(r"[\"“”„«»]|(?<!\S)-+(?=\S)|(?<=\w):(?=\S)")


@dataclass(frozen=True, slots=True)
class Similar:
    """A passage like another. cosine: of the two vectors, in [-1, 1], None where one has no vector. shared: the rare
    words of the other that this one holds too, rarest first. share: their part of the rare words any passage shares,
    each by its rarity, in [0, 1]. nearness = 0.7 · cosine (at least 0) + 0.3 · share, in [0, 1]; without a cosine the
    share alone.
    """

    passage: Passage
    cosine: float | None
    shared: tuple[str, ...]
    share: float

    @property
    def nearness(self) -> float:
        """How near it is, in [0, 1]."""
        return self.share if self.cosine is None else _MEANING * max(self.cosine, 0.0) + _WORDS * self.share


def similar_to(
    passage: Passage,
    filters: SearchFilters,
    *,
    catalogue: Catalogue,
    vectors: VectorIndex,
    sparse: SparseIndex,
    most: int = MOST,
) -> tuple[Similar, ...]:
    """The admissible passages nearest to a stored passage, nearest first, ties by passage id; never itself, never
    one that is near-identical to it or to a nearer one, and none without a likeness worth telling.

    filters: resolved. Raises StoreFailed.
    """
    rare = rarest(sparse.rarity(question_terms(passage.text)))
    ids, cosines = _found(passage, filters, tuple(rare), catalogue, vectors, sparse)
    candidates = [each for each in catalogue.passages(sorted(ids)).values() if filters.admits(each)]
    holding = {each.id: frozenset(index_stems(f"{each.context}\n{each.text}")) for each in candidates}
    common = {term: stem(term) for term in rare if any(stem(term) in held for held in holding.values())}
    weighed = {term: rare[term] for term in list(common)[:_RARE_WORDS]}
    told = [_told(each, weighed, holding[each.id], cosines.get(each.id)) for each in candidates]
    told = [each for each in told if each.shared or (each.cosine or 0.0) >= _LEAST]
    told.sort(key=lambda each: (-round(each.nearness, 9), each.passage.id))
    return _distinct(passage, told, most)


def rarest(rarity: Mapping[str, float], most: int = _ASKED_WORDS) -> dict[str, float]:
    """The rarest words with their rarity, rarest first, ties as they come.

    >>> rarest({"form": 1.0, "w-2": 4.0, "due": 2.0}, 2)
    {'w-2': 4.0, 'due': 2.0}
    """
    ordered = sorted((term for term in rarity if rarity[term] > 0), key=lambda term: -rarity[term])
    return {term: rarity[term] for term in ordered[:most]}


def _found(
    passage: Passage,
    filters: SearchFilters,
    terms: Sequence[str],
    catalogue: Catalogue,
    vectors: VectorIndex,
    sparse: SparseIndex,
) -> tuple[set[int], Mapping[int, float]]:
    """Ids found by meaning or by words, without the passage itself, and the cosine of each that has a vector."""
    hits = sparse.search(terms, catalogue.admissible(filters), _FOUND).hits if terms else ()
    ids = {hit.passage_id for hit in hits}
    cosines: dict[int, float] = {}
    vector = vectors.vectors([passage.id]).get(passage.id)
    if vector is not None:
        cosines = {hit.passage_id: hit.score for hit in vectors.search(vector, filters, _FOUND).hits}
        unmeasured = sorted(ids - set(cosines))
        cosines |= vectors.similarities(vector, unmeasured) if unmeasured else {}
    return (ids | set(cosines)) - {passage.id}, cosines


def _told(passage: Passage, rare: Mapping[str, float], held: Collection[str], cosine: float | None) -> Similar:
    shared = tuple(term for term in rare if stem(term) in held)
    total = fsum(rare.values())
    share = min(fsum(rare[term] for term in shared) / total, 1.0) if total > 0 else 0.0
    return Similar(passage, cosine, shared, share)


def _distinct(passage: Passage, told: Sequence[Similar], most: int) -> tuple[Similar, ...]:
    """The nearest that say something else than the passage and than each other."""
    same = alike([passage.text, *(each.passage.text for each in told)])
    kept: list[Similar] = []
    shown = {0}
    for place, each in enumerate(told, start=1):
        if len(kept) < most and not same[place] & shown:
            kept.append(each)
            shown.add(place)
    return tuple(kept)


def as_question(text: str) -> str:
    """A sentence of the library as a question of its own: whole, because its meaning is searched for too, but without
    what the question line would read as syntax (quotation marks, a leading minus, "word:value").

    >>> as_question('Deposit "withheld" taxes -monthly, see title:26.')
    'Deposit withheld taxes monthly, see title: 26.'
    """
    bare = " ".join(_SYNTAX.sub(lambda match: ": " if match.group() == ":" else " ", text).split())
    if len(bare) <= _LONGEST_QUESTION or not words(bare):
        return bare
    return bare[:_LONGEST_QUESTION].rsplit(" ", 1)[0]
