"""The forms of sentences that answer a question, and the question each answers."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.errors import BadTable
from core.tables.loading import check_keys, table

__all__ = ["QuestionForm", "base_forms", "question_forms"]

_KEYS = ("pattern", "question", "weight", "rule")
_NO_CLAUSE = (
    r"(?!(?:that|which|who|whose|where|when|if|unless|because|and|or|but|is|are|was|were|must|shall|may|will|can)\b)"
)
_DAY = (
    r"(?:(?:the )?(?:end|close|last|first|second|third|beginning|start|deadline|due date|\d+(?:st|nd|rd|th))\b"
    r"|(?:January|February|March|April|May|June|July|August|September|October|November|December)\b"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|noon\b|midnight\b|close of business|COB\b"
    r"|\d{1,2}(?::\d\d)? ?[ap]\.?m)"
)
_NUMBER = r"(?:a|an|one|two|three|four|five|six|seven|ten|fifteen|thirty|sixty|ninety|\d+)\b"
_SPAN = rf"(?:{_NUMBER}[^,;.]{{0,25}}?(?:hour|day|week|month|year)s?\b)"
_WORD = rf"{_NO_CLAUSE}[^ ,;:.?!()]+"
_PARTS = {
    "subject": rf"(?P<subject>(?:[A-Z“][^ ,;:.?!]*)(?: {_WORD}){{0,5}}?)",
    "actor": (
        rf"(?P<actor>(?:you|(?:the|an?|each|every|your|all|any) {_NO_CLAUSE}[a-z][^ ,;:.?!]*|employers|employees)"
        rf"(?: {_WORD}){{0,4}}?)"
    ),
    "people": (
        r"(?P<people>(?!(?:If|When|Because|Since|As|While|Although|Unless|Once|Whether|Where)\b)(?:[A-Z“][^ ,;:.?!]*)"
        r"(?: [^ ,;:.?!()]+){0,16}?)"
    ),
    "rest": rf"(?P<rest>{_WORD}(?: {_WORD}){{0,8}}?)",
    "verb": r"(?!(?:not|also|only|never|always|then|first|either|both|have|has|been|at|in|by|within|no)\b)[a-z]+",
    "when": (
        rf"(?:(?:by|before|on|until) {_DAY}|within {_SPAN}|(?:no|not) later than |on or before "
        rf"|at least {_SPAN} before )"
    ),
    "when_due": rf"(?:(?:by|on|at|before) (?:or before )?{_DAY}|within {_SPAN})",
}


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """pattern: over a sentence in one line; question: a template of its groups; weight: in (0, 1]."""

    pattern: re.Pattern[str]
    question: str
    weight: float
    rule: str


@cache
def question_forms() -> tuple[QuestionForm, ...]:
    """Every form in table order: the first that fits a sentence is taken. Raises BadTable."""
    rows = table("questions")
    check_keys("questions", "top level", rows, ("forms", "bases"))
    return tuple(_form(row) for row in rows["forms"])


@cache
def base_forms() -> Mapping[str, str]:
    """A verb as a form captures it → its plain form ("approved" → "approve")."""
    return dict(table("questions")["bases"])


def _form(row: dict[str, Any]) -> QuestionForm:
    check_keys("questions", "forms", row, _KEYS)
    try:
        if not 0.0 < row["weight"] <= 1.0:
            raise BadTable(f"core/tables/questions.toml: '{row['rule']}': weight is not in (0, 1].", "Correct it.")
        body = row["pattern"]
        for name, part in _PARTS.items():
            body = body.replace("{" + name + "}", part)
        return QuestionForm(re.compile(body), row["question"], float(row["weight"]), row["rule"])
    except (KeyError, re.error) as error:
        raise BadTable(f"core/tables/questions.toml: [forms] {error}.", "Correct the row.") from error
