"""The table of how questions to tables are worded."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.errors import BadTable
from core.matching import stem
from core.tables.loading import check_keys, table

__all__ = ["Asking", "ValueWords", "asking", "read_asking"]

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
    """Words for a short value, in columns whose header holds one of `when` (stems)."""

    values: frozenset[str]
    words: tuple[str, ...]
    when: frozenset[str]


@dataclass(frozen=True, slots=True)
class Asking:
    """abbreviations: what a header writes → what it means. respelled: a common misspelling → the word.
    nothing: words of cells, small. synonyms: stem → the stems that mean the same. light, ignorable, row_words, units:
    stems. refuse: reason → phrases. operators: phrase as lower-case words → operator.
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
def asking() -> Asking:
    """The checked table. Raises BadTable."""
    return read_asking(table("asking"))


def read_asking(rows: Mapping[str, Any]) -> Asking:
    """The table from its parsed TOML. Raises BadTable naming the file and what is wrong in it."""
    for where, part, known in (("top level", rows, _TOP), ("operators", rows.get("operators", {}), _OPERATORS)):
        check_keys("asking", where, part, known)
        for name in known:
            if name not in part:
                raise BadTable(f"core/tables/asking.toml: [{where}] lacks '{name}'.", "Add it.")
    check_keys("asking", "refuse", rows["refuse"], _REFUSE)
    synonyms: dict[str, set[str]] = {}
    for group in rows["synonyms"]:
        stems = {stem(word) for word in group}
        for each in stems:
            synonyms.setdefault(each, set()).update(stems - {each})
    operators: dict[tuple[str, ...], str] = {}
    for name, phrases in rows["operators"].items():
        for phrase in phrases:
            if operators.setdefault(tuple(phrase.split()), name) != name:
                raise BadTable(f"core/tables/asking.toml: [operators] '{phrase}' stands in two lists.", "Keep one.")
    value_words = []
    for row in rows["value_words"]:
        check_keys("asking", "value_words", row, ("values", "words", "when"))
        when = frozenset(stem(word) for word in row["when"])
        value_words.append(ValueWords(frozenset(row["values"]), tuple(row["words"]), when))
    return Asking(
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
