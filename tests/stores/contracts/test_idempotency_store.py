"""What every core.library.idempotency.IdempotencyStore does, and the service over it."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from core.domain.errors import BadRequest, Outdated
from core.domain.people import Door, local_principal
from core.library.idempotency import KEPT, IdempotencyService, IdempotencyStore, IdempotentRequest
from storage.postgres.idempotency import SqlIdempotencyStore
from tests.database import new_tenant
from tests.fakes import FakeIdempotencyStore
from tests.stores.contracts.usage import AT

ONE = IdempotentRequest("ann", "key 1", "abc", AT)
REPLY = {"document_id": 7, "name": "Größe – 残業.pdf"}
ANN = local_principal(Door.REST)


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> IdempotencyStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeIdempotencyStore()
    return SqlIdempotencyStore(new_tenant(request.getfixturevalue("engine")))


def test_the_first_claim_owns_the_key_and_the_second_sees_it(store: IdempotencyStore) -> None:
    assert store.claim(ONE, retained_since=AT) is None
    assert store.claim(replace(ONE, fingerprint="other"), retained_since=AT) == ONE
    assert store.claim(replace(ONE, login="bob"), retained_since=AT) is None


def test_a_stored_reply_is_read_back_exactly(store: IdempotencyStore) -> None:
    store.claim(ONE, retained_since=AT)
    store.finish(replace(ONE, status=201, reply=REPLY))
    assert store.claim(ONE, retained_since=AT) == replace(ONE, status=201, reply=REPLY)


def test_a_released_key_can_be_claimed_again_and_one_with_a_reply_cannot(store: IdempotencyStore) -> None:
    store.claim(ONE, retained_since=AT)
    store.release("ann", "key 1")
    assert store.claim(ONE, retained_since=AT) is None
    store.finish(replace(ONE, status=201, reply=REPLY))
    store.release("ann", "key 1")
    assert store.claim(ONE, retained_since=AT) is not None


def test_old_keys_are_deleted(store: IdempotencyStore) -> None:
    store.claim(ONE, retained_since=AT)
    later = replace(ONE, key="key 2", at=AT + KEPT)
    assert store.claim(later, retained_since=AT + timedelta(seconds=1)) is None
    assert store.claim(replace(ONE, at=later.at), retained_since=AT + timedelta(seconds=1)) is None


def test_an_abandoned_claim_is_replaced_once(store: IdempotencyStore) -> None:
    store.claim(ONE, retained_since=AT)
    again = replace(ONE, at=AT + timedelta(minutes=5))
    assert store.reclaim(again, ONE) is True
    assert store.reclaim(again, ONE) is False
    assert store.claim(ONE, retained_since=AT) == again


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.now = AT

    def __call__(self) -> datetime:
        return self.now


def test_a_repeated_request_gets_the_first_reply_and_other_content_is_refused(store: IdempotencyStore) -> None:
    service = IdempotencyService(store, Clock())
    assert service.claim("k", "abc", ANN) is None
    with pytest.raises(Outdated, match="still carried out"):
        service.claim("k", "abc", ANN)
    service.finish("k", "abc", 201, REPLY, ANN)
    known = service.claim("k", "abc", ANN)
    assert known is not None and (known.status, known.reply) == (201, REPLY)
    with pytest.raises(BadRequest, match="another request"):
        service.claim("k", "xyz", ANN)


def test_a_claim_of_a_process_that_died_is_carried_out_again(store: IdempotencyStore) -> None:
    clock = Clock()
    service = IdempotencyService(store, clock)
    service.claim("k", "abc", ANN)
    clock.now = AT + timedelta(minutes=3)
    assert service.claim("k", "abc", ANN) is None
    with pytest.raises(Outdated):
        service.claim("k", "abc", ANN)
