"""What a question is about: the names of the rows, and names that only seem to be theirs."""

from itertools import pairwise

from core.table_qa.parsing.items import (
    QuestionParse,
    Unclear,
    Undecided,
    differs_in_rows,
    is_entity,
    is_row_name,
    phrase_of,
)
from core.table_qa.parsing.reader import QuestionItem

__all__ = ["check_row_names", "check_subject", "names_rows_alone", "use_entities"]

_POSSESSING = frozenset("with have has had having get gets got getting receive receives received without".split())
"""Words between two names of the same rows that make the second one a condition: "applicants who got an award"."""


def use_entities(parse: QuestionParse) -> QuestionParse:
    """Mark the names of the rows themselves as used."""
    own = [at for at in parse.positions("table", "rows") if is_entity(parse, at)]
    return parse.use(*own, *(at for at in parse.positions("column") if names_rows_alone(parse.items[at])))


def check_row_names(parse: QuestionParse) -> None:
    """Raises Unclear, or Undecided, where rows are said to have what they are called by: "applicants who got an award"
    in a table of awards."""
    tokens = parse.words.tokens
    named = [item for at, item in enumerate(parse.items) if is_row_name(parse, at) or names_rows_alone(item)]
    for one, other in pairwise(named):
        between = {token.word for token in tokens[one.last : other.first]}
        different = other.kind == "table" and tokens[one.last - 1].stem != tokens[other.last - 1].stem
        if different and between & _POSSESSING:
            raise Undecided(f"It is not clear what '{phrase_of(parse.words, other)}' asks of the rows.")
    if len(named) == 1 and named[0].kind == "table" and parse.items.index(named[0]) and _is_had(parse, named[0]):
        raise Unclear(f"It is not clear what '{phrase_of(parse.words, named[0])}' asks of the rows.")


def _is_had(parse: QuestionParse, item: QuestionItem) -> bool:
    """Whether a name stands behind "with", "got" or the like."""
    before = (token.word for token in reversed(parse.words.tokens[: item.first]))
    return next((word for word in before if word not in ("a", "an", "any", "no", "the")), "") in _POSSESSING


def names_rows_alone(item: QuestionItem) -> bool:
    """Whether an item names a column of the table itself that names its rows."""
    meaning = item.meaning if item.kind == "column" else None
    return (
        meaning is not None and meaning.column is not None and not meaning.path.hops and differs_in_rows(meaning.column)
    )


def check_subject(parse: QuestionParse) -> None:
    """Raises Unclear where what is listed or counted is named before the rows of the table asked about, and is another
    table's: "claims by people" does not list people."""
    named = [at for at, item in enumerate(parse.items) if item.kind in ("table", "column") and item.meaning is not None]
    own = next((at for at in named if is_row_name(parse, at)), None)
    if own is None or own == named[0] or not _is_of_other_table(parse, named[0]):
        return
    first, tokens = parse.items[named[0]], parse.words.tokens
    between = [token.word for token in tokens[first.last : parse.items[own].first]]
    if between and not {"have", "has", "had"} & set(between):
        phrases = [phrase_of(parse.words, item) for item in (first, parse.items[own])]
        raise Unclear(f"It is not clear whether '{phrases[0]}' or '{phrases[1]}' are meant.")


def _is_of_other_table(parse: QuestionParse, at: int) -> bool:
    """Whether an item names another table, its key, or a column that refers to it."""
    meaning = parse.meaning(at)
    if meaning.path.hops:
        return meaning.column is None or meaning.column.key or meaning.path.reverse is not None
    if meaning.column is None:
        return False
    target = parse.reachable.target(meaning.path.alias, meaning.ref.column)
    return target is not None and target.table != parse.reachable.base
