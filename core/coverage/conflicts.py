"""Finds contradictions between sentences of different truths on one topic.

Prefers precision over recall: a false conflict costs a meeting.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations

from core.coverage.statements import (
    BindingForce,
    Quantity,
    QuantityBound,
    binding_of,
    content_stems,
    days_of_year,
    quantities,
)
from core.domain.coverage import Board, CellState, Conflict, ConflictKind, GapKind, Statement, Topic
from core.domain.documents import Document, Passage, Truth
from core.knowledge.distinguishing_terms import other_case
from core.search.citations.cite import QuotableKind, citation_of, quotables

__all__ = ["disagreement", "find_conflicts"]

_SAME_SHARED, _SAME_OVERLAP = 3, 0.6
_ACTION_SHARED, _ACTION_OVERLAP = 4, 0.7
_NEAR_WORDS = 60  # characters before and after an amount that say what it measures
_NEAR_SHARED = 2  # stems shared around two amounts of the same measure. Chosen by hand, not fitted.
_MOST_AMOUNTS = 3  # a sentence with more is a list of amounts. Chosen by hand, not fitted.
_YEAR = re.compile(r"(?<![\w.,$-])(?:19|20)\d\d(?![\w-]|[.,]\d)")
_EXAMPLE = re.compile(r"(?i)\b(?:for example|for instance|e\.g\.|such as|example:|suppose|assume|illustration)")
_PERIOD = re.compile(
    r"(?i)^\W*(?:(?:of|for)\s+)?(?:[a-z]+\s+){0,3}?(?:per|an?|each|every|in (?:an?|any|one)|in a single)\s+(?:\w+\s+)?"
    r"(?P<period>hour|workday|day|workweek|week|month|quarter|year)\b"
)
_PERIODS = {"workday": "day", "workweek": "week"}
_VERB = re.compile(
    r"(?i)\b(?:is|are|was|were|be|been|has|have|had|do|does|must|shall|should|may|can|cannot|will|need)\b"
    r"|\S\s.*\b[a-z]{2,}(?:s|ed)\b"
)
_OBLIGED = re.compile(r"(?i)\b(?:must|shall|should|may|can|cannot|will)\b(?P<passive>(?: not)?(?: be)?\b)")
_SAME_CLAUSE = 0.8  # share of the stems of two sentences that one clause in two documents has. Chosen by hand.
_SET_OFF = re.compile(r"[—–]\s*[$€£\d]")
_STRICT = (Truth.REGULATORY, Truth.COMPLIANCE, Truth.INTENT, Truth.REFERENCE)
"""Truths that state rules, most binding first. Reality states facts, so it is not compared."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """One sentence to be compared with others."""

    passage: Passage
    index: int
    text: str
    truth: Truth
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A contradiction of two sentences. first, second: the words that differ; strength in [0, 1]."""

    kind: ConflictKind
    first: str
    second: str
    strength: float


def find_conflicts(
    board: Board, passages: Mapping[int, Passage], documents: Mapping[int, Document]
) -> tuple[Conflict, ...]:
    """Contradictions between the passages cited in each topic's cells, strongest first, each pair once.

    passages, documents: cited evidence by id; missing ids are skipped. Never compares sentences of the same truth, of
    different jurisdictions, or that name different years.
    """
    found: dict[str, Conflict] = {}
    best: dict[str, int] = {}
    for topic in board.topics:
        claims = list(_sentences(board, topic, passages, documents))
        for one, other in combinations(claims, 2):
            if one.truth is other.truth or not _same_scope(one, other):
                continue
            first, second = sorted((one, other), key=lambda each: _STRICT.index(each.truth))
            contradiction = disagreement(first.text, second.text, binding=first.truth is Truth.REGULATORY)
            if contradiction is not None and not _both_state(first, second, claims):
                conflict = _conflict(topic, first, second, contradiction, documents)
                about = len(content_stems(topic.name) & first.stems & second.stems)
                if about > best.get(conflict.key, 0):  # a pair is listed under the topic it fits best
                    best[conflict.key], found[conflict.key] = about, conflict
    return tuple(sorted(found.values(), key=lambda each: (-each.strength, each.topic.name, each.key)))


def _sentences(
    board: Board, topic: Topic, passages: Mapping[int, Passage], documents: Mapping[int, Document]
) -> Iterator[_Claim]:
    seen: set[tuple[Truth, str]] = set()
    for truth in _STRICT:
        cell = board.cell(topic, GapKind(truth.value))
        if cell.state is CellState.ERROR:
            continue
        for passage_id in dict.fromkeys(citation.passage_id for citation in cell.evidence):
            passage = passages.get(passage_id)
            if passage is None or passage.rows is not None or passage.document_id not in documents:
                continue
            for part in quotables(passage):
                text = part.span.of(passage.text)
                sentence = " ".join(text.split())
                if part.kind is QuotableKind.SENTENCE and (truth, sentence) not in seen and _comparable(sentence):
                    seen.add((truth, sentence))
                    yield _Claim(passage, part.index, sentence, truth, content_stems(sentence))


def _comparable(sentence: str) -> bool:
    """Whether a sentence can be compared: no example, question, table row or list of amounts; 4 to 80 words."""
    plain = "|" not in sentence and not _EXAMPLE.search(sentence) and not sentence.endswith("?")
    return plain and len(quantities(sentence)) <= _MOST_AMOUNTS and 4 <= len(sentence.split()) <= 80


def _states(sentence: str) -> bool:
    """Whether it is a statement and no list item: it has a verb, and no amount after a dash."""
    return _VERB.search(sentence) is not None and not _SET_OFF.search(sentence)


def _same_scope(one: _Claim, other: _Claim) -> bool:
    jurisdictions = {claim.passage.jurisdiction for claim in (one, other)} - {None, "global"}
    years = [set(_YEAR.findall(claim.text)) for claim in (one, other)]
    return len(jurisdictions) <= 1 and (not all(years) or years[0] == years[1])


def _both_state(one: _Claim, other: _Claim, claims: Sequence[_Claim]) -> bool:
    """Whether the documents of two sentences each state both: clauses that two documents share are no conflict."""
    return all(
        any(_is_same_clause(claim, stated) for claim in claims if claim.passage.document_id == document_id)
        for stated, document_id in ((one, other.passage.document_id), (other, one.passage.document_id))
    )


def _is_same_clause(one: _Claim, other: _Claim) -> bool:
    alike = len(one.stems & other.stems) >= _SAME_CLAUSE * len(one.stems | other.stems)
    return alike and binding_of(one.text) is binding_of(other.text) and _values(one.text) == _values(other.text)


def _values(sentence: str) -> set[tuple[object, ...]]:
    amounts = {(each.value, each.unit, each.bound) for each in quantities(sentence)}
    return amounts | {(each.month, each.day) for each in days_of_year(sentence)}


def _swaps_parties(first: str, second: str) -> bool:
    """Whether each sentence obliges the party that the other one names as its counterpart, in the same voice: "the
    supplier must notify the buyer" and "the buyer must notify the supplier"."""
    one, other = _OBLIGED.search(first), _OBLIGED.search(second)
    if one is None or other is None or one["passive"].endswith("be") != other["passive"].endswith("be"):
        return False
    parties = content_stems(first[: one.start()]), content_stems(second[: other.start()])
    counterparts = content_stems(first[one.end() :]), content_stems(second[other.end() :])
    disjoint = all(parties) and not parties[0] & parties[1]
    return disjoint and parties[0] <= counterparts[1] and parties[1] <= counterparts[0]


def disagreement(first: str, second: str, *, binding: bool = False) -> Disagreement | None:
    """The contradiction of two sentences on the same subject; None when they agree or have different subjects.

    binding: the first sentence is law, so the second may be stricter but not looser.
    """
    if not (_states(first) and _states(second)) or _swaps_parties(first, second):
        return None
    one, other = content_stems(first), content_stems(second)
    shared = len(one & other)
    overlap = shared / max(1, min(len(one), len(other)))
    if shared < _SAME_SHARED or overlap < _SAME_OVERLAP or other_case(first, second):
        return None
    return (
        _amounts(first, second, overlap, binding=binding)
        or _days(first, second, overlap)
        or (_modality(first, second, overlap) if shared >= _ACTION_SHARED and overlap >= _ACTION_OVERLAP else None)
    )


def _amounts(first: str, second: str, overlap: float, *, binding: bool) -> Disagreement | None:
    for one in _alone(quantities(first)):
        for other in _alone(quantities(second)):
            if one.unit != other.unit or not _same_measure(first, one, second, other):
                continue
            if _incompatible(one, other, binding=binding):
                return Disagreement(ConflictKind.NUMBER, one.words, other.words, overlap)
    return None


def _alone(found: Sequence[Quantity]) -> list[Quantity]:
    """Amounts whose unit occurs once in the sentence: with two it is unclear which one to compare."""
    units = [quantity.unit for quantity in found]
    return [quantity for quantity in found if units.count(quantity.unit) == 1]


def _same_measure(first: str, one: Quantity, second: str, other: Quantity) -> bool:
    """Whether both amounts measure the same: enough shared words around them, and no different periods."""
    periods = {_period(first, one), _period(second, other)} - {""}
    if len(periods) > 1:
        return False
    return len(_around(first, one.start, one.end) & _around(second, other.start, other.end)) >= _NEAR_SHARED


def _period(sentence: str, amount: Quantity) -> str:
    """The period of an amount: "month" in "two days per month"; "" when none is given."""
    match = _PERIOD.match(sentence[amount.end :])
    return _PERIODS.get(period := match["period"].lower(), period) if match else ""


def _around(sentence: str, start: int, end: int) -> frozenset[str]:
    return content_stems(sentence[max(0, start - _NEAR_WORDS) : end + _NEAR_WORDS])


def _incompatible(one: Quantity, other: Quantity, *, binding: bool) -> bool:
    """Whether both amounts cannot be true. binding: `other` may be stricter than `one`."""
    if one.bound is other.bound:
        if one.value == other.value:
            return False
        stricter = other.value > one.value if one.bound is QuantityBound.LEAST else other.value < one.value
        return not (binding and one.bound in (QuantityBound.LEAST, QuantityBound.MOST) and stricter)
    if {one.bound, other.bound} & {QuantityBound.ABOVE, QuantityBound.BELOW}:
        return False  # ABOVE and BELOW say where a rule begins to apply
    least = max((q.value for q in (one, other) if q.bound is not QuantityBound.MOST), default=0.0)
    most = min((q.value for q in (one, other) if q.bound is not QuantityBound.LEAST), default=float("inf"))
    return least > most


def _days(first: str, second: str, overlap: float) -> Disagreement | None:
    one, other = days_of_year(first), days_of_year(second)
    if len(one) != 1 or len(other) != 1 or (one[0].month, one[0].day) == (other[0].month, other[0].day):
        return None
    if len(_around(first, one[0].start, one[0].end) & _around(second, other[0].start, other[0].end)) < _NEAR_SHARED:
        return None
    return Disagreement(ConflictKind.DATE, one[0].words, other[0].words, overlap)


def _modality(first: str, second: str, overlap: float) -> Disagreement | None:
    """Required against forbidden, or required by the more binding sentence and optional in the other."""
    forces = binding_of(first), binding_of(second)
    opposed = {BindingForce.REQUIRED, BindingForce.FORBIDDEN} == set(forces) or forces == (
        BindingForce.REQUIRED,
        BindingForce.OPTIONAL,
    )
    if not opposed or forces[0] is None or forces[1] is None:
        return None
    return Disagreement(ConflictKind.MODALITY, forces[0].value, forces[1].value, overlap)


def _conflict(
    topic: Topic, first: _Claim, second: _Claim, contradiction: Disagreement, documents: Mapping[int, Document]
) -> Conflict:
    quotes = sorted((first.text, second.text))
    one, other = (
        _statement(claim, words, documents)
        for claim, words in ((first, contradiction.first), (second, contradiction.second))
    )
    words = f"{first.truth.capitalize()} says “{contradiction.first}”, {second.truth} says “{contradiction.second}”."
    key = sha256("\n".join(quotes).encode()).hexdigest()[:16]
    return Conflict(key, topic, contradiction.kind, one, other, words, contradiction.strength)


def _statement(claim: _Claim, words: str, documents: Mapping[int, Document]) -> Statement:
    return Statement(citation_of(claim.passage, documents[claim.passage.document_id], claim.index), claim.truth, words)
