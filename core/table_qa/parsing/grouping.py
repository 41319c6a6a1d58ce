"""Reads groups: "by department", "per hire year and state"."""

from collections.abc import Sequence
from dataclasses import replace

from core.domain.dataset_queries import (
    AnyOf,
    ColumnRef,
    Comparison,
    Condition,
    DatePart,
    Grouping,
)
from core.domain.datasets import ColumnType
from core.table_qa.join_paths import is_amount, is_year, label_columns
from core.table_qa.parsing.additive import is_rate, may_be_averaged
from core.table_qa.parsing.items import (
    SUPERLATIVES,
    QuestionParse,
    Unclear,
    Undecided,
    adjacent,
    column_at,
    display_columns,
    is_entity,
    number_column_at,
    phrase_of,
    take_date_column,
)
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.tokens import header_words

__all__ = ["group_by_named_column", "is_unique", "read_groups", "without_empty_groups"]

_TIMES = frozenset(("day", "week", "month", "quarter", "year"))
_MOST_GROUPS = 20
"""Different numbers up to which "per" is about groups ("per grade"). Chosen by hand; not fitted."""
_DATE_PARTS = {"year": DatePart.YEAR, "quarter": DatePart.QUARTER, "month": DatePart.MONTH}


def read_groups(parse: QuestionParse) -> QuestionParse:
    """Read groups: "by department", "per hire year and state". An aggregate after "by" is an order, not a group."""
    for by in parse.positions("group"):
        if _is_per_row(parse, by):
            parse = parse.use(by, by + 1)
            continue
        _check_average_per_time(parse, by)
        at, taken = by + 1, list[int]()
        while True:
            parse, groups, following = _read_group(parse, at)
            if not groups:
                break
            parse = parse.add_groups(*groups)
            taken += [at, following - 1]
            at = following
            again = parse.item(at, "column", "table", "year", "month", "quarter")
            if again is None or not adjacent(parse, at) or is_entity(parse, at):
                break
        if taken:
            parse = parse.use(by, *taken)
    return parse


def _is_per_row(parse: QuestionParse, by: int) -> bool:
    """Whether "per" tells of what an average is one: "average passengers per run" of runs is the average of all.

    Raises Undecided for an amount per row without "average", which may be a list or an average."""
    if parse.words.tokens[parse.items[by].first].word != "per" or not is_entity(parse, by + 1):
        return False
    averaged = any(item.kind == "average" for item in parse.items[:by])
    if not averaged and any(number_column_at(parse, at) for at in parse.positions("column") if at < by):
        raise Undecided(f"'per {phrase_of(parse.words, parse.items[by + 1])}' may be of each one, or on average.")
    return averaged


def _check_average_per_time(parse: QuestionParse, by: int) -> None:
    """Raises Undecided for "average cost per month" of what is added up: of each row, or of the months' totals."""
    if parse.words.tokens[parse.items[by].first].word != "per" or parse.item(by + 1, "table", "rows"):
        return
    averaged = any(item.kind == "average" for item in parse.items[:by])
    meanings = [number_column_at(parse, at) for at in parse.positions("column") if at < by]
    summed = any(each is not None and not may_be_averaged(each) and not is_rate(each) for each in meanings)
    timed = phrase_of(parse.words, parse.items[by + 1]).lower() in _TIMES if by + 1 < len(parse.items) else False
    if averaged and summed and timed:
        raise Undecided(
            f"'average per {phrase_of(parse.words, parse.items[by + 1])}' may be of rows, or of totals of that time."
        )


def _read_group(parse: QuestionParse, at: int) -> tuple[QuestionParse, list[Grouping], int]:
    """The grouping keys named from a position on ([] for none), and the position after them."""
    part = parse.item(at, "year", "month", "quarter")
    if part is not None:
        dated = parse.item(at + 1, "column")
        if dated and dated.meaning and dated.meaning.column and dated.meaning.column.type.dated:
            return parse.use(at, at + 1), [Grouping(dated.meaning.ref, _DATE_PARTS[part.kind])], at + 2
        if part.kind == "year" and (named := _named_year(parse)) is not None:
            return parse.use(at, named), [Grouping(parse.meaning(named).ref)], at + 1
        parse, ref = take_date_column(parse)
        _check_part(parse, part.kind)
        return parse.use(at), [Grouping(ref, _DATE_PARTS[part.kind])], at + 1
    if _is_possessor(parse, at):
        parse = parse.use(at)
        at += 1
    if is_entity(parse, at) and parse.item(at, "table", "rows"):
        base = parse.reachable.base
        labels = label_columns(base)
        if not labels:
            raise Unclear("The rows of this table have no name to group by.")
        return parse, [Grouping(ColumnRef(base.name, column.name)) for column in labels], at + 1
    meaning = column_at(parse, at)
    if meaning is None or meaning.column is None:
        return parse, [], at
    if is_amount(meaning.path.table, meaning.column) and parse.positions(*SUPERLATIVES):
        return parse, [], at  # "top 5 by salary" is an order
    _check_ratio(parse, at, meaning)
    _check_year(parse, at, meaning)
    after = parse.item(at + 1, "year", "month", "quarter")
    if after and meaning.column.type.dated:
        return parse.use(at + 1), [Grouping(meaning.ref, _DATE_PARTS[after.kind])], at + 2
    if meaning.column.type is ColumnType.TIMESTAMP:
        return parse, [Grouping(meaning.ref, DatePart.MONTH)], at + 1
    return parse, [Grouping(ref) for ref in display_columns(parse, meaning, at)], at + 1


def _named_year(parse: QuestionParse) -> int | None:
    """Where a column of years is named: "stands planted per year"."""
    for at in parse.positions("column"):
        column = parse.meaning(at).column
        if column is not None and is_year(column) and not parse.meaning(at).path.hops:
            return at
    return None


def _check_part(parse: QuestionParse, part: str) -> None:
    """Raises Undecided when a column that holds no dates is called "year" too; an amount counts only when it is asked
    for: the monthly rent of "average rent per month"."""
    base = parse.reachable.base
    named = {item.meaning.ref for item in parse.items if item.kind == "column" and item.meaning is not None}
    for column in base.columns:
        if is_amount(base, column) and ColumnRef(base.name, column.name) not in named:
            continue
        if part in header_words(column.header) and not column.type.dated and not is_year(column):
            raise Undecided(f"'{part}' may be that of a date, or '{column.header}'. Name the column.")


def _check_year(parse: QuestionParse, at: int, meaning: WordMeaning) -> None:
    """Raises Unclear for "per year" where a column that holds no dates is called so in part, and others hold dates."""
    item, column = parse.items[at], meaning.column
    word = phrase_of(parse.words, item).lower()
    if column is None or word not in _DATE_PARTS or column.type.dated or len(header_words(column.header)) == 1:
        return
    if any(each.type.dated for each in parse.reachable.base.columns):
        raise Undecided(f"'{word}' may be that of a date, or '{column.header}'. Name the column.")


def _check_ratio(parse: QuestionParse, at: int, meaning: WordMeaning) -> None:
    """Raises Unclear for "cost per kg": a ratio of two amounts, not groups of one."""
    before, column = parse.item(at - 1, "group"), meaning.column
    if before is None or column is None or not is_amount(meaning.path.table, column):
        return
    if parse.words.tokens[before.first].word == "per" and column.distinct > _MOST_GROUPS:
        raise Unclear(f"'per {column.header}' is a ratio of two columns, which is not computed.")


def _is_possessor(parse: QuestionParse, at: int) -> bool:
    """Whether a name only tells whose the next one is: the supplier of "by supplier country"."""
    item, after = parse.item(at, "column", "table"), parse.item(at + 1, "column")
    if item is None or after is None or after.first != item.last or item.meaning is None or after.meaning is None:
        return False
    path = item.meaning.path
    if item.kind == "column":
        target = parse.reachable.target(path.alias, item.meaning.ref.column)
        return target is not None and target.alias == after.meaning.path.alias
    return path.alias == after.meaning.path.alias


def group_by_named_column(parse: QuestionParse) -> tuple[QuestionParse, list[Grouping]]:
    """ "departments with an average salary above 90,000": the groups are named without "by"; [] when none is."""
    if not parse.having:
        return parse, []
    for at in parse.positions("column", "table"):
        meaning = column_at(parse, at)
        if meaning is None or meaning.column is None or is_amount(meaning.path.table, meaning.column):
            continue
        refs = display_columns(parse.use(at), meaning, at)
        return without_empty_groups(parse.use(at), refs[:1]), [Grouping(ref) for ref in refs]
    return parse, []


def without_empty_groups(parse: QuestionParse, refs: Sequence[ColumnRef]) -> QuestionParse:
    """Exclude rows whose grouping keys are all empty: they do not make a group. Keys of the table itself decide: a code
    that has no name is a group."""
    base = parse.reachable.base
    own = [ref for ref in refs if ref.table == base.name]
    columns = [base.column(ref.column) for ref in own]
    if any(column is None or column.filled >= base.rows for column in columns):
        return parse
    filled = AnyOf(tuple(Condition(ref, Comparison.EMPTY, negated=True) for ref in own or refs))
    return replace(parse, where=(*parse.where, (0, filled)))


def is_unique(parse: QuestionParse, group: Grouping) -> bool:
    """Whether a grouping key differs in every row of the table asked about."""
    base = parse.reachable.base
    column = base.column(group.ref.column) if group.ref.table == base.name and group.part is None else None
    named = column is not None and not is_amount(base, column)
    return named and column is not None and base.rows > 1 and column.distinct == base.rows
