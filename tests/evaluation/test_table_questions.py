"""Questions to tables with known answers: how they are read, when an answer counts as right, and the shares."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from core.domain.dataset_queries import Rows, TableAnswer
from core.domain.errors import BadRequest
from core.evaluation.benchmarks.tables import (
    JudgedTableQuestion,
    TableQuestionReport,
    judged,
    read_questions,
    summary,
    wrong_text,
)

GOOD = {"id": "q1", "set": "hr", "kind": "count", "question": "how many?", "answer": {"number": 3}}


def judged_question(
    expected: dict[str, Any], name: str = "q1", kind: str = "count", collection: str = "hr"
) -> TableQuestionReport:
    return TableQuestionReport(name, collection, kind, "how many?", expected)


def answer(columns: str, *rows: tuple[object, ...], total: int | None = None) -> TableAnswer:
    stored = Rows(tuple(columns.split()), rows, len(rows) if total is None else total, 0.0)
    return TableAnswer("how many?", reading="Number of rows", headline="some", rows=stored)


REFUSED = TableAnswer("how many?", refusal="Not found in the tables: 'unicorns'.")
STATES = {"TX": 3, "OH": 2.5}


@pytest.mark.parametrize(
    ("expected", "given", "right"),
    [
        # a number
        ({"number": 3}, answer("rows", (3,)), True),
        ({"number": 3}, answer("rows", (Decimal("3.004"),)), True),
        ({"number": 3}, answer("rows", ("3",)), True),
        ({"number": 3}, answer("rows", (4,)), False),
        ({"number": 1}, answer("active", (True,)), False),
        ({"number": 0}, answer("salary", (None,)), False),
        ({"number": 3}, answer("name", ("three",)), False),
        ({"number": 3}, answer("rows", (3,), (3,)), False),
        ({"number": 3}, answer("rows"), False),
        ({"number": 3}, answer("_row name", (3, "Ann")), False),
        ({"number": 3}, answer("_row name days", (9, "Ann", 3)), True),
        ({"number": 1_000_000}, answer("sum", (1_000_000.9,)), True),
        ({"number": 1_000_000}, answer("sum", (1_000_002,)), False),
        ({"number": 3}, REFUSED, False),
        # a share, as a percentage
        ({"number": 41.67}, answer("share", (Decimal("0.416666"),)), True),
        ({"number": 41.67}, answer("average", (Decimal("0.416666"),)), False),
        # a value
        ({"value": "Ann  Lee"}, answer("_row name", (1, "ann lee")), True),
        ({"value": "Ann Lee"}, answer("_row first last", (1, "Ann", "Lee")), False),
        ({"value": "Ann Lee", "also": ["E101"]}, answer("_row id", (1, "E101")), True),
        ({"value": "Ann Lee"}, answer("name", ("Ann Lee",), ("Bo Ray",)), False),
        ({"value": "1"}, answer("_row name", (1, "Ann")), False),
        # rows
        ({"rows": ["E1", "E2"]}, answer("_row id", (1, "E1"), (2, "E2")), True),
        ({"rows": ["E1", "E2"]}, answer("_row id", (2, "e2"), (1, "e1")), True),
        ({"rows": ["E1", "E2"]}, answer("_row id", (1, "E1")), False),
        ({"rows": ["E1"]}, answer("_row id", (1, "E1"), (2, "E2")), False),
        ({"rows": ["E1"], "total": 700}, answer("_row id", (1, "E1"), (2, "E2"), total=700), True),
        ({"rows": [], "total": 0}, answer("_row id"), True),
        ({"rows": ["E1"], "also_rows": ["Ann"]}, answer("_row name", (1, "Ann")), True),
        ({"rows": ["E1"], "also_rows": ["Ann"]}, answer("_row name", (1, "Bo")), False),
        ({"rows": ["E1"]}, REFUSED, False),
        # how many rows, whichever they are
        ({"total": 2}, answer("_row id", (1, "E1"), (2, "E2")), True),
        ({"total": 3}, answer("_row id", (1, "E1"), (2, "E2")), False),
        # groups
        ({"groups": STATES}, answer("state rows", ("tx", 3), ("OH", Decimal("2.5"))), True),
        ({"groups": STATES}, answer("state rows", ("TX", 3), ("OH", 2.5), (None, 9)), True),
        ({"groups": STATES}, answer("code state rows", ("1", "TX", 3), ("2", "OH", 2.5)), True),
        ({"groups": STATES}, answer("state rows", ("TX", 3)), False),
        ({"groups": STATES}, answer("state rows", ("TX", 3), ("OH", 2)), False),
        ({"groups": STATES}, answer("state rows", ("TX", 3), ("OH", 2.5), ("KY", 1)), False),
        ({"groups": STATES}, answer("state rows", ("TX", 2.5), ("OH", 3)), False),
        ({"groups": STATES, "also_groups": {"Texas": 3}}, answer("state rows", ("Texas", 3)), True),
        # refused
        ({"refused": True}, REFUSED, True),
        ({"refused": True}, answer("rows", (3,)), False),
        ({"refused": True}, answer("rows"), False),
    ],
)
def test_an_answer_is_right_when_it_is_what_is_known(expected: dict[str, Any], given: TableAnswer, right: bool) -> None:
    assert judged(judged_question(expected), given).right is right


def test_a_file_holds_one_question_per_line_and_may_hold_empty_ones(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n\n{json.dumps(GOOD | {'id': 2, 'answer': {'refused': True}})}\n", "utf-8")
    first, second = read_questions(path)
    assert first == TableQuestionReport("q1", "hr", "count", "how many?", {"number": 3})
    assert (second.id, second.expected) == ("2", {"refused": True})


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "JSONDecodeError"),
        ("[]", "TypeError"),
        ("12", "TypeError"),
        (json.dumps({key: value for key, value in GOOD.items() if key != "set"}), "KeyError('set')"),
        (json.dumps({key: value for key, value in GOOD.items() if key != "answer"}), "KeyError('answer')"),
        (json.dumps(GOOD | {"answer": {}}), "the answer says none of number, value, rows, total, groups, refused"),
        (json.dumps(GOOD | {"answer": {"numbers": 3}}), "the answer says none of"),
        (json.dumps(GOOD | {"answer": 3}), "the answer says none of"),
        (json.dumps(GOOD | {"answer": ["number"]}), "the answer says none of"),
    ],
)
def test_a_wrong_line_is_named_with_its_file(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n\n{line}\n", "utf-8")
    with pytest.raises(BadRequest) as refused:
        read_questions(path)
    assert refused.value.message.startswith("questions.jsonl, line 3: ")
    assert problem in refused.value.message
    assert refused.value.hint


RIGHT, WRONG = answer("rows", (3,)), answer("rows", (4,))
RESULTS = [
    judged(judged_question({"number": 3}, "a"), RIGHT),
    judged(judged_question({"number": 3}, "b", kind="join"), WRONG),
    judged(judged_question({"number": 3}, "c", collection="shop"), REFUSED),
    judged(judged_question({"refused": True}, "d", kind="refuse"), REFUSED),
    judged(judged_question({"refused": True}, "e", kind="refuse", collection="shop"), WRONG),
]


def test_a_summary_gives_the_shares_and_names_what_was_wrong() -> None:
    assert summary(RESULTS) == {
        "questions": 5,
        "right": 2,
        "accuracy": 0.4,
        "answerable": 0.3333,
        "to_be_refused": 0.5,
        "answered_wrongly": 2,
        "precision": 0.3333,
        "coverage": 0.3333,
        "set hr": 0.6667,
        "set shop": 0.0,
        "by_kind": {"count": 0.5, "join": 0.0, "refuse": 0.5},
        "wrong": ["b", "c", "e"],
    }


def test_a_summary_of_nothing_divides_by_nothing() -> None:
    assert summary([])["accuracy"] == 0.0
    refused_only: list[JudgedTableQuestion] = [RESULTS[3]]
    assert (summary(refused_only)["answerable"], summary(refused_only)["to_be_refused"]) == (0.0, 1.0)


def test_what_was_wrong_is_told_with_its_reading_or_refusal() -> None:
    assert wrong_text(RESULTS[:3]) == (
        "b: how many?\n    Number of rows\nc: how many?\n    Not found in the tables: 'unicorns'."
    )
