"""The seam to a reranker: what reads question and passage together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Reranked", "Reranker"]


@dataclass(frozen=True, slots=True)
class Reranked:
    """logits: one per text, None for one that was not scored in time. notice: what to tell the user, "" for nothing."""

    logits: tuple[float | None, ...]
    notice: str = ""


class Reranker(Protocol):
    """Reads question and passage together: slower than vectors, and often better."""

    @property
    def trouble(self) -> str:
        """Why its model could not be loaded when it was last tried, "" when it could or nobody tried."""
        ...

    def logits(self, question: str, texts: Sequence[str]) -> Reranked:
        """A logit per text, in their order; None where the deadline came first. Raises ModelUnavailable."""
        ...
