"""Finds sentences of different truths that agree. Prefers precision: no result is better than a false agreement.

Two sentences agree on a point when they would conflict if one of them stated another value there. So
`core.coverage.conflicts` alone decides what counts as the same point, for agreement as for conflict.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isclose

from core.coverage.conflicts import disagreement
from core.coverage.statements import (
    CURRENCIES,
    BindingForce,
    DayOfYear,
    Quantity,
    QuantityBound,
    binding_of,
    content_stems,
    days_of_year,
    quantities,
)
from core.domain.coverage import ConflictKind, Statement
from core.domain.five_truths import AgreementKind, TruthAgreement, TruthAnswer
from core.domain.results import Citation
from core.knowledge.distinguishing_terms import other_case
from core.search.query.names import named_in
from core.text.tokenize import word_spans

__all__ = ["agreements_of", "negated"]

_ALIKE_SHARED, _ALIKE = 5, 0.8  # stems two sentences share, and of all their stems, to be alike in wording
_NEGATION = re.compile(r"(?i)\b(?:not|no|never|none|neither|nor|without|cannot|unless|except)\b|n['’]t\b")
_FORBIDDING = re.compile(r"(?i)\b(?:must|shall|may|can|should) not\b|\bcannot\b|\b(is|are) (?:prohibited|forbidden)\b")
_REQUIRING = re.compile(r"(?i)\b(?:must|shall)\b(?! not\b)|\b(is|are) (?:required|mandatory)\b")
_OTHER_DAYS = ("June 7", "July 8")
_VERBS = {BindingForce.REQUIRED: "require", BindingForce.FORBIDDEN: "forbid"}

_Alike = tuple[AgreementKind, str, str, str]
"""kind, the words of each side, and what both do, for a reader."""


def agreements_of(truths: Sequence[TruthAnswer]) -> tuple[TruthAgreement, ...]:
    """At most one agreement per pair of truths, the most exact; in the order of the truths."""
    found = []
    for one, other in combinations(truths, 2):
        agreeing = list(_between(one, other))
        if agreeing:
            kinds = list(AgreementKind)
            found.append(min(agreeing, key=lambda each: (kinds.index(each.kind), -each.strength)))
    return tuple(found)


def _between(one: TruthAnswer, other: TruthAnswer) -> Iterator[TruthAgreement]:
    for first in one.citations:
        for second in other.citations:
            texts = " ".join(first.quote.split()), " ".join(second.quote.split())
            if not _comparable(first, second, *texts):
                continue
            alike = _alike(*texts)
            if alike is not None:
                kind, first_words, second_words, what = alike
                words = f"{one.truth.capitalize()} and {other.truth} {what}."
                sides = Statement(first, one.truth, first_words), Statement(second, other.truth, second_words)
                yield TruthAgreement(kind, *sides, words, _overlap(*texts))


def _comparable(first: Citation, second: Citation, one: str, other: str) -> bool:
    """Whether both are plain sentences with the same place, case, names and numbers, and neither is negated."""
    jurisdictions = {first.jurisdiction, second.jurisdiction} - {None, "global"}
    plain = not any("|" in text or text.endswith("?") for text in (one, other))
    rows = first.rows is not None or second.rows is not None
    if rows or not plain or len(jurisdictions) > 1 or other_case(one, other):
        return False
    names = [{name for name in named_in(text) if not name.isdigit()} for text in (one, other)]
    numbers = [_marks(text) for text in (one, other)]
    same = all(not a or not b or a <= b or b <= a for a, b in (names, numbers))
    return same and negated(one) == negated(other) and disagreement(one, other) is None


def _marks(text: str) -> frozenset[str]:
    """Words with a digit that are no amount and no day: forms, sections, years."""
    taken = [(amount.start, amount.end) for amount in quantities(text)]
    taken += [(day.start, day.end) for day in days_of_year(text)]
    return frozenset(
        word
        for start, end, word in word_spans(text)
        if any(map(str.isdigit, word)) and not any(a < end and start < b for a, b in taken)
    )


def negated(sentence: str) -> bool:
    """Whether a sentence denies something, beyond forbidding it and beyond the bound of an amount.

    >>> negated("It is not paid."), negated("Pay no later than 5 days."), negated("It must not be shared.")
    (True, False, False)
    """
    for amount in quantities(sentence):
        sentence = sentence.replace(amount.words, " ")
    return _NEGATION.search(_FORBIDDING.sub(" ", sentence)) is not None


def _alike(one: str, other: str) -> _Alike | None:
    return _same_amount(one, other) or _same_day(one, other) or _same_binding(one, other) or _same_words(one, other)


def _same_amount(one: str, other: str) -> _Alike | None:
    for first in quantities(one):
        for second in quantities(other):
            if _equal(first, second) and any(
                _would_conflict(one, _with(other, second, changed), ConflictKind.NUMBER) for changed in _others(second)
            ):
                return AgreementKind.AMOUNT, first.words, second.words, _both_say(first.words, second.words)
    return None


def _equal(first: Quantity, second: Quantity) -> bool:
    bounds = {first.bound, second.bound}
    alike = len(bounds) == 1 or (
        QuantityBound.EXACT in bounds and bounds <= {QuantityBound.EXACT, QuantityBound.LEAST, QuantityBound.MOST}
    )
    return alike and first.unit == second.unit and isclose(first.value, second.value)


def _others(amount: Quantity) -> tuple[str, str]:
    """The amount doubled and halved: one of them breaks whichever bound there is."""
    shape = f"{amount.unit}{{:.10g}}" if amount.unit in CURRENCIES else f"{{:.10g}} {amount.unit}"
    return shape.format(amount.value * 2), shape.format(amount.value / 2)


def _same_day(one: str, other: str) -> _Alike | None:
    first, second = days_of_year(one), days_of_year(other)
    if len(first) != 1 or len(second) != 1 or (first[0].month, first[0].day) != (second[0].month, second[0].day):
        return None
    changed = next(day for day in _OTHER_DAYS if day.casefold() != second[0].words.casefold())
    if not _would_conflict(one, _with(other, second[0], changed), ConflictKind.DATE):
        return None
    return AgreementKind.DATE, first[0].words, second[0].words, _both_say(first[0].words, second[0].words)


def _same_binding(one: str, other: str) -> _Alike | None:
    binding = binding_of(one)
    if binding not in _VERBS or binding is not binding_of(other):
        return None
    rule, modal, plain = (
        (_REQUIRING, "must not", "prohibited")
        if binding is BindingForce.REQUIRED
        else (_FORBIDDING, "must", "required")
    )
    flipped = rule.sub(lambda match: f"{match[1]} {plain}" if match[1] else modal, other)
    if not _would_conflict(one, flipped, ConflictKind.MODALITY):
        return None
    return AgreementKind.OBLIGATION, binding.value, binding.value, f"both {_VERBS[binding]} it"


def _same_words(one: str, other: str) -> _Alike | None:
    first, second = content_stems(one), content_stems(other)
    shared, amounts = (
        len(first & second),
        [{(q.value, q.unit, q.bound) for q in quantities(text)} for text in (one, other)],
    )
    if shared < _ALIKE_SHARED or shared < _ALIKE * len(first | second):
        return None
    if amounts[0] != amounts[1] or binding_of(one) is not binding_of(other):
        return None
    return AgreementKind.WORDING, "", "", "say nearly the same"


def _would_conflict(one: str, other: str, kind: ConflictKind) -> bool:
    contradiction = disagreement(one, other)
    return contradiction is not None and contradiction.kind is kind


def _with(text: str, part: Quantity | DayOfYear, changed: str) -> str:
    return f"{text[: part.start]}{changed}{text[part.end :]}"


def _both_say(one: str, other: str) -> str:
    same = " ".join(one.split()).casefold() == " ".join(other.split()).casefold()
    return f"both say “{one}”" if same else f"say the same: “{one}” and “{other}”"


def _overlap(one: str, other: str) -> float:
    first, second = content_stems(one), content_stems(other)
    return len(first & second) / max(1, min(len(first), len(second)))
