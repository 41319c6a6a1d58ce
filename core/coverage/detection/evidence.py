"""Evidence scores of passages and configuration rows for a topic.

A passage's score is the probability that it covers the topic: a logistic regression, fitted to judged topics, over its
evidence and whether it is in English. It is absolute, so that it is comparable between libraries; other documents
change it only by the near words they bring. A row's score is a logistic of its likeness in meaning and the words that
topic and row have in common.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np

from core.coverage.gaps import score_in_words
from core.coverage.statements import content_stems
from core.domain.coverage import GapKind, Topic
from core.domain.documents import Passage, TableRole
from core.domain.results import Candidate
from core.knowledge.answerability import topic_model
from core.knowledge.gaps import EvidenceRow
from core.ports.stores import Embedder, Vectors
from core.search.query.route import question_terms
from core.search.ranking.answerability import topic_probability

__all__ = [
    "SetupRow",
    "WeightedPassage",
    "reason_of",
    "row_values",
    "setup_rows",
    "topic_words",
    "weigh_candidate",
    "weigh_rows",
]

_REMARK = re.compile(r"\([^)]*\)")


@dataclass(frozen=True, slots=True)
class WeightedPassage:
    """Evidence of one passage for a topic.

    score: evidence score in [0, 1]; meaning: cosine in [0, 1]; detail: what the score is made of, in words. share: of
    the words in common, in [0, 1]. sentence: 0-based index of the sentence, if it was scored by itself. cosines: per
    sentence of the passage, in [0, 1]; () when they were not measured. other_language: whether it is in
    another language than the topic.
    """

    passage: Passage
    score: float
    meaning: float
    detail: str
    share: float
    sentence: int | None = None
    cosines: tuple[float, ...] = ()
    other_language: bool = False


def topic_words(topic: str) -> tuple[str, ...]:
    """The words of a topic's name, all of equal weight: with IDF a word the library lacks would outweigh the rest.

    Ignores text in parentheses unless there is nothing else. Replaces a compound by its parts, because texts may
    write them separately.

    >>> topic_words("on-call pay (all staff)"), topic_words("(all staff)")
    (('call', 'pay'), ('staff',))
    """
    terms = question_terms(_REMARK.sub(" ", topic)) or question_terms(topic)
    full_terms = [
        term for term in terms if not any(mark in term and _parts_present(term, mark, terms) for mark in "-/")
    ]
    return tuple(full_terms)


def _parts_present(term: str, mark: str, terms: Sequence[str]) -> bool:
    return any(part in terms for part in term.split(mark))


_MEANING, _SENTENCE, _WORDS = 0.4, 0.4, 0.2
"""Weights of a passage's evidence for a topic. Chosen by hand among flat ones, on four collections (docs/scores.md)."""


def weigh_candidate(candidate: Candidate, *, other_language: bool = False) -> WeightedPassage:
    """Score one passage, its signals measured with the topic's words of equal weight. other_language: whether it is in
    another language than the topic.

    score = 1 / (1 + exp(-(intercept + weight·evidence))), where evidence is made of three: the cosines of the passage
    and of its best sentence, and the share of the topic's words in it, near words counting by their closeness.
    """
    signals = candidate.signals
    meaning, best = signals.similarity, signals.best_sentence_similarity
    sentence = meaning if best is None else best
    share = signals.term_coverage if signals.synonym_match is None else signals.synonym_match
    value = _MEANING * meaning + _SENTENCE * sentence + _WORDS * share
    score = topic_probability(value, topic_model(), other_language=other_language)
    other = ", in another language" if other_language else ""
    detail = f"similarity {meaning:.2f}, best sentence {sentence:.2f}, words {share:.2f}{other}"
    cosines = signals.sentences
    return WeightedPassage(
        candidate.passage, score, meaning, detail, share, cosines=cosines, other_language=other_language
    )


def _weigh_row(passage: Passage, meaning: float, share: float, row: EvidenceRow) -> WeightedPassage:
    """Score one row of the passage for a topic. meaning: cosine in [-1, 1]; share in [0, 1].

    score = 1 / (1 + exp(-(bias + meaning·cosine + words·share))), and 0 below either floor.
    """
    meaning = min(max(meaning, 0.0), 1.0)
    related = meaning >= row.meaning_floor and share >= row.words_floor
    score = 1 / (1 + exp(-(row.bias + row.meaning * meaning + row.words * share))) if related else 0.0
    return WeightedPassage(passage, score, meaning, f"similarity {meaning:.2f}, {_shared_words(share)}", share)


def reason_of(kind: GapKind, weighed: Sequence[WeightedPassage], enough: int, row: EvidenceRow) -> str:
    """Explanation of a cell's state. weighed: strongest first; enough: number that reach the threshold."""
    what, unit = ("set-up", "row") if kind is GapKind.CONFIGURATION else (kind.value, "passage")
    if not weighed:
        return f"The library has no {what} {unit} that could support it."
    best = weighed[0]
    score = score_in_words(best.score)
    if enough:
        reach = f"{unit}s reach" if enough > 1 else f"{unit} reaches"
        return f"{enough} {reach} {row.covered:.2f}; best {score}: {best.detail}."
    if best.score < row.floor:
        counted = f" scores {score}, which counts as 0" if best.score else ""
        return f"Probably no {what} {unit} is about it. The closest{counted}: {best.detail}."
    return f"The best {what} {unit} scores {score}, below {row.covered:.2f}: {best.detail}."


def _shared_words(share: float) -> str:
    """
    >>> _shared_words(0.0), _shared_words(0.5)
    ('no topic words in common', '50% of the topic words in common')
    """
    return f"{share:.0%} of the topic words in common" if round(share, 2) else "no topic words in common"


_TELLING = 0.9
"""Least share of distinct values in a column that identifies rows. Chosen by hand, not fitted."""


@dataclass(frozen=True, slots=True)
class SetupRow:
    """One configuration row. index: of its sentence in the passage. says: its description."""

    passage: Passage
    index: int
    says: str


def row_values(line: str) -> dict[str, str]:
    """Parse a row's line into column → value.

    >>> row_values("code: OT15; description: Overtime at 1.5; rate: 1.5")
    {'code': 'OT15', 'description': 'Overtime at 1.5', 'rate': '1.5'}
    """
    parts = (part.partition(": ") for part in line.split("; "))
    return {name.strip(): value.strip() for name, mark, value in parts if mark}


def setup_rows(passages: Sequence[Passage]) -> list[SetupRow]:
    """The rows of one document's configuration tables with their descriptions; ignores other passages.

    The description is the column with the most words among those whose values differ in nearly every row.
    """
    rows = [
        (passage, index, row_values(span.of(passage.text)))
        for passage in passages
        if passage.table_role is TableRole.SETUP
        for index, span in enumerate(passage.sentences)
    ]
    rows = [(passage, index, values) for passage, index, values in rows if values]
    name = _described_by([values for _, _, values in rows])
    return [
        SetupRow(passage, index, values.get(name, "") or "; ".join(values.values())) for passage, index, values in rows
    ]


def _described_by(rows: Sequence[Mapping[str, str]]) -> str:
    best, most = "", 0.0
    for name in dict.fromkeys(name for values in rows for name in values):
        filled = [values[name] for values in rows if values.get(name)]
        words = sum(len(content_stems(value)) for value in filled) / len(rows)
        if len(set(filled)) >= _TELLING * len(filled) and words > most:
            best, most = name, words
    return best


def weigh_rows(
    rows: Sequence[SetupRow], topics: Sequence[Topic], topic_vectors: Vectors, embedder: Embedder, row: EvidenceRow
) -> list[list[WeightedPassage]]:
    """Scored rows per topic, strongest first. asked: the topics' vectors, shape (len(topics), dim). Raises
    ModelUnavailable."""
    if not rows:
        return [[] for _ in topics]
    cosines = np.clip(topic_vectors @ embedder.embed([each.says for each in rows]).T, -1.0, 1.0)
    row_stems = [content_stems(each.says) for each in rows]
    weighed = []
    for number, topic in enumerate(topics):
        stems = content_stems(topic.name)
        items = []
        for index, each in enumerate(rows):
            share = len(stems & row_stems[index]) / max(1, min(len(stems), len(row_stems[index])))
            found = _weigh_row(each.passage, float(cosines[number, index]), share, row)
            items.append(replace(found, sentence=each.index))
        weighed.append(sorted(items, key=lambda item: (-item.score, -item.meaning, item.passage.id, item.sentence)))
    return weighed
