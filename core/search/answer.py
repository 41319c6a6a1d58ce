"""Does anything found answer the question? Decided from what was measured, never from the profile."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.results import Candidate

__all__ = ["Verdict", "judge"]

LEAST_EVIDENCE = 0.25
"""A question whose best passage stays below this similarity and holds none of its words is not answered."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the question is answered; `silence` says in words why not."""

    answered: bool
    silence: str = ""


def judge(candidates: Sequence[Candidate], rarity: Mapping[str, float]) -> Verdict:
    """Whether some candidate carries enough evidence to count as an answer."""
    if not candidates:
        return Verdict(False, "Nothing in the library matches the question and the filters.")
    if max(c.signals.similarity for c in candidates) < LEAST_EVIDENCE and not any(c.signals.bm25 for c in candidates):
        return Verdict(False, "Nothing in the library is about this question; the nearest misses are below.")
    return Verdict(True)
