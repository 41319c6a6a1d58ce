"""Limits how often a client may call: `limits` counts in a sliding window."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from time import time

from limits import RateLimitItem, parse
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter

from api.problems import TooManyRequests
from core.domain.errors import BadRequest

__all__ = ["RateLimits", "Remaining"]

_FAILED_SIGN_INS = "20/minute"
"""Wrong tokens per address. Chosen by hand: a person mistypes a few times, a program that guesses is told to stop."""
_NOTED, _NOTED_PER_ADDRESS = "30/minute", "1/minute"
"""Refused sign-ins that the audit log gets, so that nobody can fill it. Chosen by hand."""
_CLIENTS_PER_ADDRESS = 10
"""How many times the rate an address may use with different tokens: an office may be behind one. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a client has left. reset_seconds: until the window is empty again."""

    limit: int
    remaining: int
    reset_seconds: int


class RateLimits:
    """Counts requests per client in this process. rate: gives such as "1200/minute"; read at the first request."""

    def __init__(self, rate: Callable[[], str]) -> None:
        self._read_rate, self._failed = rate, parse(_FAILED_SIGN_INS)
        self._noted, self._noted_per_address = parse(_NOTED), parse(_NOTED_PER_ADDRESS)
        self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    def hit(self, client: str, address: str) -> Remaining:
        """Count one request of a client at an address. Raises TooManyRequests, and BadRequest for an invalid rate."""
        accepted = self._limiter.hit(self._rate, "request", client)
        accepted = self._limiter.hit(self._rate_of_address, "address", address) and accepted
        stats = self._limiter.get_window_stats(self._rate, "request", client)
        seconds = max(1, ceil(stats.reset_time - time()))
        if not accepted:
            raise TooManyRequests(seconds)
        return Remaining(self._rate.amount, max(0, stats.remaining), seconds)

    @cached_property
    def _rate(self) -> RateLimitItem:
        return _parsed(self._read_rate())

    @cached_property
    def _rate_of_address(self) -> RateLimitItem:
        return type(self._rate)(self._rate.amount * _CLIENTS_PER_ADDRESS, self._rate.multiples)

    def failed_sign_in(self, address: str) -> None:
        """Count a wrong token. Raises TooManyRequests for the next of many; right tokens of the address still work."""
        if not self._limiter.hit(self._failed, "sign-in", address):
            stats = self._limiter.get_window_stats(self._failed, "sign-in", address)
            raise TooManyRequests(max(1, ceil(stats.reset_time - time())))

    def worth_noting(self, address: str) -> bool:
        """Whether the audit log should have this refused sign-in: one a minute of each address, thirty of all."""
        return self._limiter.hit(self._noted_per_address, "noted", address) and self._limiter.hit(self._noted, "noted")


def _parsed(rate: str) -> RateLimitItem:
    try:
        return parse(rate)
    except ValueError as error:
        raise BadRequest(f"'{rate}' is not a rate.", "Set FIVEFOLD_API_RATE to such as 1200/minute.") from error
