"""The filter translators mean what SearchFilters.admits says, for any filter on any library."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from sqlalchemy import Engine

from core.domain.documents import Passage
from core.domain.filters import SearchFilters
from core.ports.stores import PassageIds
from storage.postgres.catalogue import SqlCatalogue
from storage.vectors.chroma import ChromaIndex, embedded_client
from tests.database import new_tenant
from tests.fakes import FakeCatalogue
from tests.stores.libraries import admitted, filters_of, random_documents, random_filters, random_vectors, store

Translated = tuple[Sequence[Passage], Callable[[SearchFilters], PassageIds]]


def _in_sql(engine: Engine) -> Translated:
    catalogue = SqlCatalogue(new_tenant(engine))
    nothing = random_vectors(0, 0)
    stored = [p for d, passages in random_documents(1, each=25) for p in store(catalogue, d, passages, nothing)]
    return stored, catalogue.admissible


def _in_chroma(folder: Path) -> Translated:
    catalogue, index = FakeCatalogue(), ChromaIndex(lambda: embedded_client(folder), "filters", lambda: "random")
    nothing = random_vectors(0, 0)
    stored = [p for d, passages in random_documents(2, each=25) for p in store(catalogue, d, passages, nothing)]
    vectors = random_vectors(len(stored), 2)
    index.add(stored, vectors)

    def admissible(filters: SearchFilters) -> PassageIds:
        return np.sort([hit.passage_id for hit in index.search(vectors[0], filters, len(stored)).hits])

    return stored, admissible


@pytest.fixture(scope="module", params=["sql", "chroma"])
def translated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Translated]:
    if request.param == "sql":
        yield _in_sql(request.getfixturevalue("engine"))
    else:
        yield _in_chroma(tmp_path_factory.mktemp("chroma"))


@settings(max_examples=150, deadline=None)
@given(filters=random_filters)
def test_a_translated_filter_admits_exactly_what_the_reference_admits(
    translated: Translated, filters: SearchFilters
) -> None:
    passages, admissible = translated
    search_filters = filters_of(filters, passages)
    assert admissible(search_filters).tolist() == admitted(search_filters, passages).tolist()


@pytest.mark.parametrize("field", ["documents", "exclude_documents"])
def test_a_filter_may_name_thousands_of_documents(translated: Translated, field: str) -> None:
    passages, admissible = translated
    filters = SearchFilters(**{field: tuple(range(1, 5_000))}, archived=None)
    assert admissible(filters).tolist() == admitted(filters, passages).tolist()
