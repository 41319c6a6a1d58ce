"""Reads conditions on values (in Texas, Texas or Ohio, not in Sales, grade 18) and on missing values (with, without,
missing, yes/no columns).
"""
# Over 300 lines: "without a department" and "not in a department" are read from the same items in one order.

import re
from collections.abc import Sequence
from dataclasses import replace

from core.domain.dataset_queries import AnyOf, ColumnRef, Comparison, Condition, Related
from core.domain.datasets import ColumnType
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import JoinPath, flag_values, is_amount, name_column
from core.table_qa.parsing.items import (
    AGGREGATION_WORDS,
    COMPARISONS,
    QuestionParse,
    Unclear,
    adjacent,
    is_flag,
    phrase_of,
    take_negation,
)
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.reader import QuestionItem
from core.table_qa.parsing.tokens import header_unit, header_words
from core.table_qa.parsing.unit_conversion import in_unit_of, unit_behind
from core.text.tokenize import stem

__all__ = [
    "read_empty_conditions",
    "read_flags",
    "read_possessions",
    "read_value_conditions",
]

_TO = frozenset(stem(word) for word in ("dest", "destination", "to", "target", "arrival", "receiver", "recipient"))
_FROM = frozenset(stem(word) for word in ("origin", "from", "source", "departure", "sender", "depart"))
_DIRECTIONS = {"to": _TO, "into": _TO, "toward": _TO, "towards": _TO, "from": _FROM}
_NOTES = ("record", "records", "information", "info", "data", "entry")
_EQUALS = frozenset(("is", "no", "number", "nr", "num", "equal", "equals", "to", "a", "and", "or", "the"))
"""Words between a column and the number that it equals."""
_LINKING_WORDS = frozenset("as is are was were their its the for in of a an".split())
_HAVING_WORDS = ("with", "have", "has", "having", "had")
_RECORDED_WORDS = frozenset(
    "recorded record given known listed specified entered noted file stated documented available".split()
)


# Values


def read_value_conditions(parse: QuestionParse) -> QuestionParse:
    """Read value conditions: "in Texas", "Texas or Ohio", "not in Sales"; and a column with a number: "grade 18"."""
    at = 0
    while at < len(parse.items):
        if parse.item(at, "value"):
            parse, at = _read_value_run(parse, at)
        elif parse.item(at, "column") and parse.item(at + 1, "number"):
            parse = _read_numbered(parse, at)
        elif parse.item(at, "number") and parse.item(at + 1, "column"):
            parse = _read_number_of(parse, at)
        at += 1
    return parse


def _read_numbered(parse: QuestionParse, at: int) -> QuestionParse:
    """ "grade 18", "line 4 or 7": the column with the numbers right behind it."""
    item, number, tokens = parse.items[at], parse.items[at + 1], parse.words.tokens
    column = item.meaning.column if item.meaning else None
    if column is None or item.meaning is None or number.first - item.last > 1:
        return parse
    texts = [value for value in column.values if value.lower() == tokens[number.first].word]
    between = {token.word for token in tokens[item.last : number.first]}
    unit = tokens[number.last].word if number.last < len(tokens) else ""
    measured = column.type.numeric and unit in asking().measures and header_unit(column.header)
    if (not column.type.numeric and not texts) or ("of" in between and not measured) or is_flag(column):
        return parse
    amount = is_amount(item.meaning.path.table, column)
    if not between <= _EQUALS | {"of"} or (unit and not amount and stem(unit) in asking().units):
        return parse  # "loans at 5%" names no loan
    parse, negated = take_negation(parse, at)
    parse = parse.use(at, at + 1)
    values: tuple[str, ...] = tuple(texts)
    if column.type.numeric:
        parse, values = in_unit_of(parse, item.meaning, (number.number,), unit_behind(parse, at + 1))
    following = at + 2
    while parse.item(following, "or") and parse.item(following + 1, "number") and column.type.numeric:
        parse = parse.use(following, following + 1)
        values = (*values, parse.items[following + 1].number)
        following += 2
    return parse.add_conditions(at, item.meaning, Condition(item.meaning.ref, Comparison.IS, values, negated))


def _read_number_of(parse: QuestionParse, at: int) -> QuestionParse:
    """ "with 0 units": the amount right behind a number."""
    number, item, tokens = parse.items[at], parse.items[at + 1], parse.words.tokens
    meaning = item.meaning
    before = tokens[number.first - 1].word if number.first else ""
    if meaning is None or meaning.column is None or meaning.path.hops or item.first != number.last:
        return parse
    if before not in (*_HAVING_WORDS, "exactly") or not is_amount(meaning.path.table, meaning.column):
        return parse
    return parse.use(at, at + 1).add_conditions(at, meaning, Condition(meaning.ref, Comparison.IS, (number.number,)))


def _read_value_run(parse: QuestionParse, first: int) -> tuple[QuestionParse, int]:
    """Values that stand together, and the position of the last one. Values of one column: any of them; of several
    columns with "or" in between: either. Raises Unclear."""
    before = parse.item(first - 1, "column")
    own = before is not None and before.meaning is not None and _same_thing(parse, before.meaning, _value(parse, first))
    parse, negated = take_negation(parse, first)
    if own and not negated:
        parse, negated = take_negation(parse, first - 1)
    meanings = [_value(parse, first)]
    parse = parse.use(first)
    last = first
    while (following := _next_value(parse, last)) is not None:
        meaning = _value(parse, following)
        if not parse.item(last + 1, "or") and meaning.ref != meanings[-1].ref:
            break
        parse = parse.use(*range(last + 1, following + 1))
        meanings.append(meaning)
        last = following
    beside = parse.item(last + 1, "value")
    if negated and beside is not None and beside.first == parse.items[last].last:
        raise Unclear(f"It is not clear what '{phrase_of(parse.words, parse.items[first])}' leaves out.")  # "Ann Lee"
    before_names = parse.used
    parse = _use_names_beside(parse, first, last, meanings[0])
    if negated and parse.used == before_names and not all(meaning.whole for meaning in meanings):
        phrase = phrase_of(parse.words, parse.items[first])
        raise Unclear(f"'{phrase}' names only a part of a value; it is not clear what is left out.")
    tests = _by_column(meanings, negated)
    if negated:
        for test, meaning in tests:
            parse = _add_negated(parse, first, meaning, test)
    elif len({meaning.path.alias for _, meaning in tests}) == 1:
        parse = parse.add_conditions(first, meanings[0], *(test for test, _ in tests))
    elif any(meaning.path.reverse is not None for _, meaning in tests):
        raise Unclear("Either-or over tables that are not linked row by row cannot be asked.")
    else:
        parse = parse.add_clause(first, AnyOf(tuple(test for test, _ in tests)))
    return parse, last


def _add_negated(parse: QuestionParse, at: int, meaning: WordMeaning, test: Condition) -> QuestionParse:
    """The condition that a column has none of some values; rows that point here: none of them has one."""
    reverse = meaning.path.reverse
    if reverse is None:
        return parse.add_conditions(at, meaning, test)
    plain = AnyOf((Condition(test.ref, test.test, test.values),))
    return parse.add_clause(
        at, Related(reverse.table, reverse.column, reverse.here, (plain,), meaning.path.joins, True)
    )


def _next_value(parse: QuestionParse, at: int) -> int | None:
    """Where the next value of a run is: after a comma, "and", "or", or "or" with its column."""
    if parse.item(at + 1, "value"):
        tokens, items = parse.words.tokens, parse.items
        between = parse.words.question[tokens[items[at].last - 1].end : tokens[items[at + 1].first].start].lower()
        return at + 1 if re.search(r",|/|&|\band\b", between) else None
    if parse.item(at + 1, "or") and parse.item(at + 2, "value"):
        return at + 2
    if parse.item(at + 1, "or") and parse.item(at + 2, "column") and parse.item(at + 3, "value"):
        return at + 3
    return None


def _value(parse: QuestionParse, at: int) -> WordMeaning:
    """The value an item names; a column named beside it decides between rivals."""
    item, likeliest = parse.items[at], parse.meaning(at)
    for beside in (parse.item(at - 1, "column"), parse.item(at + 1, "column")):
        if beside is not None and beside.meaning is not None:
            apart = max(item.first - beside.last, beside.first - item.last)
            for meaning in (likeliest, *item.rivals):
                near = meaning.whole or apart <= 1
                if meaning.kind == "value" and meaning.ref == beside.meaning.ref and near:
                    return meaning
    return _value_by_direction(parse, item) or likeliest


def _value_by_direction(parse: QuestionParse, item: QuestionItem) -> WordMeaning | None:
    """ "to Oslo" and "from Oslo" tell two links to the same table apart."""
    before = parse.words.tokens[max(0, item.first - 2) : item.first]
    stems = next((_DIRECTIONS[token.word] for token in reversed(before) if token.word in _DIRECTIONS), None)
    if stems is None:
        return None
    others = _FROM if stems is _TO else _TO
    for meaning in (item.meaning, *item.rivals):
        if meaning is None or meaning.kind != "value" or meaning.column is None:
            continue
        joins = meaning.path.joins
        header = set(header_words(joins[-1].left.column if joins else meaning.column.header))
        if header & stems:
            return meaning
        if meaning is item.meaning and header & others and not item.rivals:
            raise Unclear(f"'{phrase_of(parse.words, item)}' does not fit {meaning.column.header}.")
    return None


def _use_names_beside(parse: QuestionParse, first: int, last: int, meaning: WordMeaning) -> QuestionParse:
    """ "state Texas", "Sales department": the name of the values' own column adds nothing."""
    for at in (first - 1, last + 1):
        item = parse.item(at, "column", "table")
        if item is None or item.meaning is None:
            continue
        same = item.meaning.kind == "column" and item.meaning.ref == meaning.ref
        if at == last + 1 and not same and parse.item(at + 1, "value", "number", *COMPARISONS, "date"):
            continue
        if item.kind == "column" and any(parse.item(before, "distinct") for before in range(at)):
            continue
        between = parse.words.tokens[parse.items[last].last : item.first]
        near = all(token.word in _LINKING_WORDS for token in between) or abs(parse.items[first].first - item.last) <= 2
        if near and _same_thing(parse, item.meaning, meaning) and not parse.item(at - 1, "group"):
            parse = parse.use(at)
    return parse


def _same_thing(parse: QuestionParse, name: WordMeaning, value: WordMeaning) -> bool:
    """Whether a named table or column is the one a value belongs to."""
    if name.kind == "table":
        return name.path.alias == value.path.alias and name.path.hops > 0
    if name.ref == value.ref:
        return True
    target = parse.reachable.target(name.path.alias, name.ref.column)
    if target is not None and target.alias == value.path.alias:
        return value.column is not None and (value.column.key or value.column == name_column(target.table))
    if name.column is None or name.column.type is not ColumnType.TEXT:
        return False
    stems = [set(header_words(each.column.header)) for each in (name, value) if each.column]
    return name.path.alias == value.path.alias and bool(stems[0] & stems[1] - {"name", "code", "id", "date"})


def _by_column(meanings: Sequence[WordMeaning], negated: bool) -> list[tuple[Condition, WordMeaning]]:
    """One condition per column, on all the values that are named of it."""
    columns: dict[ColumnRef, tuple[list[str], WordMeaning]] = {}
    for meaning in meanings:
        columns.setdefault(meaning.ref, ([], meaning))[0].extend(meaning.values)
    return [
        (Condition(ref, Comparison.IS, tuple(dict.fromkeys(values)), negated), meaning)
        for ref, (values, meaning) in columns.items()
    ]


# What is there at all


def read_empty_conditions(parse: QuestionParse) -> QuestionParse:
    """Read conditions on empty columns: "missing a manager", "manager is blank", "without a tax category"."""
    for at in range(len(parse.items)):
        if parse.item(at, "empty"):
            named = at + 1 if parse.item(at + 1, "column") else at - 1
            if not parse.item(named, "column"):
                parse = _read_undone(parse, at)
                continue
            parse, negated = take_negation(parse.use(at, named), min(at, named))
            parse = _add_empty(parse, named, negated=negated)
        elif parse.item(at, "not"):
            parse = _read_without(parse, at)
    return parse


def _read_undone(parse: QuestionParse, at: int) -> QuestionParse:
    """ "unassigned vehicles": the column of what is not done is empty."""
    word = phrase_of(parse.words, parse.items[at]).lower()
    base = parse.reachable.base
    done = stem(word.removeprefix("un"))
    named = [column for column in base.columns if done in header_words(column.header) and not is_flag(column)]
    if len(named) != 1 or not word.startswith("un"):
        return parse
    condition = Condition(ColumnRef(base.name, named[0].name), Comparison.EMPTY)
    return parse.use(at).add_clause(at, AnyOf((condition,)))


def _read_without(parse: QuestionParse, at: int) -> QuestionParse:
    """ "without a tax category", "with no leave requests": the name behind a "not" that no value follows."""
    item = parse.item(at + 1, "column", "table")
    if item is None or item.meaning is None:
        return _read_unused(parse, at)
    tables = (rival for rival in item.rivals if rival.kind == "table" and rival.path.reverse is not None)
    meaning = item.meaning if item.kind == "table" else next(tables, item.meaning)
    value = parse.item(at + 2, "value")
    if value is not None and value.meaning and meaning.column and value.meaning.ref == meaning.ref:
        return parse  # "not department Sales"
    if parse.item(at + 2, *COMPARISONS, "date"):
        return parse
    key = meaning.column is not None and meaning.column.key
    if meaning.kind == "table" or key:
        if not meaning.path.hops:
            return _read_not_done(parse, at)
        return _add_related(parse.use(at, at + 1), at, meaning, negated=True)
    if meaning.column is not None and not is_flag(meaning.column):
        return _add_empty(parse.use(at, at + 1), at + 1, negated=False)
    return parse


def _read_not_done(parse: QuestionParse, at: int) -> QuestionParse:
    """ "not sold properties": the only column of what is not done is empty. Raises Unclear."""
    base, tokens = parse.reachable.base, parse.words.tokens
    between = {token.stem for token in tokens[parse.items[at].last : parse.items[at + 1].first]}
    named = [column for column in base.columns if between & set(header_words(column.header)) and not is_flag(column)]
    if len(named) != 1:
        raise Unclear("It is not clear what is missing.")
    condition = Condition(ColumnRef(base.name, named[0].name), Comparison.EMPTY)
    return parse.use(at).add_clause(at, AnyOf((condition,)))


def _read_unused(parse: QuestionParse, at: int) -> QuestionParse:
    """ "codes never used": no row of the only table that refers to this one does so."""
    tokens, last = parse.words.tokens, parse.items[at].last
    referring = [path for path in parse.reachable.paths.values() if path.reverse is not None and path.hops == 1]
    if last >= len(tokens) or tokens[last].stem != stem("used") or len(referring) != 1:
        return parse
    return _add_related(parse.use(at), at, WordMeaning("table", referring[0]), negated=True)


def _add_related(parse: QuestionParse, at: int, meaning: WordMeaning, *, negated: bool) -> QuestionParse:
    """The condition that rows of another table belong to this one, or that none does."""
    path = meaning.path
    if path.reverse is not None:
        reverse = path.reverse
        return parse.add_clause(at, Related(reverse.table, reverse.column, reverse.here, (), path.joins, negated))
    key = ColumnRef(path.alias, path.joins[-1].right)
    return parse.add_clause(at, AnyOf((Condition(key, Comparison.EMPTY, negated=not negated),)))


def _add_empty(parse: QuestionParse, at: int, *, negated: bool) -> QuestionParse:
    """The condition that a column is empty. Zero is empty too, unless the question asks what is recorded."""
    meaning, item = parse.meaning(at), parse.items[at]
    assert meaning.column is not None
    empty: tuple[str, ...]
    if meaning.column.type.numeric:
        after = parse.words.tokens[item.last : item.last + 3]
        empty = () if any(token.word in _RECORDED_WORDS for token in after) else ("0",)
    else:
        empty = tuple(value for value in meaning.column.values if value.strip().lower() in asking().nothing)
    reverse = meaning.path.reverse
    if reverse is not None and not negated:
        filled = AnyOf((Condition(meaning.ref, Comparison.EMPTY, empty, True),))
        return parse.add_clause(
            at, Related(reverse.table, reverse.column, reverse.here, (filled,), meaning.path.joins, True)
        )
    return parse.add_conditions(at, meaning, Condition(meaning.ref, Comparison.EMPTY, empty, negated))


def read_flags(parse: QuestionParse) -> QuestionParse:
    """Read yes/no columns named as adjectives: "exempt employees", "not active". Raises Unclear."""
    for at in range(len(parse.items)):
        rated = parse.item(at, "column", "table") if parse.item(at + 1, "rate") else None
        item = rated or parse.item(at, "column")
        if item is not None and rated is not None:
            item = _flag_meant(item)
            parse = replace(parse, items=(*parse.items[:at], item, *parse.items[at + 1 :]))
        meaning = item.meaning if item else None
        column = meaning.column if meaning else None
        if meaning is None or column is None or not is_flag(column) or parse.item(at - 1, "group", "distinct"):
            continue
        if _ends_groups(parse, at):
            continue
        if meaning.path.hops and not _names_table(parse, meaning.path):
            raise Unclear(f"It is not clear what is '{column.header}'.")
        parse, negated = take_negation(parse, at)
        yes, no = flag_values(column) or ("true", "false")
        after = parse.words.tokens[parse.items[at].last : parse.items[at].last + 1]
        if negated and any(token.word in _NOTES for token in after):
            beside = [at + 1] if parse.item(at + 1, "rows") else []
            empty = Condition(meaning.ref, Comparison.EMPTY)
            parse = parse.use(at, *beside).add_conditions(at, meaning, empty)  # "no vaccination record"
            continue
        condition = Condition(meaning.ref, Comparison.IS, (no if negated is not meaning.opposite else yes,))
        parse = parse.use(at).add_conditions(at, meaning, condition)
    return parse


def _ends_groups(parse: QuestionParse, at: int) -> bool:
    """Whether an item goes on with what is grouped by: the second of "by class and free lunch"."""
    before = at - 1
    while before > 0 and parse.item(before, "column", "table") and adjacent(parse, before + 1):
        if parse.item(before - 1, "group"):
            return True
        before -= 1
    return False


def _flag_meant(item: QuestionItem) -> QuestionItem:
    """The item as a column of yes and no, if it may be one: "approval rate" is not about approvers."""
    for meaning in (item.meaning, *item.rivals):
        if meaning is not None and meaning.column is not None and is_flag(meaning.column):
            return replace(item, meaning=meaning, rivals=(), tied=0)
    return item


def _names_table(parse: QuestionParse, path: JoinPath) -> bool:
    """Whether the question names a table: "active" of earning codes is not "active" of employees."""
    tables = [item.meaning.path.table for item in parse.items if item.meaning is not None and item.kind == "table"]
    return any(table.name == path.table.name for table in tables)


def read_possessions(parse: QuestionParse) -> QuestionParse:
    """Read possessions: "with a middle name", "who have dependents": filled columns, positive ones, or related rows."""
    for at in range(len(parse.items)):
        item = parse.item(at, "column", "table")
        if item is None or item.meaning is None or _word_before(parse, item) not in _HAVING_WORDS:
            continue
        previous = parse.unused(at - 1)
        if previous is not None and previous.kind in AGGREGATION_WORDS:
            continue
        before = parse.words.tokens[item.first - 1].word
        first_name = not any(parse.items[other].kind in ("column", "table") for other in range(at))
        if before in ("the", "their") or first_name:
            continue
        meaning = item.meaning
        if meaning.kind == "table" and meaning.path.hops:
            parse = _add_related(parse.use(at), at, meaning, negated=False)
        elif meaning.column is not None and before in (*_HAVING_WORDS, "a", "an", "any"):
            parse = _add_empty(parse.use(at), at, negated=True)
    return parse


def _word_before(parse: QuestionParse, item: QuestionItem) -> str:
    """The word before an item, articles left out; "" at the beginning."""
    before = (token.word for token in reversed(parse.words.tokens[: item.first]))
    return next((word for word in before if word not in ("a", "an", "any", "some")), "")
