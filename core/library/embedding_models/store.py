"""The port of embedding models: the model in use, the switch under way, and the vectors prepared for it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from core.domain.documents import Passage
from core.domain.embedding_models import ModelInUse, ModelSwitch
from core.domain.errors import BadRequest
from core.ports.stores import PassageIds, Vectors
from core.search.query.expansion import WordVectorStore

__all__ = ["EmbeddingModelStore", "another_switch"]


def another_switch(switch: ModelSwitch) -> BadRequest:
    """The error for a switch that is begun while another one is under way."""
    return BadRequest(
        f"The library is being embedded with {switch.label} already.",
        "Wait until that is complete, or cancel it first.",
    )


class EmbeddingModelStore(Protocol):
    """One tenant's models; a `core.ports.model_choice.ModelChoice` as well.

    Prepared vectors are stored beside those in use, under the name of their model. No search reads them before the
    switch, and those of a deleted passage are deleted with it.
    """

    def known(self) -> ModelInUse: ...

    def current(self) -> ModelInUse: ...

    def point(self, model: ModelInUse) -> None:
        """The model in use lies in another place, or its name became known; the vectors stay."""
        ...

    def latest(self) -> ModelSwitch | None:
        """The switch under way, else the last one."""
        ...

    def begin(self, switch: ModelSwitch) -> ModelSwitch:
        """Begin a switch. Raises BadRequest when another one is under way."""
        ...

    def advance(self, done: int, total: int) -> ModelSwitch | None:
        """Note the progress of the switch under way; the latest switch as it is then. One that ended stays as it is."""
        ...

    def cancel(self, at: datetime) -> ModelSwitch | None:
        """End the switch under way, if there is one; returns it."""
        ...

    def lacking(self, name: str) -> tuple[PassageIds, int]:
        """The passages without a vector of this model, in use or prepared, and the number of all passages."""
        ...

    def prepare(self, name: str, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store vectors and sentence vectors (`Passage.meanings`) of a model; passages deleted meanwhile are left
        out."""
        ...

    def switch(self, at: datetime) -> bool:
        """Put the prepared vectors in place of those in use, and make their model the one in use: all or nothing.

        False, and nothing changes, when a passage still lacks its vector or no switch is under way.
        """
        ...

    def adopt(self, name: str) -> None:
        """Put prepared vectors of the model in use in place: of passages that were stored during the switch."""
        ...

    def words(self, name: str) -> WordVectorStore:
        """The word vectors of a model."""
        ...

    def keep_only(self, names: Sequence[str]) -> None:
        """Delete prepared vectors, collections and word vectors of all other models."""
        ...
