"""The values of a table's columns, indexed by their words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.domain.datasets import Column, RealityTable
from core.knowledge.jurisdictions import built_in_jurisdictions
from core.knowledge.question_lexicon import asking
from core.table_qa.parsing.tokens import Token, header_words, plain_words, value_words

__all__ = ["ColumnValues", "index_values"]

_STATES = {
    key.removeprefix("state:").lower(): name
    for key, name in built_in_jurisdictions().items()
    if key.startswith("state:")
}


@dataclass(slots=True)
class ColumnValues:
    """Index of a table's listed values. whole: the stems of a value → (column, value) pairs. containing: word → the
    (column, value) pairs of multi-word values. columns: by name. stems: of all values.
    """

    whole: dict[tuple[str, ...], list[tuple[Column, str]]] = field(default_factory=dict)
    containing: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)
    stems: set[str] = field(default_factory=set)

    def add(self, column: Column, value: str, words: tuple[str, ...]) -> None:
        """Index a value by its words."""
        if words and not all(word.isdigit() for word in words):
            self.whole.setdefault(words, []).append((column, value))
            self.stems.update(words)
            if 1 < len(words) <= 10:
                self.columns[column.name] = column
                for word in plain_words(value):
                    self.containing.setdefault(word, set()).add((column.name, value))

    def runs(self, tokens: Sequence[Token]) -> list[int]:
        """Per token where the longest run of tokens ends that begins with it and may name a value: `value_meanings`
        finds no longer one. A single token may also name a value as its noun."""
        ends, end = [0] * len(tokens), len(tokens)
        for at in range(len(tokens) - 1, -1, -1):
            word = tokens[at].word
            known = self.stems.issuperset(value_words(word)) or self.containing.keys() >= set(plain_words(word))
            end = end if known else at
            ends[at] = max(end, at + 1)
        return ends


def index_values(table: RealityTable) -> ColumnValues:
    """The index of a table's listed values, synonyms included."""
    values = ColumnValues()
    for column in table.columns:
        for value in column.values:
            values.add(column, value, value_words(value))
            for words in _synonyms_of_value(column, value):
                values.add(column, value, value_words(words))
    return values


def _synonyms_of_value(column: Column, value: str) -> Iterator[str]:
    """Other words for a short value: a state's name for its code, "female" for F in a gender column."""
    lower = value.lower()
    if len(value) == 2 and value.isupper() and lower in _STATES and _mostly_states(column):
        yield _STATES[lower]
    stems = set(header_words(column.header))
    for row in asking().value_words:
        if lower in row.values and row.when & stems:
            yield from row.words


def _mostly_states(column: Column) -> bool:
    states = sum(value.lower() in _STATES for value in column.values)
    return states >= 0.8 * len(column.values)
