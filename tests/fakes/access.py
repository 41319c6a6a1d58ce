"""People, tokens and the audit log in memory."""

from collections.abc import Sequence
from dataclasses import replace

from core.access.audit import AuditEntry, AuditPage, AuditQuery
from core.access.people import no_person, outdated_person
from core.domain.people import ApiToken, Person

__all__ = ["FakeAuditLog", "FakePeopleStore", "FakeTokenStore"]


class FakePeopleStore:
    """Implements core.access.people.PeopleStore."""

    def __init__(self) -> None:
        self._people: dict[int, Person] = {}

    def people(self) -> Sequence[Person]:
        return sorted(self._people.values(), key=lambda each: each.login)

    def person(self, person_id: int) -> Person:
        if person_id not in self._people:
            raise no_person(person_id)
        return self._people[person_id]

    def by_login(self, login: str) -> Person | None:
        return next((each for each in self._people.values() if each.login == login), None)

    def add(self, person: Person) -> Person:
        known = self.by_login(person.login)
        if known is not None:
            return known
        new = replace(person, id=len(self._people) + 1, version=1)
        self._people[new.id] = new
        return new

    def change(self, person: Person) -> Person:
        known = self.person(person.id)
        if known.version != person.version:
            raise outdated_person(known)
        self._people[person.id] = replace(person, version=person.version + 1)
        return self._people[person.id]


class FakeTokenStore:
    """Implements core.access.api_tokens.TokenStore."""

    def __init__(self) -> None:
        self._tokens: dict[int, ApiToken] = {}

    def tokens(self) -> Sequence[ApiToken]:
        return sorted(self._tokens.values(), key=lambda each: -each.id)

    def by_digest(self, digest: str) -> ApiToken | None:
        return next((each for each in self._tokens.values() if each.digest == digest), None)

    def add(self, token: ApiToken) -> ApiToken:
        new = replace(token, id=len(self._tokens) + 1)
        self._tokens[new.id] = new
        return new

    def change(self, token: ApiToken) -> None:
        known = self._tokens[token.id]
        self._tokens[token.id] = replace(known, revoked=known.revoked or token.revoked, last_used=token.last_used)


class FakeAuditLog:
    """Implements core.access.audit.AuditLog."""

    def __init__(self) -> None:
        self.entries: list[AuditEntry] = []

    def add(self, entry: AuditEntry) -> None:
        self.entries.append(replace(entry, id=len(self.entries) + 1))

    def page(self, query: AuditQuery, limit: int, offset: int) -> AuditPage:
        found = [each for each in reversed(self.entries) if _matches(each, query)]
        return AuditPage(found[offset : offset + limit], len(found))

    def values(self) -> tuple[Sequence[str], Sequence[str]]:
        return sorted({each.login for each in self.entries}), sorted({each.action for each in self.entries})


def _matches(entry: AuditEntry, query: AuditQuery) -> bool:
    words = query.words.lower()
    return (
        query.login in ("", entry.login)
        and query.action in ("", entry.action)
        and query.door in (None, entry.door)
        and query.outcome in (None, entry.outcome)
        and (
            any(words in text.lower() for text in (entry.action, entry.object, entry.detail))
            or entry.action in query.actions
        )
        and (query.since is None or entry.at >= query.since)
        and (query.until is None or entry.at < query.until)
    )
