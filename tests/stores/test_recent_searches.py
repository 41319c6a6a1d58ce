"""The searches of each person: bounded, and nobody else's."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select

from core.domain.errors import AccessDenied
from storage.postgres import recent_searches
from storage.postgres.database import Database, Scope
from storage.postgres.recent_searches import SEARCHES, delete_searches, last_searches, save_search

MOMENT = datetime(2026, 3, 2, 9, tzinfo=UTC)


def test_the_oldest_searches_of_a_person_are_deleted(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_searches, "_REMEMBERED", 5)
    monkeypatch.setattr(recent_searches, "_DELETED_EVERY", 1)
    save_search(database, "mine?", 1, MOMENT, "ben")
    for number in range(12):
        save_search(database, f"question {number}", 1, MOMENT + timedelta(minutes=number), "ann")
    with database.transaction("counting") as connection:
        own = SEARCHES.c.tenant_id == database.tenant
        counts = select(SEARCHES.c.login, func.count()).where(own).group_by(SEARCHES.c.login)
        assert set(map(tuple, connection.execute(counts))) == {("ann", 5), ("ben", 1)}
    assert [question for question, _, _ in last_searches(database, 9, "ann")] == [
        f"question {number}" for number in range(11, 6, -1)
    ]


def test_who_sees_some_projects_reaches_nobody_elses_searches(database: Database) -> None:
    save_search(database, "mine?", 1, MOMENT, "ben")
    eve = replace(database, scope=Scope(("Alpha",), "eve"))
    save_search(eve, "hers?", 1, MOMENT, "eve")
    delete_searches(eve, "ben")
    assert not last_searches(eve, 9, "ben")
    assert [question for question, _, _ in last_searches(database, 9, "ben")] == ["mine?"]
    with pytest.raises(AccessDenied):
        save_search(eve, "not hers?", 1, MOMENT, "ben")
