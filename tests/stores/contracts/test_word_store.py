"""What every core.search.query.expansion.WordVectorStore does."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine

from core.search.query.expansion import WordVectorStore
from storage.postgres.word_vectors import SqlWordVectorStore
from tests.database import new_tenant
from tests.fakes import FakeWordVectorStore

NewStore = Callable[[], WordVectorStore]
STEMS = st.sampled_from(("tax", "wage", "vendor", "supplier", "überstund", "pay"))


@pytest.fixture(params=["memory", "postgres"])
def new_store(request: pytest.FixtureRequest) -> NewStore:
    """Makes an empty store, of a new tenant at each call."""
    if request.param == "memory":
        return FakeWordVectorStore
    engine = request.getfixturevalue("engine")
    return lambda: SqlWordVectorStore(new_tenant(engine), lambda: "model")


def codes(*stems: str) -> np.ndarray:
    """A row per stem that tells it apart."""
    return np.array([[len(stem), ord(stem[0]) % 100, -3] for stem in stems], dtype=np.int8).reshape(-1, 3)


def test_an_empty_store_misses_every_word(new_store: NewStore) -> None:
    store = new_store()
    assert store.all().stems == ()
    assert list(store.missing(["tax", "wage"])) == ["tax", "wage"]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(STEMS, unique=True, max_size=4), max_size=5))
def test_words_are_kept_once_as_they_came_first_in_the_order_of_their_stems(
    new_store: NewStore, batches: list[list[str]]
) -> None:
    store, first = new_store(), {}
    for number, batch in enumerate(batches):
        for stem in batch:
            first.setdefault(stem, f"{stem}{number}")
        store.add({stem: f"{stem}{number}" for stem in batch}, codes(*batch))
    found = store.all()
    assert found.stems == tuple(sorted(first))
    assert found.words == tuple(first[stem] for stem in sorted(first))
    assert np.array_equal(found.codes.reshape(-1, 3), codes(*sorted(first)))
    assert list(store.missing(["tax", "never"])) == [stem for stem in ("tax", "never") if stem not in first]


def test_nothing_new_is_the_same_object(new_store: NewStore) -> None:
    store = new_store()
    store.add({"tax": "taxes"}, codes("tax"))
    assert store.all() is store.all()


def test_tenants_and_models_do_not_share_words(engine: Engine) -> None:
    ours, theirs = new_tenant(engine), new_tenant(engine)
    SqlWordVectorStore(ours, lambda: "one").add({"secret": "secret"}, codes("secret"))
    assert SqlWordVectorStore(theirs, lambda: "one").all().stems == ()
    assert SqlWordVectorStore(ours, lambda: "other").all().stems == ()
    assert SqlWordVectorStore(ours, lambda: "one").all().words == ("secret",)


def test_what_another_process_adds_is_seen(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    database = new_tenant(engine)
    reader, writer = SqlWordVectorStore(database, lambda: "model"), SqlWordVectorStore(database, lambda: "model")
    assert reader.all().stems == ()
    writer.add({"tax": "taxes"}, codes("tax"))
    monkeypatch.setattr("storage.postgres.word_vectors._FRESH_SECONDS", 0.0)
    assert reader.all().words == ("taxes",)
