"""Answers: of five truths, and of uploaded tables."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import ConfigDict, Field

from api.inputs import Body, FilterBody, Project, Question, Shape, ShortText, filters_of, with_example
from api.paging import PageOf, Paging, paged_list
from api.route import AtWork, guarded_router
from core.answers.brief import brief_data
from core.domain.dataset_queries import TableAnswer
from core.domain.datasets import RealityTable

__all__ = ["routes"]


class TruthAnswerShape(Shape):
    """What one truth answers."""

    truth: str
    state: str = Field(description="answered, silent, failed or not asked.")
    evidence_score: float = Field(description="Probability that this truth answers; 0 when it is silent.")
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


routes = guarded_router("answers")


class FiveTruthsQuestion(Body):
    """A question for all five truths."""

    model_config = with_example({"question": "When must overtime be approved?", "project": None})

    question: Question
    filters: FilterBody = Field(default_factory=FilterBody)
    profile: ShortText = Field(default="", description="A score profile; empty: the default.")
    project: Project = None
    write: bool = Field(default=False, description="Also as running text, each sentence checked against its citation.")


@routes.post("/answers", response_model=AnswerShape, summary="Answer by five truths")
def answer(caller: AtWork, question: FiveTruthsQuestion) -> dict[str, Any]:
    """What law, own rules, customer, guides and data say about a question, where they agree or conflict, and what is
    missing."""
    answers = caller.workbench.answers
    found = answers.ask(
        question.question,
        filters=filters_of(question.filters),
        profile=question.profile,
        project=question.project or None,
    )
    return brief_data(found, answers.write(found) if question.write else None)


@routes.get("/tables", response_model=PageOf[TableShape], summary="List tables")
def list_tables(
    caller: AtWork,
    paging: Paging,
    project: Annotated[ShortText | None, Query(description="A project's tables and shared ones.")] = None,
) -> dict[str, Any]:
    """The current tables, by name."""
    return paged_list(paging, caller.workbench.tables.tables(project), lambda each: each.name, table_data)


@routes.get("/tables/{name}", response_model=TableShape, summary="Get a table")
def get_table(caller: AtWork, name: Annotated[ShortText, Path(description="Its name in SQL.")]) -> TableShape:
    """A table with its columns."""
    return table_data(caller.workbench.tables.table(name))


class TableQuestion(Body):
    """A question about the data."""

    model_config = with_example({"question": "How many employees work in California?"})

    question: Question
    project: Project = None


@routes.post("/tables/ask", response_model=TableAnswerShape, summary="Ask the tables")
def ask_tables(caller: AtWork, question: TableQuestion) -> TableAnswerShape:
    """Rows and numbers from uploaded tables, with the SQL that was run; or why the question has no answer there."""
    return table_answer_data(caller.workbench.tables.ask(question.question, question.project or None))
