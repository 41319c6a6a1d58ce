"""Questions to tables with known answers: how they are read, when an answer counts as right, and the shares."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from core.domain.dataset_queries import Rows, TableAnswer
from core.domain.errors import BadRequest
from core.evaluation.benchmarks.table_sql import known_answers
from core.evaluation.benchmarks.tables import (
    TableQuestionReport,
    by_kind,
    judged,
    read_asked,
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


def test_a_summary_gives_the_shares_and_names_what_was_not_right() -> None:
    found = summary(RESULTS)
    assert {name: found[name] for name in ("questions", "answerable", "answered", "wrong", "refused")} == {
        "questions": 5,
        "answerable": 3,
        "answered": 3,
        "wrong": 2,
        "refused": 2,
    }
    assert (found["precision"], found["coverage"], found["accuracy"]) == (0.3333, 0.3333, 0.4)
    assert (found["set hr"], found["set shop"], found["not_right"]) == (0.6667, 0.0, ["b", "c", "e"])


def test_each_kind_of_question_has_its_own_figures() -> None:
    found = by_kind(RESULTS)
    assert list(found) == ["count", "join", "refuse"]
    assert (found["count"]["precision"], found["count"]["coverage"], found["count"]["refused"]) == (1.0, 0.5, 1)
    assert (found["refuse"]["wrong"], found["refuse"]["coverage"], found["refuse"]["accuracy"]) == (1, 0.0, 0.5)


def test_a_summary_of_nothing_divides_by_nothing() -> None:
    assert summary([])["accuracy"] == 0.0
    assert summary([RESULTS[3]])["coverage"] == 0.0


def test_wrong_answers_come_with_their_reading_and_then_the_refusals() -> None:
    assert wrong_text(RESULTS[:3]) == (
        "wrong   b: how many?\n    Number of rows\nrefused c: how many?\n    Not found in the tables: 'unicorns'."
    )


PAY = "Name;Paid;Pay day;Zip;Late?\nAnn;$1,200.50;03/04/2024;07030;Yes\nBo;$10;25/12/2023;10001;\n"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("unanswerable", {"refused": True}),
        ("SELECT count(*) FROM t", {"number": 2}),
        ("SELECT sum(num(Paid)) FROM pay", {"number": 1210.5}),
        ("SELECT median(num(Paid)) FROM t", {"number": 605.25}),
        ("SELECT Name FROM t WHERE day([Pay day], '%d/%m/%Y') < '2024-01-01'", {"value": "Bo"}),
        ("SELECT Zip FROM t", {"rows": ["07030", "10001"], "total": 2}),
        ("SELECT Name FROM t WHERE Zip = '1'", {"rows": [], "total": 0}),
        ("SELECT Name, num(Paid) FROM t", {"groups": {"Ann": 1200.5, "Bo": 10}}),
        ("SELECT [Late?], count(*) FROM t GROUP BY 1", {"groups": {"Yes": 1}}),
    ],
)
def test_an_answer_is_computed_from_the_file(tmp_path: Path, statement: str, expected: dict[str, Any]) -> None:
    (tmp_path / "pay.csv").write_text(PAY, "utf-8")
    assert known_answers(tmp_path, [statement]) == [expected]


def test_a_wrong_statement_is_named(tmp_path: Path) -> None:
    (tmp_path / "pay.csv").write_text(PAY, "utf-8")
    with pytest.raises(BadRequest, match="SELECT nothing FROM t"):
        known_answers(tmp_path, ["SELECT nothing FROM t"])


def test_a_folder_may_hold_questions_with_their_statements(tmp_path: Path) -> None:
    (tmp_path / "hr").mkdir()
    (tmp_path / "hr" / "pay.csv").write_text(PAY, "utf-8")
    (tmp_path / "questions.toml").write_text('[hr]\n"how many" = ["count", "SELECT count(*) FROM t"]\n', "utf-8")
    assert read_asked(tmp_path) == [TableQuestionReport("hr-01", "hr", "count", "how many", {"number": 2})]
    with pytest.raises(BadRequest, match="contains no questions"):
        read_asked(tmp_path / "hr")


def test_yes_is_the_same_in_a_file_and_in_the_database() -> None:
    given = answer("late rows", (True, 2), (False, 1))
    assert judged(judged_question({"groups": {"Yes": 2, "No": 1}}), given).right
