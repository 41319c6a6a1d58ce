"""Extractive summaries: sentences central in meaning, near the beginning, and distinct."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.knowledge.enrichment import cue_weight
from core.library.enrichment.document_reader import DocumentText, TextSentence
from core.library.enrichment.values import Summary

__all__ = ["find_summary"]

# The numbers below were chosen by hand, not fitted.
_MOST, _FEW = 3, 2
_SHORT_TEXT_SENTENCES = 8
_DIVERSITY = 0.3  # weight of the similarity to chosen sentences
_SAME = 0.9  # cosine above which two sentences are the same
_POSITION_SHARE, _OPENING_SHARE = 0.35, 0.12
_LEAST = 0.15
_WORDS = (10, 38)  # a shorter or longer sentence loses score


def find_summary(reading: DocumentText) -> Summary:
    """Two or three complete sentences in reading order; fewer where the document has no more, none where it has none.

    A sentence's score is its cosine with the mean of all sentences (centroid summarisation: Radev et al. 2004), plus a
    bonus for its position, plus the cues of core/knowledge/summaries.toml; sentences are chosen by maximal marginal
    relevance (Carbonell & Goldstein 1998). The summary of a table is the first sentence that describes it.
    """
    if reading.is_table and reading.computed:
        return Summary((reading.computed[0].said,))
    prose = reading.prose
    if not prose:
        return Summary()
    scores, vectors = _scores(reading, prose)
    chosen = _chosen(scores, vectors, _MOST if len(prose) >= _SHORT_TEXT_SENTENCES else _FEW)
    return Summary(tuple(prose[place].said for place in sorted(chosen)))


def _scores(reading: DocumentText, prose: Sequence[TextSentence]) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """Score and vector per sentence; without vectors only position, length and cue words count."""
    measured = len(reading.vectors) > 0 and all(each.vector >= 0 for each in prose)
    vectors = reading.vectors[[each.vector for each in prose]] if measured else np.zeros((len(prose), 1), np.float32)
    middle = vectors.mean(axis=0)
    middle = middle / max(float(np.linalg.norm(middle)), 1e-9)
    last = max(len(reading.sentences), 1)
    added = [_by_place(each.position / last) + _by_length(each) + cue_weight(each.shown) for each in prose]
    return np.clip(vectors @ middle, 0.0, 1.0).astype(np.float64) + np.array(added), vectors


def _by_place(share: float) -> float:
    """share: of the document that stands before the sentence, in [0, 1]."""
    return _POSITION_SHARE * max(0.0, 1.0 - share / _OPENING_SHARE) + 0.05 * (1.0 - share)


def _by_length(sentence: TextSentence) -> float:
    words = len(sentence.shown.split())
    least, most = _WORDS
    listed = 0.15 if sentence.item else 0.0
    return -0.02 * max(0, least - words) - 0.01 * max(0, words - most) - listed


def _chosen(scores: NDArray[np.float64], vectors: NDArray[np.float32], most: int) -> list[int]:
    likeness = vectors @ vectors.T
    chosen: list[int] = []
    left = list(range(len(scores)))
    while left and len(chosen) < most:
        gain = [scores[i] - _DIVERSITY * max((likeness[i, j] for j in chosen), default=0.0) for i in left]
        best = left[int(np.argmax(gain))]
        left.remove(best)
        if len(chosen) >= _FEW and scores[best] < _LEAST:
            break
        if not any(likeness[best, j] > _SAME for j in chosen):
            chosen.append(best)
    return chosen
