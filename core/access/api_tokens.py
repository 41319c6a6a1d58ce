"""API tokens: created once shown once, stored as a hash, limited by role and time, revoked at once."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Protocol

from core.access.people import PeopleService
from core.domain.errors import BadRequest, NotFound, NotSignedIn
from core.domain.people import ApiToken, Door, Principal, Role, local_principal

__all__ = ["TokenService", "TokenStore", "no_token"]

_PREFIX = "ff_"  # so that secret scanners and people recognise one
_BYTES = 32  # of randomness: guessing one is hopeless, so a fast hash is enough to store it
_USED_SECONDS = 60.0  # between two notes of when a token was last used. Chosen by hand: not one write per request.
_LONGEST_NAME = 80


def no_token(token_id: int) -> NotFound:
    """The error for an unknown token, and for another person's."""
    return NotFound(f"There is no token {token_id}.", "Look at the list of tokens again.")


class TokenStore(Protocol):
    """The tokens of one tenant."""

    def tokens(self) -> Sequence[ApiToken]:
        """All of them, newest first."""
        ...

    def by_digest(self, digest: str) -> ApiToken | None: ...
    def add(self, token: ApiToken) -> ApiToken: ...
    def change(self, token: ApiToken) -> None:
        """Store when it was last used or revoked. A revoked token stays revoked."""
        ...


class TokenService:
    """Creates, checks and revokes tokens."""

    def __init__(self, store: TokenStore, people: PeopleService, now: Callable[[], datetime]) -> None:
        self._store, self._people, self._now = store, people, now

    def create(self, name: str, role: Role, expires: datetime | None, by: Principal) -> tuple[ApiToken, str]:
        """A new token of this person and its secret, which is never shown again.

        role: the most it may do. Raises BadRequest for a missing name, a time that has passed or a role the person has
        not, StoreFailed.
        """
        if not name.strip():
            raise BadRequest("The token has no name.", "Say what it is for, so that it can be recognised later.")
        if len(name.strip()) > _LONGEST_NAME:
            raise BadRequest("The token's name is too long.", f"Use at most {_LONGEST_NAME} characters.")
        if expires is not None and expires <= self._now():
            raise BadRequest("The token would have expired already.", "Choose a later day.")
        if by.token:
            raise BadRequest("A token cannot create tokens.", "Create it on Settings, signed in yourself.")
        if by.highest is None or not by.highest.covers(role):
            raise BadRequest(f"You are not {role} anywhere.", "Choose a role you have yourself.")
        secret = _PREFIX + secrets.token_urlsafe(_BYTES)
        token = ApiToken(name.strip(), by.login, role, _digest(secret), self._now(), expires)
        return self._store.add(token), secret

    def tokens(self, by: Principal) -> Sequence[ApiToken]:
        """The person's tokens, for an administrator of every project everybody's; newest first. Raises StoreFailed."""
        return [each for each in self._store.tokens() if each.login == by.login or _manages(by)]

    def revoke(self, token_id: int, by: Principal) -> None:
        """End a token at once. Raises NotFound for an unknown token and for another person's, StoreFailed."""
        own = {each.id: each for each in self.tokens(by)}
        if token_id not in own:
            raise no_token(token_id)
        self._store.change(replace(own[token_id], revoked=self._now()))

    def verify(self, secret: str, door: Door) -> Principal:
        """Who a token speaks for, with no more than the token's role.

        Raises NotSignedIn for an unknown, expired or revoked token, AccessDenied for a blocked person, StoreFailed.
        """
        token = self._store.by_digest(_digest(secret)) if secret.startswith(_PREFIX) else None
        now = self._now()
        if token is None or token.revoked is not None or (token.expires is not None and token.expires <= now):
            raise NotSignedIn("The token is unknown, expired or revoked.", "Create a new one on Settings.")
        person = self._owner(token, door)
        if token.last_used is None or now - token.last_used > timedelta(seconds=_USED_SECONDS):
            self._store.change(replace(token, last_used=now))
        return person

    def _owner(self, token: ApiToken, door: Door) -> Principal:
        owner = local_principal(door)
        if token.login != owner.login:
            person = self._people.by_login(token.login)
            if person is None or person.blocked:
                raise NotSignedIn("The person of this token has no access any more.", "Ask an administrator.")
            owner = self._people.principal(person, door)
        capped = tuple((project, min(role, token.role, key=lambda one: one.rank)) for project, role in owner.roles)
        return replace(owner, roles=capped, token=token.id)


def _manages(person: Principal) -> bool:
    return (None, Role.ADMINISTRATOR) in person.roles


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
