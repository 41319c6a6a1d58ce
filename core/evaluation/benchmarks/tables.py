"""Measures answers to table questions against a file of questions with known answers."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from core.domain.dataset_queries import TableAnswer
from core.domain.datasets import ROW_COLUMN
from core.domain.errors import BadRequest
from core.evaluation.benchmarks.table_sql import known_answers

__all__ = [
    "JudgedTableQuestion",
    "TableQuestionReport",
    "by_kind",
    "judged",
    "read_asked",
    "read_questions",
    "summary",
    "wrong_text",
]

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


def read_asked(folder: Path) -> list[TableQuestionReport]:
    """The questions of `questions.jsonl` and `questions.toml` in a folder that holds a folder of tables per set.

    The second names, per set, each question with its kind and the SQL that computes its answer from the files. Raises
    BadRequest for a folder without either, and for a wrong question.
    """
    lines, computed = folder / "questions.jsonl", folder / "questions.toml"
    if not lines.is_file() and not computed.is_file():
        raise BadRequest(f"'{folder}' contains no questions.", "Add questions.jsonl or questions.toml.")
    questions = read_questions(lines) if lines.is_file() else []
    if computed.is_file():
        for collection, rows in tomllib.loads(computed.read_text("utf-8")).items():
            answers = known_answers(folder / collection, [statement for _, statement in rows.values()])
            questions += [
                TableQuestionReport(f"{collection}-{number:02}", collection, kind, question, expected)
                for number, ((question, (kind, _)), expected) in enumerate(zip(rows.items(), answers, strict=True), 1)
            ]
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
    """Counts and shares in [0, 1]. accuracy: right answers and right refusals among all questions. precision: right
    answers among those given. coverage: rightly answered among the answerable. wrong: answers that are not the known
    one. refused: refusals, right or not."""
    collections = sorted({each.question.collection for each in results})
    return {
        **_figures(results),
        **{
            f"set {name}": _share([each for each in results if each.question.collection == name])
            for name in collections
        },
        "by_kind": by_kind(results),
        "not_right": [each.question.id for each in results if not each.right],
    }


def by_kind(results: Sequence[JudgedTableQuestion]) -> dict[str, dict[str, float]]:
    """The same figures for each kind of question."""
    kinds = sorted({each.question.kind for each in results})
    return {kind: _figures([each for each in results if each.question.kind == kind]) for kind in kinds}


def _figures(results: Sequence[JudgedTableQuestion]) -> dict[str, float]:
    answerable = [each for each in results if "refused" not in each.question.expected]
    answered = [each for each in results if each.answer.answered]
    right = sum(each.right for each in answered)
    return {
        "questions": len(results),
        "answerable": len(answerable),
        "answered": len(answered),
        "wrong": len(answered) - right,
        "refused": len(results) - len(answered),
        "precision": _share(answered),
        "coverage": round(right / len(answerable), 4) if answerable else 0.0,
        "accuracy": _share(results),
    }


def wrong_text(results: Sequence[JudgedTableQuestion]) -> str:
    """The questions answered wrongly with the interpretation, then those refused although they have an answer."""
    wrong = [each for each in results if each.answer.answered and not each.right]
    refused = [each for each in results if not each.answer.answered and not each.right]
    lines = [f"wrong   {each.question.id}: {each.question.question}\n    {each.answer.reading}" for each in wrong]
    lines += [f"refused {each.question.id}: {each.question.question}\n    {each.answer.refusal}" for each in refused]
    return "\n".join(lines)


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
    return abs(value - number) <= max(0.01 if abs(number) > 1 else 0.001, 1e-6 * abs(number))


_YES_OR_NO = {"true": "yes", "y": "yes", "false": "no", "n": "no"}


def _text(cell: object) -> str:
    if isinstance(cell, float | Decimal):
        return f"{float(cell):.12g}"
    text = " ".join(str(cell).split()).casefold()
    return _YES_OR_NO.get(text, text)


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
