"""Word vectors of a library in PostgreSQL, with a copy in memory, because synonym search reads all of them."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import (
    ColumnElement,
    Index,
    any_,
    delete,
    func,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.orm import Mapped, mapped_column

from core.search.query.expansion import WordVectors
from storage.postgres.database import Database
from storage.postgres.tables import Base, allow, id_column, of_tenant, table_of

__all__ = ["WORDS", "SqlWordVectorStore", "WordRow"]


class WordRow(Base):
    """A word of the library and its vector. Rows are deleted with their model, and with the last document that has the
    word when it is deleted for good."""

    __tablename__ = "words"
    __table_args__ = (of_tenant(), Index("words_newest", "tenant_id", "model", "id"), allow("SELECT, INSERT, DELETE"))

    model: Mapped[str] = mapped_column(primary_key=True)
    stem: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = id_column("words_id_seq", primary_key=False)
    word: Mapped[str]
    codes: Mapped[bytes]


WORDS = table_of(WordRow)

_FRESH_SECONDS = 2.0

_OVERLAP = 5_000  # ids are assigned before commit, so this many older ids are read again. Chosen by hand, not fitted.


class SqlWordVectorStore:
    """Implements core.search.query.expansion.WordVectorStore. model: words of different models are kept apart; a
    function is called at first use.

    Words added by another process are visible after at most two seconds.
    """

    def __init__(self, database: Database, model: Callable[[], str]) -> None:
        self._database, self._model = database, model
        self._lock = Lock()
        self._forget("")

    def _forget(self, model: str) -> None:
        """Nothing is in memory yet of this model's words."""
        self._of = model
        self._vectors: dict[str, tuple[str, bytes]] = {}
        self._last = 0
        self._state: tuple[int, ...] = ()  # of the newest words, when they were last looked at
        self._read_at = -_FRESH_SECONDS
        self._words: WordVectors | None = None

    def missing(self, stems: Sequence[str]) -> Sequence[str]:
        """Those of the stems that are not stored yet. Raises StoreFailed."""
        chosen = WORDS.c.stem == any_(literal(list(stems), ARRAY(WORDS.c.stem.type)))
        query = select(WORDS.c.stem).where(*self._ours(), chosen)
        with self._database.transaction("looking for new words") as connection:
            existing = set(connection.scalars(query))
        return [stem for stem in stems if stem not in existing]

    def add(self, words: Mapping[str, str], codes: NDArray[np.int8]) -> None:
        """Store stem → word, with one row of codes each; existing words stay unchanged. Raises StoreFailed."""
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

    def discard(self, stems: Sequence[str]) -> None:
        """Delete the words with these stems, of every model. Other processes forget them when they end. Raises
        StoreFailed."""
        chosen = WORDS.c.stem == any_(literal(list(stems), ARRAY(WORDS.c.stem.type)))
        with self._database.transaction("forgetting words") as connection:
            connection.execute(delete(WORDS).where(WORDS.c.tenant_id == self._database.tenant, chosen))
        with self._lock:
            self._forget("")

    def all(self) -> WordVectors:
        """All stored words, by stem; the same object until a word is added. Raises StoreFailed."""
        model = self._model()
        with self._lock:
            if self._of != model:
                self._forget(model)
            if self._words is not None and monotonic() - self._read_at < _FRESH_SECONDS:
                return self._words
            ours = (WORDS.c.tenant_id == self._database.tenant, WORDS.c.model == model)
            newest = (*ours, WORDS.c.id > self._last - _OVERLAP)
            query = select(WORDS.c.id, WORDS.c.stem, WORDS.c.word, WORDS.c.codes).where(*newest)
            counted = select(func.count(), func.max(WORDS.c.id)).where(*newest)
            with self._database.transaction("reading words") as connection:
                state = tuple(connection.execute(counted).one())
                rows = () if state == self._state else connection.execute(query).all()
            self._state = state
            fresh = {row.stem: (row.word, bytes(row.codes)) for row in rows if row.stem not in self._vectors}
            self._read_at = monotonic()
            if fresh or self._words is None:
                self._last = max((row.id for row in rows), default=self._last)
                self._vectors = dict(sorted((self._vectors | fresh).items()))
                self._words = _words(self._vectors)
            return self._words

    def _ours(self) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
        return WORDS.c.tenant_id == self._database.tenant, WORDS.c.model == self._model()


def _words(by_stem: Mapping[str, tuple[str, bytes]]) -> WordVectors:
    packed = np.frombuffer(b"".join(codes for _, codes in by_stem.values()), dtype=np.int8)
    return WordVectors(
        tuple(by_stem), tuple(word for word, _ in by_stem.values()), packed.reshape(len(by_stem), -1 if by_stem else 0)
    )
