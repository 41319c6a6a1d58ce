"""Tables for enrichment: document types, summary cues, question forms and keyword stop words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

from core.domain.documents import Truth
from core.domain.errors import BadTable
from core.knowledge.label_signals import LabelSignal, signals_of
from core.knowledge.loading import check_keys, table
from core.text.tokenize import STOP_WORDS, stem

__all__ = [
    "DATA_TABLE",
    "SETUP_TABLE",
    "DocumentTypeRow",
    "KeywordWords",
    "QuestionForm",
    "SummaryCue",
    "base_forms",
    "cue_weight",
    "document_type_title",
    "document_types",
    "keyword_words",
    "question_forms",
    "summary_cues",
]

DATA_TABLE, SETUP_TABLE = "data_table", "setup_table"

_TYPE_KEYS = ("label", "truths", "media", "titles", "signs")


@dataclass(frozen=True, slots=True)
class DocumentTypeRow:
    """label: title. truths: what such documents mostly state. media: media type prefixes. titles: signals in a title
    or file name. signs: signals in the text."""

    label: str
    truths: tuple[Truth, ...]
    media: tuple[str, ...]
    titles: tuple[LabelSignal, ...]
    signs: tuple[LabelSignal, ...]


@cache
def document_types() -> Mapping[str, DocumentTypeRow]:
    """Type → row, in table order, which breaks ties. Raises BadTable."""
    rows = table("document_types")
    for needed in (DATA_TABLE, SETUP_TABLE):
        if needed not in rows:
            raise BadTable(f"core/knowledge/document_types.toml: [{needed}] is missing.", "Add its table.")
    return {value: _document_type(value) for value in rows}


def _document_type(value: str) -> DocumentTypeRow:
    row = table("document_types")[value]
    check_keys("document_types", value, row, _TYPE_KEYS)
    if not row.get("label"):
        raise BadTable(f"core/knowledge/document_types.toml: [{value}] label is missing.", "Add it.")
    unknown = set(row.get("truths", ())) - {truth.value for truth in Truth}
    if unknown:
        raise BadTable(f"core/knowledge/document_types.toml: [{value}] '{min(unknown)}' is not a truth.", "Correct it.")
    return DocumentTypeRow(
        label=row["label"],
        truths=tuple(Truth(each) for each in row.get("truths", ())),
        media=tuple(row.get("media", ())),
        titles=signals_of("document_types", value, row.get("titles", [])),
        signs=signals_of("document_types", value, row.get("signs", [])),
    )


def document_type_title(value: str | None) -> str:
    """The title of a document type; "" for None.

    >>> document_type_title("statement_of_work"), document_type_title(None)
    ('Statement of work', '')
    """
    known = document_types().get(value or "")
    return known.label if known is not None else (value or "")


@dataclass(frozen=True, slots=True)
class SummaryCue:
    """A pattern over a sentence. weight: added to the sentence's score, negative to lower it."""

    pattern: re.Pattern[str]
    weight: float
    rule: str


@cache
def summary_cues() -> tuple[tuple[SummaryCue, ...], tuple[SummaryCue, ...]]:
    """(raising cues, lowering cues), each in table order. Raises BadTable."""
    rows = table("summaries")
    check_keys("summaries", "top level", rows, ("lifts", "lowers"))
    return tuple(_summary_cue("lifts", row, 1.0) for row in rows["lifts"]), tuple(
        _summary_cue("lowers", row, -1.0) for row in rows["lowers"]
    )


def _summary_cue(group: str, row: dict[str, Any], sign: float) -> SummaryCue:
    check_keys("summaries", group, row, ("pattern", "weight", "rule"))
    if not isinstance(row.get("weight"), float) or row["weight"] <= 0:
        raise BadTable(f"core/knowledge/summaries.toml: [{group}] weight must be a number above 0.", "Correct it.")
    try:
        return SummaryCue(re.compile(row["pattern"]), sign * row["weight"], row["rule"])
    except (KeyError, re.error) as error:
        raise BadTable(f"core/knowledge/summaries.toml: [{group}] pattern: {error}.", "Correct it.") from error


def cue_weight(sentence: str) -> float:
    """The cues' contribution to a sentence's score: the highest raise plus the largest reduction.

    >>> cue_weight("This policy explains how leave is requested.") > 0 > cue_weight("However, it may be late.")
    True
    """
    lifts, lowers = summary_cues()
    lifted = max((each.weight for each in lifts if each.pattern.search(sentence)), default=0.0)
    return lifted + min((each.weight for each in lowers if each.pattern.search(sentence)), default=0.0)


_FORM_KEYS = ("pattern", "question", "weight", "rule")

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

_ANY_WORD = rf"{_NO_CLAUSE}[^ ,;:.?!()]+"

_PARTS = {
    "subject": rf"(?P<subject>(?:[A-Z“][^ ,;:.?!]*)(?: {_ANY_WORD}){{0,5}}?)",
    "actor": (
        rf"(?P<actor>(?:you|(?:the|an?|each|every|your|all|any) {_NO_CLAUSE}[a-z][^ ,;:.?!]*|employers|employees)"
        rf"(?: {_ANY_WORD}){{0,4}}?)"
    ),
    "people": (
        r"(?P<people>(?!(?:If|When|Because|Since|As|While|Although|Unless|Once|Whether|Where)\b)(?:[A-Z“][^ ,;:.?!]*)"
        r"(?: [^ ,;:.?!()]+){0,16}?)"
    ),
    "rest": rf"(?P<rest>{_ANY_WORD}(?: {_ANY_WORD}){{0,8}}?)",
    "verb": r"(?!(?:not|also|only|never|always|then|first|either|both|have|has|been|at|in|by|within|no)\b)[a-z]+",
    "when": (
        rf"(?:(?:by|before|on|until) {_DAY}|within {_SPAN}|(?:no|not) later than |on or before "
        rf"|at least {_SPAN} before )"
    ),
    "when_due": rf"(?:(?:by|on|at|before) (?:or before )?{_DAY}|within {_SPAN})",
}


@dataclass(frozen=True, slots=True)
class QuestionForm:
    """pattern: over a sentence on one line. question: template filled with its groups. weight: in (0, 1]."""

    pattern: re.Pattern[str]
    question: str
    weight: float
    rule: str


@cache
def question_forms() -> tuple[QuestionForm, ...]:
    """All forms in table order; the first match wins. Raises BadTable."""
    rows = table("question_forms")
    check_keys("question_forms", "top level", rows, ("forms", "bases"))
    return tuple(_question_form(row) for row in rows["forms"])


@cache
def base_forms() -> Mapping[str, str]:
    """Inflected verb, as captured by a form → base form ("approved" → "approve")."""
    return dict(table("question_forms")["bases"])


def _question_form(row: dict[str, Any]) -> QuestionForm:
    check_keys("question_forms", "forms", row, _FORM_KEYS)
    try:
        if not 0.0 < row["weight"] <= 1.0:
            raise BadTable(
                f"core/knowledge/question_forms.toml: '{row['rule']}': weight is not in (0, 1].", "Correct it."
            )
        body = row["pattern"]
        for name, part in _PARTS.items():
            body = body.replace("{" + name + "}", part)
        return QuestionForm(re.compile(body), row["question"], float(row["weight"]), row["rule"])
    except (KeyError, re.error) as error:
        raise BadTable(f"core/knowledge/question_forms.toml: [forms] {error}.", "Correct the row.") from error


@dataclass(frozen=True, slots=True)
class KeywordWords:
    """outside: words no keyword starts or ends with. endings: suffixes no single-word keyword has; the last word of a
    longer one must not have the first two. furniture: stems of words about documents. inside: small words allowed
    within a keyword. before_names, before_verbs: words that announce a name, or a verb."""

    outside: frozenset[str]
    endings: tuple[str, ...]
    furniture: frozenset[str]
    inside: frozenset[str]
    before_names: frozenset[str]
    before_verbs: frozenset[str]


@cache
def keyword_words() -> KeywordWords:
    """The checked table. Raises BadTable naming an unknown or empty key."""
    rows = table("keywords")
    names = [each.name for each in fields(KeywordWords)]
    check_keys("keywords", "top level", rows, names)
    for name in names:
        if not rows.get(name):
            raise BadTable(f"core/knowledge/keywords.toml: '{name}' is missing.", "Add the list.")
    return KeywordWords(
        outside=frozenset(rows["outside"]) | STOP_WORDS,
        endings=tuple(rows["endings"]),
        furniture=frozenset(stem(word) for row in rows["furniture"] for word in row.split()),
        inside=frozenset(rows["inside"]),
        before_names=frozenset(rows["before_names"]),
        before_verbs=frozenset(rows["before_verbs"]),
    )
