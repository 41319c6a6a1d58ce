"""Reads "all departments but Sales", and refuses "departments with no active employees": it is about whole groups."""

from dataclasses import replace

from core.table_qa.join_paths import is_amount
from core.table_qa.parsing.items import (
    COMPARISONS,
    QuestionParse,
    Unclear,
    Undecided,
    is_flag,
    is_row_name,
    phrase_of,
)
from core.table_qa.parsing.lexicon import entity_stems
from core.table_qa.parsing.reader import QuestionItem

__all__ = ["check_none_of", "read_exclusions"]

_ALL = frozenset("all every each any everyone everybody everything anyone anybody anything everywhere".split())
_ARTICLES = frozenset("the those that these ones a an any for".split())
_THOSE = frozenset("those that these ones".split())
_PREPOSITIONS = frozenset("of in from with".split())
_NO = frozenset(("no", "without", "zero", "with no", "have no", "has no", "lack", "lacks", "lacking"))
_NOBODY = frozenset(("nobody", "none", "neither"))


def read_exclusions(parse: QuestionParse) -> QuestionParse:
    """Read the "but" of "all departments but Sales" as "not". Raises Undecided where a name follows "but" and nothing
    says that it is left out of all."""
    for index, token in enumerate(parse.words.tokens):
        following = next((at for at, item in enumerate(parse.items) if item.last > index), None)
        if token.word != "but" or token.quoted or following is None or parse.items[following].first <= index:
            continue  # a part of "but not", or nothing follows
        if _is_excluded(parse, index, following):
            items = (*parse.items[:following], QuestionItem("not", index, index + 1), *parse.items[following:])
            parse = replace(parse, items=items)
        elif _is_of_all(parse, index, following) or _is_name(parse, index, following):
            raise Undecided(f"It is not clear what 'but {phrase_of(parse.words, parse.items[following])}' leaves out.")
    return parse


def _is_excluded(parse: QuestionParse, but: int, at: int) -> bool:
    """Whether what follows "but" is left out of "all" rows or things before."""
    item, between = parse.items[at], _words_between(parse, but, at)
    if not _is_of_all(parse, but, at) or not between <= _ARTICLES | (_PREPOSITIONS if between & _THOSE else set()):
        return False  # "all employees but in Texas"
    column = item.meaning.column if item.meaning else None
    tested = parse.item(at + 1, "date", "number", *COMPARISONS) is not None
    return (
        item.kind in ("value", "date")
        or (item.kind in COMPARISONS and bool(between & _THOSE))
        or (item.kind == "column" and column is not None and (is_flag(column) or tested))
    )


def _is_of_all(parse: QuestionParse, but: int, at: int) -> bool:
    """Whether only names stand between "all" and "but": "all employees but", not "all orders over 100 but"."""
    every = next((index for index in range(but, -1, -1) if parse.words.tokens[index].word in _ALL), None)
    between = [item for item in parse.items[:at] if every is not None and item.first > every]
    columns = [item.meaning.column if item.meaning else None for item in between]
    return every is not None and all(
        item.kind in ("table", "column", "rows") and not (column and is_flag(column))
        for item, column in zip(between, columns, strict=True)
    )


def _is_name(parse: QuestionParse, but: int, at: int) -> bool:
    """Whether a value, or what is said with yes and no, follows "but" directly."""
    item = parse.items[at]
    flag = item.meaning is not None and item.meaning.column is not None and is_flag(item.meaning.column)
    return (item.kind == "value" or flag) and _words_between(parse, but, at) <= _ARTICLES


def _words_between(parse: QuestionParse, but: int, at: int) -> set[str]:
    return {token.word for token in parse.words.tokens[but + 1 : parse.items[at].first]}


def check_none_of(parse: QuestionParse) -> QuestionParse:
    """Raises Unclear for "departments with no active employees" and "states where nobody is active": groups none of
    whose rows is so, not rows that are not so."""
    for at in parse.positions("not"):
        word = phrase_of(parse.words, parse.items[at]).lower()
        last = at + 1
        while parse.item(last + 1, "value", "or"):
            last += 1
        item = parse.items[last] if last < len(parse.items) else None
        column = item.meaning.column if item and item.meaning else None
        flag = item is not None and item.kind == "column" and column is not None and is_flag(column)
        if item is None or not (item.kind in ("value", "date", *COMPARISONS) or flag):
            continue
        related = item.kind == "value" and item.meaning is not None and item.meaning.path.reverse is not None
        rows = item.meaning is not None and not related and _names_rows(parse, last + 1)
        if word in _NOBODY or (word in _NO and rows and _has_subject(parse, at)):
            raise Unclear(f"'{word}' is about whole groups here, which is not answered.")
    return parse


def _names_rows(parse: QuestionParse, at: int) -> bool:
    """Whether an item names rows, of the table asked about or another one."""
    if at >= len(parse.items):
        return False
    item, paths = parse.items[at], parse.reachable.paths.values()
    stems = {token.stem for token in parse.words.tokens[item.first : item.last]}
    return item.kind == "rows" or any(stems & entity_stems(path.table) for path in paths)


def _has_subject(parse: QuestionParse, before: int) -> bool:
    """Whether things that rows can be grouped by are named before a position: "departments with no"."""
    for at in range(before):
        item = parse.item(at, "column", "table")
        if item is None or item.meaning is None or is_row_name(parse, at) or parse.item(at - 1, "group"):
            continue
        column = item.meaning.column
        if column is None or not (column.type.dated or is_flag(column) or is_amount(item.meaning.path.table, column)):
            return True
    return False
