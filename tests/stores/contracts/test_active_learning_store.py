"""The contract of core.library.active_learning.store.ActiveLearningStore, which both implementations pass."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from core.library.active_learning.store import ActiveLearningStore, LabelChoice, LearningActionKind
from storage.postgres.active_learning import SqlActiveLearningStore
from storage.postgres.catalogue import SqlCatalogue
from tests.database import new_tenant
from tests.fakes import FakeActiveLearningStore
from tests.stores.contracts.active_learning import act_of, move_of, record_of, verdict_of, version_of
from tests.stores.libraries import document, random_vectors

NewStore = Callable[[int], tuple[ActiveLearningStore, list[int]]]


@pytest.fixture(params=["memory", "sql"])
def new_store(request: pytest.FixtureRequest) -> NewStore:
    """Makes an empty store, and the ids of so many documents that may be recorded."""
    if request.param == "memory":
        return lambda documents: (FakeActiveLearningStore(), list(range(1, documents + 1)))
    engine = request.getfixturevalue("engine")

    def in_postgres(documents: int) -> tuple[ActiveLearningStore, list[int]]:
        database = new_tenant(engine)
        catalogue = SqlCatalogue(database)
        made = [catalogue.add_document(document(f"talk {n}", archived=True)).id for n in range(documents)]
        return SqlActiveLearningStore(database), made

    return in_postgres


def test_a_record_comes_back_as_it_was(new_store: NewStore) -> None:
    store, [one, other] = new_store(2)
    vectors = random_vectors(1, 5)
    store.save_records([(record_of(one), vectors), (record_of(other, model="another"), vectors)])
    [[stored]] = list(store.records("model"))
    assert stored == record_of(one) and np.array_equal(stored.traits.mean, record_of(one).traits.mean)
    assert dict(store.records_of([one, other], "model")) == {one: stored}


def test_sentences_vectors_keep_their_shape(new_store: NewStore) -> None:
    store, [one] = new_store(1)
    vectors = random_vectors(1, 5)
    store.save_records([(record_of(one, dimensions=vectors.shape[1]), vectors)])
    stored = store.segments(one, "model")
    assert stored is not None and stored.shape == vectors.shape and np.allclose(stored, vectors, atol=1e-3)
    store.save_records([(record_of(one, dimensions=vectors.shape[1]), vectors[:0])])
    stored = store.segments(one, "model")
    assert stored is not None and stored.shape == (0, vectors.shape[1])


def test_a_record_is_replaced_and_forgotten(new_store: NewStore) -> None:
    store, [one, other] = new_store(2)
    for each in (one, other):
        store.save_records([(record_of(each), random_vectors(1, 2))])
    changed = replace(record_of(one), model="another")
    store.save_records([(changed, random_vectors(1, 2))])
    assert [each for block in store.records("another") for each in block] == [changed]
    store.forget([one, 999_999])
    assert store.segments(one, "model") is None and list(store.records("another")) == []
    assert [each.document_id for block in store.records("model") for each in block] == [other]


def test_records_come_in_the_order_of_their_documents(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage.postgres.active_learning._BLOCK", 2)
    store, ids = new_store(5)
    for each in reversed(ids):
        store.save_records([(record_of(each), random_vectors(1, 1))])
    assert [each.document_id for block in store.records("model") for each in block] == ids


def test_versions_are_kept_and_a_number_is_taken_once(new_store: NewStore) -> None:
    store, _ = new_store(0)
    assert store.newest() == 0 and store.version(1) is None
    assert store.add_version(version_of(1)) and store.add_version(version_of(2))
    assert not store.add_version(replace(version_of(2), fingerprint="other"))
    assert store.newest() == 2
    assert (store.version(1), store.version(2)) == (version_of(1), version_of(2))


def test_the_acts_of_an_application_share_its_number(new_store: NewStore) -> None:
    store, _ = new_store(0)
    first = store.add_act(act_of())
    more = store.add_act(act_of(number=first.number, moves=(move_of(4),)))
    store.add_act(act_of(LearningActionKind.AT_ONCE))
    other = store.add_act(act_of(version=2))
    undone = store.add_act(act_of(LearningActionKind.UNDONE, number=first.number))
    assert first.number == first.id and other.number == other.id
    assert list(store.application(first.number)) == [first, more, undone]
    assert list(store.application(999_999)) == []
    listed = [replace(each, moves=()) for each in (undone, other, more, first)]
    assert list(store.acts(9)) == listed and list(store.acts(2)) == listed[:2]


def test_the_choice_is_the_latest_and_what_is_applied_is_what_stands(new_store: NewStore) -> None:
    store, _ = new_store(0)
    assert store.choice() == LabelChoice(True, 0)
    one = store.add_act(act_of(version=1))
    two = store.add_act(act_of(version=2))
    store.add_act(act_of(LearningActionKind.WHEN_APPLIED))
    assert store.choice() == LabelChoice(False, 2)
    store.add_act(act_of(LearningActionKind.UNDONE, number=two.number))
    assert store.choice() == LabelChoice(False, 1)
    store.add_act(act_of(LearningActionKind.AT_ONCE))
    store.add_act(act_of(LearningActionKind.UNDONE, number=one.number))
    assert store.choice() == LabelChoice(True, 0)
    assert store.add_version(version_of(1)) and store.add_version(version_of(2))
    assert store.choice() == LabelChoice(True, 0, 2)


def test_verdicts_come_in_their_order_with_the_moves_of_one_document(new_store: NewStore) -> None:
    store, _ = new_store(0)
    statements = [
        verdict_of(3),
        verdict_of(4, field="domain", given=None),
        verdict_of(3, value="", automatic=False, move=None),
    ]
    store.add_verdicts(statements[:2])
    store.add_verdicts(statements[2:])
    store.add_verdicts([])
    assert list(store.verdicts()) == [replace(each, move=None) for each in statements]
    assert list(store.verdicts(3, "truth")) == [statements[0], statements[2]]
    assert list(store.verdicts(4)) == [statements[1]] and list(store.verdicts(4, "truth")) == []
