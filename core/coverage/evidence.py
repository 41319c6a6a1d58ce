"""How strongly passages support a topic: an absolute score, the same in every library."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from core.boards import GapKind
from core.coverage.gaps import score_in_words
from core.documents import Passage
from core.matching import stem
from core.search.cite import stems_of
from core.search.route import question_terms
from core.tables.gaps import EvidenceRow

__all__ = ["Weighed", "Windows", "reason_of", "share_together", "topic_stems", "topic_words", "weigh", "windows_of"]

_REMARK = re.compile(r"\([^)]*\)")

Windows = tuple[frozenset[str], ...]
"""The stems of each sentence of a passage with its follower and the headings above."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """One passage against a topic.

    score: evidence in [0, 1]; meaning: cosine in [0, 1]; share: of the topic's words that stand together, in
    [0, 1]. sentence: the 0-based one that carries it, where it was weighed by itself.
    """

    passage: Passage
    score: float
    meaning: float
    share: float
    sentence: int | None = None


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


def topic_stems(topic: str) -> tuple[str, ...]:
    """The stems of the words that name a topic."""
    return tuple(stem(word) for word in topic_words(topic))


def windows_of(passage: Passage) -> Windows:
    """What share_together reads of a passage; worked out once per passage, for all topics."""
    spans = [span.of(passage.text) for span in passage.sentences] or [passage.text]
    above = stems_of(passage.context)
    said = [stems_of(text) for text in spans]
    followers = [*said[1:], set[str]()]
    return tuple(frozenset(own | after | above) for own, after in zip(said, followers, strict=True))


def share_together(windows: Windows, wanted: Sequence[str]) -> float:
    """Largest share of the wanted stems in one sentence with its follower and the headings above; in [0, 1]."""
    if not wanted:
        return 0.0
    return max(sum(each in window for each in wanted) for window in windows) / len(wanted)


def weigh(passage: Passage, meaning: float, share: float, row: EvidenceRow) -> Weighed:
    """One passage weighed against a topic. meaning: cosine in [-1, 1]; share in [0, 1].

    score = 1 / (1 + exp(-(bias + meaning·cosine + words·share))), and 0 below either floor.
    """
    meaning = min(max(meaning, 0.0), 1.0)
    related = meaning >= row.meaning_floor and share >= row.words_floor
    score = 1 / (1 + exp(-(row.bias + row.meaning * meaning + row.words * share))) if related else 0.0
    return Weighed(passage, score, meaning, share)


def reason_of(kind: GapKind, weighed: Sequence[Weighed], enough: int, threshold: float) -> str:
    """Why a cell is in its state, in words. weighed: strongest first; enough: how many reach the threshold."""
    what, unit = ("set-up", "row") if kind is GapKind.CONFIGURATION else (kind.value, "passage")
    if not weighed:
        return f"The library holds no {what} {unit} that could support it."
    best = weighed[0]
    score = score_in_words(best.score)
    words = "words in common" if kind is GapKind.CONFIGURATION else "of the topic's words stand together"
    said = f"meaning {best.meaning:.2f}, {best.share:.0%} {words}"
    if enough:
        reach = f"{unit}s reach" if enough > 1 else f"{unit} reaches"
        return f"{enough} {reach} {threshold:.2f}; best {score}: {said}."
    if best.score == 0:
        return f"No {what} {unit} is about it; of the nearest, {said}."
    return f"The best {what} {unit} scores {score}, below {threshold:.2f}: {said}."
