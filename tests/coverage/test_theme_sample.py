"""Themes of a large library are found in evenly spaced passages, without holding all of its vectors."""

from collections.abc import Iterator, Sequence
from typing import Any
from weakref import ref

import pytest

from core.coverage import topics
from core.coverage.topics import propose_topics
from core.domain.documents import Passage, Truth
from core.domain.filters import SearchFilters
from core.knowledge.workspace_terms import BUILT_IN_TERMS
from core.ports.stores import PassageIds, Vectors
from tests.fakes import FakeCatalogue, FakeVectorIndex
from tests.search.library import Library

_BLOCK = 7


class BlockwiseIndex(FakeVectorIndex):
    """Vectors in small blocks. most_held: the most earlier blocks in memory while the next one was asked for."""

    most_held = 0

    def blocks(self, filters: SearchFilters) -> Iterator[tuple[PassageIds, Vectors]]:
        given: list[ref[Any]] = []
        for ids, rows in super().blocks(filters):
            for start in range(0, len(ids), _BLOCK):
                block = ids[start : start + _BLOCK].copy(), rows[start : start + _BLOCK].copy()
                given += map(ref, block)
                yield block
                del block
                self.most_held = max(self.most_held, sum(each() is not None for each in given) // 2)


class AskedCatalogue(FakeCatalogue):
    """Notes which passages were read."""

    asked: tuple[int, ...] = ()

    def passages(self, passage_ids: Sequence[int]) -> dict[int, Passage]:
        self.asked = tuple(passage_ids)
        return dict(super().passages(passage_ids))


def library_of(passages: int) -> Library:
    """A library of three themes in one document."""
    library = Library()
    library.catalogue, library.vectors = AskedCatalogue(), BlockwiseIndex()
    themes = ("Helium bottles meadow storage rule", "Zebra feeding keeper schedule", "Ferry ticket refund desk")
    texts = [f"{themes[number // 2 % 3]} item{number}." for number in range(passages)]
    library.add("all.md", *texts, truth=Truth.COMPLIANCE)
    return library


@pytest.mark.parametrize(("passages", "step"), [(20, 1), (21, 2), (40, 2), (41, 4), (55, 4), (161, 16)])
def test_evenly_spaced_passages_are_taken_from_the_blocks_as_they_come(
    passages: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topics, "_SAMPLE", 20)
    library = library_of(passages)
    propose_topics(library.catalogue, library.vectors, None, BUILT_IN_TERMS)
    assert isinstance(library.catalogue, AskedCatalogue) and isinstance(library.vectors, BlockwiseIndex)
    every = sorted(library.vectors.passage_ids().tolist())
    assert library.catalogue.asked == tuple(every[::step]) and len(library.catalogue.asked) <= 20
    assert library.vectors.most_held <= 1


def test_a_small_library_has_the_same_themes_whatever_its_blocks() -> None:
    library = library_of(60)
    assert isinstance(library.vectors, BlockwiseIndex)
    found = propose_topics(library.catalogue, library.vectors, None, BUILT_IN_TERMS)
    whole = FakeVectorIndex()
    for ids, rows in library.vectors.blocks(SearchFilters()):
        whole.add([library.catalogue.passages([i])[i] for i in ids.tolist()], rows)
    assert found and found == propose_topics(library.catalogue, whole, None, BUILT_IN_TERMS)
    assert library.vectors.most_held <= 1
