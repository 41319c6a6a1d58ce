"""Units: what a header measures in, and numbers of a question in another unit."""

import re
from dataclasses import replace

from core.domain.datasets import ColumnType
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import is_amount, is_year
from core.table_qa.parsing.items import QuestionParse, Unclear
from core.table_qa.parsing.lexicon import WordMeaning
from core.table_qa.parsing.tokens import header_unit, header_words, value_words
from core.text.tokenize import stem

__all__ = ["age_of_people", "currency_of", "in_unit_of", "measured_in", "unit_behind", "year_compared"]

_CURRENCIES = {
    stem(word): sign
    for sign, words in {
        "$": "$ dollar usd buck",
        "€": "€ euro eur",
        "£": "£ gbp",
        "chf": "chf franc",
        "inr": "inr rupee",
    }.items()
    for word in words.split()
}
_COUNTED = frozenset(("unit", "piec"))
"""Stems of words behind a number that say no unit of measure."""
_SEX = frozenset(("gender", "sex"))


def in_unit_of(
    parse: QuestionParse, meaning: WordMeaning, values: tuple[str, ...], unit: str
) -> tuple[QuestionParse, tuple[str, ...]]:
    """Values in the unit of a column's header, and the parse, which notes a unit that the header does not confirm.
    Raises Unclear for a unit of something else."""
    header, known = meaning.column.header if meaning.column else "", asking().measures
    own, stems = header_unit(header), set(header_words(header))
    money, own_money = currency_of(unit), currency_of(header)
    counted = stem(unit) in _COUNTED or stem(unit) in stems or (stem(unit) == "year" and "age" in stems)
    if not unit or (counted and unit not in known) or (money and money == own_money):
        return parse, values
    wrong = bool(own or own_money) if unit not in known else bool(own and known[own][0] != known[unit][0]) or own_money
    if wrong or (unit in known and meaning.column and meaning.column.type is ColumnType.MONEY):
        raise Unclear(f"'{header}' is not measured in {unit}.")
    if own:
        size, own_size = known[unit][1], known[own][1]
        return parse, tuple(
            f"{float(value) * size / own_size:.12g}" for value in values
        ) if size != own_size else values
    return parse if counted else replace(parse, unconfirmed=(*parse.unconfirmed, unit)), values


def currency_of(text: str) -> str:
    """The currency that a header or a unit names, "" for none.

    >>> currency_of("Salary (USD)"), currency_of("euros"), currency_of("Budget (M$)"), currency_of("Hours")
    ('$', '€', '$', '')
    """
    words = (*header_words(text), *re.findall(r"[$€£]", text))
    return next((_CURRENCIES[word] for word in words if word in _CURRENCIES), "")


def unit_behind(parse: QuestionParse, at: int) -> str:
    """The unit behind a number, else the sign of a currency before it; "" without one."""
    place, tokens = parse.items[at].last, parse.words.tokens
    unit = place < len(tokens) and (tokens[place].stem in asking().units or tokens[place].word in asking().measures)
    sign = tokens[parse.items[at].first].word[:1]
    return tokens[place].word if unit else sign if sign in _CURRENCIES else ""


def measured_in(parse: QuestionParse, unit: str) -> WordMeaning | None:
    """The table's only amount whose header has a unit of this kind."""
    if unit not in asking().measures:
        return None
    base, kind = parse.reachable.base, asking().measures[unit][0]
    measured = [
        column
        for column in base.columns
        if is_amount(base, column) and asking().measures.get(header_unit(column.header), ("", 0))[0] == kind
    ]
    return WordMeaning("column", parse.reachable.paths[base.name], measured[0]) if len(measured) == 1 else None


def age_of_people(parse: QuestionParse, first: int, unit: str) -> WordMeaning | None:
    """The table's only column of ages behind a word for people: "women over 65"."""
    base, item = parse.reachable.base, parse.items[first]
    aged = [column for column in base.columns if column.type.numeric and header_words(column.header) == ("age",)]
    if len(aged) != 1 or not item.first or (unit and stem(unit) != "year"):
        return None
    before = parse.words.tokens[item.first - 1].stem
    named = any(before in value_words(words) for row in asking().value_words for words in row.words if row.when & _SEX)
    people = before in asking().persons or named
    return WordMeaning("column", parse.reachable.paths[base.name], aged[0]) if people else None


def year_compared(parse: QuestionParse, at: int) -> tuple[WordMeaning, bool] | None:
    """ "older than 2015": the table's only column of years, and whether older is meant."""
    word, after = parse.words.tokens[parse.items[at].first].word, parse.item(at + 1, "date")
    if word not in ("older", "newer", "younger") or after is None or after.date is None:
        return None
    base = parse.reachable.base
    years = [column for column in base.columns if is_year(column)]
    if len(years) != 1 or not re.fullmatch(r"\d{4}", after.date.dates.words):
        return None
    return WordMeaning("column", parse.reachable.paths[base.name], years[0]), word == "older"
