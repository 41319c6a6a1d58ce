"""Which amounts are added up, which averaged, and which words may mean either rows or an amount."""

from core.domain.dataset_queries import (
    Aggregation,
)
from core.domain.datasets import Column, ColumnType
from core.knowledge.question_lexicon import asking
from core.table_qa.parsing.items import (
    QuestionParse,
    is_flag,
    is_row_name,
    phrase_of,
)
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.tokens import header_unit, header_words
from core.text.tokenize import stem

__all__ = ["SUMMED", "called_like_amount", "implied_aggregation", "is_rate", "may_be_averaged", "may_be_summed"]

SUMMED = frozenset(
    stem(word)
    for word in (
        "total amount cost sales revenue gross net quantity hours units spend spent freight votes wins losses budget "
        "actual capacity area principal paid awarded riders stock hand positions kwh energy production credits fee "
        "fees donation population employees violations minutes fertiliser consumption usage distance"
    ).split()
)
"""Columns whose values are added up per group; of others the highest counts. Chosen by hand; not fitted."""
_AMOUNTS = frozenset(stem(word) for word in "spending expenditure turnover income earnings costs consumption".split())
_AVERAGED = frozenset(
    stem(word)
    for word in (
        "yield gpa rate ratio rating score satisfaction percent percentage share age level index temperature"
    ).split()
)
"""Columns whose values cannot be added up. Chosen by hand; not fitted."""
_PRICES = frozenset(stem(word) for word in "salary wage price rent fare premium income".split())
"""What one has or pays each time: per group as likely an average as a sum. Chosen by hand; not fitted."""
_EXTENSIVE = frozenset(("mass", "area", "energy"))
"""What is measured in such units is added up."""


def is_rate(meaning: WordMeaning) -> bool:
    """Whether a number is a rate, a rating or a price, which is not added up."""
    assert meaning.column is not None
    return bool(set(header_words(meaning.column.header)) & (_AVERAGED | _PRICES))


def implied_aggregation(meaning: WordMeaning, *, explicit: bool) -> Aggregation:
    """How a number per group is aggregated when the question does not say: quantities are added up, ratings and rates
    averaged.
    """
    assert meaning.column is not None
    stems = set(header_words(meaning.column.header))
    if not explicit and stems & _AVERAGED:
        return Aggregation.AVERAGE
    return Aggregation.SUM


def called_like_amount(parse: QuestionParse) -> str:
    """The name of the rows in a question, if it may as well mean an amount: sales, spending; "" otherwise."""
    key = parse.reachable.base.key
    countable = set(header_words(key.header)) if key is not None else set()
    for at, item in enumerate(parse.items):
        stems = {token.stem for token in parse.words.tokens[item.first : item.last]}
        if (
            item.kind == "table"
            and (SUMMED | _AMOUNTS) & stems - countable - asking().persons
            and is_row_name(parse, at)
        ):
            return phrase_of(parse.words, item)
    return ""


def may_be_summed(column: Column) -> bool:
    """Whether a number can be added up: not a yes/no column, and no rating or rate by its header."""
    return not is_flag(column) and not set(header_words(column.header)) & _AVERAGED


def may_be_averaged(meaning: WordMeaning) -> bool:
    """Whether it is open how a number is aggregated: its header is no quantity, and no rate."""
    column = meaning.column
    assert column is not None
    stems = set(header_words(column.header))
    if stems & _PRICES:
        return True
    kind = asking().measures.get(header_unit(column.header), ("", 0.0))[0]
    return not stems & (_AVERAGED | SUMMED) and column.type is not ColumnType.MONEY and kind not in _EXTENSIVE
