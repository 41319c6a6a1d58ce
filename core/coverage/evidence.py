"""How strongly passages support a topic: an absolute score, the same in every library."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp

from core.documents import Passage
from core.results import Candidate
from core.search.cite import sentence_relevance
from core.tables.gaps import EvidenceRow

__all__ = ["Weighed", "topic_rarity", "weigh", "weigh_all"]


@dataclass(frozen=True, slots=True)
class Weighed:
    """One passage against a topic.

    score: evidence in [0, 1]; meaning: cosine in [0, 1]; share: of the topic's words, weighted by rarity, that stand
    together, in [0, 1].
    """

    candidate: Candidate
    score: float
    meaning: float
    share: float


def topic_rarity(rarity: Mapping[str, float]) -> dict[str, float]:
    """The topic's words with their rarity; a compound gives way to its parts, which a text may write apart.

    >>> topic_rarity({"on-call": 5.0, "on": 1.0, "call": 3.0})
    {'on': 1.0, 'call': 3.0}
    """
    parted = {
        term for term in rarity if any(mark in term and all(p in rarity for p in term.split(mark)) for mark in "-/")
    }
    return {term: weight for term, weight in rarity.items() if term not in parted}


def weigh_all(candidates: Sequence[Candidate], rarity: Mapping[str, float], row: EvidenceRow) -> tuple[Weighed, ...]:
    """Every candidate weighed, strongest first; ties by meaning, then passage id."""
    words = topic_rarity(rarity)
    weighed = [weigh(candidate, words, row) for candidate in candidates]
    return tuple(sorted(weighed, key=lambda w: (-w.score, -w.meaning, w.candidate.passage.id)))


def weigh(candidate: Candidate, rarity: Mapping[str, float], row: EvidenceRow) -> Weighed:
    """One candidate weighed. `rarity`: topic word → inverse document frequency.

    score = 1 / (1 + exp(-(bias + meaning·cosine + words·share))), and 0 below either floor.
    """
    meaning = candidate.signals.similarity
    share = words_together(candidate.passage, rarity)
    related = meaning >= row.meaning_floor and share >= row.words_floor
    score = 1 / (1 + exp(-(row.bias + row.meaning * meaning + row.words * share))) if related else 0.0
    return Weighed(candidate, score, meaning, share)


def words_together(passage: Passage, rarity: Mapping[str, float]) -> float:
    """Largest share of the topic's words in a sentence with its follower and the headings above; in [0, 1]."""
    sentences = [span.of(passage.text) for span in passage.sentences] or [passage.text]
    followers = [*sentences[1:], ""]
    return max(
        sentence_relevance(f"{said} {after} {passage.context}", rarity)
        for said, after in zip(sentences, followers, strict=True)
    )
