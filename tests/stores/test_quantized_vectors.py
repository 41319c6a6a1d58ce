"""The small copies of vectors lead to the right ones, whatever the vectors look like."""

from collections.abc import Callable

import numpy as np
import pytest

from core.domain import int8_vectors
from core.domain.int8_vectors import lengths, packed, unpacked
from core.ports.stores import Vectors
from storage.vectors.cache.quantized_vectors import QuantizedVectors, cosines, nearest, quantize, rough_cosines

ROWS, DIMENSIONS, QUESTIONS = 40_000, 128, 25


def _unit(vectors: np.ndarray) -> Vectors:
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def clustered(chance: np.random.Generator) -> Vectors:
    """Around 200 directions, of which some are near each other, and off the middle, as sentences' vectors are."""
    directions = _unit(chance.normal(size=(200, DIMENSIONS)) + 0.5 * chance.normal(size=(1, DIMENSIONS)))
    each = directions[chance.integers(0, 200, ROWS)]
    return _unit(each + 0.8 / np.sqrt(DIMENSIONS) * chance.normal(size=each.shape))


def anywhere(chance: np.random.Generator) -> Vectors:
    """In all directions alike: nothing a bit per number could tell well."""
    return _unit(chance.normal(size=(ROWS, DIMENSIONS)))


def repeated(chance: np.random.Generator) -> Vectors:
    """Each a hundred times."""
    return np.repeat(clustered(chance)[: ROWS // 100], 100, axis=0)


@pytest.fixture(scope="module", params=[clustered, anywhere, repeated], ids=lambda made: made.__name__)
def part(request: pytest.FixtureRequest) -> QuantizedVectors:
    made: Callable[[np.random.Generator], Vectors] = request.param
    vectors = made(np.random.default_rng(1))
    return quantize(vectors, vectors.mean(axis=0))


@pytest.mark.parametrize("selectivity", [1.0, 0.5, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("top_k", [10, 100])
def test_the_candidates_hold_the_nearest_at_any_selectivity(
    part: QuantizedVectors, selectivity: float, top_k: int
) -> None:
    chance = np.random.default_rng(2)
    admitted = chance.random(ROWS) < selectivity
    rows = np.flatnonzero(admitted)
    requested = part.vectors[chance.integers(0, ROWS, QUESTIONS)]
    requested = _unit(requested + 0.5 / np.sqrt(DIMENSIONS) * chance.normal(size=requested.shape))
    shares = []
    for question in requested:
        exact = part.vectors[rows].astype(np.float64) @ question
        expected = min(top_k, len(rows))
        least = np.partition(exact, len(rows) - expected)[len(rows) - expected] - 1e-7
        found = np.sort(cosines(part, nearest(part, admitted, question, top_k), question))[::-1][:expected]
        shares.append(np.count_nonzero(found >= least) / expected)
    assert np.mean(shares) >= 0.99


def test_a_stored_vector_finds_itself_and_its_copies_by_their_order(part: QuantizedVectors) -> None:
    everything = np.ones(ROWS, dtype=np.bool_)
    for row in (0, 12_345, ROWS - 1):
        found = nearest(part, everything, part.vectors[row], 10)
        same = np.flatnonzero((part.vectors == part.vectors[row]).all(axis=1))[:10]
        measured = cosines(part, found, part.vectors[row])
        assert found[np.lexsort((found, -measured))][: len(same)].tolist() == same.tolist()


def test_equal_vectors_have_equal_cosines_wherever_they_stand() -> None:
    vectors = _unit(np.random.default_rng(3).normal(size=(300, 384)))
    vectors[[7, 150, 299]] = vectors[7]
    part = quantize(vectors, vectors.mean(axis=0))
    measured = cosines(part, np.array([299, 7, 8, 150]), vectors[20])
    assert measured[0] == measured[1] == measured[3] != measured[2]


def test_zeros_and_questions_of_zeros_have_no_direction_and_do_no_harm() -> None:
    vectors = np.zeros((100, 8), dtype=np.float32)
    part = quantize(vectors, vectors.mean(axis=0))
    found = nearest(part, np.ones(100, dtype=np.bool_), np.zeros(8, dtype=np.float32), 5)
    assert found.tolist() == list(range(40))
    assert cosines(part, found, np.zeros(8, dtype=np.float32)).tolist() == [0.0] * 40


def test_rough_cosines_are_those_of_numpy_within_their_error() -> None:
    chance = np.random.default_rng(3)
    codes = packed(_unit(chance.normal(size=(500, 384)) ** 3))
    codes[7] = 0
    for question in _unit(chance.normal(size=(20, 384)) ** 3):
        for rough in (rough_cosines, int8_vectors.rough_cosines):
            found = rough(codes, np.reciprocal(lengths(codes)), question)
            assert np.abs(found - unpacked(codes) @ question).max() < 0.001
            assert found[7] == 0
