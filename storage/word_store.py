"""The words of a library in PostgreSQL, and a copy in memory: looking for near words reads them all."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, any_, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY, insert

from core.search.near import Words
from storage.database import Database
from storage.models import WORDS

__all__ = ["SqlWordStore"]

_FRESH_SECONDS = 2.0
_OVERLAP = 5_000  # ids are given before rows are committed: so many older ones are read again


class SqlWordStore:
    """core.search.near.WordStore. model: words of different models never mix; asked for when first needed.

    What another process has added is seen after two seconds.
    """

    def __init__(self, database: Database, model: Callable[[], str]) -> None:
        self._database, self._model = database, model
        self._lock = Lock()
        self._held: dict[str, tuple[str, bytes]] = {}
        self._last = 0
        self._state: tuple[int, ...] = ()  # of the newest words, when they were last looked at
        self._read_at = -_FRESH_SECONDS
        self._words: Words | None = None

    def missing(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that are not known yet. Raises StoreFailed."""
        chosen = WORDS.c.stem == any_(literal(list(stems), ARRAY(WORDS.c.stem.type)))
        query = select(WORDS.c.stem).where(*self._ours(), chosen)
        with self._database.transaction("looking for new words") as connection:
            known = set(connection.scalars(query))
        return [stem for stem in stems if stem not in known]

    def add(self, words: Mapping[str, str], codes: NDArray[np.int8]) -> None:
        """Keep stem → word with a row of codes each; one that is known stays as it is. Raises StoreFailed."""
        if not words:
            return
        rows = [
            {
                "tenant_id": self._database.tenant,
                "model": self._model(),
                "stem": stem,
                "word": word,
                "codes": bytes(row),
            }
            for (stem, word), row in zip(words.items(), codes, strict=True)
        ]
        with self._database.transaction("keeping new words") as connection:
            connection.execute(insert(WORDS).on_conflict_do_nothing(), rows)
        with self._lock:
            self._read_at = -_FRESH_SECONDS

    def all(self) -> Words:
        """All words known, by stem; the same object as long as there is no new one. Raises StoreFailed."""
        with self._lock:
            if self._words is not None and monotonic() - self._read_at < _FRESH_SECONDS:
                return self._words
            newest = (*self._ours(), WORDS.c.id > self._last - _OVERLAP)
            query = select(WORDS.c.id, WORDS.c.stem, WORDS.c.word, WORDS.c.codes).where(*newest)
            counted = select(func.count(), func.max(WORDS.c.id)).where(*newest)
            with self._database.transaction("reading words") as connection:
                state = tuple(connection.execute(counted).one())
                rows = () if state == self._state else connection.execute(query).all()
            self._state = state
            fresh = {row.stem: (row.word, bytes(row.codes)) for row in rows if row.stem not in self._held}
            self._read_at = monotonic()
            if fresh or self._words is None:
                self._last = max((row.id for row in rows), default=self._last)
                self._held = dict(sorted((self._held | fresh).items()))
                self._words = _words(self._held)
            return self._words

    def _ours(self) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return WORDS.c.tenant_id == self._database.tenant, WORDS.c.model == self._model()


def _words(held: Mapping[str, tuple[str, bytes]]) -> Words:
    packed = np.frombuffer(b"".join(codes for _, codes in held.values()), dtype=np.int8)
    return Words(tuple(held), tuple(word for word, _ in held.values()), packed.reshape(len(held), -1 if held else 0))
