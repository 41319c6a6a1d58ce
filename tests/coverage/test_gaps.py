"""From scores to states, coverage and gaps: the table of the meaning, and what a hole recommends."""

from typing import Any

import pytest

from core.coverage.gaps import coverage_of, gaps_of, place_in_words, state_of
from core.domain.coverage import Cell, CellState, Topic
from core.domain.documents import Truth
from core.domain.errors import BadTable
from core.domain.results import Citation
from core.knowledge.gaps import gap_table, read_gap_table
from core.knowledge.loading import table
from core.knowledge.workspace_terms import BUILT_IN_TERMS

ASKED = (Truth.REGULATORY, Truth.COMPLIANCE, Truth.INTENT, Truth.REFERENCE)


def board_of(scores: dict[Truth, float]) -> list[Cell]:
    """One topic under four truths; what has no score was found nowhere."""
    return [Cell("breaks", truth, state_of(scores.get(truth, 0.0)), scores.get(truth, 0.0), 0.5) for truth in ASKED]


SCENARIOS = [
    (dict.fromkeys(ASKED, 0.8), 1.0, set()),
    (dict.fromkeys(ASKED[1:], 0.8), 0.75, {("regulatory", "high")}),
    (
        {Truth.REGULATORY: 0.8, Truth.INTENT: 0.5, Truth.REFERENCE: 0.3, Truth.COMPLIANCE: 0.2},
        0.5,
        {("reference", "low"), ("compliance", "high")},
    ),
    ({}, 0.0, {("reference", "low"), ("regulatory", "high"), ("compliance", "high"), ("intent", "medium")}),
    ({Truth.REGULATORY: 0.5}, 0.25, {("reference", "low"), ("compliance", "high"), ("intent", "medium")}),
]


@pytest.mark.parametrize(("scores", "coverage", "gaps"), SCENARIOS)
def test_coverage_is_covered_by_assessed_and_every_hole_is_a_gap(
    scores: dict[Truth, float], coverage: float, gaps: set[tuple[str, str]]
) -> None:
    cells = board_of(scores)
    assert coverage_of(cells) == coverage
    assert {(gap.truth.value, gap.severity) for gap in gaps_of(cells, terms=BUILT_IN_TERMS)} == gaps


def test_gaps_come_worst_first() -> None:
    assert [gap.severity for gap in gaps_of(board_of({}), terms=BUILT_IN_TERMS)] == ["high", "high", "medium", "low"]


@pytest.mark.parametrize(
    ("score", "state"),
    [
        (0.0, CellState.GAP),
        (0.2999, CellState.GAP),
        (0.3, CellState.PARTIAL),
        (0.4999, CellState.PARTIAL),
        (0.5, CellState.COVERED),
        (1.0, CellState.COVERED),
    ],
)
def test_exactly_the_threshold_counts(score: float, state: CellState) -> None:
    assert state_of(score) is state


def test_errors_and_unassessed_cells_are_neither_gaps_nor_coverage() -> None:
    cells = [
        Cell("breaks", Truth.REGULATORY, CellState.ERROR, 0.0, 0.5, error="down"),
        Cell("breaks", Truth.REALITY, CellState.NOT_ASSESSED, 0.0, 0.5),
    ]
    assert gaps_of(cells, terms=BUILT_IN_TERMS) == ()
    assert coverage_of(cells) is None


def test_a_recommendation_names_what_to_obtain_where_and_the_topic() -> None:
    (gap,) = gaps_of(
        [Cell("meal breaks", Truth.REGULATORY, CellState.GAP, 0.0, 0.5)],
        BUILT_IN_TERMS,
        {"meal breaks": Topic("meal breaks", jurisdiction="state:CA")},
    )
    assert (
        "a law, regulation or agency publication for California or the US federal level on meal breaks"
        in gap.recommendation
    )
    assert "Nothing that was found comes near" in gap.recommendation


def citation(name: str, quote: str) -> Citation:
    places: dict[str, Any] = {"page": None, "page_number": 1, "section": "", "start": 0, "end": len(quote)}
    labels: dict[str, Any] = {"truth": None, "authority": None, "jurisdiction": None, "date": None}
    return Citation("1.0", 1, 0, 1, name, "00", quote=quote, relevance=0.5, **places, **labels)


@pytest.mark.parametrize(
    ("near", "words"),
    [
        ((), "Required by “Breaks are paid.” (handbook.md). Nothing that was found comes near."),
        (
            ("codes.csv",),
            "Required by “Breaks are paid.” (handbook.md); no row in codes.csv covers it."
            " Nearest: “LUN Lunch” (codes.csv).",
        ),
        (
            ("plans.csv", "codes.csv", "codes.csv"),
            "Required by “Breaks are paid.” (handbook.md); no row in codes.csv, plans.csv covers it."
            " Nearest: “LUN Lunch” (plans.csv).",
        ),
    ],
)
def test_a_missing_setup_row_names_the_tables_that_came_near(near: tuple[str, ...], words: str) -> None:
    policy = Cell(
        "breaks", Truth.COMPLIANCE, CellState.COVERED, 0.8, 0.5, evidence=(citation("handbook.md", "Breaks are paid."),)
    )
    misses = tuple(citation(name, "LUN Lunch") for name in near)
    missing = Cell("breaks", Truth.REALITY, CellState.GAP, 0.0, 0.5, near_misses=misses, configuration=True)
    (gap,) = gaps_of([policy, missing], terms=BUILT_IN_TERMS)
    assert gap.configuration
    assert gap.recommendation.endswith(words)
    (uncovered,) = gaps_of([missing], terms=BUILT_IN_TERMS)
    assert "Required by" not in uncovered.recommendation


def test_every_kind_of_place_has_words() -> None:
    assert place_in_words("country:DE", terms=BUILT_IN_TERMS) == "Germany"
    assert place_in_words("global", terms=BUILT_IN_TERMS) == "any country"


def changed(**rows: dict[str, Any]) -> dict[str, Any]:
    """The product's own table with some rows changed."""
    raw = {
        "evidence": dict(table("gaps")["evidence"]),
        "truth": {k: dict(v) for k, v in table("gaps")["truth"].items()},
    }
    raw["evidence"] |= rows.get("evidence", {})
    for truth, row in rows.items():
        if truth != "evidence":
            raw["truth"][truth] |= row
    return raw


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({"evidence": {"covered": "half"}}, "'covered' must be a number"),
        ({"evidence": {"partial": 0.9}}, "partial <= covered"),
        ({"evidence": {"colour": 1}}, "unknown key 'colour'"),
        ({"evidence": {"shown": 0}}, "at least 1"),
        ({"reality": {"severity": "dire"}}, r"truth\.reality.*'severity' must be one of"),
        ({"reality": {"obtain": ""}}, "must say something"),
    ],
)
def test_a_wrong_row_is_named(rows: dict[str, dict[str, Any]], problem: str) -> None:
    with pytest.raises(BadTable, match=problem):
        read_gap_table(changed(**rows))


def test_every_truth_has_a_row() -> None:
    assert set(gap_table().truths) == set(Truth)
