"""How strongly passages support a topic: an absolute score, the same in every library."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from core.documents import Passage
from core.results import Candidate
from core.search.cite import sentence_relevance
from core.search.route import question_terms
from core.tables.gaps import EvidenceRow

__all__ = ["Weighed", "topic_words", "weigh", "weigh_all", "words_together"]

_REMARK = re.compile(r"\([^)]*\)")


@dataclass(frozen=True, slots=True)
class Weighed:
    """One passage against a topic.

    score: evidence in [0, 1]; meaning: cosine in [0, 1]; share: of the topic's words that stand together, in
    [0, 1].
    """

    candidate: Candidate
    score: float
    meaning: float
    share: float


def topic_words(topic: str) -> tuple[str, ...]:
    """The words that name a topic, all of equal weight: rarity would let a word the library lacks outweigh the rest.

    A remark in parentheses names nothing, unless there is nothing else. A compound gives way to its parts, which a text
    may write apart.

    >>> topic_words("on-call pay (all staff)"), topic_words("(all staff)")
    (('call', 'pay'), ('staff',))
    """
    terms = question_terms(_REMARK.sub(" ", topic)) or question_terms(topic)
    whole = [term for term in terms if not any(mark in term and _parts_asked(term, mark, terms) for mark in "-/")]
    return tuple(whole)


def _parts_asked(term: str, mark: str, terms: Sequence[str]) -> bool:
    return any(part in terms for part in term.split(mark))


def weigh_all(candidates: Sequence[Candidate], topic: str, row: EvidenceRow) -> tuple[Weighed, ...]:
    """Every candidate weighed, strongest first; ties by meaning, then passage id."""
    words = topic_words(topic)
    weighed = [weigh(candidate, words, row) for candidate in candidates]
    return tuple(sorted(weighed, key=lambda w: (-w.score, -w.meaning, w.candidate.passage.id)))


def weigh(candidate: Candidate, words: Sequence[str], row: EvidenceRow) -> Weighed:
    """One candidate weighed against the topic's words.

    score = 1 / (1 + exp(-(bias + meaning·cosine + words·share))), and 0 below either floor.
    """
    meaning = candidate.signals.similarity
    share = words_together(candidate.passage, words)
    related = meaning >= row.meaning_floor and share >= row.words_floor
    score = 1 / (1 + exp(-(row.bias + row.meaning * meaning + row.words * share))) if related else 0.0
    return Weighed(candidate, score, meaning, share)


def words_together(passage: Passage, words: Sequence[str]) -> float:
    """Largest share of the words in one sentence with its follower and the headings above; in [0, 1]."""
    sentences = [span.of(passage.text) for span in passage.sentences] or [passage.text]
    followers = [*sentences[1:], ""]
    weights = dict.fromkeys(words, 1.0)
    return max(
        sentence_relevance(f"{said} {after} {passage.context}", weights)
        for said, after in zip(sentences, followers, strict=True)
    )
