"""Reads lists of rows and of values, and picks the columns that name a row."""

from collections.abc import Sequence
from dataclasses import replace

from core.domain.dataset_queries import (
    AggregateMeasure,
    Aggregation,
    AnyOf,
    ColumnRef,
    TableQuery,
)
from core.domain.datasets import Column, ColumnType, RealityTable
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import flag_values, is_amount, name_column
from core.table_qa.parsing.additive import SUMMED, may_be_summed
from core.table_qa.parsing.aggregation import OTHER_TABLE
from core.table_qa.parsing.items import (
    QuestionParse,
    Unclear,
    Undecided,
    column_at,
    differs_in_rows,
    display_columns,
    first_word,
    is_entity,
    only_links,
    phrase_of,
)
from core.table_qa.parsing.lexicon import entity_stems
from core.table_qa.parsing.subjects import check_subject, names_rows_alone
from core.table_qa.parsing.tokens import header_words

__all__ = [
    "HAVING_WORDS",
    "LISTING",
    "WHICH",
    "WHO",
    "check_who",
    "naming_columns",
    "people_columns",
    "read_list",
    "row_columns",
]

LISTING = frozenset(("list", "show", "display", "give", "name", "identify", "find", "get", "print", "enumerate"))
WHO = frozenset(("who", "whom"))
WHICH = frozenset(("which", "what", "whose"))
HAVING_WORDS = frozenset(("with", "have", "has", "having", "had"))
_MOST_COLUMNS = 8
"""Columns of a list, as many as a page shows without scrolling."""
_MOST_NAMES = 3
"""Name columns of a person: first, middle and last."""


def people_columns(table: RealityTable) -> list[Column]:
    """The columns that hold people: names, or what people are called by their part, such as a donor."""
    return [
        column
        for column in table.columns
        if column.personal == "a name"
        or (column.type is ColumnType.TEXT and flag_values(column) is None and _names_people(column.header))
    ]


def _names_people(header: str) -> bool:
    """
    >>> _names_people("Owner"), _names_people("Requested by"), _names_people("Owner type")
    (True, True, False)
    """
    words = header_words(header)
    return words[-1] in asking().persons or (words[0] in asking().persons and words[-1] in ("by", "to"))


def check_who(parse: QuestionParse, query: TableQuery) -> None:
    """Raises Unclear when "who" asks of rows that are not people for what is no column of people."""
    base = parse.reachable.base
    if first_word(parse) not in WHO or set(entity_stems(base)) & asking().persons:
        return
    people = [(path.alias, column) for path in parse.reachable.joinable() for column in people_columns(path.table)]
    if any(alias == base.name and (column.key or differs_in_rows(column)) for alias, column in people):
        return
    shown = {*query.requested, *query.columns, *(group.ref for group in query.groups)}
    if not shown & {ColumnRef(alias, column.name) for alias, column in people}:
        raise Unclear("No column says who.")


def read_list(parse: QuestionParse) -> tuple[QuestionParse, TableQuery]:
    """List rows with their identifying columns, or the distinct values of columns. Raises Unclear."""
    entities = [at for at in parse.positions("table", "rows", "column") if is_entity(parse, at)]
    check_subject(parse)
    if entities and _is_possessed(parse, entities[0]):
        parse = parse.add_doubt(OTHER_TABLE)
    distinct = parse.positions("distinct")
    parse = parse.use(*entities, *distinct)
    requested: list[ColumnRef] = []
    _check_dated(parse, entities)
    for at in parse.positions("column", "table"):
        if not only_links(parse, at):
            meaning = column_at(parse, at)
            if meaning is None:
                raise Unclear(f"It is not clear what '{phrase_of(parse.words, parse.items[at])}' is about.")
            target = parse.reachable.target(meaning.path.alias, meaning.ref.column)
            if not requested and not entities and target is not None and meaning.kind == "column":
                parse = parse.add_doubt(OTHER_TABLE)
            requested += display_columns(parse, meaning, at)
        parse = parse.use(at)
    if not entities and not distinct and requested and _any_amount(parse, requested):
        if (query := _one_total(parse, requested)) is not None:
            return parse, query
        parse = replace(parse, one_row=first_word(parse) not in LISTING)
    elif entities and first_word(parse) not in LISTING | WHICH | WHO and _begins_with_amount(parse, requested):
        parse = replace(parse, one_row=True)
    values = requested and not _any_amount(parse, requested) and (distinct or not entities)
    if values and not _selects_single_rows(parse) and (distinct or not _names_rows(parse, requested)):
        _check_listed(parse)
        _check_amounts(parse, requested)
        return parse, TableQuery("", columns=tuple(dict.fromkeys(requested)), distinct=True)
    telling = tuple(dict.fromkeys(requested)) or naming_columns(parse)
    return parse, TableQuery("", columns=row_columns(parse, requested), requested=telling)


def _names_rows(parse: QuestionParse, requested: Sequence[ColumnRef]) -> bool:
    """Whether a column names each row differently, so that its values are the rows."""
    base = parse.reachable.base
    columns = [base.column(ref.column) for ref in requested if ref.table == base.name]
    return any(column is not None and column.distinct == base.rows for column in columns)


def _check_listed(parse: QuestionParse) -> None:
    """Raises Unclear where an amount is named first: "claims over 1000 by people" lists no people."""
    named = [at for at, item in enumerate(parse.items) if item.kind in ("column", "table")]
    meaning = parse.items[named[0]].meaning if named else None
    column = meaning.column if meaning is not None else None
    if len(named) > 1 and meaning is not None and column is not None and is_amount(meaning.path.table, column):
        raise Unclear(f"It is not clear what of '{phrase_of(parse.words, parse.items[named[0]])}' is listed.")


def _check_amounts(parse: QuestionParse, requested: Sequence[ColumnRef]) -> None:
    """Raises Unclear for "days with more than 10 kg": that of one row, or of all rows of a day together."""
    base = parse.reachable.base
    columns = [base.column(ref.column) if ref.table == base.name else None for ref in requested]
    if any(column is None or column.distinct >= column.filled for column in columns):
        return
    listed = next((column.header for column in columns if column is not None), "")
    clauses = (clause for _, clause in parse.where if isinstance(clause, AnyOf))
    compared = [each.ref for clause in clauses for each in clause.conditions if each.values]
    for ref in compared:
        column = base.column(ref.column) if ref.table == base.name else None
        averaged = any(operator.name == "average" for operator in parse.words.operators)
        if column is not None and is_amount(base, column) and (averaged or may_be_summed(column)):
            raise Undecided(f"'{column.header}' may be that of one row, or of all rows of a {listed}.")


def _begins_with_amount(parse: QuestionParse, requested: Sequence[ColumnRef]) -> bool:
    """Whether an amount is asked for of rows that are named behind it: "value of all laptops"."""
    named = [item for item in parse.items if item.kind in ("column", "table", "rows")]
    first = named[0].meaning if named else None
    return (
        first is not None
        and first.column is not None
        and _any_amount(parse, [ref for ref in requested if ref == first.ref])
    )


def _one_total(parse: QuestionParse, requested: Sequence[ColumnRef]) -> TableQuery | None:
    """ "gross income from Yangon" is one number; None for what is not added up, and where single rows are asked for."""
    ref, base = requested[0], parse.reachable.base
    column = base.column(ref.column) if ref.table == base.name and len(requested) == 1 else None
    summed = column is not None and bool(set(header_words(column.header)) & SUMMED)
    if not summed or first_word(parse) in LISTING | WHO or not parse.where or _selects_single_rows(parse):
        return None
    return TableQuery("", measures=(AggregateMeasure(Aggregation.SUM, ref),))


def _check_dated(parse: QuestionParse, entities: Sequence[int]) -> None:
    """Raises Unclear for a date right before the rows: "open calls", "last counted items"."""
    for at, item in enumerate(parse.items):
        before = parse.items[at - 1] if at else None
        column = before.meaning.column if before and before.kind == "column" and before.meaning else None
        listed = at in entities or (at not in parse.used and names_rows_alone(item))
        if (
            listed
            and before
            and column
            and column.type.dated
            and before.last == item.first
            and at - 1 not in parse.used
        ):
            raise Unclear(f"It is not clear which rows '{phrase_of(parse.words, before)}' means.")


def _is_possessed(parse: QuestionParse, at: int) -> bool:
    """Whether the rows are only what something named before has: "departments that have employees"."""
    first = parse.items[at].first
    before = parse.words.tokens[first - 1].word if first else ""
    return before in HAVING_WORDS and any(item.kind in ("column", "table") for item in parse.items[:at])


def _any_amount(parse: QuestionParse, refs: Sequence[ColumnRef]) -> bool:
    tables = {ref: parse.reachable.paths[ref.table].table for ref in refs}
    return any((column := table.column(ref.column)) and is_amount(table, column) for ref, table in tables.items())


def _condition_columns(parse: QuestionParse) -> list[ColumnRef]:
    """The columns with a condition, those of other tables' rows left out."""
    clauses = (clause for _, clause in parse.where if isinstance(clause, AnyOf))
    return [condition.ref for clause in clauses for condition in clause.conditions]


def _selects_single_rows(parse: QuestionParse) -> bool:
    """Whether a condition selects single rows ("the department of Talia Gaspari"), whose names belong in the list."""
    base = parse.reachable.base
    named = {column.name for column in base.columns if column.key or column.personal == "a name"}
    return any(ref.table == base.name and ref.column in named for ref in _condition_columns(parse))


def naming_columns(parse: QuestionParse) -> tuple[ColumnRef, ...]:
    """The columns that name a row: a person's names, else the name column, else a text that differs in every row."""
    base = parse.reachable.base
    names = [column for column in base.columns if column.personal == "a name"][:_MOST_NAMES]
    if first_word(parse) in WHO and not entity_stems(base) & asking().persons:
        names = people_columns(base)[:_MOST_NAMES] or names
    if not names:
        named = [name_column(base), *(column for column in base.columns if differs_in_rows(column))]
        names = [column for column in named if column is not None][:1]
    return tuple(ColumnRef(base.name, column.name) for column in names)


def row_columns(parse: QuestionParse, requested: Sequence[ColumnRef]) -> tuple[ColumnRef, ...]:
    """What identifies a row, what was asked of it, what the conditions are about, and then its other columns."""
    base = parse.reachable.base
    keys = [ColumnRef(base.name, column.name) for column in base.columns if column.key][:1]
    columns = dict.fromkeys((*keys, *naming_columns(parse), *requested, *_condition_columns(parse)))
    for column in base.columns:
        if len(columns) >= _MOST_COLUMNS:
            break
        columns[ColumnRef(base.name, column.name)] = None
    return tuple(columns)
