"""The compiled loops of keyword search compared with their definitions in plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.keywords.kernels import kernels

IDS = st.lists(st.integers(1, 60), unique=True).map(sorted)


@given(ids=IDS, admissible=IDS, data=st.data())
@settings(deadline=None)
def test_admissible_rows_are_live_and_have_an_admissible_id(
    ids: list[int], admissible: list[int], data: st.DataObject
) -> None:
    live = data.draw(st.lists(st.booleans(), min_size=len(ids), max_size=len(ids)))
    rows = kernels().admissible_rows(np.array(ids, np.int64), np.array(live, np.bool_), np.array(admissible, np.int64))
    right = [row for row, (each, alive) in enumerate(zip(ids, live, strict=True)) if alive and each in admissible]
    assert rows.tolist() == right


@given(scores=st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, 7.0])), most=st.integers(1, 8), data=st.data())
@settings(deadline=None)
def test_the_best_admissible_rows_come_first_and_of_equal_ones_the_earlier(
    scores: list[float], most: int, data: st.DataObject
) -> None:
    admitted = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    positive = [row for row, value in enumerate(scores) if value > 0 and admitted[row]]
    right = sorted(positive, key=lambda row: (-scores[row], row))[:most]
    best = kernels().best_rows(np.array(scores, np.float64), np.flatnonzero(np.array(admitted, np.bool_)), most)
    assert best.tolist() == right


@given(postings=st.lists(IDS, min_size=1, max_size=5), expected=IDS, data=st.data())
@settings(deadline=None)
def test_stems_are_counted_in_each_wanted_row(
    postings: list[list[int]], expected: list[int], data: st.DataObject
) -> None:
    columns = data.draw(st.lists(st.integers(-1, len(postings) - 1), max_size=6))
    starts = np.cumsum([0, *map(len, postings)])
    rows = np.array([row for stored in postings for row in stored], np.int32)
    counts = rows % 7 + 1
    requested = (np.array(columns, np.int64), np.array(expected, np.int64))
    found = kernels().count_stems(starts, rows, counts, *requested)
    right = [[row % 7 + 1 if c >= 0 and row in postings[c] else 0 for c in columns] for row in expected]
    assert found.tolist() == right
