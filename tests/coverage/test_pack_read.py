"""Decisions written into a meeting pack's workbook and read back."""

import io
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import openpyxl
import pytest

from core.coverage.meeting_pack.xlsx import DECISION_COLUMNS, DecisionImportPreview, pack_xlsx, read_decisions
from core.domain.coverage import ReviewVerdict
from core.domain.errors import BadRequest
from tests.coverage.boards import NOW, citation
from tests.coverage.test_pack import pack_of

LATER = NOW.date() + timedelta(days=60)
PACK = pack_of()


def edited(edit: Callable[[Any], None]) -> bytes:
    book, out = openpyxl.load_workbook(io.BytesIO(pack_xlsx(PACK))), io.BytesIO()
    edit(book)
    book.save(out)
    return out.getvalue()


def written(row: int = 2, **values: object) -> bytes:
    def edit(book: Any) -> None:
        for column, value in values.items():
            place = DECISION_COLUMNS.index(column.replace("_", " ")) + 1
            book["Decisions"].cell(row, place).value = value

    return edited(edit)


def read(data: bytes) -> DecisionImportPreview:
    return read_decisions(data, "pack.xlsx", PACK.board, PACK.decisions, PACK.current_decisions, NOW)


def test_a_pack_nobody_edited_says_nothing_new() -> None:
    assert read(pack_xlsx(PACK)) == DecisionImportPreview((), 5)


@pytest.mark.parametrize("day", [LATER, LATER.isoformat()])
def test_what_is_written_comes_back(day: date | str) -> None:
    values = {"reason": "later", "owner": "HR", "comment": "ask", "who": "Ada"}
    row = read(written(verdict="waived", expires=day, due=day, **values)).rows[0]
    found = row.decision
    assert (row.row, row.problem, row.before) == (2, "", "not decided")
    assert found is not None and found.verdict is ReviewVerdict.WAIVED
    assert (found.expires, found.due, found.number, found.kind) == (LATER, LATER, 1, "regulatory")
    assert {name: getattr(found, name) for name in values} == values


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"verdict": "fine", "who": "Ada"}, "is not a decision"),
        ({"verdict": "waived", "who": "Ada", "expires": LATER}, "needs a reason"),
        ({"verdict": "needs work", "who": "Ada", "due": "soon"}, "is not a date"),
        ({"verdict": "needs work"}, "needs the name"),
        ({"verdict": "needs work", "who": "Ada", "topic_id": 99}, "no such cell"),
        ({"verdict": "needs work", "who": "Ada", "decisions_so_far": 3}, "Someone has decided"),
    ],
)
def test_a_row_that_cannot_be_taken_over_says_why(values: dict[str, object], words: str) -> None:
    preview = read(written(row=3, **values))
    assert [row.row for row in preview.rows] == [3]
    assert words in preview.rows[0].problem
    assert preview.decisions == ()


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("xl/workbook.xml", "w") as entry:
        for _ in range(201):
            entry.write(bytes(1_000_000))
    return out.getvalue()


@pytest.mark.parametrize(
    "make",
    [
        lambda: b"no workbook",
        lambda: b"",
        lambda: pack_xlsx(PACK)[:3000],
        lambda: edited(lambda book: book.remove(book["Decisions"])),
        lambda: edited(lambda book: book["Decisions"].delete_cols(7)),
        bomb,
    ],
)
def test_a_file_that_is_no_pack_is_refused(make: Callable[[], bytes]) -> None:
    with pytest.raises(BadRequest, match=r"pack\.xlsx"):
        read(make())


def test_an_acceptance_of_evidence_that_is_another_one_now_is_refused() -> None:
    accepted = written(row=3, verdict="accepted as covered", who="Ada")
    assert [row.problem for row in read(accepted).rows] == [""]
    later = citation("A later run found this.", document_name="new.pdf")
    board = replace(PACK.board, cells=tuple(replace(cell, evidence=(later,)) for cell in PACK.board.cells))
    preview = read_decisions(accepted, "pack.xlsx", board, PACK.decisions, PACK.current_decisions, NOW)
    assert [row.problem for row in preview.rows] == ["Its evidence has changed since this pack was made."]
    assert preview.decisions == ()
