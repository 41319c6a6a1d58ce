"""People, API tokens and the audit log in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Index, Integer, func, insert, or_, select, text, update
from sqlalchemy.orm import Mapped, mapped_column

from core.access.audit import AuditEntry, AuditOutcome, AuditPage, AuditQuery
from core.access.people import no_person, outdated_person
from core.domain.people import ApiToken, Door, Person, Role
from core.domain.sanitize import storable_text
from storage.postgres.database import Database
from storage.postgres.json_records import JsonRecords, next_id
from storage.postgres.tables import Base, JsonValue, allow, id_column, of_tenant, table_of

__all__ = [
    "AUDIT",
    "PEOPLE",
    "TOKENS",
    "ApiTokenRow",
    "AuditRow",
    "PersonRow",
    "SqlAuditLog",
    "SqlPeopleStore",
    "SqlTokenStore",
]


class PersonRow(Base):
    """Somebody who signed in or was invited; `data` is the whole value."""

    __tablename__ = "people"
    __table_args__ = (
        of_tenant(),
        Index("people_logins", "tenant_id", "login", unique=True),
        allow("SELECT, INSERT, UPDATE (version, data)"),
    )

    id: Mapped[int] = id_column("people_id_seq")
    login: Mapped[str]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]


class ApiTokenRow(Base):
    """One API token. digest: SHA-256 of its secret, which is stored nowhere."""

    __tablename__ = "api_tokens"
    __table_args__ = (
        of_tenant(),
        Index("api_tokens_digests", "tenant_id", "digest", unique=True),
        allow("SELECT, INSERT, UPDATE (revoked, last_used)"),
    )

    id: Mapped[int] = id_column("api_tokens_id_seq")
    name: Mapped[str]
    login: Mapped[str]
    role: Mapped[str]
    digest: Mapped[str]
    created: Mapped[datetime]
    expires: Mapped[datetime | None]
    revoked: Mapped[datetime | None]
    last_used: Mapped[datetime | None]


class AuditRow(Base):
    """One entry of the audit log. Rows are only added: nobody has the right to change or delete one."""

    __tablename__ = "audit_log"
    __table_args__ = (
        of_tenant(),
        Index("audit_log_newest", "tenant_id", text("id DESC")),
        allow("SELECT, INSERT"),
    )

    id: Mapped[int] = id_column("audit_log_id_seq")
    at: Mapped[datetime]
    login: Mapped[str]
    name: Mapped[str]
    door: Mapped[str]
    action: Mapped[str]
    object: Mapped[str]
    project: Mapped[str | None]
    outcome: Mapped[str]
    detail: Mapped[str]


PEOPLE = table_of(PersonRow)
TOKENS = table_of(ApiTokenRow)
AUDIT = table_of(AuditRow)


class SqlPeopleStore:
    """Implements core.access.people.PeopleStore."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = JsonRecords(PEOPLE, Person, database.tenant)

    def people(self) -> Sequence[Person]:
        """Everybody, by login."""
        with self._database.transaction("reading people") as connection:
            return self._records.all(connection, order=PEOPLE.c.login)

    def person(self, person_id: int) -> Person:
        """One person. Raises NotFound."""
        with self._database.transaction("reading a person") as connection:
            found = self._records.first(connection, PEOPLE.c.id == person_id)
        if found is None:
            raise no_person(person_id)
        return found

    def by_login(self, login: str) -> Person | None:
        """The person of a login; None without one."""
        with self._database.transaction("reading a person") as connection:
            return self._records.first(connection, PEOPLE.c.login == storable_text(login))

    def add(self, person: Person) -> Person:
        """Store a new person, or return the stored one with this login."""
        with self._database.transaction("storing a person") as connection:
            new = replace(person, id=next_id(connection, PEOPLE), version=1)
            row = {"id": new.id, "login": storable_text(new.login), "version": 1}
            if self._records.add(connection, row, new):
                return new
        known = self.by_login(person.login)
        if known is None:
            raise no_person(0)
        return known

    def change(self, person: Person) -> Person:
        """Store a changed person with the next version. Raises Outdated, NotFound."""
        new = replace(person, version=person.version + 1)
        own = PEOPLE.c.id == person.id
        with self._database.transaction("storing a person") as connection:
            row = {"version": new.version}
            if self._records.change(connection, row, new, own, PEOPLE.c.version == person.version):
                return new
            known = self._records.first(connection, own)
        raise no_person(person.id) if known is None else outdated_person(known)


class SqlTokenStore:
    """Implements core.access.api_tokens.TokenStore."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def tokens(self) -> Sequence[ApiToken]:
        """All tokens, newest first."""
        query = select(TOKENS).where(self._own()).order_by(TOKENS.c.id.desc())
        with self._database.transaction("reading tokens") as connection:
            return [_token(row) for row in connection.execute(query).mappings()]

    def by_digest(self, digest: str) -> ApiToken | None:
        """The token with this digest; None without one."""
        query = select(TOKENS).where(self._own(), TOKENS.c.digest == digest)
        with self._database.transaction("checking a token") as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else _token(row)

    def add(self, token: ApiToken) -> ApiToken:
        """Store a new token."""
        with self._database.transaction("storing a token") as connection:
            new = replace(token, id=next_id(connection, TOKENS), name=storable_text(token.name))
            values = {column.name: getattr(new, column.name, None) for column in TOKENS.c}
            values |= {"tenant_id": self._database.tenant, "role": str(new.role)}
            connection.execute(insert(TOKENS).values(values))
        return new

    def change(self, token: ApiToken) -> None:
        """Store when it was last used or revoked. A revoked token stays revoked."""
        revoked = func.coalesce(TOKENS.c.revoked, token.revoked)
        statement = update(TOKENS).where(self._own(), TOKENS.c.id == token.id)
        with self._database.transaction("storing a token") as connection:
            connection.execute(statement.values(revoked=revoked, last_used=token.last_used))

    def _own(self) -> ColumnElement[bool]:
        return TOKENS.c.tenant_id == self._database.tenant


def _token(row: Any) -> ApiToken:
    values = {name: value for name, value in row.items() if name != "tenant_id"}
    return ApiToken(**(values | {"role": Role(row["role"])}))


class SqlAuditLog:
    """Implements core.access.audit.AuditLog."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, entry: AuditEntry) -> None:
        """Add an entry."""
        texts = {name: storable_text(getattr(entry, name)) for name in ("login", "name", "action", "object", "detail")}
        project = None if entry.project is None else storable_text(entry.project)
        with self._database.transaction("writing the audit log") as connection:
            row = {"tenant_id": self._database.tenant, "at": entry.at, "project": project, **texts}
            row |= {"door": str(entry.door), "outcome": str(entry.outcome)}
            connection.execute(insert(AUDIT).values(row))

    def page(self, query: AuditQuery, limit: int, offset: int) -> AuditPage:
        """Matching entries, newest first, and how many there are."""
        conditions = (AUDIT.c.tenant_id == self._database.tenant, *_conditions(query))
        listed = select(AUDIT).where(*conditions).order_by(AUDIT.c.id.desc()).limit(limit).offset(offset)
        with self._database.transaction("reading the audit log") as connection:
            total = connection.scalar(select(func.count()).select_from(AUDIT).where(*conditions)) or 0
            return AuditPage([_entry(row) for row in connection.execute(listed).mappings()], total)

    def values(self) -> tuple[Sequence[str], Sequence[str]]:
        """The logins and the actions there are, each ascending."""
        own = AUDIT.c.tenant_id == self._database.tenant
        with self._database.transaction("reading the audit log") as connection:
            logins, actions = (
                connection.scalars(select(column).where(own).distinct().order_by(column)).all()
                for column in (AUDIT.c.login, AUDIT.c.action)
            )
        return logins, actions


def _conditions(query: AuditQuery) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if query.login:
        found.append(AUDIT.c.login == query.login)
    if query.action:
        found.append(AUDIT.c.action == query.action)
    if query.door is not None:
        found.append(AUDIT.c.door == str(query.door))
    if query.outcome is not None:
        found.append(AUDIT.c.outcome == str(query.outcome))
    if query.words:
        searched = (AUDIT.c.action, AUDIT.c.object, AUDIT.c.detail)
        holds = [column.icontains(storable_text(query.words), autoescape=True) for column in searched]
        found.append(or_(*holds, AUDIT.c.action.in_(sorted(query.actions))))
    if query.since is not None:
        found.append(AUDIT.c.at >= query.since)
    if query.until is not None:
        found.append(AUDIT.c.at < query.until)
    return found


def _entry(row: Any) -> AuditEntry:
    values = {name: value for name, value in row.items() if name != "tenant_id"}
    return AuditEntry(**(values | {"door": Door(row["door"]), "outcome": AuditOutcome(row["outcome"])}))
