"""How well the citation check tells supported sentences from changed ones.

A judged pair is a sentence of a document and a claim that it supports, in other words. Each claim is judged with its
sentence, where `supported` is right, and again after one change each, where it is wrong: another number, another date,
another name, denied or no longer denied, with an unsupported clause added, and with another sentence of the same
document as its citation, the most similar one.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.answers.cite_check.judgement import Judgement, Source, SupportState, judge
from core.domain.errors import BadRequest
from core.ports.stores import Vectors
from core.search.query.names import named_in

__all__ = ["CiteCheckReport", "JudgedCase", "JudgedPair", "cases", "evaluate_cite_check", "read_pairs"]

TRUE = "unchanged"


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """A sentence of a document and a claim it supports."""

    document: str
    quote: str
    claim: str


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """A claim with the sentence it cites. change: what was changed, "unchanged" where the citation supports it."""

    claim: str
    quote: str
    document: str
    change: str


@dataclass(frozen=True, slots=True)
class CiteCheckReport:
    """The judged cases with what the check said."""

    outcomes: tuple[tuple[JudgedCase, Judgement], ...]

    def data(self) -> dict[str, Any]:
        """precision: of the sentences called supported, the share that is; recall: of those that are, the share called
        so; rejected: per change, the share of wrong sentences not called supported. All in [0, 1]."""
        right = [judgement.state is SupportState.SUPPORTED for case, judgement in self.outcomes if case.change == TRUE]
        wrong = [(case.change, judgement.state) for case, judgement in self.outcomes if case.change != TRUE]
        accepted = sum(state is SupportState.SUPPORTED for _, state in wrong)
        found = sum(right)
        states = Counter((case.change, judgement.state.value) for case, judgement in self.outcomes)
        return {
            "cases": len(self.outcomes),
            "precision": found / (found + accepted) if found + accepted else 0.0,
            "recall": found / len(right) if right else 0.0,
            "wrong_rejected": 1 - accepted / len(wrong) if wrong else 0.0,
            "per_change": {
                change: {
                    "cases": sum(count for (name, _), count in states.items() if name == change),
                    **{state.value: states[change, state.value] for state in list(SupportState)[:3]},
                }
                for change in dict.fromkeys(case.change for case, _ in self.outcomes)
            },
            "wrong": [
                {"change": case.change, "said": judgement.state.value, "claim": case.claim, "quote": case.quote}
                | {"problems": list(judgement.problems)}
                for case, judgement in self.outcomes
                if (case.change == TRUE) != (judgement.state is SupportState.SUPPORTED)
            ],
        }


def read_pairs(path: Path) -> Sequence[JudgedPair]:
    """The pairs of a JSON Lines file with document, quote and claim. Raises BadRequest naming the line."""
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadRequest(f"'{path}' cannot be read: {error}.", "Name a JSON Lines file in UTF-8.") from error
    pairs = [_pair(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]
    if not pairs:
        raise BadRequest(f"'{path}' has no pairs.", "Write one object per line: document, quote and claim.")
    return pairs


def _pair(line: str, where: str) -> JudgedPair:
    try:
        row = json.loads(line)
        return JudgedPair(*(str(row[name]) for name in ("document", "quote", "claim")))
    except (ValueError, KeyError, TypeError) as error:
        raise BadRequest(f"{where} is not a judged pair: {error}.", "Write document, quote and claim.") from error


def evaluate_cite_check(
    pairs: Sequence[JudgedPair],
    embed: Callable[[Sequence[str]], Vectors],
    on_case: Callable[[int, int], None] = lambda done, total: None,
) -> CiteCheckReport:
    """Judge every pair and its changed forms. Raises what `embed` raises."""
    every = list(cases(pairs, embed))
    outcomes = []
    for number, case in enumerate(every, 1):
        source = Source((case.quote,), frozenset((0,)), case.document.replace("_", " "))
        outcomes.append((case, judge(case.claim, source, embed)))
        on_case(number, len(every))
    return CiteCheckReport(tuple(outcomes))


def cases(pairs: Sequence[JudgedPair], embed: Callable[[Sequence[str]], Vectors]) -> Iterator[JudgedCase]:
    """Each claim with its own sentence, then in every changed form that its words allow."""
    quotes = embed([pair.quote for pair in pairs])
    likeness = embed([pair.claim for pair in pairs]) @ quotes.T
    for number, pair in enumerate(pairs):
        yield JudgedCase(pair.claim, pair.quote, pair.document, TRUE)
        for change, changed in _changes(pair.claim):
            yield JudgedCase(changed, pair.quote, pair.document, change)
        others = [at for at, other in enumerate(pairs) if at != number and other.document == pair.document]
        others = others or [at for at in range(len(pairs)) if at != number]
        if others:
            nearest = pairs[max(others, key=lambda at: float(likeness[number, at]))]
            yield JudgedCase(pair.claim, nearest.quote, nearest.document, "another sentence cited")


_MONTHS = "January February March April May June July August September October November December".split()
_DAY = re.compile(rf"\b({'|'.join(_MONTHS)})\b(?=\s+\d)|\b(?:19|20)\d\d\b")
_FIGURE = re.compile(r"(?<![\w.,$§-])\$?\d[\d,]*(?:\.\d+)?(?![\w-]*[A-Za-z])(?!\d)")
_SPELLED = re.compile(r"(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve)\b")
_NUMBERS = "two three four five six seven eight nine ten twelve".split()
_OTHER_NAMES = ("Oregon", "Northwind", "OPM")
_DENIALS = (
    (re.compile(r"\b(must|may|should|shall|can|will|is|are|was|were) not\b"), r"\1"),
    (re.compile(r"\bcannot\b"), "can"),
    (re.compile(r"\b(?:No|Nobody)\b"), {"No": "Some", "Nobody": "Everybody"}),
    (re.compile(r"\b(must|may|should|shall|can|will)\b"), r"\1 not"),
    (re.compile(r"\b(has|have) to\b"), r"need not"),
    (re.compile(r"\b(is|are|was|were)\b"), r"\1 not"),
)


_ADDED = (
    ", and the finance committee publishes the outcome on its website.",
    ", unless the regional office objects in writing.",
    ", and a copy must be kept for four years.",
    ", although interns and volunteers are treated differently.",
)
"""Clauses that no document of the pairs says; which one is added depends on the length of the claim."""


def _changes(claim: str) -> Iterator[tuple[str, str]]:
    """(change, changed claim): one of each kind that the claim's words allow.

    >>> list(_changes("Acme must file by May 5."))[0]
    ('date', 'Acme must file by September 5.')
    """
    day = _DAY.search(claim)
    if day is not None:
        changed = _MONTHS[(_MONTHS.index(day[1]) + 4) % 12] if day[1] else str(int(day.group()) - 3)
        yield "date", claim[: day.start()] + changed + claim[day.end() :]
    figure = next((match for match in _FIGURE.finditer(claim) if not (day and _within(match, claim))), None)
    spelled = _SPELLED.search(claim)
    if figure is not None:
        yield "number", claim[: figure.start()] + _other_figure(figure.group()) + claim[figure.end() :]
    elif spelled is not None:
        other = _NUMBERS[(_NUMBERS.index(spelled.group().lower()) + 3) % len(_NUMBERS)]
        other = other.capitalize() if spelled.group()[0].isupper() else other
        yield "number", claim[: spelled.start()] + other + claim[spelled.end() :]
    name = next((name for name in named_in(claim) if not any(map(str.isdigit, name))), None)
    if name is not None:
        yield "name", claim.replace(name, next(other for other in _OTHER_NAMES if other != name))
    for pattern, other_words in _DENIALS:
        match = pattern.search(claim)
        if match is not None:
            put = match.expand(other_words) if isinstance(other_words, str) else other_words[match.group()]
            yield "denial", claim[: match.start()] + put + claim[match.end() :]
            break
    yield "clause added", f"{claim.rstrip('.')}{_ADDED[len(claim) % len(_ADDED)]}"


def _within(match: re.Match[str], claim: str) -> bool:
    """Whether a figure belongs to a date."""
    before = claim[: match.start()].rstrip(" ,")
    return any(before.endswith(month) for month in _MONTHS) or re.fullmatch(r"(?:19|20)\d\d", match.group()) is not None


def _other_figure(figure: str) -> str:
    money, digits = ("$", figure[1:]) if figure.startswith("$") else ("", figure)
    value = float(digits.replace(",", ""))
    return f"{money}{value * 2:,.10g}" if value != round(value) else f"{money}{int(value) + max(1, int(value) // 2):,}"
