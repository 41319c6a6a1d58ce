"""The embedding model of a library in memory, with the vectors prepared for another one."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from core.domain.documents import Passage
from core.domain.embedding_models import ModelInUse, ModelSwitch
from core.domain.filters import SearchFilters
from core.library.embedding_models.store import another_switch
from core.ports.stores import PassageIds, Vectors
from core.search.query.expansion import WordVectors
from tests.fakes.catalogue import FakeCatalogue
from tests.fakes.indexes import FakeVectorIndex, FakeWordVectorStore

__all__ = ["FakeEmbeddingModelStore", "FakeWordsInUse"]


class FakeEmbeddingModelStore:
    """Implements core.library.embedding_models.store.EmbeddingModelStore; every method is atomic across threads."""

    def __init__(self, catalogue: FakeCatalogue, vectors: FakeVectorIndex, words: FakeWordVectorStore) -> None:
        """words: those of the first model."""
        self._catalogue, self._vectors, self._lock = catalogue, vectors, RLock()
        self._in_use = ModelInUse()
        self._switch: ModelSwitch | None = None
        self._prepared: dict[str, dict[int, tuple[Passage, NDArray[np.float32]]]] = {}
        self._words = {"": words}

    def known(self) -> ModelInUse:
        """The model in use."""
        return self._in_use

    def current(self) -> ModelInUse:
        """The model in use."""
        return self._in_use

    def point(self, model: ModelInUse) -> None:
        """The same model in another place, or its name."""
        self._in_use = model

    def latest(self) -> ModelSwitch | None:
        """The switch under way, else the last one."""
        return self._switch

    def begin(self, switch: ModelSwitch) -> ModelSwitch:
        """Begin a switch. Raises BadRequest when another one is under way."""
        with self._lock:
            known = self._switch
            if known is not None and known.under_way:
                if known.name != switch.name:
                    raise another_switch(known)
                return known
            self._switch = switch
            return switch

    def advance(self, done: int, total: int) -> ModelSwitch | None:
        """Note the progress of the switch under way."""
        with self._lock:
            if self._switch is not None and self._switch.under_way:
                self._switch = replace(self._switch, done=done, total=total)
            return self._switch

    def cancel(self, at: datetime) -> ModelSwitch | None:
        """End the switch under way."""
        with self._lock:
            if self._switch is None or not self._switch.under_way:
                return None
            self._switch = replace(self._switch, ended=at, cancelled=True)
            return self._switch

    def lacking(self, name: str) -> tuple[PassageIds, int]:
        """The passages without a vector of this model, and the number of all."""
        with self._lock:
            everything = self._catalogue.admissible(SearchFilters(archived=None))
            stored = np.array(sorted(self._prepared.get(name, {})), dtype=np.int64)
            if self._in_use.name == name:
                stored = np.union1d(stored, self._vectors.passage_ids())
            return np.setdiff1d(everything, stored), len(everything)

    def prepare(self, name: str, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store vectors of a model beside those in use."""
        with self._lock:
            known = self._catalogue.passages([each.id for each in passages])
            pairs = zip(passages, vectors, strict=True)
            fresh = {each.id: (each, vector) for each, vector in pairs if each.id in known}
            self._prepared.setdefault(name, {}).update(fresh)

    def switch(self, at: datetime) -> bool:
        """Exchange the vectors."""
        with self._lock:
            known = self._switch
            if known is None or not known.under_way or len(self.lacking(known.name)[0]):
                return False
            self.adopt(known.name)
            self._in_use, self._switch = ModelInUse(known.model, known.name), replace(known, ended=at)
            return True

    def adopt(self, name: str) -> None:
        """Put prepared vectors in place of those in use."""
        with self._lock:
            rows = list(self._prepared.pop(name, {}).values())
            now = self._catalogue.passages([each.id for each, _ in rows])
            living = [(now[each.id], each.meanings, vector) for each, vector in rows if each.id in now]
            self._catalogue.replace_meanings({each.id: meanings for each, meanings, _ in living})
            if living:
                self._vectors.add([each for each, _, _ in living], np.stack([vector for _, _, vector in living]))

    def words(self, name: str) -> FakeWordVectorStore:
        """The word vectors of a model."""
        return self._words.setdefault(name, FakeWordVectorStore())

    def keep_only(self, names: Sequence[str]) -> None:
        """Delete what is stored for other models."""
        with self._lock:
            self._prepared = {name: values for name, values in self._prepared.items() if name in names}
            self._words = {name: values for name, values in self._words.items() if name in names}


class FakeWordsInUse:
    """Implements core.search.query.expansion.WordVectorStore with the words of the model in use."""

    def __init__(self, models: FakeEmbeddingModelStore) -> None:
        self._models = models

    def _own(self) -> FakeWordVectorStore:
        return self._models.words(self._models.current().name)

    def missing(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that are not stored yet."""
        return self._own().missing(stems)

    def add(self, words: Mapping[str, str], codes: NDArray[np.int8]) -> None:
        """Store stem → word, with one row of codes each."""
        self._own().add(words, codes)

    def discard(self, stems: Sequence[str]) -> None:
        """Delete the words with these stems."""
        self._own().discard(stems)

    def all(self) -> WordVectors:
        """All words known, by stem."""
        return self._own().all()
