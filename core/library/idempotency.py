"""Idempotency keys: a request that a program repeats after a broken connection is carried out once.

A key belongs to one person and one request. The first request claims it, and its reply is stored; a repeated request
with the same content gets the stored reply.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from core.domain.errors import BadRequest, Outdated
from core.domain.people import Principal

__all__ = ["KEPT", "IdempotencyService", "IdempotencyStore", "IdempotentRequest"]

KEPT = timedelta(days=7)
"""How long a reply is stored. Chosen by hand: a program that retries after a week starts anew."""
_ABANDONED = timedelta(minutes=2)
"""A claim without a reply after this time belongs to a process that died. Chosen by hand: uploads take seconds."""


@dataclass(frozen=True, slots=True)
class IdempotentRequest:
    """A claimed key. fingerprint: hex digest of the request's content. status: of the stored reply; 0 while the request
    is carried out. reply: its JSON body."""

    login: str
    key: str
    fingerprint: str
    at: datetime
    status: int = 0
    reply: Mapping[str, Any] = field(default_factory=dict)


class IdempotencyStore(Protocol):
    """Stores the keys of one tenant. Every method raises StoreFailed when the store does not respond."""

    def claim(self, request: IdempotentRequest, *, retained_since: datetime) -> IdempotentRequest | None:
        """Store a new key, or return the request that has it. Keys claimed before `retained_since` are deleted."""
        ...

    def reclaim(self, request: IdempotentRequest, before: IdempotentRequest) -> bool:
        """Replace an abandoned claim; False when another process did so first, or the reply has arrived."""
        ...

    def finish(self, request: IdempotentRequest) -> None:
        """Store the reply of a claimed request."""
        ...

    def release(self, login: str, key: str) -> None:
        """Delete a claim that has no reply, so that the request can be repeated."""
        ...


class IdempotencyService:
    """Claims keys and stores replies."""

    def __init__(self, store: IdempotencyStore, now: Callable[[], datetime]) -> None:
        self._store, self._now = store, now

    def claim(self, key: str, fingerprint: str, by: Principal) -> IdempotentRequest | None:
        """The earlier request with this key and content, with its reply; None when this is the first, which now owns
        the key.

        Raises BadRequest when the key was used for other content, Outdated while the first request is carried out.
        """
        now = self._now()
        new = IdempotentRequest(by.login, key, fingerprint, now)
        known = self._store.claim(new, retained_since=now - KEPT)
        if known is None:
            return None
        if known.fingerprint != fingerprint:
            raise BadRequest(
                "This Idempotency-Key was used for another request.", "Use a new key for every new request."
            )
        if known.status:
            return known
        if now - known.at > _ABANDONED and self._store.reclaim(new, known):
            return None
        raise Outdated("The first request with this Idempotency-Key is still carried out.", "Repeat it in a moment.")

    def finish(self, key: str, fingerprint: str, status: int, reply: Mapping[str, Any], by: Principal) -> None:
        """Store the reply of the request that owns the key. status: of HTTP."""
        self._store.finish(IdempotentRequest(by.login, key, fingerprint, self._now(), status, dict(reply)))

    def release(self, key: str, by: Principal) -> None:
        """Give up a claim whose request failed, so that it can be repeated."""
        self._store.release(by.login, key)
