"""People of a library: sign-in, roles per project, blocking, and who can be mentioned or assigned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol

from core.collaboration.team import Teammate
from core.domain.errors import AccessDenied, BadRequest, NotFound, Outdated
from core.domain.people import LOCAL_LOGIN, Colleague, Door, Identity, Person, Principal, Role, local_principal

__all__ = [
    "PeopleService",
    "PeopleStore",
    "PeopleTeam",
    "SignInRules",
    "no_person",
    "outdated_person",
    "parse_group_roles",
]

Roles = tuple[tuple[str | None, Role], ...]


def no_person(person_id: int) -> NotFound:
    """The error every PeopleStore raises for an unknown person."""
    return NotFound(f"There is no person {person_id}.", "Look at the list of people again.")


def outdated_person(person: Person) -> Outdated:
    """The error every PeopleStore raises when somebody else changed a person first."""
    return Outdated(f"{person.name or person.login} was changed meanwhile.", "Look at the roles again, then repeat.")


class PeopleStore(Protocol):
    """The people of one tenant."""

    def people(self) -> Sequence[Person]:
        """Everybody, by login."""
        ...

    def person(self, person_id: int) -> Person:
        """Raises NotFound."""
        ...

    def by_login(self, login: str) -> Person | None: ...

    def add(self, person: Person) -> Person:
        """Store a new person, or return the stored one with this login."""
        ...

    def change(self, person: Person) -> Person:
        """Store a changed person with the next version. Raises Outdated, NotFound."""
        ...


@dataclass(frozen=True, slots=True)
class SignInRules:
    """What a person gets without an administrator's doing. administrators: logins that always are administrators.
    first_role: what everybody gets in every project at the first sign-in, None for nothing. group_roles: group of the
    identity provider → roles its members have as long as they are in it."""

    administrators: frozenset[str] = frozenset()
    first_role: Role | None = None
    group_roles: Mapping[str, Roles] = field(default_factory=dict)


def parse_group_roles(text: str) -> Mapping[str, Roles]:
    """Group → roles from "hr=analyst, leads=reviewer@Payroll; …". Raises BadRequest.

    >>> parse_group_roles("hr = analyst, leads = reviewer @ Payroll")
    {'hr': ((None, <Role.ANALYST: 'analyst'>),), 'leads': (('Payroll', <Role.REVIEWER: 'reviewer'>),)}
    """
    found: dict[str, Roles] = {}
    for part in text.replace(";", ",").split(","):
        if not part.strip():
            continue
        group, _, role_name = part.partition("=")
        role, _, project = role_name.partition("@")
        if not group.strip() or role.strip() not in list(Role):
            raise BadRequest(
                f"'{part.strip()}' gives no role to a group.",
                "Write group=role or group=role@project, with a role of viewer, analyst, reviewer, administrator.",
            )
        found[group.strip()] = (*found.get(group.strip(), ()), (project.strip() or None, Role(role.strip())))
    return found


class PeopleService:
    """Signs people in and manages their roles."""

    def __init__(self, store: PeopleStore, rules: SignInRules, now: Callable[[], datetime]) -> None:
        self._store, self._rules, self._now = store, rules, now

    def people(self) -> Sequence[Person]:
        """Everybody, by login. Raises StoreFailed."""
        return self._store.people()

    def colleagues(self) -> Sequence[Colleague]:
        """Everybody who is not blocked, by name. Raises StoreFailed."""
        living = (person for person in self._store.people() if not person.blocked)
        return sorted((Colleague(each.login, each.name or each.login) for each in living), key=lambda one: one.name)

    def sign_in(self, identity: Identity, door: Door) -> Principal:
        """The person of an identity with the roles of today; stored at the first sign-in.

        The first person of a library without named administrators is its administrator. Raises AccessDenied for
        somebody who is blocked or has no role, StoreFailed.
        """
        login = identity.login.strip().lower()
        if login in ("", LOCAL_LOGIN):
            raise AccessDenied("The sign-in names nobody.", "Ask the administrator of the sign-in service.")
        person = self._store.by_login(login) or self._store.add(
            Person(login, identity.name, identity.email, self._first_roles(), self._now())
        )
        if person.blocked:
            raise AccessDenied(f"{person.name or login} is blocked.", "Ask an administrator of this library.")
        seen = replace(
            person,
            name=identity.name or person.name,
            email=identity.email or person.email,
            groups=tuple(sorted(identity.groups)),
        )
        if seen != person or person.last_seen is None or (self._now() - person.last_seen).total_seconds() > _SEEN:
            person = self._seen(replace(seen, last_seen=self._now()))
        return self.principal(person, door)

    def _seen(self, person: Person) -> Person:
        """Another session of the same person may have written the same just now."""
        try:
            return self._store.change(person)
        except Outdated:
            return self._store.person(person.id)

    def principal(self, person: Person, door: Door) -> Principal:
        """A person with all roles that count now: given, and by the groups of the last sign-in. Raises AccessDenied
        without one."""
        roles = (*person.roles, *self.roles_by_settings(person))
        if not roles:
            raise AccessDenied(
                f"{person.name or person.login} has no access to this library.",
                "Ask an administrator of this library for a role.",
            )
        return Principal(person.login, person.name or person.login, roles, door, person.groups)

    def roles_by_settings(self, person: Person) -> Roles:
        """What the settings give a person, by login and by the groups of the last sign-in; nobody can take it away."""
        named: Roles = ((None, Role.ADMINISTRATOR),) if person.login in self._rules.administrators else ()
        return (*named, *(role for group in person.groups for role in self._rules.group_roles.get(group, ())))

    def _first_roles(self) -> Roles:
        if not self._rules.administrators and not self._store.people():
            return ((None, Role.ADMINISTRATOR),)
        return () if self._rules.first_role is None else ((None, self._rules.first_role),)

    def by_login(self, login: str) -> Person | None:
        """The person of a login; None when there is none. Raises StoreFailed."""
        return self._store.by_login(login)

    def acting(self, login: str, door: Door, name: str = "") -> Principal:
        """A known person by login, for work that is done for them while they are away. name: that they go by where
        nobody signs in. Raises AccessDenied for somebody unknown, blocked or without a role, StoreFailed."""
        if login == LOCAL_LOGIN:
            return local_principal(door, name)
        person = self._store.by_login(login)
        if person is None or person.blocked:
            raise AccessDenied(f"'{login}' has no access to this library.", "Ask an administrator of this library.")
        return self.principal(person, door)

    def invite(self, login: str, role: Role, project: str | None = None) -> Person:
        """Give a role to somebody who has not signed in yet. Raises BadRequest without a login, StoreFailed."""
        login = login.strip().lower()
        if login in ("", LOCAL_LOGIN):
            raise BadRequest("Nobody is named.", "Enter the e-mail address or login the person signs in with.")
        person = self._store.add(Person(login, "", login if "@" in login else "", (), self._now()))
        return self.set_role(person.id, project, role)

    def set_role(self, person_id: int, project: str | None, role: Role | None) -> Person:
        """Give a person a role in a project (None: in every project), or take it away (role None).

        Raises NotFound, Outdated, BadRequest when no administrator would be left, StoreFailed.
        """
        person = self._store.person(person_id)
        others = tuple(each for each in person.roles if each[0] != project)
        changed = replace(person, roles=others if role is None else (*others, (project, role)))
        self._keep_an_administrator(changed)
        return self._store.change(changed)

    def block(self, person_id: int, *, blocked: bool) -> Person:
        """Keep a person out, with all tokens, or let them in again.

        Raises NotFound, Outdated, BadRequest when no administrator would be left, StoreFailed.
        """
        changed = replace(self._store.person(person_id), blocked=blocked)
        self._keep_an_administrator(changed)
        return self._store.change(changed)

    def _keep_an_administrator(self, changed: Person) -> None:
        after = [changed if each.id == changed.id else each for each in self._store.people()]
        if self._rules.administrators or any(
            not each.blocked and (None, Role.ADMINISTRATOR) in each.roles for each in after
        ):
            return
        raise BadRequest(
            "Then nobody could manage this library.", "Make somebody else an administrator of every project first."
        )


_SEEN = 300.0
"""Seconds between two notes of when a person was last seen. Chosen by hand: every rerun of a page would write one."""


class PeopleTeam:
    """Implements core.collaboration.team.Team over the people who have signed in or were invited."""

    def __init__(self, people: PeopleService) -> None:
        self._people = people

    def teammates(self) -> Sequence[Teammate]:
        """Everybody with a role who is not blocked, by name. Raises StoreFailed."""
        found = []
        for person in self._people.people():
            if person.blocked:
                continue
            try:
                roles = self._people.principal(person, Door.BROWSER)
            except AccessDenied:  # without a role
                continue
            found.append(Teammate(person.login, roles.name, roles.projects, person.email))
        return sorted(found, key=lambda each: (each.name.casefold(), each.login))
