"""Answers of five truths (docs/five-truths.schema.json) and of tables."""

from typing import Any

from pydantic import ConfigDict, Field

from api.inputs import Shape
from core.domain.dataset_queries import TableAnswer
from core.domain.datasets import RealityTable

__all__ = ["AnswerShape", "TableAnswerShape", "TableShape", "table_answer_data", "table_data"]


class TruthAnswerShape(Shape):
    """What one truth answers."""

    truth: str
    state: str = Field(description="answered, silent, failed or not asked.")
    evidence_score: float
    citations: list[dict[str, Any]]
    figures: list[dict[str, Any]] = Field(description="Numbers computed from tables, with their SQL.")
    silence: str
    needed: str = Field(description="What to obtain for a complete answer.")


class AnswerShape(Shape):
    """The answer of five truths: the same data as the JSON brief (schema fivefold.five-truths/1)."""

    model_config = ConfigDict(extra="allow")

    schema_: str = Field(alias="schema")
    question: str
    asked_at: str
    profile: str
    filters: list[str]
    confidence: float = Field(description="How complete and undisputed the answer is, in [0, 1].")
    confidence_reason: str
    truths: list[TruthAnswerShape]
    agreements: list[dict[str, Any]]
    conflicts: list[dict[str, Any]]
    to_raise: list[str]
    notices: list[str]
    bibliography: list[dict[str, Any]]
    synthesis: dict[str, Any] | None


class ColumnShape(Shape):
    """One column of a table."""

    name: str = Field(description="In SQL.")
    header: str = Field(description="In the file.")
    type: str
    filled: int
    distinct: int
    key: bool
    personal: str = Field(description="Why it is personal data; empty when it is not.")


class TableShape(Shape):
    """An uploaded table."""

    name: str
    label: str
    document_id: int
    document_name: str
    project: str | None
    role: str = Field(description="records or setup.")
    rows: int
    rejected: int
    columns: list[ColumnShape]


class TableAnswerShape(Shape):
    """The answer of the tables, or why there is none."""

    question: str
    answered: bool
    reading: str = Field(description="How the question was understood.")
    headline: str = Field(description="The short answer.")
    columns: list[str]
    rows: list[list[Any]]
    total: int
    truncated: bool
    sql: str
    tables: list[str]
    citation: str
    others: list[str] = Field(description="Other readings of the question.")
    notes: list[str]
    unused: list[str] = Field(description="Words of the question that added nothing.")
    refusal: str = Field(description="Why there is no answer; empty when there is one.")


def table_data(table: RealityTable) -> TableShape:
    """A table as a shape."""
    return TableShape.model_validate(table)


def table_answer_data(answer: TableAnswer) -> TableAnswerShape:
    """An answer as a shape; cells become JSON: numbers, text, ISO dates."""
    rows = answer.rows
    return TableAnswerShape(
        question=answer.question,
        answered=answer.answered,
        reading=answer.reading,
        headline=answer.headline,
        columns=[] if rows is None else list(rows.columns),
        rows=[] if rows is None else [list(row) for row in rows.rows],
        total=0 if rows is None else rows.total,
        truncated=rows is not None and rows.truncated,
        sql="" if rows is None else rows.sql,
        tables=list(answer.tables),
        citation=answer.citation,
        others=[each.reading for each in answer.others],
        notes=list(answer.notes),
        unused=list(answer.unused),
        refusal=answer.refusal,
    )
