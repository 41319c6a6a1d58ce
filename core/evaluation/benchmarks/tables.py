"""Measures answers to table questions against a file of questions with known answers."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain.dataset_queries import TableAnswer
from core.domain.datasets import ROW_COLUMN
from core.domain.errors import BadRequest

__all__ = ["JudgedTableQuestion", "TableQuestionReport", "judged", "read_questions", "summary", "wrong_text"]

_ANSWERS = ("number", "value", "rows", "total", "groups", "refused")


@dataclass(frozen=True, slots=True)
class TableQuestionReport:
    """One question with its answer. collection: the folder of tables it is about.

    expected: {"number": 12.5} · {"value": "Text", "also": [...]} · {"rows": [keys], "total": n} ·
    {"groups": {label: number}} · {"refused": true}; "also_rows" and "also_groups" name the same in another way.
    """

    id: str
    collection: str
    kind: str
    question: str
    expected: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class JudgedTableQuestion:
    """Whether one question was answered correctly, and the answer given."""

    question: TableQuestionReport
    right: bool
    answer: TableAnswer


def read_questions(path: Path) -> list[TableQuestionReport]:
    """One question per line of JSON. Raises BadRequest naming file and line."""
    questions = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            question = TableQuestionReport(str(row["id"]), row["set"], row["kind"], row["question"], row["answer"])
        except (json.JSONDecodeError, KeyError, TypeError) as error:
            raise BadRequest(
                f"{path.name}, line {number}: {error!r}.", "Each line needs id, set, kind, question and answer."
            ) from error
        if not isinstance(question.expected, dict) or not set(question.expected) & set(_ANSWERS):
            raise BadRequest(f"{path.name}, line {number}: the answer says none of {', '.join(_ANSWERS)}.", "Add one.")
        questions.append(question)
    return questions


def judged(question: TableQuestionReport, answer: TableAnswer) -> JudgedTableQuestion:
    """Compare an answer with the known one."""
    expected = question.expected
    if "refused" in expected:
        return JudgedTableQuestion(question, not answer.answered, answer)
    if answer.rows is None:
        return JudgedTableQuestion(question, False, answer)
    if "number" in expected:
        right = _holds_number(answer, float(expected["number"]))
    elif "value" in expected:
        right = _holds_value(answer, [expected["value"], *expected.get("also", [])])
    elif "groups" in expected:
        right = any(_holds_groups(answer, groups) for groups in _either(expected, "groups"))
    else:
        total = expected.get("total", len(expected.get("rows", ())))
        right = any(_holds_rows(answer, keys, total) for keys in _either(expected, "rows"))
    return JudgedTableQuestion(question, right, answer)


def summary(results: Sequence[JudgedTableQuestion]) -> dict[str, Any]:
    """Shares of right answers, in [0, 1]: of all, of the answerable, of those to be refused, per kind and collection.
    answered_wrongly: questions that got an answer that is not theirs. precision: right answers among all answers given.
    coverage: rightly answered among the answerable."""
    answerable = [each for each in results if "refused" not in each.question.expected]
    refused = [each for each in results if "refused" in each.question.expected]
    kinds = sorted({each.question.kind for each in results})
    collections = sorted({each.question.collection for each in results})
    return {
        "questions": len(results),
        "right": sum(each.right for each in results),
        "accuracy": _share(results),
        "answerable": _share(answerable),
        "to_be_refused": _share(refused),
        "answered_wrongly": sum(each.answer.answered and not each.right for each in results),
        "precision": _share([each for each in results if each.answer.answered]),
        "coverage": round(sum(each.answer.answered and each.right for each in answerable) / max(len(answerable), 1), 4),
        **{
            f"set {name}": _share([each for each in results if each.question.collection == name])
            for name in collections
        },
        "by_kind": {kind: _share([each for each in results if each.question.kind == kind]) for kind in kinds},
        "wrong": [each.question.id for each in results if not each.right],
    }


def wrong_text(results: Sequence[JudgedTableQuestion]) -> str:
    """The questions answered wrongly, and how each was interpreted."""
    return "\n".join(
        f"{each.question.id}: {each.question.question}\n    {each.answer.reading or each.answer.refusal}"
        for each in results
        if not each.right
    )


def _share(some: Sequence[JudgedTableQuestion]) -> float:
    return round(sum(each.right for each in some) / len(some), 4) if some else 0.0


def _either(expected: Mapping[str, Any], name: str) -> list[Any]:
    """The answer, and the same named in another way, when the file gives one."""
    return [expected.get(name, ()), *([expected[f"also_{name}"]] if f"also_{name}" in expected else [])]


def _cells(answer: TableAnswer) -> list[list[object]]:
    """The rows without their numbers."""
    assert answer.rows is not None
    skip = answer.rows.columns.index(ROW_COLUMN) if ROW_COLUMN in answer.rows.columns else -1
    return [[cell for at, cell in enumerate(row) if at != skip] for row in answer.rows.rows]


def _near(cell: object, number: float) -> bool:
    if isinstance(cell, bool) or cell is None:
        return False
    try:
        value = float(str(cell))
    except ValueError:
        return False
    return abs(value - number) <= max(0.01, 1e-6 * abs(number))


def _text(cell: object) -> str:
    return " ".join(str(cell).split()).casefold()


def _holds_number(answer: TableAnswer, number: float) -> bool:
    rows = _cells(answer)
    if len(rows) != 1:
        return False
    percent = (
        any(_near(cell, number / 100) for cell in rows[0])
        and answer.rows is not None
        and "share" in answer.rows.columns
    )
    return percent or any(_near(cell, number) for cell in rows[0])


def _holds_value(answer: TableAnswer, values: Sequence[object]) -> bool:
    rows = _cells(answer)
    return len(rows) == 1 and any(_text(cell) == _text(value) for cell in rows[0] for value in values)


def _holds_rows(answer: TableAnswer, keys: Sequence[object], total: int) -> bool:
    assert answer.rows is not None
    if answer.rows.total != total:
        return False
    found = {_text(cell) for row in _cells(answer) for cell in row}
    return all(_text(key) in found for key in keys)


def _holds_groups(answer: TableAnswer, groups: Mapping[str, float]) -> bool:
    rows = [row for row in _cells(answer) if any(cell is not None for cell in row[:-1]) and row[-1] is not None]
    if len(rows) != len(groups):
        return False
    return all(
        any(any(_text(cell) == _text(label) for cell in row[:-1]) and _near(row[-1], float(number)) for row in rows)
        for label, number in groups.items()
    )
