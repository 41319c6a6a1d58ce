"""What every core.library.vocabulary.store.VocabularyStore does."""

from dataclasses import replace
from datetime import timedelta

import pytest

from core.domain.documents import Authority
from core.domain.errors import NotFound, Outdated
from core.domain.vocabulary import AuthorityNames, DomainWords, JurisdictionNames, Vocabulary
from core.library.vocabulary.store import VocabularyRun, VocabularyStore, VocabularyVersion
from storage.postgres.vocabularies import SqlVocabularyStore
from tests.database import new_tenant
from tests.fakes import FakeVocabularyStore
from tests.stores.libraries import MOMENT

OWN = Vocabulary(
    (DomainWords("privacy", "Datenschutz Ж", ("personal data", "=PII"), (), ("dpia",)), DomainWords("time", off=True)),
    (AuthorityNames(Authority.GOVERNMENT, ("Ministry of Labour",)),),
    (JurisdictionNames("country:XK", "Kosovo", ("Kosova",), ("Ministria e Punës",)),),
)
FIRST = VocabularyVersion(1, OWN, "Ann Ж", MOMENT, "a 'note'; --")
RUN = VocabularyRun(version=1, who="Ann", at=MOMENT, total=7, until=40)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> VocabularyStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeVocabularyStore()
    return SqlVocabularyStore(new_tenant(request.getfixturevalue("engine")))


def test_an_empty_store_holds_no_version_and_no_run(store: VocabularyStore) -> None:
    assert (store.newest(), list(store.versions()), store.latest_application()) == (None, [], None)


def test_a_version_is_read_back_exactly_as_it_was_saved(store: VocabularyStore) -> None:
    store.add(FIRST)
    assert store.newest() == FIRST
    assert list(store.versions()) == [FIRST]


def test_the_newest_version_holds_and_the_older_ones_stay(store: VocabularyStore) -> None:
    second = VocabularyVersion(2, Vocabulary(), "", MOMENT + timedelta(days=1))
    store.add(FIRST)
    store.add(second)
    assert store.newest() == second
    assert list(store.versions()) == [second, FIRST]


@pytest.mark.parametrize("number", [1, 3])
def test_only_the_next_number_is_taken_so_that_nobody_overwrites_another(store: VocabularyStore, number: int) -> None:
    store.add(FIRST)
    with pytest.raises(Outdated, match="nothing was overwritten"):
        store.add(replace(FIRST, number=number, who="Bob"))
    assert list(store.versions()) == [FIRST]


def test_a_run_is_told_as_far_as_it_has_come(store: VocabularyStore) -> None:
    begun = store.begin(RUN)
    assert begun == replace(RUN, id=begun.id) and begun.id > 0
    moved = replace(begun, done=3, changed=2, reached=17)
    assert store.advance(moved) == moved == store.application(begun.id)
    ended = store.advance(replace(moved, ended=MOMENT))
    assert store.latest_application() == ended == replace(moved, ended=MOMENT)


def test_to_advance_does_not_take_back_that_somebody_asked_to_stop(store: VocabularyStore) -> None:
    begun = store.begin(RUN)
    store.stop(begun.id)
    assert store.advance(replace(begun, done=1)).stopped
    assert store.application(begun.id) == replace(begun, done=1, stopped=True)


def test_the_run_begun_last_is_the_latest(store: VocabularyStore) -> None:
    store.begin(RUN)
    second = store.begin(replace(RUN, version=2))
    assert store.latest_application() == second


def test_a_run_there_is_not_is_said_so(store: VocabularyStore) -> None:
    for ask in (store.application, store.stop):
        with pytest.raises(NotFound, match="Run 9"):
            ask(9)
    with pytest.raises(NotFound, match="Run 9"):
        store.advance(replace(RUN, id=9))
