"""A board that leaves the product."""

import csv
import io
import json
from time import perf_counter

import pytest

from core.coverage.board_view import board_csv, board_data, board_rows, board_text
from core.coverage.detection.detector import Detector, assess
from core.domain.coverage import Board, Topic
from core.domain.documents import Truth
from core.formats.csv import inert
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


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "  =1"])
def test_text_that_starts_like_a_formula_is_made_inert(text: str) -> None:
    assert inert(text) == f"'{text}"


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
