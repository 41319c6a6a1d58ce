"""The dense leg: the question's vector against every admissible passage."""

import numpy as np
from numpy.typing import NDArray

from core.filters import SearchFilters
from core.ports import Embedder, PassageIds, VectorIndex
from core.results import LegHits

__all__ = ["question_vector", "search_dense"]


def question_vector(embedder: Embedder, question: str) -> NDArray[np.float32]:
    """The question as a vector of shape (dim,), L2-normalised. Raises ModelUnavailable."""
    vector: NDArray[np.float32] = embedder.embed([question])[0]
    return vector


def search_dense(
    index: VectorIndex,
    vector: NDArray[np.float32],
    filters: SearchFilters,
    top_k: int,
    among: PassageIds | None = None,
) -> LegHits:
    """The nearest admissible passages by cosine, best first. Raises StoreFailed."""
    return index.search(vector, filters, top_k, among)
