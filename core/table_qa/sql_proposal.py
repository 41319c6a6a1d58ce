"""A statement proposed by a language model: made from the names of the tables alone, and never run unchecked."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.dataset_queries import Rows
from core.domain.datasets import RealityTable
from core.domain.errors import BadRequest

__all__ = ["INSTRUCTION", "SqlProposal", "read_proposal", "schema_text"]

INSTRUCTION = (
    "You turn a question into one PostgreSQL SELECT over the given tables. Use only the tables and columns listed. "
    "Reply with one JSON object and nothing else: "
    '{"sql": "SELECT …", "reading": "one English sentence that says what the statement computes"}. '
    'When the tables cannot answer the question, reply {"sql": "", "reading": "why not"}.'
)
_MOST_COLUMNS = 60
"""Columns of a table that are described; a longer list would crowd out the others."""


@dataclass(frozen=True, slots=True)
class SqlProposal:
    """A model's statement and its rows. reading: what the statement computes, in the model's words. sql: as it ran."""

    question: str
    reading: str
    sql: str
    rows: Rows
    model: str


def schema_text(question: str, tables: Sequence[RealityTable]) -> str:
    """What the model is told: the question, and the names and types of tables and columns; no cell of any row."""
    lines = [f"Question: {' '.join(question.split())}", "", "Tables:"]
    for table in tables:
        columns = ", ".join(f'"{column.name}" {column.type.value}' for column in table.columns[:_MOST_COLUMNS])
        lines.append(f'"{table.name}" ({columns})')
    return "\n".join(lines)


def read_proposal(text: str, model: str) -> tuple[str, str]:
    """The statement and its reading. Raises BadRequest when the model gave no statement."""
    start, end = text.find("{"), text.rfind("}")
    try:
        row = json.loads(text[start : end + 1])
        sql, reading = str(row["sql"]).strip(), str(row["reading"]).strip()
    except (ValueError, LookupError, TypeError, RecursionError):
        raise BadRequest(f"{model} did not propose a statement.", "Try again, or use the form.") from None
    if not sql:
        raise BadRequest(f"{model} sees no answer in the tables: {reading or 'no reason given'}", "Use the form.")
    return sql, reading
