"""Whether a sheet is data to ask about, and which of its columns make good questions."""

import re
from collections.abc import Sequence

from core.domain.datasets import Column, ColumnType, RealityTable
from core.knowledge.question_lexicon import asking
from core.table_qa.join_paths import flag_values, is_amount, money_columns
from core.table_qa.parsing.tokens import header_words

__all__ = ["good_amounts", "good_flags", "good_groups", "no_data_reason"]

_UNNAMED_SHARE = 0.4
"""Share of columns without a header from which a sheet is a page with boxes rather than a table."""
_LEAST_FILLED = 0.3
"""Share of filled cells below which a sheet of several columns is a layout."""
_LINK_SHARE = 0.5
"""Share of a column's cells that are web addresses, and of the text columns that are such, from which a sheet only
lists links."""
_FEW_COLUMNS = 3
"""Columns up to which emptiness says nothing of a layout."""
_PAGES = frozenset(("dashboard", "readme", "cover", "contents", "instructions", "charts", "links", "legend", "notes"))
"""Sheets that are called so hold no rows of data."""
_MOST_GROUPS = 40
"""Different values of a column that make a readable answer: two screens of a list at most."""
_WELL_FILLED = 0.8
"""Share of filled cells of a column that is worth a question."""
_TELLING_AMOUNTS = frozenset("salari incom pay wage price cost amount sale revenu hour age score weight total".split())
_PLACES = frozenset("latitud longitud rank index code id number year level class".split())
"""Stems of numbers that are no quantities. All bounds above were chosen by hand on the workbooks of the sample
corpora."""


def no_data_reason(table: RealityTable) -> str:
    """Why a sheet is no data to ask about: "looks like a dashboard", "lists links"; "" for a table."""
    sheet = table.label.removeprefix("Sheet:").strip().lower()
    unnamed = sum(bool(re.fullmatch(r"Column \d+", column.header)) for column in table.columns)
    cells = table.rows * len(table.columns)
    sparse = len(table.columns) > _FEW_COLUMNS and sum(each.filled for each in table.columns) < _LEAST_FILLED * cells
    if sheet in _PAGES or unnamed >= max(2, _UNNAMED_SHARE * len(table.columns)) or sparse:
        return "looks like a dashboard or a cover sheet"
    texts = [column for column in table.columns if column.type is ColumnType.TEXT]
    links = [column for column in texts if _holds_links(column)]
    if links and len(links) >= _LINK_SHARE * len(texts) and len(texts) == len(table.columns):
        return "only lists links"
    return ""


def _holds_links(column: Column) -> bool:
    links = sum(number for value, number in column.values.items() if value.lower().startswith(("http", "www.")))
    return links > _LINK_SHARE * max(column.filled, 1)


def good_groups(table: RealityTable) -> list[Column]:
    """Columns worth grouping by: well filled names with a few different values, the fewest first."""
    fitting = [
        column
        for column in table.columns
        if column.type is ColumnType.TEXT
        and not (column.key or column.personal or flag_values(column) or re.fullmatch(r"Column \d+", column.header))
        and 2 <= column.distinct <= _MOST_GROUPS
        and column.filled >= _WELL_FILLED * table.rows
        and column.filled > column.distinct
    ]
    return sorted(fitting, key=lambda column: _names_codes(column))


def _names_codes(column: Column) -> bool:
    """Whether values are codes rather than names: short, or in capitals."""
    return all(len(value) <= 2 for value in column.values)


def good_amounts(table: RealityTable) -> list[Column]:
    """Numbers worth aggregating: money first, then what is called a quantity. Constants, places, and numbers that stand
    for a person ("Employee") are left out."""
    money = {column.name for column in money_columns(table)}
    fitting = [
        column
        for column in table.columns
        if is_amount(table, column)
        and flag_values(column) is None
        and column.distinct > 2
        and column.filled >= _WELL_FILLED * table.rows
        and not _PLACES & set(header_words(column.header))
        and not asking().persons.issuperset(header_words(column.header))
    ]

    def rank(column: Column) -> tuple[bool, bool, bool]:
        stems = set(header_words(column.header))
        return not stems & _TELLING_AMOUNTS, column.name not in money, "rate" in stems

    return sorted(fitting, key=rank)


def good_flags(table: RealityTable) -> Sequence[Column]:
    """Columns of yes and no that a rate can be asked of: one word, such as attrition."""
    return [column for column in table.columns if flag_values(column) and len(header_words(column.header)) == 1]
