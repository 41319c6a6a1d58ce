"""The team: who may see what, and who is mentioned in a text."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.collaboration.target import Target, TargetKind
from core.domain.errors import BadRequest
from core.domain.people import Principal

__all__ = ["Team", "Teammate", "mentioned", "people_for", "sees"]

_MENTION = re.compile(r"(?<![\w@])@([\w.+-]+(?:@[\w.-]+\w)?)")


@dataclass(frozen=True, slots=True)
class Teammate:
    """One person. projects: the projects they see besides what all projects share; None: all. email: "" when
    unknown."""

    login: str
    name: str
    projects: tuple[str, ...] | None = None
    email: str = ""

    def sees(self, target: Target) -> bool:
        """Whether they may see a target."""
        return _sees(self.projects, target)


class Team(Protocol):
    """Everybody who may sign in."""

    def teammates(self) -> Sequence[Teammate]:
        """All of them, by name; empty where one person works without sign-in. Raises StoreFailed."""
        ...


def sees(person: Principal, target: Target) -> bool:
    """Whether a person may see a target."""
    return _sees(person.projects, target)


def _sees(projects: tuple[str, ...] | None, target: Target) -> bool:
    """A document without a project is shared by all; the board of the whole library is made of all projects."""
    shared = target.project is None and target.kind is not TargetKind.CELL
    return projects is None or shared or target.project in projects


def mentioned(text: str, logins: Sequence[str]) -> Sequence[str]:
    """The logins that a text mentions as @login, in its order; a login may be an e-mail address.

    >>> mentioned("Ask @ann, or @bo@example.org. Not me@ann", ["ann", "bo@example.org", "me"])
    ['ann', 'bo@example.org']
    """
    known = {login.casefold(): login for login in logins}
    found = (match.group(1).rstrip(".-+").casefold() for match in _MENTION.finditer(text))
    return list(dict.fromkeys(known[name] for name in found if name in known))


def people_for(logins: Sequence[str], target: Target, team: Mapping[str, Teammate]) -> Sequence[Teammate]:
    """These people, each once. Raises BadRequest for one who is not in the team or may not see the target."""
    found = []
    for login in dict.fromkeys(logins):
        person = team.get(login)
        if person is None:
            raise BadRequest(f"There is nobody with the login '{login}'.", "Choose somebody from the list.")
        if not person.sees(target):
            where = f"the project '{target.project}'" if target.project else "the board of the whole library"
            raise BadRequest(
                f"{person.name} may not see {where}.",
                "Choose somebody with a role there, or ask an administrator to give them one.",
            )
        found.append(person)
    return found
