"""The desk of answers: whose tables are counted, what is remembered, and what a failing store takes along."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from bootstrap.environment import Settings, utc_now
from bootstrap.workbench import open_workbench, settings_from_environment
from core.answers.service import AnswerService
from core.domain.documents import Truth
from core.domain.errors import BadRequest, StoreFailed
from core.domain.filters import SearchFilters
from core.domain.five_truths import Figure, TruthState
from core.domain.people import LOCAL_LOGIN
from core.knowledge.profiles import BUILT_IN
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.table_qa.service import TableService
from tests.answers.asking import COUNTED, QUESTION, expense_library
from tests.answers.endpoints import KEY, Behaviour, completion, served
from tests.database import ScratchTableStore
from tests.search.library import NOW, Library


class Figures:
    """Counts one figure, and remembers for which project."""

    def __init__(self) -> None:
        self.projects: list[str | None] = []

    def __call__(self, question: str, project: str | None) -> Sequence[Figure]:
        self.projects.append(project)
        return (COUNTED,)


class DeadTables(ScratchTableStore):
    """A store of tables that does not answer."""

    def tables(self) -> Sequence[object]:  # type: ignore[override]
        raise StoreFailed("The tables did not answer.", "Start their database.")


def desk(library: Library, figures: object = None, writer: object = None) -> AnswerService:
    return AnswerService(
        pipeline=library.searcher,
        catalogue=library.catalogue,
        profiles=BUILT_IN,
        figures=figures or Figures(),
        writer=writer,
        terms=lambda: BUILT_IN_TERMS,
        now=lambda: NOW,
    )  # type: ignore[arg-type]


def test_a_dead_store_of_tables_fails_reality_and_the_other_truths_answer() -> None:
    library = expense_library()
    tables = TableService(DeadTables(), library.catalogue, now=utc_now)
    answer = desk(library, tables.figures).ask(QUESTION, filters=SearchFilters(), profile="balanced")
    assert answer.of(Truth.REGULATORY).state is TruthState.ANSWERED
    assert answer.of(Truth.COMPLIANCE).state is TruthState.ANSWERED
    assert answer.of(Truth.REALITY).state is TruthState.FAILED
    assert "The tables did not answer." in answer.of(Truth.REALITY).silence and not answer.notices


@pytest.mark.parametrize(
    ("filters", "project"),
    [
        (SearchFilters(), None),
        (SearchFilters(projects=("Tallgrass",)), "Tallgrass"),
        (SearchFilters(projects=("A", "B")), None),
    ],
)
def test_the_tables_of_a_single_project_are_counted(filters: SearchFilters, project: str | None) -> None:
    figures = Figures()
    desk(expense_library(), figures).ask(QUESTION, filters=filters, profile="balanced")
    assert figures.projects == [project]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (SearchFilters(), False),
        (SearchFilters(truths=("reality",)), False),
        (SearchFilters(projects=("Tallgrass",)), False),
        (SearchFilters(projects=("A", "B")), True),
        (SearchFilters(jurisdictions=("state:CA",)), True),
        (SearchFilters(recency_months=3), True),
        (SearchFilters(exclude_truths=("reality",), recency_months=3), False),
    ],
)
def test_figures_a_filter_does_not_narrow_say_so(filters: SearchFilters, expected: bool) -> None:
    answer = desk(expense_library()).ask(QUESTION, filters=filters, profile="balanced")
    assert any("whole tables" in notice for notice in answer.notices) is expected


def test_a_question_is_remembered_with_the_passages_cited(monkeypatch: pytest.MonkeyPatch) -> None:
    library = expense_library()
    answer = desk(library).ask(QUESTION, filters=SearchFilters(), profile="balanced")
    cited = {citation.passage_id for each in answer.truths for citation in each.citations}
    assert [(q, hits) for q, hits, _ in library.catalogue.last_searches(5, LOCAL_LOGIN)] == [(QUESTION, len(cited))]


def test_a_question_that_could_not_be_searched_is_not_remembered_as_unanswered() -> None:
    library = expense_library()

    def broken(requests: object, now: object) -> None:
        raise StoreFailed("The database went away.")

    library.searcher.search_many = broken  # type: ignore[method-assign, assignment]
    answer = desk(library).ask(QUESTION, filters=SearchFilters(), profile="balanced")
    assert answer.of(Truth.REGULATORY).state is TruthState.FAILED
    assert library.catalogue.last_searches(5, LOCAL_LOGIN) == []


def test_an_empty_question_is_refused() -> None:
    with pytest.raises(BadRequest):
        desk(expense_library()).ask("  ", filters=SearchFilters(), profile="balanced")


def test_a_writer_writes_and_without_one_the_text_is_the_sources_own() -> None:
    with served(Behaviour(completion("Nothing [9999.0]."))) as model:
        writing = desk(expense_library(), writer=model.endpoint())
        answer = writing.ask(QUESTION, filters=SearchFilters(), profile="balanced")
        assert "tiny" in writing.writer_name
        assert "supported" in writing.write(answer).notices[0]
    silent = desk(expense_library())
    assert silent.writer_name == "" and silent.write(answer).written_by == ""


def test_the_key_of_a_language_model_is_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIVEFOLD_ANSWER_KEY", KEY)
    monkeypatch.setenv("FIVEFOLD_ANSWER_SECONDS", "5")
    settings = settings_from_environment()
    assert (settings.answer_key, settings.answer_seconds) == (KEY, 5)
    assert KEY not in repr(settings) and KEY not in str(settings)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"answer_url": "ftp://somewhere", "answer_model": "tiny"}, "not a web address"),
        ({"answer_url": "http://somewhere/v1"}, "FIVEFOLD_ANSWER_MODEL is empty"),
        ({"answer_url": "http://somewhere/v1", "answer_model": "tiny", "answer_key": f"{KEY} x"}, "no key has"),
    ],
)
def test_a_language_model_that_cannot_be_is_refused_before_anything_starts(
    tmp_path: Path, changes: dict[str, str], expected: str
) -> None:
    with pytest.raises(BadRequest, match=expected) as caught:
        open_workbench(Settings(tmp_path, **changes))  # type: ignore[arg-type]
    assert KEY not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
