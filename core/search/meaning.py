"""How near sentences are in meaning to a question: measured once per text, and remembered while there is room."""

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelUnavailable
from core.ports import Embedder

__all__ = ["SentenceMeaning"]

_REMEMBERED = 4096
"""Vectors kept, the latest used: some 6 MB at 384 dimensions, and the sentences of the last hundred searches."""


class SentenceMeaning:
    """Cosines of a question with sentences. Thread-safe; a text is embedded again only when it was forgotten."""

    def __init__(self, embedder: Embedder, remembered: int = _REMEMBERED) -> None:
        self._embedder, self._remembered = embedder, remembered
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = Lock()

    def cosines(self, question: str, sentences: Sequence[str]) -> Mapping[str, float]:
        """Cosine, clipped to [0, 1], per sentence; empty when the model cannot be had: words alone decide then."""
        texts = list(dict.fromkeys((question, *sentences)))
        try:
            vectors = self._vectors_of(texts)
        except ModelUnavailable:
            return {}
        asked = vectors[question]
        return {text: min(max(float(asked @ vectors[text]), 0.0), 1.0) for text in texts}

    def remember(self, text: str, vector: NDArray[np.float32]) -> None:
        """Keep a vector that was measured elsewhere."""
        with self._lock:
            self._vectors[text] = vector
            self._vectors.move_to_end(text)
            while len(self._vectors) > self._remembered:
                self._vectors.popitem(last=False)

    def _vectors_of(self, texts: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in texts if text not in known]
        fresh = dict(zip(missing, self._embedder.embed(missing), strict=True)) if missing else {}
        for text, vector in (known | fresh).items():
            self.remember(text, vector)
        return known | fresh
