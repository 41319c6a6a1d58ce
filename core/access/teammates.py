"""The people of a library as a team: who can be mentioned, given work and sent e-mail."""

from collections.abc import Sequence

from core.access.people import PeopleService
from core.collaboration.team import Teammate
from core.domain.errors import AccessDenied
from core.domain.people import Door

__all__ = ["PeopleTeam"]


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
