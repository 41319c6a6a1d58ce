"""People: who uses the library, by which door they came in, and what they may do where."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property

__all__ = ["LOCAL_LOGIN", "ApiToken", "Colleague", "Door", "Identity", "Person", "Principal", "Role", "local_principal"]

LOCAL_LOGIN = "local"
"""The login of the one person of a library without sign-in."""


class Role(StrEnum):
    """What a person may do, each role including the ones before it.

    A viewer reads, searches and exports; an analyst adds and changes documents, labels and insights; a reviewer decides
    cells, accepts versions and sets profiles; an administrator manages people, models, sources and the library.

    >>> Role.ANALYST.covers(Role.VIEWER), Role.VIEWER.covers(Role.ANALYST)
    (True, False)
    """

    VIEWER = "viewer"
    ANALYST = "analyst"
    REVIEWER = "reviewer"
    ADMINISTRATOR = "administrator"

    @property
    def rank(self) -> int:
        """0 for the least."""
        return list(Role).index(self)

    def covers(self, needed: "Role") -> bool:
        """Whether this role may do what the needed one may."""
        return self.rank >= needed.rank


class Door(StrEnum):
    """How somebody came in."""

    BROWSER = "browser"
    REST = "REST"
    MCP = "MCP"
    COMMAND = "command line"
    PYTHON = "Python"


@dataclass(frozen=True)
class Principal:
    """Who does something now. roles: (project, role), None for every project; groups: of the identity provider.

    token: the id of the API token used; 0 without one.

    >>> ann = Principal("ann@x.org", "Ann", ((None, Role.VIEWER), ("Payroll", Role.REVIEWER)), Door.BROWSER)
    >>> ann.role_in("Payroll"), ann.role_in("Benefits"), ann.projects
    (<Role.REVIEWER: 'reviewer'>, <Role.VIEWER: 'viewer'>, None)
    """

    login: str
    name: str
    roles: tuple[tuple[str | None, Role], ...]
    door: Door
    groups: tuple[str, ...] = ()
    token: int = 0

    def role_in(self, project: str | None) -> Role | None:
        """The highest role that counts in a project; None: none does. Project None stands for what all projects share,
        where only a role in every project counts."""
        counting = [role for granted, role in self.roles if granted is None or granted == project]
        return max(counting, key=lambda role: role.rank, default=None)

    @property
    def highest(self) -> Role | None:
        """The highest role in any project."""
        return max((role for _, role in self.roles), key=lambda role: role.rank, default=None)

    @cached_property
    def projects(self) -> tuple[str, ...] | None:
        """The projects whose documents this person sees besides those shared by all, ascending; None: all projects."""
        projects = {project for project, _ in self.roles}
        return None if None in projects else tuple(sorted(project for project in projects if project is not None))

    @property
    def local(self) -> bool:
        """Whether this is the one person of a library without sign-in."""
        return self.login == LOCAL_LOGIN


def local_principal(door: Door, name: str = "") -> Principal:
    """The one person of a library without sign-in, who may do everything."""
    return Principal(LOCAL_LOGIN, name, ((None, Role.ADMINISTRATOR),), door)


@dataclass(frozen=True, slots=True)
class Identity:
    """What an identity provider says about a person. login: stable, unique and in small letters."""

    login: str
    name: str
    email: str = ""
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signed in, or was invited. id: 0 until stored. roles: as in `Principal`, given by people. groups: of
    the last sign-in. last_seen: None until the first one. version: raised by every change."""

    login: str
    name: str
    email: str
    roles: tuple[tuple[str | None, Role], ...]
    added: datetime
    groups: tuple[str, ...] = ()
    last_seen: datetime | None = None
    blocked: bool = False
    id: int = 0
    version: int = 0


@dataclass(frozen=True, slots=True)
class Colleague:
    """Somebody to mention or to give work to."""

    login: str
    name: str


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A token with which a program acts for a person. role: the most it may do, whatever the person may. digest:
    SHA-256 of the secret, in hex. expires, revoked, last_used: None for never."""

    name: str
    login: str
    role: Role
    digest: str
    created: datetime
    expires: datetime | None = None
    revoked: datetime | None = None
    last_used: datetime | None = None
    id: int = 0
