"""What every ports.VectorIndex does: exact cosine, filters before ranking, k admissible → k back."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.documents import Passage, Truth
from core.domain.filters import SearchFilters
from core.ports.stores import Vectors
from tests.fakes import FakeVectorIndex
from tests.label_edits import store_labels
from tests.stores.contracts.conftest import NewShelf, Shelf
from tests.stores.libraries import (
    admitted,
    assert_same_ranking,
    document,
    filters_of,
    passage,
    random_documents,
    random_filters,
    random_vectors,
    store,
)

TOLERANCE = 1e-5  # stores calculate with 32 bits
SELECTIVITIES = (1.0, 0.1, 0.01, 0.001)


@dataclass(frozen=True, slots=True)
class Filled:
    """A filled index, what is in it, and the exact index it is compared with."""

    shelf: Shelf
    exact: FakeVectorIndex
    passages: Sequence[Passage]


def test_every_passage_with_a_vector_is_listed_and_vectors_of_any_can_be_discarded(new_shelf: NewShelf) -> None:
    filled = fill(new_shelf(), random_documents(4, documents=3, each=5), random_vectors(15, 4))
    ids = [each.id for each in filled.passages]
    assert filled.shelf.index.passage_ids().tolist() == sorted(ids)
    filled.shelf.index.discard(np.array(sorted(ids)[3:5], dtype=np.int64))
    assert filled.shelf.index.passage_ids().tolist() == sorted(ids)[:3] + sorted(ids)[5:]
    assert filled.shelf.index.count() == 13
    assert filled.shelf.index.passage_ids().dtype == np.int64


def fill(shelf: Shelf, library: Sequence[tuple[object, Sequence[Passage]]], vectors: Vectors) -> Filled:
    exact, stored = FakeVectorIndex(), []
    for described, passages in library:
        start = len(stored)
        retained = store(shelf.catalogue, described, passages, vectors[start : start + len(passages)])  # type: ignore[arg-type]
        stored += retained
    for index in (shelf.index, exact):
        index.add(stored, vectors)
    return Filled(shelf, exact, stored)


@pytest.fixture(scope="module")
def mixed(new_shelf: NewShelf) -> Filled:
    """Passages with any labels."""
    return fill(new_shelf(), random_documents(3), random_vectors(120, 3))


@pytest.fixture(scope="module")
def large(new_shelf: NewShelf) -> Filled:
    """2,000 passages; the tag "0.01" is on one of a hundred."""
    passages = [
        passage(f"Rule {n}.", tags=tuple(str(s) for s in SELECTIVITIES if n % round(1 / s) == 0)) for n in range(2000)
    ]
    return fill(new_shelf(), [(document("rules.txt"), passages)], random_vectors(2000, 4))


@settings(max_examples=40, deadline=None)
@given(filters=random_filters, query=st.integers(0, 50), top_k=st.sampled_from((1, 5, 200)))
def test_any_filter_gives_what_an_exact_search_restricted_to_it_gives(
    mixed: Filled, filters: SearchFilters, query: int, top_k: int
) -> None:
    search_filters, vector = filters_of(filters, mixed.passages), random_vectors(51, 5)[query]
    found = mixed.shelf.index.search(vector, search_filters, top_k)
    by_id = {p.id: p for p in mixed.passages}
    assert all(search_filters.admits(by_id[hit.passage_id]) for hit in found.hits)
    assert_same_ranking(found, mixed.exact.search(vector, search_filters, top_k), TOLERANCE)


@pytest.mark.parametrize("selectivity", SELECTIVITIES)
def test_k_admissible_passages_give_k_hits_at_any_selectivity(large: Filled, selectivity: float) -> None:
    filters = SearchFilters(tags=(str(selectivity),))
    for vector in random_vectors(5, 6):
        found = large.shelf.index.search(vector, filters, 10)
        assert len(found.hits) == min(10, round(2000 * selectivity))
        assert_same_ranking(found, large.exact.search(vector, filters, 10), TOLERANCE)


@settings(max_examples=20, deadline=None)
@given(filters=random_filters, chosen=st.sets(st.integers(0, 119)), top_k=st.sampled_from((1, 10, 200)))
def test_among_narrows_like_a_filter(mixed: Filled, filters: SearchFilters, chosen: set[int], top_k: int) -> None:
    search_filters, vector = filters_of(filters, mixed.passages), random_vectors(1, 9)[0]
    ids = sorted(mixed.passages[place].id for place in chosen)
    among = np.array([*ids, max(p.id for p in mixed.passages) + 1_000_000], dtype=np.int64)
    found = mixed.shelf.index.search(vector, search_filters, top_k, among)
    assert {hit.passage_id for hit in found.hits} <= set(ids)
    assert_same_ranking(found, mixed.exact.search(vector, search_filters, top_k, among), TOLERANCE)


@pytest.mark.parametrize("count", [0, 3, 1500, 2000])
def test_among_may_name_none_a_few_or_thousands(large: Filled, count: int) -> None:
    vector, among = random_vectors(1, 10)[0], np.array(sorted(p.id for p in large.passages[:count]), dtype=np.int64)
    found = large.shelf.index.search(vector, SearchFilters(), 10, among)
    assert (len(found.hits), found.rows_before, found.rows_after) == (min(10, count), 2000, count)
    assert_same_ranking(found, large.exact.search(vector, SearchFilters(), 10, among), TOLERANCE)


def test_nothing_admissible_gives_nothing_and_says_how_much_there_was(mixed: Filled) -> None:
    found = mixed.shelf.index.search(random_vectors(1, 7)[0], SearchFilters(tags=("no such tag",)), 10)
    assert (found.hits, found.rows_before, found.rows_after) == ((), 120, 0)


def test_similarities_are_the_cosines_that_search_gives_and_leave_out_the_unknown(mixed: Filled) -> None:
    vector = random_vectors(1, 8)[0]
    everything = {p.id for p in mixed.passages}
    unknown = max(everything) + 1_000_000
    measured = mixed.shelf.index.similarities(vector, [*everything, unknown])
    assert measured.keys() == everything
    assert measured == pytest.approx(mixed.exact.similarities(vector, sorted(everything)), abs=TOLERANCE)
    assert mixed.shelf.index.similarities(vector, []) == {}


def test_stored_vectors_come_back_and_point_the_same_way(mixed: Filled) -> None:
    expected = [p.id for p in mixed.passages[:7]]
    stored = mixed.shelf.index.vectors([*expected, max(p.id for p in mixed.passages) + 1_000_000])
    assert stored.keys() == set(expected)
    for passage_id, vector in stored.items():
        assert mixed.exact.similarities(vector, [passage_id])[passage_id] == pytest.approx(1, abs=TOLERANCE)
    assert mixed.shelf.index.vectors([]) == {}


@pytest.fixture
def small(new_shelf: NewShelf) -> Filled:
    """Three passages of one document, the first two with the same vector, and one of another document."""
    rules = [passage("One.", truth=Truth.REGULATORY), passage("Two."), passage("Three.")]
    library = [(document("a.txt"), rules), (document("b.txt"), [passage("Four.")])]
    return fill(new_shelf(), library, np.eye(4, dtype=np.float32)[[0, 0, 1, 2]])


ANYTHING = SearchFilters()
ASKED = np.array([1, 0.5, 0.1, 0], dtype=np.float32)


def ids(filled: Filled, filters: SearchFilters = ANYTHING, top_k: int = 10) -> list[int]:
    return [hit.passage_id for hit in filled.shelf.index.search(ASKED, filters, top_k).hits]


def test_the_nearest_come_first_and_ties_go_by_passage_id(small: Filled) -> None:
    assert ids(small) == [p.id for p in small.passages]
    assert ids(small, top_k=1) == [small.passages[0].id]


def test_a_score_is_the_cosine_whatever_the_length_of_the_asked_vector(small: Filled) -> None:
    for length in (1, 1000):
        best = small.shelf.index.search(ASKED * length, SearchFilters(), 1).hits[0]
        assert best.score == pytest.approx(1 / np.linalg.norm(ASKED), abs=TOLERANCE)


def test_filters_follow_changed_labels_while_vectors_stay(small: Filled) -> None:
    first = small.passages[0]
    changed = replace(first, truth=None, domain="taxes", tags=("new",))
    catalogue = small.shelf.catalogue
    store_labels(catalogue, catalogue.document(first.document_id), [changed])
    small.shelf.index.update([changed])
    assert ids(small, SearchFilters(truths=("regulatory",))) == []
    assert ids(small, SearchFilters(domains=("taxes",), tags=("new",))) == [first.id]
    assert ids(small)[0] == first.id


def test_a_vector_can_be_replaced(small: Filled) -> None:
    last = small.passages[-1]
    small.shelf.index.add([last], np.array([[1, 0.5, 0.1, 0]], dtype=np.float32))
    assert ids(small, top_k=1) == [last.id]
    assert small.shelf.index.count() == 4


def test_a_deleted_document_is_not_found(small: Filled) -> None:
    small.shelf.index.delete([small.passages[0].document_id])
    assert ids(small) == [small.passages[-1].id]
    assert small.shelf.index.count() == 1


def test_vectors_of_a_document_are_deleted_but_those_that_stay(small: Filled) -> None:
    first, second, third, other = small.passages
    small.shelf.index.delete([first.document_id], but=[second, other])
    assert ids(small) == [second.id, other.id]
    small.shelf.index.delete([first.document_id, other.document_id], but=[third])
    assert ids(small) == []


def test_tenants_never_see_each_other(new_shelf: NewShelf, small: Filled) -> None:
    other = new_shelf()
    assert other.index.search(ASKED, SearchFilters(), 10).hits == ()
    assert other.index.similarities(ASKED, [p.id for p in small.passages]) == {}
    other.index.delete([p.document_id for p in small.passages])
    assert len(ids(small)) == 4


def test_an_empty_index_answers_with_nothing(new_shelf: NewShelf) -> None:
    index = new_shelf().index
    index.ping()
    index.add([], np.empty((0, 4), dtype=np.float32))
    index.update([])
    index.delete([1])
    found = index.search(ASKED, SearchFilters(), 10)
    assert (found.hits, found.rows_before, found.rows_after, index.count()) == ((), 0, 0, 0)


@given(filters=random_filters)
@settings(max_examples=25, deadline=None)
def test_blocks_hold_every_admissible_vector_once(mixed: Filled, filters: SearchFilters) -> None:
    narrowed = filters_of(filters, mixed.passages)
    blocks = list(mixed.shelf.index.blocks(narrowed))
    ids = [int(i) for block, _ in blocks for i in block]
    assert ids == admitted(narrowed, mixed.passages).tolist()
    if ids:
        rows = np.concatenate([vectors for _, vectors in blocks])
        known = mixed.exact.vectors(ids)
        assert rows.dtype == np.float32
        assert np.allclose(rows, np.stack([known[i] for i in ids]), atol=TOLERANCE)


def test_a_large_library_comes_in_several_blocks(large: Filled, monkeypatch: pytest.MonkeyPatch) -> None:
    import storage.vectors.pgvector

    monkeypatch.setattr(storage.vectors.pgvector, "_BLOCK", 600)
    ids = [int(i) for block, _ in large.shelf.index.blocks(SearchFilters()) for i in block]
    assert ids == sorted(p.id for p in large.passages)
