"""Everything scoring reads of the passages some leg found, measured at once.

cosines → words held, also near ones and other wordings → sentences → best matches → the question moved towards them
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from core.copies import changed
from core.documents import Origin, Passage
from core.errors import ModelUnavailable
from core.matching import index_stems
from core.ports import Catalogue, SparseIndex, VectorIndex
from core.results import Candidate, NearWord, Signals, TermScore
from core.search.feedback import Match, best_matches, moved, strongest
from core.search.meaning import SentenceMeanings, sentence_meanings
from core.search.near import NearWords, nearness
from core.search.sparse import covered_share
from core.search.wordings import NO_WORDINGS, Wordings, pair_worths, row_share, said_in, worth

__all__ = ["Measured", "Measurer"]

_NOT_CLOSE: tuple[float | None, tuple[NearWord, ...]] = (None, ())


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured of the passages found, each by passage id. rarity: question term → rarity; wordings: of the
    question; held: the stems of the question and of near words that a passage holds, the wordings, and the question's
    pairs of words; close: its nearness and the words it is by, none when near words were not looked for."""

    passages: Mapping[int, Passage]
    similar: Mapping[int, float]
    explained: Mapping[int, Sequence[TermScore]]
    rarity: Mapping[str, float]
    wordings: Wordings = NO_WORDINGS
    held: Mapping[int, frozenset[str]] = field(default_factory=dict)
    meanings: Mapping[int, SentenceMeanings | None] = field(default_factory=dict)
    feedback: Mapping[int, float] = field(default_factory=dict)
    close: Mapping[int, tuple[float, tuple[NearWord, ...]]] = field(default_factory=dict)

    def match(self, passage_id: int) -> Match:
        """How well a passage matches before feedback."""
        most = sum(self.rarity.values())
        keyword = min(self._bm25(passage_id) / most, 1.0) if most > 0 else 0.0
        return Match(passage_id, self._similarity(passage_id), keyword, self.close.get(passage_id, _NOT_CLOSE)[0])

    def _similarity(self, passage_id: int) -> float:
        return min(max(self.similar.get(passage_id, 0.0), 0.0), 1.0)

    def _bm25(self, passage_id: int) -> float:
        return sum([term.score for term in self.explained.get(passage_id, ())])

    def candidates(
        self, ranked: Mapping[str, Sequence[int]], shared: Mapping[int, str] | None = None
    ) -> tuple[Candidate, ...]:
        """The passages some leg ranks, by id, with all signals but those of fusion, which a profile decides.

        shared: in words, what the graph leg found a passage by. The packed meanings stay behind: they are measured.
        """
        ranks: dict[int, dict[str, int]] = {}
        for leg, ids in ranked.items():
            for rank, passage_id in enumerate(ids, 1):
                ranks.setdefault(passage_id, {})[leg] = rank
        signals = self._signals(shared or {})
        return tuple(
            Candidate(changed(self.passages[passage_id], meanings=b""), signals(passage_id, ranks[passage_id]))
            for passage_id in sorted(ranks)
            if passage_id in self.passages
        )

    def _signals(self, shared: Mapping[int, str]) -> Callable[[int, dict[str, int]], Signals]:
        """What gives the signals of a passage with these ranks; what is the same for all of them is worked out once."""
        most, pairs = sum(self.rarity.values()), pair_worths(self.rarity, self.wordings)
        nothing: frozenset[str] = frozenset()

        def of(passage_id: int, ranks: dict[str, int]) -> Signals:
            terms = tuple(self.explained.get(passage_id, ()))
            meanings, feedback = self.meanings.get(passage_id), self.feedback.get(passage_id)
            near, near_words = self.close.get(passage_id, _NOT_CLOSE)
            held = self.held.get(passage_id, nothing)
            return Signals(
                similarity=self._similarity(passage_id),
                bm25=self._bm25(passage_id),
                bm25_most=most,
                terms=terms,
                coverage=covered_share(terms, self.rarity),
                ranks=ranks,
                feedback=None if feedback is None else min(max(feedback, 0.0), 1.0),
                sentences=meanings.cosines if meanings else (),
                sentence=meanings.best if meanings else None,
                answer=meanings.answer if meanings else None,
                answer_words=meanings.answer_words if meanings else "",
                nearness=near,
                near_words=near_words,
                wordings=worth(self.rarity, self.wordings, held) if self.rarity else 0.0,
                in_a_row=row_share(pairs, held),
                shared=shared.get(passage_id, ""),
            )

        return of


class Measurer:
    """Measures what legs have found. near: None where a library keeps no words."""

    def __init__(
        self, catalogue: Catalogue, vectors: VectorIndex, sparse: SparseIndex, near: NearWords | None = None
    ) -> None:
        self._catalogue, self._vectors, self._sparse, self._near = catalogue, vectors, sparse, near

    def measured(
        self,
        ids: Sequence[int],
        terms: Sequence[str],
        similar: Mapping[int, float],
        vector: NDArray[np.float32] | None,
        near: Mapping[str, Sequence[NearWord]] | None = None,
        wordings: Wordings = NO_WORDINGS,
        *,
        kind: str,
    ) -> Measured:
        """Everything of these passages. terms: () when the sparse leg failed. similar: cosines known already. vector:
        of the question; None when the dense leg failed. near: what `near_words` gave. wordings: of the question.
        kind: of answer the question asks for."""
        unmeasured = [passage_id for passage_id in ids if passage_id not in similar]
        if unmeasured and vector is not None:
            similar = {**similar, **self._vectors.similarities(vector, unmeasured)}
        explained = self._sparse.explain(terms, ids) if terms else {}
        rarity = dict(self._sparse.rarity(terms)) if terms else {}
        found = Measured(self._catalogue.passages(ids), similar, explained, rarity)
        if terms:
            found = self._with_words(found, terms, near, wordings)
        if vector is not None:
            passages = list(found.passages.values())
            told = zip(passages, sentence_meanings(vector, passages, kind), strict=True)
            found = replace(found, meanings={passage.id: meanings for passage, meanings in told})
        return self._with_feedback(found, vector) if similar and vector is not None else found

    def near_words(self, terms: Sequence[str]) -> Mapping[str, Sequence[NearWord]] | None:
        """Term → its near words; None where they cannot be looked for."""
        if self._near is None or not terms:
            return None
        try:
            return self._near.near(terms)
        except ModelUnavailable:
            return None

    def _with_words(
        self,
        found: Measured,
        terms: Sequence[str],
        near: Mapping[str, Sequence[NearWord]] | None,
        wordings: Wordings,
    ) -> Measured:
        """What the passages hold of the question's words, of words near to them, of other wordings and of pairs."""
        stems = {each for term in terms for each in index_stems(term)}
        stems |= {each.stem for words in (near or {}).values() for each in words}
        held = self._sparse.held(sorted(stems), list(found.passages))
        wanted = (*wordings.all, *wordings.pairs)
        if wanted:
            held = {
                each.id: held.get(each.id, frozenset()) | said_in(f"{each.context}\n{each.text}", wanted)
                for each in found.passages.values()
            }
        if near is not None and wordings.by_term:
            near = {term: (*wordings.by_term.get(term, ()), *near.get(term, ())) for term in terms}
        close = {}
        if near is not None and found.rarity:
            close = {each: nearness(found.rarity, near, held.get(each, frozenset())) for each in found.passages}
        return replace(found, wordings=wordings, held=held, close=close)

    def _with_feedback(self, found: Measured, vector: NDArray[np.float32]) -> Measured:
        documents = [each.id for each in found.passages.values() if each.origin is Origin.DOCUMENT]
        matches = strongest([found.match(passage_id) for passage_id in documents])
        vectors = self._vectors.vectors([match.passage_id for match in matches])
        there = moved(vector, vectors, best_matches(matches, vectors))
        if there is None:
            return found
        return replace(found, feedback=self._vectors.similarities(there, list(found.passages)))
