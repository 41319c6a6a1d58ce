"""Features of the candidates: everything scoring reads, measured for all candidates at once."""
# Over 300 lines: one pass over the candidates measures all features from shared inputs.

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.errors import ModelUnavailable
from core.domain.frozen import LazyTuple, maker_of
from core.domain.int8_vectors import cosines
from core.domain.results import Candidate, FoundPassage, NearWord, Signals, TermScore, TermScores
from core.knowledge.answer_kinds import AnswerKind, answer_kinds
from core.knowledge.english_reading import language_in_words
from core.ports.catalogue import Catalogue
from core.ports.stores import SparseIndex, VectorIndex
from core.search.query.expansion import (
    NO_WORDINGS,
    ContainedWords,
    QueryExpansions,
    SynonymFinder,
    nearness_of,
    pair_weights,
    phrase_share,
    synonym_weight,
    wordings_in,
)
from core.text.tokenize import index_stems, stem

__all__ = [
    "CandidateFeatures",
    "FeatureExtractor",
    "SentenceSimilarity",
    "contained_terms",
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
    cosines_found = np.clip(cosines(packed, question[None, :])[:, 0], 0.0, 1.0)
    starts = np.cumsum([0, *compress(counts, measured)])
    highest = iter(np.maximum.reduceat(cosines_found, starts[:-1]).tolist())
    near = tuple(cosines_found.tolist())
    found: list[SentenceSimilarity | None] = []
    at = 0
    for (passage, *_), count, known in zip(passages, counts, measured, strict=True):
        if known:
            found.append(_sentence_similarity(near[at : at + count], next(highest), passage, answer_kind))
            at += count
        else:
            found.append(None)
    return found


def _sentence_similarity(
    near: tuple[float, ...], best: float, passage: Passage, kind: AnswerKind | None
) -> SentenceSimilarity:
    if kind is None or best <= 0:
        return SentenceSimilarity(near, best)
    on_topic = [index for index, value in enumerate(near) if value >= _FAR * best]
    for index in sorted(on_topic, key=near.__getitem__, reverse=True):
        if words := kind.answer_in(passage.sentences[index].of(passage.text)):
            return SentenceSimilarity(near, best, near[index] / best, words)
    return SentenceSimilarity(near, best, 0.0)


def contained_terms(found: Iterable[TermScore], terms: Iterable[str]) -> tuple[str, ...]:
    """Those of a question's terms that a passage contains whole. found: its stems, also those of parts of compounds.

    >>> contained_terms([TermScore("541.602", "602", 4.0), TermScore("taxes", "tax", 2.0)], ["541.602", "taxes"])
    ('taxes',)
    """
    stems = {each.stem for each in found if each.score > 0}
    return tuple(term for term in terms if stem(term) in stems)


_NOT_MEASURED: tuple[tuple[float, ...], float | None, float | None, str] = ((), None, None, "")
_NO_STEMS = TermScores((), {}, np.zeros((0, 0)), np.zeros((0, 0), dtype=np.bool_))


@dataclass(frozen=True, slots=True)
class CandidateFeatures:
    """Features of passages, one row each, in the order of `passages`. similarity: cosine, in [0, 1], shape (n,);
    sentences: None where they were not measured. rarity: question term → rarity; explained: what each term gives a
    passage; words: which words and phrases the passages contain; wordings: the question's synonyms; near: near words
    of its terms, None where they were not looked for."""

    passages: Mapping[int, Passage]
    similarity: NDArray[np.float64]
    sentences: Sequence[SentenceSimilarity | None]
    rarity: Mapping[str, float]
    explained: TermScores = field(default_factory=lambda: _NO_STEMS)
    words: ContainedWords = field(default_factory=lambda: ContainedWords(0))
    wordings: QueryExpansions = NO_WORDINGS
    near: Mapping[str, Sequence[NearWord]] | None = None

    def by_meaning(self) -> list[int]:
        """The passages by the mean cosine of a passage and of its best sentence with the question, which ranks the
        dense leg; ties by id. A passage without sentence vectors has its own cosine alone."""
        best = np.array([np.nan if each is None else each.best for each in self.sentences])
        meaning = np.where(np.isnan(best), self.similarity, (self.similarity + best) / 2)
        ids = np.fromiter(self.passages, np.int64, len(self.passages))
        ranked: list[int] = ids[np.lexsort((ids, -meaning))].tolist()
        return ranked

    def candidates(
        self, ranked: Mapping[str, Sequence[int]], shared: Mapping[int, str] | None = None
    ) -> tuple[Candidate, ...]:
        """The passages ranked by some leg, by id, with all signals except fusion, which depends on the profile.

        shared: as text, why the graph leg found a passage."""
        ranks: dict[int, dict[str, int]] = {}
        for leg, ids in ranked.items():
            for rank, passage_id in enumerate(ids, 1):
                ranks.setdefault(passage_id, {})[leg] = rank
        signals, made, named = self._signals(), maker_of(Candidate), shared or {}
        return tuple(
            made(passage, signals(row, passage_id, ranks[passage_id], named.get(passage_id, "")))
            for passage_id, row, passage in sorted(
                (passage_id, row, passage) for row, (passage_id, passage) in enumerate(self.passages.items())
            )
            if passage_id in ranks
        )

    # Long: numbers of all rows first, then the function that picks a row's.
    def _signals(self) -> Callable[[int, int, dict[str, int], str], Signals]:
        """A function from row, passage id, ranks and shared entities to signals. Numbers of all rows are computed at
        once, always in the order of the question's terms; what is only shown is made when somebody looks."""
        rarity, explained = self.rarity, self.explained
        most = sum(rarity.values())
        whole = {stem(term): rarity[term] for term in reversed(tuple(rarity))}  # a part of a compound is no term
        bm25, covered = np.zeros(len(explained)), np.zeros(len(explained))
        for column, (_, each) in enumerate(explained.stems):
            shares = explained.shares[:, column]
            bm25 += shares
            covered += np.where(shares > 0, whole.get(each, 0.0), 0.0)
        bm25_by_row, covered_by_row, row_of = bm25.tolist(), covered.tolist(), explained.rows
        similarity = self.similarity.tolist()
        synonyms = synonym_weight(rarity, self.wordings, self.words).tolist()
        phrases = phrase_share(pair_weights(rarity, self.wordings), self.words)
        adjacent = None if phrases is None else phrases.tolist()
        measured = None if self.near is None or not rarity else nearness_of(rarity, self.near, self.words)
        near = None if measured is None else measured.shares.tolist()
        made: Callable[..., Signals] = maker_of(Signals)

        def of(row: int, passage_id: int, ranks: dict[str, int], shared: str) -> Signals:
            cosines, best, answer, answer_words = self.sentences[row] or _NOT_MEASURED
            indexed = row_of.get(passage_id)
            return made(
                similarity=similarity[row],
                bm25=0 if indexed is None else bm25_by_row[indexed],
                bm25_most=most,
                terms=() if indexed is None else explained[passage_id],
                term_coverage=min(covered_by_row[indexed] / most, 1.0) if most > 0 and indexed is not None else 0.0,
                ranks=ranks,
                sentences=cosines,
                best_sentence_similarity=best,
                answer=answer,
                answer_words=answer_words,
                synonym_match=None if near is None else near[row],
                near_words=() if measured is None else LazyTuple(measured.words, row),
                wordings=synonyms[row],
                phrase_match=None if adjacent is None else adjacent[row],
                shared=shared,
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
        return self.measured_of(self._catalogue.found_passages(ids), terms, similar, vector, near, wordings, kind=kind)

    def measured_of(
        self,
        stored: Mapping[int, FoundPassage],
        terms: Sequence[str],
        similar: Mapping[int, float],
        vector: NDArray[np.float32] | None,
        near: Mapping[str, Sequence[NearWord]] | None = None,
        wordings: QueryExpansions = NO_WORDINGS,
        *,
        kind: str = "",
        rarity: Mapping[str, float] | None = None,
    ) -> CandidateFeatures:
        """The features of passages that are read already, whose cosines are all known; arguments as in `measured`.

        rarity: weights of the terms, None for those of the library."""
        if rarity is None:
            counts, known = Counter(terms), self._sparse.rarity(tuple(dict.fromkeys(terms))) if terms else {}
            rarity = {term: idf * counts[term] for term, idf in known.items()}
        found = CandidateFeatures(
            {passage_id: each.passage for passage_id, each in stored.items()},
            np.clip(np.array([similar.get(passage_id, 0.0) for passage_id in stored], dtype=np.float64), 0.0, 1.0),
            [None] * len(stored) if vector is None else sentence_similarities(vector, list(stored.values()), kind),
            rarity,
        )
        if not terms:
            return replace(found, words=ContainedWords(len(stored)))
        words = self._words(stored, terms, near, wordings)
        if near is not None and wordings.by_term:
            near = {term: (*wordings.by_term.get(term, ()), *near.get(term, ())) for term in terms}
        explained = self._sparse.explain(terms, list(stored))
        return replace(found, explained=explained, words=words, wordings=wordings, near=near)

    def near_words(self, terms: Sequence[str], question: str) -> Mapping[str, Sequence[NearWord]] | None:
        """Term → its near words; None where they are not available. question: in whose language the terms are."""
        if self._near is None or not terms:
            return None
        try:
            return self._near.near(terms, language_in_words(question))
        except ModelUnavailable:
            return None

    def _words(
        self,
        stored: Mapping[int, FoundPassage],
        terms: Sequence[str],
        near: Mapping[str, Sequence[NearWord]] | None,
        wordings: QueryExpansions,
    ) -> ContainedWords:
        """Which of the question's words, near words, synonyms and word pairs each passage contains."""
        stems = {each for term in terms for each in index_stems(term)}
        stems |= {each.stem for words in (near or {}).values() for each in words}
        ordered = sorted(stems)
        found = ContainedWords(len(stored))
        found.add(ordered, self._sparse.contained_stems(ordered, list(stored)))
        phrases = (*wordings.all, *wordings.pairs)
        if phrases:
            texts = [(passage.context, passage.text, again) for passage, _, again in stored.values()]
            found.add(phrases, wordings_in(texts, phrases))
        return found
