"""Decides whether the sentences of a source support a claim.

A claim is supported when one cited sentence, or two that follow each other, says it: its amounts, dates and names are
there, it binds and denies alike, and enough of its words or its meaning are there. A claim of several clauses may find
each of them elsewhere; what is said of only some of them is supported in part.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.answers.cite_check.polarity import CLAUSE, contradiction
from core.answers.context import support_of
from core.coverage.statements import content_stems, days_of_year, quantities
from core.knowledge.distinguishing_terms import other_case
from core.ports.stores import Vectors
from core.search.query.names import named_in

__all__ = ["Judgement", "Source", "SupportState", "judge"]

ENOUGH_WORDS = 0.6
"""Share of a claim's content that one source text must have where its meaning alone does not decide."""
ENOUGH_MEANING = 0.70
"""Cosine from which a claim is a paraphrase of a source text, whatever its words."""
LEAST_MEANING = 0.40
"""Cosine below which shared words are chance: the source speaks of something else."""
GROUNDED_WORDS, GROUNDED_MEANING = 0.34, 0.50
"""Share of content, or cosine, that every clause of a supported claim needs in its source: less is an addition."""
SAME_SUBJECT = 0.50
"""Cosine from which a differing amount, date or name contradicts the claim instead of merely missing in the source."""
# All were fitted on bench/cite_check/development.jsonl; docs/mcp.md reports other documents.

_LEAST_WORDS = 2  # content words of a clause that can be judged on its own. Chosen by hand.
_BETWEEN = re.compile(
    r"(?i)(?<=[\w])\s+(?:consecutive|successive|straight|full|whole|additional)(?=\s+(?:days?|weeks?|months?|hours?)\b)"
)
_NO_NAMES = frozenset("every each any all both whoever anyone nobody somebody".split())  # capitals begin a sentence
_MONTH = re.compile(r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December)\b")


class SupportState(StrEnum):
    """How far its citations support a sentence, the best first."""

    SUPPORTED = "supported"
    PARTLY = "partly"
    NOT_SUPPORTED = "not supported"
    NOT_FOUND = "not found"
    NOT_CITED = "not cited"


@dataclass(frozen=True, slots=True)
class Source:
    """The sentences that can support a claim, in reading order, without markup. cited: which of them are cited.

    known: text whose names may be used freely (names of documents and sections).
    """

    sentences: tuple[str, ...]
    cited: frozenset[int]
    known: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """score: share of the claim's content found in the deciding sentence, in [0, 1]. decided_by: its index in
    `Source.sentences`, None when no sentence is about the claim. problems: in words."""

    state: SupportState
    score: float = 0.0
    decided_by: int | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Match:
    """How one text of the source relates to a claim. at: index of its most similar sentence."""

    at: int
    score: float
    meaning: float
    problems: tuple[str, ...]
    contradicts: bool

    @property
    def supports(self) -> bool:
        enough = self.score >= ENOUGH_WORDS and self.meaning >= LEAST_MEANING
        return not self.problems and (enough or self.meaning >= ENOUGH_MEANING)

    @property
    def is_grounded(self) -> bool:
        """Whether the text has something of it, for a clause of a claim that is supported as a whole."""
        return not self.problems and (self.score >= GROUNDED_WORDS or self.meaning >= GROUNDED_MEANING)

    @property
    def nearness(self) -> float:
        return self.score + self.meaning


def judge(claim: str, source: Source, embed: Callable[[Sequence[str]], Vectors]) -> Judgement:
    """Whether the source supports a claim. embed: unit vectors of texts. Raises what `embed` raises."""
    if not source.sentences:
        return Judgement(SupportState.NOT_FOUND)
    clauses = _clauses(claim)
    parts = (claim, *clauses)
    vectors = embed([*parts, *source.sentences])
    meanings = np.clip(vectors[: len(parts)] @ vectors[len(parts) :].T, -1.0, 1.0)
    claim_match = _best(claim, meanings[0], source, source.cited, claim)
    found = [_best(clause, meanings[number + 1], source, source.cited, claim) for number, clause in enumerate(clauses)]
    if claim_match.supports and all(match.is_grounded for match in found):
        return Judgement(SupportState.SUPPORTED, claim_match.score, claim_match.at)
    beside = _beside(claim, meanings[0], source)
    if claim_match.contradicts:
        return Judgement(SupportState.NOT_SUPPORTED, claim_match.score, claim_match.at, claim_match.problems)
    if beside is not None:
        problem = "The cited sentence does not say it; another sentence of the same place does."
        return Judgement(SupportState.PARTLY, beside.score, beside.at, (problem,))
    return _of_clauses(claim_match, clauses, found)


def _of_clauses(claim_match: _Match, clauses: Sequence[str], found: Sequence[_Match]) -> Judgement:
    """The verdict on a claim that no text supports as a whole, or not in each of its clauses."""
    about = claim_match.at if claim_match.meaning >= LEAST_MEANING else None
    if any(match.contradicts for match in found):
        wrong = next(match for match in found if match.contradicts)
        return Judgement(SupportState.NOT_SUPPORTED, claim_match.score, wrong.at, wrong.problems)
    supported = [match.supports or (claim_match.supports and match.is_grounded) for match in found]
    if supported and all(supported):
        return Judgement(SupportState.SUPPORTED, claim_match.score, found[0].at)
    if any(supported):
        unsaid = tuple(
            f"“{clause}” is not in what it cites."
            for clause, is_supported in zip(clauses, supported, strict=True)
            if not is_supported
        )
        return Judgement(SupportState.PARTLY, claim_match.score, found[supported.index(True)].at, unsaid)
    near = claim_match.meaning >= SAME_SUBJECT and claim_match.score >= ENOUGH_WORDS
    state = SupportState.PARTLY if near else SupportState.NOT_SUPPORTED
    return Judgement(
        state, claim_match.score, about, claim_match.problems or ("Too little of it is in what it cites.",)
    )


def _clauses(claim: str) -> tuple[str, ...]:
    """The clauses of a claim that can be judged on their own; none for a claim of one clause.

    >>> _clauses("Deposits are due monthly, and employers must file Form 941 each quarter.")
    ('Deposits are due monthly', 'employers must file Form 941 each quarter.')
    """
    parts = [part.strip() for part in CLAUSE.split(claim)]
    joined: list[str] = []
    for part in parts:
        if joined and (len(content_stems(part)) < _LEAST_WORDS or len(content_stems(joined[-1])) < 2):
            joined[-1] = f"{joined[-1]}, {part}"
        elif part:
            joined.append(part)
    return tuple(joined) if len(joined) > 1 else ()


def _best(claim: str, meanings: np.ndarray, source: Source, among: frozenset[int], full_claim: str) -> _Match:
    """The match that supports a clause of a claim, or all of it, best; without one, that of the nearest sentence."""
    found = [_match(claim, unit, meanings, source, full_claim) for unit in _units(source, among)]
    supporting = [match for match in found if match.supports]
    return max(supporting or found, key=lambda match: match.nearness)


def _units(source: Source, among: frozenset[int]) -> Iterator[tuple[int, ...]]:
    """Single sentences, then pairs that follow each other, then all that are cited when they are few."""
    order = sorted(among)
    yield from ((at,) for at in order)
    pairs = [(at, at + 1) for at in order if at + 1 in among]
    yield from pairs
    if 2 <= len(order) <= _MOST_TOGETHER and tuple(order) not in pairs:
        yield tuple(order)


_MOST_TOGETHER = 4  # more sentences at once contain most words of anything. Chosen by hand.


def _match(claim: str, unit: tuple[int, ...], meanings: np.ndarray, source: Source, full_claim: str) -> _Match:
    claim, texts = _BETWEEN.sub("", claim), [_BETWEEN.sub("", source.sentences[at]) for at in unit]
    text = " ".join(texts)
    check = support_of(claim, texts, source.known)
    at = max(unit, key=lambda each: float(meanings[each]))
    meaning = float(meanings[at])
    absent = [words for words in check.absent if words.lower() not in _NO_NAMES]
    problems = [f"“{words}” is not in what it cites." for words in absent]
    turned = contradiction(claim, texts, full_claim)
    other = other_case(claim, text)
    problems += [turned] if turned else []
    problems += ["It is about another case than what it cites."] if other else []
    against = bool(turned) or other or (bool(absent) and _has_rivals(claim, absent, text))
    return _Match(at, check.score, meaning, tuple(problems), against and meaning >= SAME_SUBJECT)


def _has_rivals(claim: str, absent: Sequence[str], text: str) -> bool:
    """Whether the text has amounts, days or names of its own where the claim has others."""
    names = {name.casefold() for name in named_in(claim)}
    for words in absent:
        if quantities(words):
            units = {amount.unit for amount in quantities(words)}
            known = {(amount.value, amount.unit) for amount in quantities(claim)}
            if any(each.unit in units and (each.value, each.unit) not in known for each in quantities(text)):
                return True
        elif days_of_year(words):
            known_days = {(day.month, day.day) for day in days_of_year(claim)}
            if any((day.month, day.day) not in known_days for day in days_of_year(text)):
                return True
        elif _MONTH.fullmatch(words):
            if set(_MONTH.findall(text)) - {words}:
                return True
        elif any(letter.isdigit() for letter in words):
            if set(re.findall(r"\d[\d,.]*", text)) - set(re.findall(r"\d[\d,.]*", claim)):
                return True
        elif any(name.casefold() not in names and not name.isdigit() for name in named_in(text)):
            return True
    return False


def _beside(claim: str, meanings: np.ndarray, source: Source) -> _Match | None:
    """A match outside the cited sentences that supports the claim."""
    others = frozenset(range(len(source.sentences))) - source.cited
    match = _best(claim, meanings, source, others, claim) if others else None
    return match if match is not None and match.supports else None
