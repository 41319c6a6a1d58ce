"""Names in a typed statement: the file's own spelling of a column or table is read as its name in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from core.domain.datasets import ROW_COLUMN, RealityTable

if TYPE_CHECKING:
    from sqlglot.tokenizer_core import Token

__all__ = ["suggest_names", "use_sql_names"]

_LEAST_ALIKE = 0.7
"""Similarity (difflib ratio) from which a name may be a misspelling of another; about one letter in four differs."""
_MOST_SUGGESTED = 3
"""Names suggested for one word."""


def use_sql_names(sql: str, tables: Sequence[RealityTable]) -> str:
    """The statement with names spelt as in the file ("Job Role", JobRole) replaced by those of the database.

    Only words and quoted names that are no name of the database are replaced, and only where one name fits. Text in
    single quotes is left as it is.
    """
    spelt = _spellings(tables)
    for token in reversed(list(_unknown(sql, tables))):
        names = spelt.get(_folded(token.text), set())
        if len(names) == 1:
            sql = f'{sql[: token.start]}"{next(iter(names))}"{sql[token.end + 1 :]}'
    return sql


def suggest_names(sql: str, tables: Sequence[RealityTable]) -> str:
    """Which names were perhaps meant by the unknown words of a statement; "" for none.

    "Did you mean job_role?"
    """
    spelt = _spellings(tables)
    suggestions: list[str] = []
    for token in _unknown(sql, tables):
        near = get_close_matches(_folded(token.text), sorted(spelt), n=_MOST_SUGGESTED, cutoff=_LEAST_ALIKE)
        suggestions += [name for spelling in near for name in sorted(spelt[spelling])]
    listed = list(dict.fromkeys(suggestions))[:_MOST_SUGGESTED]
    return f"Did you mean {' or '.join(listed)}?" if listed else ""


def _unknown(sql: str, tables: Sequence[RealityTable]) -> Iterator[Token]:
    """The words of a statement that are neither SQL nor a name of the database nor called like a function."""
    from sqlglot.errors import SqlglotError
    from sqlglot.tokens import Tokenizer

    known = {ROW_COLUMN, *(table.name for table in tables)}
    known |= {column.name for table in tables for column in table.columns}
    try:
        tokens = Tokenizer(dialect="postgres").tokenize(sql)
    except SqlglotError:
        return
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        kind = token.token_type.name
        name = token.text if kind == "IDENTIFIER" else token.text.lower()
        called = following is not None and following.token_type.name == "L_PAREN"
        if kind in ("IDENTIFIER", "VAR") and name not in known and not called:
            yield token


def _spellings(tables: Sequence[RealityTable]) -> dict[str, set[str]]:
    """Folded spelling → the names in SQL it may stand for."""
    spelt: dict[str, set[str]] = {}
    for table in tables:
        for written, name in ((table.name, table.name), (table.document_name, table.name)):
            spelt.setdefault(_folded(written), set()).add(name)
        for column in table.columns:
            for written in (column.header, column.name):
                spelt.setdefault(_folded(written), set()).add(column.name)
    return spelt


def _folded(text: str) -> str:
    """Letters and digits only, in lower case.

    >>> _folded("Job-Role (2)")
    'jobrole2'
    """
    return "".join(letter for letter in text.lower() if letter.isalnum())
