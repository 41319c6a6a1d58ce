"""Answers: of five truths, and of uploaded tables."""

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import Field

from api.inputs import Body, FilterBody, Project, Question, ShortText, filters_of, with_example
from api.paging import PageOf, Paging, paged_list
from api.route import AtWork, guarded_router
from api.shapes.answers import AnswerShape, TableAnswerShape, TableShape, table_answer_data, table_data
from core.answers.brief import brief_data

__all__ = ["routes"]

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
