"""A board that leaves the product."""

import csv
import io
import json
import re
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.coverage.board_view import board_csv, board_data, board_rows, board_text
from core.coverage.detection.detector import Detector, assess
from core.domain.coverage import Board, Topic
from core.domain.documents import Truth
from core.formats.csv import csv_text, inert, restored
from core.knowledge.profiles import profiles
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from tests.search.library import NOW, payroll_library

PROFILE = profiles()["balanced"]


@pytest.fixture
def board() -> Board:
    library = payroll_library()
    detector = Detector(library.catalogue, library.vectors, library.sparse, library.embedder)
    return assess(
        detector,
        [Topic("=cmd|' /C calc'!A0 overtime"), Topic("vacation")],
        now=NOW,
        profile=PROFILE,
        terms=BUILT_IN_TERMS,
        timer=perf_counter,
    )


def test_every_cell_is_a_row(board: Board) -> None:
    rows = list(csv.DictReader(io.StringIO(board_csv(board))))
    assert len(rows) == 12 == len(board_rows(board))
    vacation = next(row for row in rows if row["topic"] == "vacation" and row["truth"] == "compliance")
    assert vacation["state"] == "covered"
    assert vacation["document"] == "handbook.md"
    assert vacation["recommendation"] == ""


def test_no_cell_runs_as_a_formula(board: Board) -> None:
    for row in csv.reader(io.StringIO(board_csv(board))):
        assert not [cell for cell in row if cell.lstrip().startswith(("=", "+", "@"))]


SIGNS = "=+-@＝＋－＠"
LEADS = ("", "  ", "\t", "\r", "\n", "\u00a0", "\u200b", "\ufeff", "\u3000 ", "\u2060")


@pytest.mark.parametrize("text", [f"{lead}{sign}1" for lead in LEADS for sign in SIGNS] + ["\tx", "\rx", "\nx"])
def test_text_that_starts_like_a_formula_is_made_inert_and_comes_back(text: str) -> None:
    assert inert(text) == f"'{text}" and restored(inert(text)) == text


ODD_TEXT = st.text(f"ab ;,'\"\r\n\t\u00a0\u200b{SIGNS}", max_size=8)


@given(st.lists(st.lists(ODD_TEXT, min_size=1, max_size=3), max_size=3))
def test_no_spreadsheet_finds_a_formula_whatever_separates_its_cells(rows: list[list[str]]) -> None:
    written = csv_text(rows)
    assert [[restored(cell) for cell in row] for row in csv.reader(io.StringIO(written, newline=""))] == [
        [restored(cell) for cell in row] for row in rows
    ]
    for separator in (",", ";"):
        for row in csv.reader(io.StringIO(written, newline=""), delimiter=separator):
            assert not [cell for cell in row if cell.strip("\u200b \u00a0\r\n\t").startswith(tuple(SIGNS))]
    for piece in re.split("[;\r\n]", written):  # as one that ignores quotation marks would cut it
        assert not piece.strip("\u200b \u00a0\t").startswith(tuple(SIGNS))


def test_data_is_json_and_keeps_the_numbers(board: Board) -> None:
    data = json.loads(json.dumps(board_data(board)))
    assert data["coverage"] == board.coverage
    assert len(data["cells"]) == 12
    assert {gap["severity"] for gap in data["gaps"]} == {"high", "medium", "low"}


def test_text_names_topics_truths_and_gaps(board: Board) -> None:
    text = board_text(board)
    assert all(truth.value in text for truth in Truth)
    assert "vacation" in text
    assert "- high: vacation / regulatory." in text
