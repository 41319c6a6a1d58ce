"""How far judges agree: by the libraries, and by the definitions written out again."""

from datetime import UTC, datetime, timedelta
from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.evaluation import Judgment
from core.evaluation.judgments.agreement import agreement, disputed, grades_by_judge, strength

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
JUDGES = ("Ada", "Ben", "Cy")
TABLES = st.lists(
    st.dictionaries(st.sampled_from(JUDGES), st.sampled_from([0, 1, 2, 3, None]), max_size=3), max_size=12
)
"""Per result: judge → grade, or that they cannot judge it."""


def judgments(table: list[dict[str, int | None]]) -> list[Judgment]:
    return [
        Judgment(1, 1, f"unit{place}", grade, who, NOON)
        for place, row in enumerate(table)
        for who, grade in row.items()
    ]


def graded(table: list[dict[str, int | None]]) -> list[dict[str, int]]:
    return [{who: grade for who, grade in row.items() if grade is not None} for row in table]


def ordinal_alpha(rows: list[list[int]]) -> float | None:
    """Krippendorff 2011: 1 - observed ÷ expected disagreement over all pairs of grades, ordinal distances."""
    rows = [row for row in rows if len(row) > 1]
    everything = [grade for row in rows for grade in row]
    counts = {grade: everything.count(grade) for grade in range(6)}

    def distance(one: int, other: int) -> float:
        low, high = sorted((one, other))
        return (sum(counts[g] for g in range(low, high + 1)) - (counts[low] + counts[high]) / 2) ** 2

    expected = sum(distance(*pair) for pair in permutations(everything, 2))
    if not expected:
        return None
    observed = sum(distance(*pair) / (len(row) - 1) for row in rows for pair in permutations(row, 2))
    return 1 - (len(everything) - 1) * observed / expected


def quadratic_kappa(pairs: list[tuple[int, int]]) -> float | None:
    """Cohen 1968: 1 - mean squared distance ÷ that of every first grade with every second."""
    expected = sum((one - other) ** 2 for one, _ in pairs for _, other in pairs) / len(pairs) if pairs else 0
    return 1 - sum((one - other) ** 2 for one, other in pairs) / expected if expected else None


@given(TABLES)
def test_alpha_is_that_of_its_definition(table: list[dict[str, int | None]]) -> None:
    expected = ordinal_alpha([list(row.values()) for row in graded(table)])
    found = agreement(judgments(table))
    if expected is None:
        assert found.alpha is None
    else:
        assert found.alpha == pytest.approx(expected)
    assert found.words


@given(TABLES)
def test_kappa_of_each_pair_is_that_of_its_definition(table: list[dict[str, int | None]]) -> None:
    found = agreement(judgments(table))
    assert [(pair.first, pair.second) for pair in found.pairs] == list(combinations(found.judges, 2))
    for pair in found.pairs:
        both = [
            (row[pair.first], row[pair.second]) for row in graded(table) if pair.first in row and pair.second in row
        ]
        expected = quadratic_kappa(both)
        assert pair.units == len(both)
        assert pair.words
        if expected is None:
            assert pair.kappa is None
        else:
            assert pair.kappa == pytest.approx(expected)


def test_the_definition_as_written_here_gives_the_published_example() -> None:
    """Krippendorff 2011: four observers, twelve units, grades 1 to 5; its ordinal alpha is 0.815."""
    observers = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    rows = [[int(given[unit]) for given in observers if given[unit] != "."] for unit in range(12)]
    assert ordinal_alpha(rows) == pytest.approx(0.815, abs=0.0005)


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ([], "two judges"),
        ([{"Ada": 3}, {"Ada": 0}], "two judges"),
        ([{"Ada": 3, "Ben": None}], "two judges"),
        ([{"Ada": 3}, {"Ben": 0}], "more than one of them"),
        ([{"Ada": 3, "Ben": 3}, {"Ada": 3, "Ben": 3}], "cannot be told from chance"),
    ],
)
def test_where_agreement_is_undefined_it_says_why(table: list[dict[str, int | None]], why: str) -> None:
    found = agreement(judgments(table))
    assert found.alpha is None
    assert why in found.words
    assert all(pair.kappa is None and why in pair.words for pair in found.pairs)


def test_full_agreement_is_1_and_two_strangers_are_told_for_themselves() -> None:
    table = [{"Ada": 3, "Ben": 3}, {"Ada": 0, "Ben": 0}, {"Ada": 1, "Cy": 1}]
    found = agreement(judgments(table))
    assert (found.alpha, found.words) == (1.0, "almost perfect agreement")
    assert found.judges == JUDGES
    assert found.units == 3
    values = {(pair.first, pair.second): (pair.kappa, pair.units) for pair in found.pairs}
    assert values == {("Ada", "Ben"): (1.0, 2), ("Ada", "Cy"): (None, 1), ("Ben", "Cy"): (None, 0)}


def test_a_distance_of_one_grade_weighs_less_than_one_of_three() -> None:
    near = agreement(judgments([{"Ada": 0, "Ben": 1}, {"Ada": 3, "Ben": 3}, {"Ada": 0, "Ben": 0}])).pairs[0].kappa
    far = agreement(judgments([{"Ada": 0, "Ben": 3}, {"Ada": 3, "Ben": 3}, {"Ada": 0, "Ben": 0}])).pairs[0].kappa
    assert near is not None
    assert far is not None
    assert near > far


@pytest.mark.parametrize(
    ("coefficient", "words"),
    [
        (-0.01, "poor agreement, worse than chance"),
        (0.0, "slight agreement"),
        (0.2, "slight agreement"),
        (0.4, "fair agreement"),
        (0.41, "moderate agreement"),
        (0.61, "substantial agreement"),
        (0.81, "almost perfect agreement"),
        (1.0, "almost perfect agreement"),
    ],
)
def test_a_coefficient_is_called_as_landis_and_koch_call_it(coefficient: float, words: str) -> None:
    assert strength(coefficient) == words


def test_a_judge_counts_with_the_latest_word() -> None:
    statements = [
        Judgment(1, 1, "u", 3, "Ada", NOON, id=8),
        Judgment(1, 1, "u", 0, "Ada", NOON, id=7),
        Judgment(1, 1, "u", 2, "Ben", NOON, id=5),
        Judgment(1, 1, "u", None, "Ben", NOON, id=6),
        Judgment(1, 2, "u", 1, "Ada", NOON + timedelta(hours=1)),
        Judgment(1, 2, "u", 2, "Ada", NOON),
    ]
    assert grades_by_judge(statements) == {(1, "u"): {"Ada": 3}, (2, "u"): {"Ada": 1}}


def test_the_same_passage_under_another_question_is_another_thing() -> None:
    statements = [Judgment(1, 1, "u", 3, "Ada", NOON), Judgment(1, 2, "u", 0, "Ben", NOON)]
    assert agreement(statements).units == 0
    assert disputed(statements) == ()


def test_disputed_results_are_told_worst_first() -> None:
    table: list[dict[str, int | None]] = [
        {"Ada": 2, "Ben": 0},
        {"Ada": 1, "Ben": 2},
        {"Cy": 3, "Ada": 0, "Ben": 1},
        {"Ada": 3},
        {"Ada": 1, "Ben": 3},
        {"Ada": 3, "Ben": None},
    ]
    found = disputed(judgments(table))
    assert [(one.unit, one.distance) for one in found] == [("unit2", 3), ("unit0", 2), ("unit4", 2)]
    assert found[0].grades == (("Ada", 0), ("Ben", 1), ("Cy", 3))
    assert found[0].question_id == 1
    assert disputed([]) == ()
