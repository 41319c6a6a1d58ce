"""Features of the candidates: everything scoring reads, measured for all candidates at once."""
# Over 300 lines: one pass over the candidates measures all features from shared inputs.

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.errors import ModelUnavailable
from core.domain.frozen import maker_of
from core.domain.int8_vectors import cosines
from core.domain.results import Candidate, FoundPassage, NearWord, Signals, TermScore
from core.knowledge.answer_kinds import AnswerKind, answer_kinds
from core.ports.catalogue import Catalogue
from core.ports.stores import SparseIndex, VectorIndex
from core.search.query.expansion import (
    NO_WORDINGS,
    QueryExpansions,
    SynonymFinder,
    nearness_of,
    pair_weights,
    synonym_weight,
    wordings_in,
)
from core.text.tokenize import index_stems

__all__ = [
    "CandidateFeatures",
    "FeatureExtractor",
    "SentenceSimilarity",
    "sentence_similarities",
]

_FAR = 0.7
"""A sentence below this share of the best sentence's cosine is off topic and gives no answer. Chosen by hand."""


class SentenceSimilarity(NamedTuple):
    """cosines: per sentence of a passage, in [0, 1]; 0 for one that was not measured. best: the highest of them.
    answer, answer_words: as in `Signals`."""

    cosines: tuple[float, ...]
    best: float
    answer: float | None = None
    answer_words: str = ""


def sentence_similarities(
    question: NDArray[np.float32], passages: Sequence[FoundPassage], kind: str = ""
) -> list[SentenceSimilarity | None]:
    """Per passage the cosines of its sentences with a question's unit vector, shape (dim,); None where a passage has no
    sentence vectors, or vectors of another model.

    kind: of answer the question asks for, "" for any.
    """
    answer_kind = answer_kinds().get(kind)
    counts = [len(each.passage.sentences) for each in passages]
    measured = [
        count > 0 and len(each.meanings) == count * len(question) for each, count in zip(passages, counts, strict=True)
    ]
    codes = b"".join([each.meanings for each, known in zip(passages, measured, strict=True) if known])
    if not codes:
        return [None] * len(passages)
    packed = np.frombuffer(codes, dtype=np.int8).reshape(-1, len(question))
    near = np.clip(cosines(packed, question[None, :])[:, 0], 0.0, 1.0).tolist()
    found: list[SentenceSimilarity | None] = []
    at = 0
    for (passage, *_), count, known in zip(passages, counts, measured, strict=True):
        if known:
            found.append(_sentence_similarity(tuple(near[at : at + count]), passage, answer_kind))
            at += count
        else:
            found.append(None)
    return found


def _sentence_similarity(near: tuple[float, ...], passage: Passage, kind: AnswerKind | None) -> SentenceSimilarity:
    best = max(near)
    if kind is None or best <= 0:
        return SentenceSimilarity(near, best)
    on_topic = [index for index, value in enumerate(near) if value >= _FAR * best]
    for index in sorted(on_topic, key=near.__getitem__, reverse=True):
        if words := kind.answer_in(passage.sentences[index].of(passage.text)):
            return SentenceSimilarity(near, best, near[index] / best, words)
    return SentenceSimilarity(near, best, 0.0)


_NOT_MEASURED: tuple[tuple[float, ...], float | None, float | None, str] = ((), None, None, "")
_NOT_CLOSE: tuple[float | None, tuple[NearWord, ...]] = (None, ())


@dataclass(frozen=True, slots=True)
class CandidateFeatures:
    """Features by passage id. rarity: question term → rarity; wordings: the question's synonyms; contained: the stems
    of the question and of near words, wordings and word pairs of the question that a passage contains; close: its
    nearness and the near words it is due to, None without near words."""

    passages: Mapping[int, Passage]
    similar: Mapping[int, float]
    explained: Mapping[int, Sequence[TermScore]]
    rarity: Mapping[str, float]
    wordings: QueryExpansions = NO_WORDINGS
    contained: Mapping[int, frozenset[str]] = field(default_factory=dict)
    meanings: Mapping[int, SentenceSimilarity | None] = field(default_factory=dict)
    close: Mapping[int, tuple[float, tuple[NearWord, ...]]] = field(default_factory=dict)

    def meaning(self, passage_id: int) -> float:
        """The mean cosine of a passage and of its best sentence with the question, in [0, 1]: what ranks the dense leg.
        A passage without sentence vectors has its own cosine alone."""
        similarity, sentences = self._similarity(passage_id), self.meanings.get(passage_id)
        return similarity if sentences is None else (similarity + sentences.best) / 2

    def _similarity(self, passage_id: int) -> float:
        return min(max(self.similar.get(passage_id, 0.0), 0.0), 1.0)

    def candidates(
        self, ranked: Mapping[str, Sequence[int]], shared: Mapping[int, str] | None = None
    ) -> tuple[Candidate, ...]:
        """The passages ranked by some leg, by id, with all signals except fusion, which depends on the profile.

        shared: as text, why the graph leg found a passage."""
        ranks: dict[int, dict[str, int]] = {}
        for leg, ids in ranked.items():
            for rank, passage_id in enumerate(ids, 1):
                ranks.setdefault(passage_id, {})[leg] = rank
        signals, made = self._signals(shared or {}), maker_of(Candidate)
        return tuple(
            made(self.passages[passage_id], signals(passage_id, ranks[passage_id]))
            for passage_id in sorted(ranks)
            if passage_id in self.passages
        )

    def _signals(self, shared: Mapping[int, str]) -> Callable[[int, dict[str, int]], Signals]:
        """A function from passage id and ranks to signals; shared values are computed once."""
        rarity, wordings = self.rarity, self.wordings
        most, pairs = sum(rarity.values()), list(pair_weights(rarity, wordings).items())
        most_of_pairs = sum(weight for _, weight in pairs)
        synonyms = synonym_weight(rarity, wordings)
        nothing: frozenset[str] = frozenset()
        made: Callable[..., Signals] = maker_of(Signals)

        def of(passage_id: int, ranks: dict[str, int]) -> Signals:
            terms = tuple(self.explained.get(passage_id, ()))
            cosines, best, answer, answer_words = self.meanings.get(passage_id) or _NOT_MEASURED
            near, near_words = self.close.get(passage_id, _NOT_CLOSE)
            contained = self.contained.get(passage_id, nothing)
            covered = sum([rarity.get(term.term, 0.0) for term in terms if term.score > 0])
            adjacent = sum([weight for pair, weight in pairs if pair in contained])
            return made(
                similarity=self._similarity(passage_id),
                bm25=sum([term.score for term in terms]),
                bm25_most=most,
                terms=terms,
                term_coverage=min(covered / most, 1.0) if most > 0 else 0.0,
                ranks=ranks,
                sentences=cosines,
                best_sentence_similarity=best,
                answer=answer,
                answer_words=answer_words,
                synonym_match=near,
                near_words=near_words,
                wordings=synonyms(contained),
                phrase_match=adjacent / most_of_pairs if most_of_pairs > 0 else None,
                shared=shared.get(passage_id, ""),
            )

        return of


class FeatureExtractor:
    """Measures the features of retrieved passages. near: None for a library without word vectors."""

    def __init__(
        self, catalogue: Catalogue, vectors: VectorIndex, sparse: SparseIndex, near: SynonymFinder | None = None
    ) -> None:
        self._catalogue, self._vectors, self._sparse, self._near = catalogue, vectors, sparse, near

    def measured(
        self,
        ids: Sequence[int],
        terms: Sequence[str],
        similar: Mapping[int, float],
        vector: NDArray[np.float32] | None,
        near: Mapping[str, Sequence[NearWord]] | None = None,
        wordings: QueryExpansions = NO_WORDINGS,
        *,
        kind: str,
    ) -> CandidateFeatures:
        """The features of these passages. terms: () when the sparse leg failed. similar: cosines already known. vector:
        of the question; None when the dense leg failed. near: from `near_words`. wordings: synonyms of the question.
        kind: of answer the question asks for."""
        unmeasured = [passage_id for passage_id in ids if passage_id not in similar]
        if unmeasured and vector is not None:
            similar = {**similar, **self._vectors.similarities(vector, unmeasured)}
        explained = self._sparse.explain(terms, ids) if terms else {}
        counts = Counter(terms)
        rarity = {term: idf * counts[term] for term, idf in self._sparse.rarity(tuple(counts)).items()} if terms else {}
        stored = self._catalogue.found_passages(ids)
        passages = {passage_id: each.passage for passage_id, each in stored.items()}
        found = CandidateFeatures(passages, similar, explained, rarity)
        if terms:
            found = self._with_words(found, stored, terms, near, wordings)
        if vector is not None:
            similarities = sentence_similarities(vector, list(stored.values()), kind)
            found = replace(found, meanings=dict(zip(stored, similarities, strict=True)))
        return found

    def near_words(self, terms: Sequence[str]) -> Mapping[str, Sequence[NearWord]] | None:
        """Term → its near words; None where they are not available."""
        if self._near is None or not terms:
            return None
        try:
            return self._near.near(terms)
        except ModelUnavailable:
            return None

    def _with_words(
        self,
        found: CandidateFeatures,
        stored: Mapping[int, FoundPassage],
        terms: Sequence[str],
        near: Mapping[str, Sequence[NearWord]] | None,
        wordings: QueryExpansions,
    ) -> CandidateFeatures:
        """Which of the question's words, near words, synonyms and word pairs each passage contains."""
        stems = {each for term in terms for each in index_stems(term)}
        stems |= {each.stem for words in (near or {}).values() for each in words}
        contained = self._sparse.contained_stems(sorted(stems), list(found.passages))
        phrases = (*wordings.all, *wordings.pairs)
        if phrases:
            texts = [(passage.context, passage.text, again) for passage, _, again in stored.values()]
            contained = {
                passage_id: contained.get(passage_id, frozenset()) | in_text
                for passage_id, in_text in zip(found.passages, wordings_in(texts, phrases), strict=True)
            }
        if near is not None and wordings.by_term:
            near = {term: (*wordings.by_term.get(term, ()), *near.get(term, ())) for term in terms}
        close = {}
        if near is not None and found.rarity:
            measure = nearness_of(found.rarity, near)
            close = {each: measure(contained.get(each, frozenset())) for each in found.passages}
        return replace(found, wordings=wordings, contained=contained, close=close)
