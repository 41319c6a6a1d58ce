"""The lexicon of questions about tables: operators, synonyms, units and refusals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from core.domain.errors import BadTable
from core.knowledge.loading import check_keys, table
from core.text.tokenize import stem

__all__ = ["QuestionLexicon", "ValueWords", "asking", "read_asking"]

_TOP = (
    "abbreviations",
    "beside",
    "called",
    "dimensions",
    "measures",
    "nothing",
    "units",
    "respelled",
    "expanded",
    "opposites",
    "synonyms",
    "light",
    "ignorable",
    "linking",
    "telling",
    "row_words",
    "persons",
    "seasons",
    "refuse",
    "operators",
    "value_words",
)
_REFUSE = ("future", "advice", "reason")
_OPERATORS = (
    *(
        "count",
        "sum",
        "average",
        "median",
        "share",
        "rate",
        "distinct",
        "most",
        "least",
        "many",
        "few",
        "latest",
        "earliest",
    ),
    *("group", "more", "at_least", "less", "at_most", "or_more", "or_less", "exactly", "between", "before", "after"),
    *("versus", "not", "empty", "or", "reports_to", "year", "quarter", "month"),
)


@dataclass(frozen=True, slots=True)
class ValueWords:
    """Words for an abbreviated value, in columns whose header contains one of `when` (stems)."""

    values: frozenset[str]
    words: tuple[str, ...]
    when: frozenset[str]


@dataclass(frozen=True, slots=True)
class QuestionLexicon:
    """abbreviations: header abbreviation → meaning. beside: kind of column → stems that may stand beside its name.
    called: stem → others that rows of such a table are called. dimensions: superlative → stems of what it compares, and
    "kind time" for what is measured in time.
    measures: unit → what it measures, and its size. respelled: misspelling → word. expanded: word → words. opposites:
    stem of a word for yes → stems of words for no. nothing: lower-case cell values that mean "empty". synonyms: stem →
    equivalent stems. light, ignorable, linking, persons, row_words, units: stems. seasons, telling: words. refuse:
    reason → phrases. operators: phrase as lower-case words → operator.
    """

    abbreviations: Mapping[str, str]
    beside: Mapping[str, frozenset[str]]
    called: Mapping[str, frozenset[str]]
    dimensions: Mapping[str, frozenset[str]]
    measures: Mapping[str, tuple[str, float]]
    respelled: Mapping[str, str]
    expanded: Mapping[str, str]
    opposites: Mapping[str, frozenset[str]]
    synonyms: Mapping[str, frozenset[str]]
    light: frozenset[str]
    ignorable: frozenset[str]
    linking: frozenset[str]
    telling: frozenset[str]
    persons: frozenset[str]
    seasons: frozenset[str]
    row_words: frozenset[str]
    nothing: frozenset[str]
    units: frozenset[str]
    refuse: Mapping[str, tuple[str, ...]]
    operators: Mapping[tuple[str, ...], str]
    value_words: tuple[ValueWords, ...]

    def may_be_idle(self, stem: str) -> bool:
        """Whether a word of this stem may stay unread: it shapes the sentence, or links a row with its values."""
        return stem in self.ignorable or stem in self.linking


@cache
def asking() -> QuestionLexicon:
    """core/knowledge/question_lexicon.toml, checked. Raises BadTable."""
    return read_asking(table("question_lexicon"))


# Long: one statement per part of the file.
def read_asking(rows: Mapping[str, Any]) -> QuestionLexicon:
    """Parses and checks the table. Raises BadTable naming the file and the problem."""
    for where, part, known in (("top level", rows, _TOP), ("operators", rows.get("operators", {}), _OPERATORS)):
        check_keys("question_lexicon", where, part, known)
        for name in known:
            if name not in part:
                raise BadTable(f"core/knowledge/question_lexicon.toml: [{where}] lacks '{name}'.", "Add it.")
    check_keys("question_lexicon", "refuse", rows["refuse"], _REFUSE)
    operators: dict[tuple[str, ...], str] = {}
    for name, phrases in rows["operators"].items():
        for phrase in phrases:
            if operators.setdefault(tuple(phrase.split()), name) != name:
                raise BadTable(
                    f"core/knowledge/question_lexicon.toml: [operators] '{phrase}' is in two lists.", "Keep one."
                )
    value_words = []
    for row in rows["value_words"]:
        check_keys("question_lexicon", "value_words", row, ("values", "words", "when"))
        when = frozenset(stem(word) for word in row["when"])
        value_words.append(ValueWords(frozenset(row["values"]), tuple(row["words"]), when))
    return QuestionLexicon(
        abbreviations=rows["abbreviations"],
        beside={kind: frozenset(stem(word) for word in words) for kind, words in rows["beside"].items()},
        called=_synonyms(rows["called"]),
        dimensions={
            word: frozenset(each if each.startswith("kind ") else stem(each) for each in words)
            for word, words in rows["dimensions"].items()
        },
        measures={unit: (kind, size) for kind, units in rows["measures"].items() for unit, size in units.items()},
        respelled=rows["respelled"],
        expanded=rows["expanded"],
        opposites=_opposites(rows["opposites"]),
        synonyms=_synonyms(rows["synonyms"]),
        light=frozenset(stem(word) for word in rows["light"]),
        ignorable=frozenset(stem(word) for word in rows["ignorable"]),
        linking=frozenset(stem(word) for word in rows["linking"]),
        telling=frozenset(rows["telling"]),
        persons=frozenset(stem(word) for word in rows["persons"]),
        seasons=frozenset(rows["seasons"]),
        row_words=frozenset(stem(word) for word in rows["row_words"]),
        nothing=frozenset(rows["nothing"]),
        units=frozenset(stem(word) for word in rows["units"]),
        refuse={name: tuple(phrases) for name, phrases in rows["refuse"].items()},
        operators=operators,
        value_words=tuple(value_words),
    )


def _synonyms(groups: Sequence[Sequence[str]]) -> Mapping[str, frozenset[str]]:
    synonyms: dict[str, frozenset[str]] = {}
    for group in groups:
        stems = frozenset(stem(word) for word in group)
        for each in stems:
            synonyms[each] = synonyms.get(each, frozenset()) | stems - {each}
    return synonyms


def _opposites(pairs: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Mapping[str, frozenset[str]]:
    opposites: dict[str, frozenset[str]] = {}
    for yes, no in pairs:
        for word in yes:
            opposites[stem(word)] = opposites.get(stem(word), frozenset()) | {stem(each) for each in no}
    return opposites
