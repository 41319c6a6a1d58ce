"""Model protocols: rerankers, the cross-encoders behind them, and the language model that writes answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from core.ports.stores import Embedder

__all__ = ["CrossEncoder", "CrossEncoderLoader", "EmbeddingModels", "LanguageModel", "Logits", "Reranked", "Reranker"]


class EmbeddingModels(Protocol):
    """The embedding models that can be had."""

    def reference(self, model: str) -> str:
        """What finds the model from every process: a folder by its whole path, a name on the hub as it is."""
        ...

    def get(self, model: str) -> Embedder:
        """The loaded model. Takes seconds at first use, minutes where it must be converted. Raises ModelUnavailable."""
        ...


class LanguageModel(Protocol):
    """Writes a text. `name`: the model and where it runs, shown beside the text."""

    @property
    def name(self) -> str: ...

    def write(self, instruction: str, context: str) -> str:
        """Generate a text. instruction: the rules; context: question and numbered sentences. Raises SynthesisFailed."""
        ...


@dataclass(frozen=True, slots=True)
class Reranked:
    """logits: one per text, None for a text not scored in time. notice: for the user, "" for none."""

    logits: tuple[float | None, ...]
    notice: str = ""


class Reranker(Protocol):
    """Scores question and passage together: slower than vectors, and often better."""

    @property
    def problem(self) -> str:
        """Why the model could not be loaded at the last attempt; "" when it was loaded or never tried."""
        ...

    def start_loading(self) -> None:
        """Start to load the model, without waiting for it."""
        ...

    def forget_failure(self) -> None:
        """Load the model again at the next call, if that failed before."""
        ...

    def logits(self, question: str, texts: Sequence[Sequence[str]], deadline_ms: float | None = None) -> Reranked:
        """One logit per text, the highest of its pieces; None for texts not scored before the deadline.

        deadline_ms: None for the reranker's own. Raises ModelUnavailable."""
        ...


Logits = NDArray[np.float32]


class CrossEncoder(Protocol):
    """Scores a question and a text in one model pass."""

    @property
    def notice(self) -> str:
        """A notice for the user, "" for none."""

    def score(self, question: str, texts: Sequence[str]) -> Logits:
        """One raw logit per text, shape (n,), higher for better. Raises ModelUnavailable when the model fails."""
        ...


CrossEncoderLoader = Callable[[str, str, int], CrossEncoder]
"""(model: a folder or a name on the hub, reranker it serves, most tokens of question and text together) → the model.
Takes seconds, at first use minutes. Raises ModelUnavailable when the weights cannot be had."""
