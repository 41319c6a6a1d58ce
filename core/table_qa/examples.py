"""Example questions: what a library's tables can be asked, derived from their good columns."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from core.domain.dataset_queries import TableAnswer
from core.domain.datasets import Column, RealityTable
from core.domain.documents import TableRole
from core.knowledge.question_lexicon import asking
from core.table_qa.parsing.lexicon import entity_stems
from core.table_qa.parsing.tokens import header_words, plain_header
from core.table_qa.table_quality import good_amounts, good_flags, good_groups

__all__ = ["candidates", "tells_something"]

_TABLES = 3
"""Tables that examples are made from; chosen by hand."""
_MOST_CANDIDATES = 24
"""Each is asked once; chosen by hand."""
_MOST_TIES = 3
"""Rows up to which a superlative names its rows in the headline."""
_FEW_MONTHS, _MANY_MONTHS = 3, 48
"""A trend is shown by month between these, else by year."""
_PLAINEST = 99
"""Rank of a mere count, behind everything else."""
_MOST_WORDS = 5
"""Words that name the rows of a table; with more, as in a file's whole path, a question reads like no person's."""
_COLLECTIVE = {"staff": "employee", "personnel": "employee", "people": "person"}
"""Names of many, and what one of them is called."""


def candidates(tables: Sequence[RealityTable]) -> list[str]:
    """Questions that show different things, the largest records first, the same for the same tables: a share, a
    superlative, a comparison, a trend. Whether they are answered is for the caller to ask."""
    ordered = sorted(tables, key=lambda table: (table.role is not TableRole.RECORDS, -table.rows, table.name))
    ranked = [
        (kind + 2 * index, index, question)
        for index, table in enumerate(ordered[:_TABLES])
        for kind, question in enumerate(_questions(table))
    ]
    ranked += [
        (_PLAINEST, index, f"How many {rows} are there?")
        for index, table in enumerate(ordered)
        if len((rows := _row_names(table)).split()) <= _MOST_WORDS
    ]
    distinct = dict.fromkeys(question for _, _, question in sorted(ranked))
    return list(islice(distinct, _MOST_CANDIDATES))


def tells_something(answer: TableAnswer) -> bool:
    """Whether an answer is worth showing as an example: rows, several groups, a superlative without many ties."""
    if answer.rows is None or answer.query is None or not answer.rows.total:
        return False
    if answer.query.limit is not None:
        return answer.rows.total <= max(answer.query.limit, _MOST_TIES)
    return answer.rows.total > 1 or not answer.query.groups


def _questions(table: RealityTable) -> Iterator[str]:
    """The questions of one table, the most telling first."""
    rows, people = _row_names(table), bool(entity_stems(table) & asking().persons)
    short = len(rows.split()) <= _MOST_WORDS
    groups, amounts, flags = good_groups(table), good_amounts(table), good_flags(table)
    aged = any(column.type.numeric and header_words(column.header) == ("age",) for column in table.columns)
    if flags and groups:
        yield f"{_words(flags[0])} rate by {_words(groups[0])}"
    if people and aged:
        yield f"Who is the oldest {_singular(rows)}?"
    if amounts:
        amount = next((each for each in amounts if header_words(each.header) != ("age",)), amounts[0])
        if people or short:
            yield f"{'Who' if people else f'Which {_singular(rows)}'} has the highest {_words(amount)}?"
        if groups:
            yield f"average {_words(amount)} by {_words(groups[min(1, len(groups) - 1)])}"
    day = next((column for column in table.columns if column.type.dated and column.distinct > 1), None)
    if day and short:
        yield f"{rows} by {_words(day)} {_part(day)}"
    if groups and short:
        yield f"Which {_words(groups[0])} has the most {rows}?"
        least = min(groups, key=lambda column: column.distinct)
        if least.top:
            yield f"What percentage of {rows} have {_words(least)} {least.top[0][0]}?"
        yield f"{rows} by {_words(groups[0])}"


def _row_names(table: RealityTable) -> str:
    """What the rows are called: "purchase orders", or "rows of stock" where the name is no plural."""
    noun = (table.called or (_person_in(table.name) or table.name.replace("_", " "),))[0]
    return noun if noun.endswith("s") or noun.split()[-1] in _COLLECTIVE else f"rows of {noun}"


def _person_in(name: str) -> str:
    """The people a table's name names, in the plural, "" for none.

    >>> _person_in("employee_salaries_2020"), _person_in("pay_lines")
    ('employees', '')
    """
    found = next((word for word in name.split("_") if set(header_words(word)) & asking().persons), "")
    return found if not found or found.endswith("s") or found in _COLLECTIVE else f"{found}s"


def _singular(rows: str) -> str:
    """
    >>> _singular("purchase orders"), _singular("companies"), _singular("rows of stock")
    ('purchase order', 'company', 'row of stock')
    """
    if rows in _COLLECTIVE:
        return _COLLECTIVE[rows]
    first, of, rest = rows.partition(" of ")
    if first.endswith("ies"):
        return f"{first[:-3]}y{of}{rest}"
    return f"{first[:-1] if first.endswith('s') and not first.endswith('ss') else first}{of}{rest}"


def _part(day: Column) -> str:
    """Month or year, by how long the dates of a column stretch."""
    first, last = ((int(each[:4]) * 12 + int(each[5:7])) if each[:4].isdigit() else 0 for each in (day.least, day.most))
    return "month" if _FEW_MONTHS <= last - first <= _MANY_MONTHS else "year"


def _words(column: Column) -> str:
    """A header in the words of a question, without its unit."""
    words = plain_header(re.sub(r"\(.*\)", "", column.header)) or plain_header(column.header)
    return " ".join(words[:-1] if len(words) > 1 and words[-1] in asking().measures else words)
