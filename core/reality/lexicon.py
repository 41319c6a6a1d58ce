"""What words of a question may mean in the tables that can be reached: a table, a column, a value."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from core.matching import STOP_WORDS
from core.reality.reach import Way, is_amount
from core.reality.words import Token, header_words, plain_header, plain_words, value_words
from core.table_queries import Ref
from core.tables.asking import asking
from core.tables.jurisdictions import built_in_jurisdictions
from core.tabular import Column, ColumnType, RealityTable

__all__ = [
    "Meaning",
    "Spoken",
    "Values",
    "column_meaning",
    "entity_stems",
    "table_meaning",
    "value_meanings",
    "values_of",
]

_EXACT, _SYNONYM = 1.0, 0.8
_LIGHT_WEIGHT, _LIGHT_QUALITY = 0.25, 0.6
_ALL_LIGHT = 0.9
_WHOLE = 0.4
_LEAST_PART = 0.25
_LEAST_COVERED, _LEAST_BY_HEAD = 0.3, 0.15
_SPELT_OTHERWISE = 0.6
_WITHOUT_HEAD, _WITHOUT_LIGHT_HEAD = 0.75, 0.9
_MODIFIER = 0.7
_MOST_PARTIAL = 8
_STATES = {
    key.removeprefix("state:").lower(): name
    for key, name in built_in_jurisdictions().items()
    if key.startswith("state:")
}


@dataclass(frozen=True, slots=True)
class Spoken:
    """Tokens [first, last) mean something, with a score: the higher the surer."""

    first: int
    last: int
    score: float
    meaning: "Meaning"


@dataclass(frozen=True, slots=True)
class Meaning:
    """kind: "table", "column" or "value". column, values: for the latter two. whole: a value's words are all said."""

    kind: str
    way: Way
    column: Column | None = None
    values: tuple[str, ...] = ()
    whole: bool = True

    @property
    def ref(self) -> Ref:
        """The column."""
        assert self.column is not None
        return Ref(self.way.alias, self.column.name)


def entity_stems(table: RealityTable) -> frozenset[str]:
    """The words a table's rows are called by: those of its name, and of its key without "id"."""
    asked = asking()
    stems = {stem for stem in header_words(table.name) if not stem.isdigit() and stem not in asked.light}
    stems |= {stem for words in table.called for stem in header_words(words)}
    if table.key is not None:
        stems |= {stem for stem in header_words(table.key.header) if stem not in asked.light and not stem.isdigit()}
    return frozenset(stems)


def table_meaning(said: Sequence[Token], first: int, last: int, way: Way) -> Spoken | None:
    """Tokens that name a table: all of them words of its name."""
    stems = entity_stems(way.table)
    named = header_words(way.table.name)
    quality = 0.0
    heads = {stem for stem in named if not stem.isdigit()} and {[stem for stem in named if not stem.isdigit()][-1]}
    heads |= set(header_words(way.table.key.header)) if way.table.key is not None else set()
    heads |= {header_words(words)[-1] for words in way.table.called if header_words(words)}
    for token in said[first:last]:
        part = 1.0 if token.stem in heads or last - first > 1 else _MODIFIER
        if token.stem in stems or token.stem in named:
            quality += _EXACT * part
        elif asking().synonyms.get(token.stem, frozenset()) & stems:
            quality += _SYNONYM * (1.0 if asking().synonyms[token.stem] & heads else part / 2)
        else:
            return None
    whole = {token.stem for token in said[first:last]} >= set(named)
    quality += _WHOLE * (len(named) - 1) / 1.6 if whole else 0.0
    head = 0.2 if said[last - 1].stem == named[-1] else 0.0
    own = 0.5 if way.hops == 0 else 0.0
    return Spoken(first, last, 1.6 * quality + head + own - way.cost, Meaning("table", way))


def column_meaning(
    said: Sequence[Token], first: int, last: int, way: Way, column: Column, years: str, things: Collection[str]
) -> Spoken | None:
    """Tokens that name a column: each one of its header's words, little words in between. years: those the question
    names; a header of another year is not meant. things: what rows are called; "employees" alone is no employee cost.
    """
    header, tokens = header_words(column.header), said[first:last]
    weights = _header_weights(header)
    matched = _matched(tokens, column, header, weights)
    if matched is None:
        return None
    quality, left = matched
    headless, amount = len(header) - 1 in left, is_amount(way.table, column)
    if headless and not column.type.numeric and _says_little(tokens, left.values()):
        return None
    if headless and amount and all(token.stem in things for token in tokens):
        return None
    coverage = 1 - sum(weights[at] for at in left) / sum(weights)
    head = bool({tokens[-1].word, *plain_words(tokens[-1].word)} & set(plain_header(column.header)[-1:]))
    if not quality or coverage < (_LEAST_BY_HEAD if head else _LEAST_COVERED):
        return None
    score = 2.0 * quality * (0.35 + 0.65 * coverage) - way.cost
    score += _WHOLE * (len(header) - 1) if not left else 0.0
    if headless and amount:
        score *= _WITHOUT_HEAD if weights[-1] == 1 else _WITHOUT_LIGHT_HEAD
    in_header = [stem for stem in header if stem.isdigit() and len(stem) == 4]
    if in_header and years:
        score += 0.5 if any(year in years for year in in_header) else -2.0
    return Spoken(first, last, score, Meaning("column", way, column)) if score > 0 else None


def _header_weights(header: Sequence[str]) -> list[float]:
    """How much each word of a header says."""
    weights = [_LIGHT_WEIGHT if stem in asking().light or stem.isdigit() else 1.0 for stem in header]
    if all(weight < 1 for weight in weights):
        return [*[_ALL_LIGHT / 2] * (len(weights) - 1), _ALL_LIGHT]
    return weights


def _matched(
    said: Sequence[Token], column: Column, header: Sequence[str], weights: Sequence[float]
) -> tuple[float, dict[int, str]] | None:
    """How well tokens are words of a header, and which of those are left; None when one of them is none."""
    left = dict(enumerate(header))
    quality = 0.0
    for place, token in enumerate(said):
        found = _header_place(token, left)
        if found is None:
            if place in (0, len(said) - 1) or token.word not in ("of", "in", "the", "for", "a"):
                return None
            continue
        at, sure = found
        if sure < _EXACT and column.type is ColumnType.BOOLEAN:
            return None  # "paid" is no flag called "salaried"
        del left[at]
        quality += sure * (1.0 if weights[at] == 1 else _LIGHT_QUALITY if weights[at] == _LIGHT_WEIGHT else _ALL_LIGHT)
    return quality, left


def _says_little(said: Sequence[Token], left: Collection[str]) -> bool:
    """Whether words that may mean nothing leave out what a header is about: "work" is no work e-mail."""
    asked = asking()
    return all(token.stem in asked.ignorable for token in said) and any(stem not in asked.light for stem in left)


def _header_place(token: Token, left: Mapping[int, str]) -> tuple[int, float] | None:
    for at, stem in left.items():
        if token.stem == stem:
            return at, _EXACT
    others = asking().synonyms.get(token.stem, frozenset())
    for at, stem in left.items():
        if stem in others:
            return at, _SYNONYM
    return None


@dataclass(slots=True)
class Values:
    """Where every listed value of a table stands. whole: its words → (column, value)s; holding: word → those."""

    whole: dict[tuple[str, ...], list[tuple[Column, str]]] = field(default_factory=dict)
    holding: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)

    def add(self, column: Column, value: str, words: tuple[str, ...]) -> None:
        """Make a value findable by its words."""
        if words and not all(word.isdigit() for word in words):
            self.whole.setdefault(words, []).append((column, value))
            if 1 < len(words) <= 10:
                self.columns[column.name] = column
                for word in plain_words(value):
                    self.holding.setdefault(word, set()).add((column.name, value))


def values_of(table: RealityTable) -> Values:
    """The listed values of a table's text columns, and what they are called in words."""
    values = Values()
    for column in table.columns:
        for value in column.values:
            values.add(column, value, value_words(value))
            for words in _called(column, value):
                values.add(column, value, value_words(words))
    return values


def _weight(value: str) -> int:
    return max(1, sum(word not in STOP_WORDS for word in value_words(value)))


def _called(column: Column, value: str) -> Iterator[str]:
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


def value_meanings(
    said: Sequence[Token], first: int, last: int, way: Way, values: Values, things: Collection[str]
) -> Iterator[Spoken]:
    """Values whose words are the tokens, or (less sure) hold them all. things: what rows are called ("employee"), which
    names no part of a value."""
    stems = tuple(part for token in said[first:last] for part in value_words(token.word))
    spelt = tuple(part for token in said[first:last] for part in plain_words(token.word))
    quoted = any(token.quoted for token in said[first:last])
    length = len(stems)
    asked = asking()
    found: dict[str, list[str]] = {}
    columns: dict[str, Column] = {}
    for column, value in values.whole.get(stems, []):
        found.setdefault(column.name, []).append(value)
        columns[column.name] = column
    for name, held in found.items():
        alike = any(plain_words(value) == spelt for value in held)
        score = 2.2 * length + (1.0 if quoted else 0.0) - way.cost - (0.0 if alike else _SPELT_OTHERWISE)
        yield Spoken(first, last, score, Meaning("value", way, columns[name], tuple(dict.fromkeys(held))))
    little = said[first].little or said[last - 1].little or any(stem in things for stem in stems)
    if found or little or any(stem in asked.light or stem in asked.ignorable or stem.isdigit() for stem in stems):
        return
    partly = set.intersection(*(values.holding.get(word, set()) for word in spelt)) if spelt else set()
    by_column: dict[str, list[str]] = {}
    for name, value in sorted(partly):
        by_column.setdefault(name, []).append(value)
    for name, held in by_column.items():
        if len(held) <= _MOST_PARTIAL:
            share = length / min(_weight(value) for value in held)
            if share < _LEAST_PART:
                continue
            score = 1.5 * length * (0.45 + 0.55 * share) - way.cost
            yield Spoken(first, last, score, Meaning("value", way, values.columns[name], tuple(held), whole=False))
