"""The lexicon of questions about tables: operators, synonyms, units and refusals."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table
from core.text.tokenize import stem

__all__ = ["QuestionLexicon", "ValueWords", "asking", "read_asking"]

_TOP = (
    "abbreviations",
    "nothing",
    "units",
    "respelled",
    "synonyms",
    "light",
    "ignorable",
    "row_words",
    "refuse",
    "operators",
    "value_words",
)
_REFUSE = ("future", "advice", "reason")
_OPERATORS = (
    *("count", "sum", "average", "median", "share", "distinct", "most", "least", "many", "few", "latest", "earliest"),
    *("group", "more", "at_least", "less", "at_most", "or_more", "or_less", "exactly", "between", "before", "after"),
    *("not", "empty", "or", "reports_to", "year", "quarter", "month"),
)


@dataclass(frozen=True, slots=True)
class ValueWords:
    """Words for an abbreviated value, in columns whose header contains one of `when` (stems)."""

    values: frozenset[str]
    words: tuple[str, ...]
    when: frozenset[str]


@dataclass(frozen=True, slots=True)
class QuestionLexicon:
    """abbreviations: header abbreviation → meaning. respelled: misspelling → word. nothing: lower-case cell values that
    mean "empty". synonyms: stem → equivalent stems. light, ignorable, row_words, units: stems. refuse: reason →
    phrases. operators: phrase as lower-case words → operator.
    """

    abbreviations: Mapping[str, str]
    respelled: Mapping[str, str]
    synonyms: Mapping[str, frozenset[str]]
    light: frozenset[str]
    ignorable: frozenset[str]
    row_words: frozenset[str]
    nothing: frozenset[str]
    units: frozenset[str]
    refuse: Mapping[str, tuple[str, ...]]
    operators: Mapping[tuple[str, ...], str]
    value_words: tuple[ValueWords, ...]


@cache
def asking() -> QuestionLexicon:
    """core/knowledge/question_lexicon.toml, checked. Raises BadTable."""
    return read_asking(table("question_lexicon"))


def read_asking(rows: Mapping[str, Any]) -> QuestionLexicon:
    """Parses and checks the table. Raises BadTable naming the file and the problem."""
    for where, part, known in (("top level", rows, _TOP), ("operators", rows.get("operators", {}), _OPERATORS)):
        check_keys("question_lexicon", where, part, known)
        for name in known:
            if name not in part:
                raise BadTable(f"core/knowledge/question_lexicon.toml: [{where}] lacks '{name}'.", "Add it.")
    check_keys("question_lexicon", "refuse", rows["refuse"], _REFUSE)
    synonyms: dict[str, set[str]] = {}
    for group in rows["synonyms"]:
        stems = {stem(word) for word in group}
        for each in stems:
            synonyms.setdefault(each, set()).update(stems - {each})
    operators: dict[tuple[str, ...], str] = {}
    for name, phrases in rows["operators"].items():
        for phrase in phrases:
            if operators.setdefault(tuple(phrase.split()), name) != name:
                raise BadTable(
                    f"core/knowledge/question_lexicon.toml: [operators] '{phrase}' stands in two lists.", "Keep one."
                )
    value_words = []
    for row in rows["value_words"]:
        check_keys("question_lexicon", "value_words", row, ("values", "words", "when"))
        when = frozenset(stem(word) for word in row["when"])
        value_words.append(ValueWords(frozenset(row["values"]), tuple(row["words"]), when))
    return QuestionLexicon(
        abbreviations=rows["abbreviations"],
        respelled=rows["respelled"],
        synonyms={each: frozenset(others) for each, others in synonyms.items()},
        light=frozenset(stem(word) for word in rows["light"]),
        ignorable=frozenset(stem(word) for word in rows["ignorable"]),
        row_words=frozenset(stem(word) for word in rows["row_words"]),
        nothing=frozenset(rows["nothing"]),
        units=frozenset(stem(word) for word in rows["units"]),
        refuse={name: tuple(phrases) for name, phrases in rows["refuse"].items()},
        operators=operators,
        value_words=tuple(value_words),
    )
