"""What a measurement is held to: least and greatest means as people write them, and which of them it misses."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import BadRequest
from core.experiments import Interval
from core.tuning.metrics import MEASURES

__all__ = ["Bound", "Missed", "bounds", "missed"]

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_SAME = 1e-9
"""Means nearer than this to a bound reach it: sums of the same values differ by as much."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What the mean of a measure of MEASURES has to reach, in [0, 1]: at least, or at most where less is better."""

    measure: str
    value: float

    @property
    def word(self) -> str:
        """Which end it bounds."""
        return "minimum" if MEASURES[self.measure].higher_is_better else "maximum"


@dataclass(frozen=True, slots=True)
class Missed:
    """A bound that was missed. found: what was measured, None when no question of the set has the measure."""

    bound: Bound
    found: Interval | None

    @property
    def by(self) -> float | None:
        """How far the mean lies beyond the bound, in (0, 1]; None when nothing was measured."""
        return None if self.found is None else abs(self.found.mean - self.bound.value)

    @property
    def reached(self) -> bool:
        """Whether the interval reaches the bound, so that chance alone may be to blame."""
        if self.found is None:
            return False
        if MEASURES[self.bound.measure].higher_is_better:
            return self.found.high >= self.bound.value - _SAME
        return self.found.low <= self.bound.value + _SAME

    def __str__(self) -> str:
        """One sentence.

        >>> print(Missed(Bound("ndcg@10", 0.8), Interval(0.75, 0.7, 0.81, 60)))
        ndcg@10 is 0.750, 0.05 below the minimum 0.8; its interval, 0.700 to 0.810, reaches it.
        """
        name, wanted = self.bound.measure, f"the {self.bound.word} {self.bound.value:g}"
        if self.found is None or self.by is None:
            return f"{name} was not measured: it applies to no question of the set; {wanted} cannot be held."
        side = "below" if self.bound.word == "minimum" else "above"
        said = f"{name} is {self.found.mean:.3f}, {self.by:.2g} {side} {wanted}"
        reaches = "reaches it" if self.reached else "does not reach it"
        return f"{said}; its interval, {self.found.low:.3f} to {self.found.high:.3f}, {reaches}."


def bounds(minimums: Iterable[str], maximums: Iterable[str] = ()) -> tuple[Bound, ...]:
    """Bounds as people write them, "ndcg@10=0.8": minimums where more is better, maximums where less is.

    Raises BadRequest naming what is no bound: an unknown measure, one bounded at its other end or twice, no number, or
    one outside [0, 1].

    >>> bounds(["ndcg@10=0.8"], ["false_refusal=.1"])
    (Bound(measure='ndcg@10', value=0.8), Bound(measure='false_refusal', value=0.1))
    """
    found: dict[str, Bound] = {}
    for word, texts in (("minimum", minimums), ("maximum", maximums)):
        for text in texts:
            bound = _bound(text, word)
            if bound.measure in found:
                raise BadRequest(f"'{bound.measure}' is bounded twice.", "Give one bound for each measure.")
            found[bound.measure] = bound
    return tuple(found.values())


def _bound(text: str, word: str) -> Bound:
    name, equals, number = (part.strip() for part in text.partition("="))
    if not equals:
        raise BadRequest(f"'{text}' is no {word}.", "Write measure=value, such as ndcg@10=0.8.")
    if name not in MEASURES:
        raise BadRequest(f"There is no measure '{name}'.", f"Measures are: {', '.join(MEASURES)}.")
    if not _NUMBER.fullmatch(number):
        raise BadRequest(f"'{number}' in '{text}' is not a number.", f"Write a share, such as {name}=0.8.")
    bound = Bound(name, float(number))
    if bound.word != word:
        better = "more" if bound.word == "minimum" else "less"
        raise BadRequest(f"'{name}' has no {word}: {better} of it is better.", f"Give it a {bound.word} instead.")
    if not 0 <= bound.value <= 1:
        raise BadRequest(f"'{text}' is outside [0, 1].", f"{name} is a share between 0 and 1.")
    return bound


def missed(wanted: Sequence[Bound], measures: Mapping[str, Interval]) -> tuple[Missed, ...]:
    """The bounds that are missed, in their order; also those of measures that no question has: what could not be
    measured does not pass. measures: measure → mean with interval."""
    return tuple(
        Missed(bound, measures.get(bound.measure)) for bound in wanted if not _held(bound, measures.get(bound.measure))
    )


def _held(bound: Bound, found: Interval | None) -> bool:
    if found is None:
        return False
    beyond = bound.value - found.mean if bound.word == "minimum" else found.mean - bound.value
    return beyond <= _SAME
