"""The state of a question parsed against one table: what is understood so far, and which items are left."""
# Over 300 lines: the state and the questions every step asks of it.

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    Grouping,
    Having,
    Related,
)
from core.domain.datasets import Column, ColumnType
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import (
    JoinPath,
    ReachableTables,
    flag_values,
    is_amount,
    label_columns,
    name_column,
    reverse_condition,
)
from core.table_qa.parsing.lexicon import WordMeaning, entity_stems
from core.table_qa.parsing.reader import QuestionItem, QuestionWords
from core.table_qa.parsing.tokens import header_words

__all__ = [
    "AGGREGATIONS",
    "AGGREGATION_WORDS",
    "COMPARISONS",
    "SUPERLATIVES",
    "QuestionParse",
    "Unclear",
    "Undecided",
    "adjacent",
    "choose_date",
    "column_at",
    "counts_rows",
    "differs_in_rows",
    "display_columns",
    "first_word",
    "has_word",
    "is_entity",
    "is_flag",
    "is_row_name",
    "number_column_at",
    "only_links",
    "phrase_of",
    "take_date_column",
    "take_negation",
]

COMPARISONS = {
    "more": Comparison.MORE,
    "at_least": Comparison.AT_LEAST,
    "less": Comparison.LESS,
    "at_most": Comparison.AT_MOST,
    "exactly": Comparison.IS,
    "between": Comparison.BETWEEN,
    "before": Comparison.LESS,
    "after": Comparison.MORE,
}
AGGREGATIONS = {
    "sum": Aggregation.SUM,
    "average": Aggregation.AVERAGE,
    "median": Aggregation.MEDIAN,
    "most": Aggregation.MOST,
    "least": Aggregation.LEAST,
}
SUPERLATIVES = {"most": True, "many": True, "latest": True, "least": False, "few": False, "earliest": False}
"""Kind of item → whether the highest comes first."""
AGGREGATION_WORDS = frozenset(
    ("count", "sum", "average", "median", "distinct", "most", "least", "many", "few", "latest", "earliest")
)
_FEW_DIFFERENT, _NEARLY_ALL_DIFFERENT = 0.8, 0.95
"""Share of different values below which a column's values are counted, and from which its rows are: between them the
two numbers differ and either may be meant. Chosen by hand."""
_NAME_STEMS = frozenset(("name", "descript", "titl", "label"))


Choice = tuple[ColumnRef, ColumnRef] | tuple[Aggregation, Aggregation] | tuple[AggregateMeasure, AggregateMeasure]
"""What was chosen, and what is as likely."""


class Unclear(Exception):
    """The question cannot be parsed against this table. The message says what is missing."""


class Undecided(Unclear):
    """The words are understood, but mean more than one thing in this table; a less likely reading answers nothing."""


@dataclass(frozen=True, slots=True)
class QuestionParse:
    """What is understood of a question's items against one table. Every step of the parser returns a new one.

    items: in the order of the question; a step may replace an item by a rival meaning. used: positions of the
    understood items. where: each clause with the position of its first word, which shares need. having: conditions on
    groups. dated: names of the columns with a condition on a date. groups: the grouping keys. doubt: subtracted from
    the reading's score, ≥ 0. one_row: the question asks for one value, so a list of several rows does not answer it.
    choices: what was chosen although another is as likely. unconfirmed: units of the question that no header names.
    """

    words: QuestionWords
    reachable: ReachableTables
    items: tuple[QuestionItem, ...]
    used: frozenset[int] = frozenset()
    where: tuple[tuple[int, AnyOf | Related], ...] = ()
    having: tuple[Having, ...] = ()
    dated: frozenset[str] = frozenset()
    groups: tuple[Grouping, ...] = ()
    doubt: float = 0.0
    one_row: bool = False
    choices: tuple["Choice", ...] = ()
    unconfirmed: tuple[str, ...] = ()

    def unused(self, at: int) -> QuestionItem | None:
        """The item at a position, None when it is used."""
        return self.items[at] if 0 <= at < len(self.items) and at not in self.used else None

    def item(self, at: int, *kinds: str) -> QuestionItem | None:
        """The unused item at a position, when it is of one of these kinds."""
        item = self.unused(at)
        return item if item is not None and item.kind in kinds else None

    def positions(self, *kinds: str) -> list[int]:
        """Positions of the unused items of these kinds."""
        return [at for at in range(len(self.items)) if self.item(at, *kinds)]

    def meaning(self, at: int) -> WordMeaning:
        """The meaning of the item at a position; only for items that name something."""
        meaning = self.items[at].meaning
        assert meaning is not None
        return meaning

    def use(self, *positions: int) -> "QuestionParse":
        """A copy with these items used."""
        return replace(self, used=self.used | set(positions))

    def add_clause(self, at: int, clause: AnyOf | Related) -> "QuestionParse":
        """A copy with one more clause, read from the item at a position."""
        return replace(self, where=(*self.where, (self.items[at].first, clause)))

    def add_conditions(self, at: int, meaning: WordMeaning, *conditions: Condition) -> "QuestionParse":
        """A copy with alternative conditions on one column."""
        return self.add_clause(at, reverse_condition(AnyOf(conditions), meaning.path))

    def add_having(self, test: Having) -> "QuestionParse":
        """A copy with one more condition on groups."""
        return replace(self, having=(*self.having, test))

    def add_groups(self, *groups: Grouping) -> "QuestionParse":
        """A copy with more grouping keys."""
        return replace(self, groups=(*self.groups, *groups))

    def add_doubt(self, doubt: float) -> "QuestionParse":
        """A copy with more doubt."""
        return replace(self, doubt=self.doubt + doubt)


def take_negation(parse: QuestionParse, at: int) -> tuple[QuestionParse, bool]:
    """Whether a "not" comes before an item; the "not" is then used."""
    if parse.item(at - 1, "not"):
        return parse.use(at - 1), True
    joined = parse.item(at - 1, "between")
    joined = joined or (parse.item(at - 1, "group") if parse.item(at, "value") else None)
    if joined and parse.item(at - 2, "not") and phrase_of(parse.words, joined).lower() in ("from", "by"):
        return parse.use(at - 1, at - 2), True
    return parse, False


def take_date_column(parse: QuestionParse) -> tuple[QuestionParse, ColumnRef]:
    """The date column that is named, else one with a condition, else the table's first. Raises Unclear."""
    base = parse.reachable.base
    for at in parse.positions("column"):
        meaning = parse.items[at].meaning
        if meaning and meaning.column and meaning.column.type.dated:
            return parse.use(at), meaning.ref
    dated = [column for column in base.columns if column.type.dated and column.filled]
    if not dated:
        raise Unclear("No column of this table holds dates to group by.")
    chosen = [column for column in dated if column.name in parse.dated]
    return (
        (parse, ColumnRef(base.name, chosen[0].name))
        if chosen
        else choose_date(parse, parse.reachable.paths[base.name], dated)
    )


def choose_date(parse: QuestionParse, path: JoinPath, dated: Sequence[Column]) -> tuple[QuestionParse, ColumnRef]:
    """The first of these date columns that shares a word with the question; without one all are as likely."""
    stems = {token.stem for token in parse.words.tokens}
    stems |= {other for stem in tuple(stems) for other in asking().synonyms.get(stem, ())} - asking().light
    named = [column for column in dated if set(header_words(column.header)) & stems - asking().light]
    own = [column for column in dated if set(header_words(column.header)) & entity_stems(path.table) - asking().light]
    likely = named or (own if len(own) == 1 else dated)  # the order date of orders
    refs = [ColumnRef(path.alias, column.name) for column in likely]
    return replace(parse, choices=(*parse.choices, *((refs[0], other) for other in refs[1:]))), refs[0]


def column_at(parse: QuestionParse, at: int) -> WordMeaning | None:
    """The column an unused item names, or the name column of the table it names; None for the table asked about.

    Raises: Unclear for a table whose rows point here.
    """
    item = parse.item(at, "column", "table")
    if item is None or item.meaning is None:
        return None
    meaning = item.meaning
    if meaning.path.reverse is not None:
        raise Unclear("That is not said row by row in this table.")
    if meaning.kind == "column":
        return meaning
    named = name_column(meaning.path.table) if meaning.path.hops else None
    return WordMeaning("column", meaning.path, named) if named else None


def number_column_at(parse: QuestionParse, at: int) -> WordMeaning | None:
    """The amount an unused item names: its most likely meaning that is an amount.

    Raises: Unclear for an amount of a table whose rows refer to this one.
    """
    item = parse.item(at, "column", "table")
    for meaning in (item.meaning, *item.rivals) if item else ():
        if meaning and meaning.column and is_amount(meaning.path.table, meaning.column):
            if meaning.path.reverse is not None:
                raise Unclear("That is not said row by row in this table.")
            return meaning
    return None


def is_entity(parse: QuestionParse, at: int) -> bool:
    """Whether an unused item names the rows of the table asked about."""
    item = parse.item(at, "table", "rows", "column")
    if item is None:
        return False
    if item.kind == "rows":
        return True
    meaning = parse.meaning(at)
    if item.kind == "table":
        return meaning.path.hops == 0
    column = meaning.column
    stems = set(header_words(column.header)) - asking().light if column else set()
    own = entity_stems(parse.reachable.base)
    return meaning.path.hops == 0 and column is not None and column.key and bool(stems) and stems <= own


def is_row_name(parse: QuestionParse, at: int) -> bool:
    """As is_entity, also for an item that is used."""
    return is_entity(replace(parse, used=parse.used - {at}), at)


def counts_rows(parse: QuestionParse, at: int) -> bool:
    """Whether counting an item counts the rows: it names them, or a column in which nearly every row differs.

    Raises: Unclear for a column whose different values are neither nearly as many as the rows nor clearly fewer.
    """
    if is_entity(parse, at):
        return True
    item = parse.item(at, "column")
    column = item.meaning.column if item and item.meaning else None
    if item is None or column is None or item.meaning is None or item.meaning.path.hops or not column.filled:
        return False
    different = column.distinct / column.filled
    if column.type is ColumnType.TEXT and _FEW_DIFFERENT < different < _NEARLY_ALL_DIFFERENT:
        raise Undecided(f"It is not clear whether '{phrase_of(parse.words, item)}' counts rows or different values.")
    return differs_in_rows(column)


def differs_in_rows(column: Column) -> bool:
    """Whether a column of text differs in nearly every row, so that it names the rows."""
    return column.type is ColumnType.TEXT and column.distinct >= _NEARLY_ALL_DIFFERENT * max(column.filled, 1)


def display_columns(parse: QuestionParse, meaning: WordMeaning, at: int) -> list[ColumnRef]:
    """The columns that display a column: a code by its name, unless the question asks for the code itself."""
    item = parse.items[at]
    stems = {token.stem for token in parse.words.tokens[item.first : item.last]}
    if stems & {"id", "code", "number", "no"} or meaning.column is None:
        return [meaning.ref]
    target = parse.reachable.target(meaning.path.alias, meaning.ref.column)
    if target is not None and (labels := label_columns(target.table)):
        key = target.joins[-1].right
        coded = meaning.column.type is ColumnType.TEXT and all(column.name != key for column in labels)
        return [*([meaning.ref] if coded else []), *(ColumnRef(target.alias, column.name) for column in labels)]
    if meaning.column.key and meaning.path.hops == 0 and meaning.column == parse.reachable.base.key:
        labels = label_columns(parse.reachable.base)
        return [ColumnRef(meaning.path.alias, column.name) for column in (labels or [meaning.column])]
    own = set(header_words(meaning.column.header))
    for column in meaning.path.table.columns:
        header = set(header_words(column.header))
        if column.type is ColumnType.TEXT and own < header and header - own <= _NAME_STEMS:
            return [ColumnRef(meaning.path.alias, column.name)]
    return [meaning.ref]


def adjacent(parse: QuestionParse, at: int) -> bool:
    """Whether an item follows the previous one with only "and" between."""
    between = parse.words.tokens[parse.items[at - 1].last : parse.items[at].first]
    return all(token.word in ("and", "the", "by", "then") for token in between)


def has_word(parse: QuestionParse, *words: str) -> bool:
    """Whether the question has one of these words."""
    return any(token.word in words for token in parse.words.tokens)


def only_links(parse: QuestionParse, at: int) -> bool:
    """Whether words without a meaning of their own were read as a name: "who makes less"."""
    item = parse.items[at]
    header = header_words(item.meaning.column.header) if item.meaning and item.meaning.column else ()
    tokens = parse.words.tokens[item.first : item.last]
    return all(asking().may_be_idle(token.stem) and token.stem not in header for token in tokens)


def first_word(parse: QuestionParse) -> str:
    """The question's first word, "" when it has none."""
    return parse.words.tokens[0].word if parse.words.tokens else ""


def phrase_of(words: QuestionWords, item: QuestionItem) -> str:
    """An item as written in the question."""
    return words.question[words.tokens[item.first].start : words.tokens[item.last - 1].end]


def is_flag(column: Column) -> bool:
    """Whether a column says yes or no, in whatever spelling."""
    return flag_values(column) is not None
