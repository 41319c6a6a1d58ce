"""What every store of people, of API tokens and every audit log does."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import text

from core.access.api_tokens import TokenStore
from core.access.audit import AuditEntry, AuditLog, AuditOutcome, AuditQuery
from core.access.people import PeopleStore
from core.domain.errors import NotFound, Outdated, StoreFailed
from core.domain.people import ApiToken, Door, Person, Role
from storage.postgres.access import SqlAuditLog, SqlPeopleStore, SqlTokenStore
from storage.postgres.database import Database
from tests.database import new_tenant
from tests.fakes import FakeAuditLog, FakePeopleStore, FakeTokenStore
from tests.stores.contracts.usage import AT

ANN = Person("ann@example.org", "Ann “Ä”", "ann@example.org", ((None, Role.VIEWER), ("Größe", Role.REVIEWER)), AT)
TOKEN = ApiToken("nightly", "ann@example.org", Role.ANALYST, "ab" * 32, AT, AT + timedelta(days=1))
ENTRY = AuditEntry(AT, "ann@example.org", "Ann", Door.REST, "documents.delete", "document_id 7", project="Größe")

_BOTH = pytest.mark.parametrize("kind", ["memory", "postgres"])


@pytest.fixture
def people(kind: str, request: pytest.FixtureRequest) -> PeopleStore:
    """An empty store of each kind."""
    return FakePeopleStore() if kind == "memory" else SqlPeopleStore(new_tenant(request.getfixturevalue("engine")))


@pytest.fixture
def tokens(kind: str, request: pytest.FixtureRequest) -> TokenStore:
    """An empty store of each kind."""
    return FakeTokenStore() if kind == "memory" else SqlTokenStore(new_tenant(request.getfixturevalue("engine")))


@pytest.fixture
def log(kind: str, request: pytest.FixtureRequest) -> AuditLog:
    """An empty log of each kind."""
    return FakeAuditLog() if kind == "memory" else SqlAuditLog(new_tenant(request.getfixturevalue("engine")))


@_BOTH
def test_a_person_is_read_back_as_stored_and_changed_once(people: PeopleStore) -> None:
    stored = people.add(ANN)
    assert people.person(stored.id) == people.by_login(ANN.login) == stored
    assert people.add(replace(ANN, name="Another")) == stored
    changed = people.change(replace(stored, blocked=True))
    assert people.people() == [changed] and changed.blocked
    with pytest.raises(Outdated):
        people.change(replace(stored, name="late"))
    with pytest.raises(NotFound):
        people.person(stored.id + 1)
    assert people.by_login("nobody") is None


@_BOTH
def test_a_token_is_found_by_its_digest_and_stays_revoked(tokens: TokenStore) -> None:
    stored = tokens.add(TOKEN)
    newer = tokens.add(replace(TOKEN, digest="cd" * 32))
    assert tokens.by_digest(TOKEN.digest) == stored and tokens.by_digest("ef" * 32) is None
    assert [each.id for each in tokens.tokens()] == [newer.id, stored.id]
    tokens.change(replace(stored, revoked=AT))
    tokens.change(replace(stored, last_used=AT))
    assert tokens.by_digest(TOKEN.digest) == replace(stored, revoked=AT, last_used=AT)


@_BOTH
def test_the_log_is_filtered_and_paged_newest_first(log: AuditLog) -> None:
    refused = replace(ENTRY, action="documents.list", outcome=AuditOutcome.REFUSED, detail="50% of_it", door=Door.MCP)
    for entry in (ENTRY, refused, replace(ENTRY, login="bo", at=AT + timedelta(days=1), project=None)):
        log.add(entry)
    page = log.page(AuditQuery(), 2, 0)
    assert page.total == 3 and [each.login for each in page.entries] == ["bo", ENTRY.login]
    assert [replace(each, id=0) for each in log.page(AuditQuery(), 9, 2).entries] == [ENTRY]
    for query, count in (
        (AuditQuery(login="bo"), 1),
        (AuditQuery(action="documents.delete"), 2),
        (AuditQuery(door=Door.MCP), 1),
        (AuditQuery(outcome=AuditOutcome.REFUSED), 1),
        (AuditQuery(words="50% OF_"), 1),
        (AuditQuery(words="document_id 7"), 3),
        (AuditQuery(words="looked at", actions=frozenset({"documents.list"})), 1),
        (AuditQuery(since=AT + timedelta(days=1)), 1),
        (AuditQuery(until=AT + timedelta(days=1)), 2),
    ):
        assert log.page(query, 9, 0).total == count, query
    assert log.values() == (["ann@example.org", "bo"], ["documents.delete", "documents.list"])


@pytest.mark.parametrize("statement", ["UPDATE audit_log SET name = 'x'", "DELETE FROM audit_log"])
def test_nobody_changes_or_deletes_an_entry_of_the_log(database: Database, statement: str) -> None:
    SqlAuditLog(database).add(ENTRY)
    with pytest.raises(StoreFailed, match="refuses access"), database.transaction("attacking") as connection:
        connection.execute(text(statement))
    assert SqlAuditLog(database).page(AuditQuery(), 9, 0).total == 1
