"""Which embedding model a library is searched with, and computing something under a single one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from core.domain.embedding_models import ModelInUse
from core.domain.errors import FivefoldError

__all__ = ["DEFAULT_CHOICE", "FixedModel", "ModelChoice", "under_one_model"]

T = TypeVar("T")


class ModelChoice(Protocol):
    """The model in use. Any process may change it."""

    def known(self) -> ModelInUse:
        """As this process last saw it, seconds ago at most. Raises StoreFailed."""
        ...

    def current(self) -> ModelInUse:
        """As it is now; from then on also `known`. Raises StoreFailed."""
        ...


@dataclass(frozen=True, slots=True)
class FixedModel:
    """A `ModelChoice` that never changes."""

    model: ModelInUse = ModelInUse()

    def known(self) -> ModelInUse:
        """The model."""
        return self.model

    def current(self) -> ModelInUse:
        """The model."""
        return self.model


DEFAULT_CHOICE = FixedModel()
"""The model that comes with the installation, for good."""


def under_one_model(choice: ModelChoice, compute: Callable[[], T]) -> T:
    """What `compute` gives when the model did not change meanwhile; else it is computed again.

    A search embeds its question first and compares it with stored vectors afterwards. If the model changes in between,
    the two belong to different models: the outcome, or the error of vectors of unequal length, is thrown away. Errors
    raised under one model are raised.
    """
    while True:
        before = choice.known()
        try:
            found = compute()
        except (FivefoldError, ValueError):
            if choice.current() == before:
                raise
        else:
            if choice.current() == before:
                return found
