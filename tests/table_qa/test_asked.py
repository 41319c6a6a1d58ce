"""Questions with known answers, asked of tables people did not make for us. The share of right answers may not fall."""

import runpy
from pathlib import Path

import pytest

from core.evaluation.benchmarks.tables import (
    JudgedTableQuestion,
    judged,
    read_asked,
    read_questions,
    summary,
    wrong_text,
)
from core.table_qa.service import TableService
from tests.table_qa.conftest import Loaded

ASKED = Path(__file__).parent / "asked"
SETS = ("sample", "corp", "payroll", "northwind", "flights")
LEAST = 0.85


def ask_all(desk: TableService, path: Path, collection: str) -> list[JudgedTableQuestion]:
    questions = [each for each in read_questions(path) if each.collection == collection]
    return [judged(each, desk.ask(each.question)) for each in questions]


@pytest.mark.parametrize("collection", SETS)
def test_questions_are_answered_rightly_or_refused(desk_for: Loaded, collection: str) -> None:
    results = ask_all(desk_for(ASKED / collection), ASKED / "questions.jsonl", collection)
    assert len(results) >= 20
    wrong = [
        f"{each.question.question} → {each.answer.reading or each.answer.refusal}" for each in results if not each.right
    ]
    assert summary(results)["accuracy"] >= LEAST, wrong


@pytest.mark.parametrize("collection", SETS)
def test_what_the_tables_cannot_say_is_refused_with_a_reason(desk_for: Loaded, collection: str) -> None:
    results = ask_all(desk_for(ASKED / collection), ASKED / "questions.jsonl", collection)
    refused = [each for each in results if "refused" in each.question.expected]
    assert len(refused) >= 3
    for each in refused:
        assert not each.answer.answered, each.question.question
        assert each.answer.refusal
        assert each.answer.rows is None


def test_questions_to_a_real_table_are_answered_rightly(desk_for: Loaded, shared: Path, tmp_path: Path) -> None:
    table = next((shared / "corpus" / "files").glob("*Employee_Salaries*.csv"))
    work = next((shared / "corpus" / "files").glob("*WorkTimes*.xlsx"))
    folder = tmp_path / "county"
    folder.mkdir()
    for path in (table, work):
        (folder / path.name).write_bytes(path.read_bytes())
    results = ask_all(desk_for(folder), ASKED / "county.jsonl", "county")
    assert summary(results)["accuracy"] >= LEAST


def test_the_same_question_gives_the_same_answer(desk_for: Loaded) -> None:
    desk = desk_for(ASKED / "corp")
    first, second = (desk.ask("average salary by department") for _ in range(2))
    assert (first.reading, first.rows and first.rows.rows) == (second.reading, second.rows and second.rows.rows)


@pytest.mark.parametrize(
    ("folder", "precision", "coverage"),
    [("development", 0.98, 0.85), ("development_2", 0.97, 0.75), ("development_3", 0.97, 0.8), ("held_out", 0.9, 0.65)],
)
def test_answers_about_constructed_tables_are_right_and_the_rest_is_refused(
    desk_for: Loaded, folder: str, precision: float, coverage: float
) -> None:
    questions = read_asked(ASKED / folder)
    results = [judged(each, desk_for(ASKED / folder / each.collection).ask(each.question)) for each in questions]
    found = summary(results)
    assert found["precision"] >= precision, wrong_text(results)
    assert found["coverage"] >= coverage


def test_the_constructed_tables_are_what_their_script_writes(tmp_path: Path) -> None:
    script = (ASKED / "make_tables.py").read_text("utf-8")
    (tmp_path / "make_tables.py").write_text(script, "utf-8")
    runpy.run_path(str(tmp_path / "make_tables.py"))
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.csv"))
    assert len(written) >= 40
    assert all((tmp_path / path).read_bytes() == (ASKED / path).read_bytes() for path in written)
