"""The embedding model of a library in PostgreSQL, and the vectors prepared for another one beside those in use."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from time import monotonic
from typing import Any, Protocol

import numpy as np
from pgvector.sqlalchemy import VECTOR
from sqlalchemy import (
    ColumnElement,
    Connection,
    ForeignKeyConstraint,
    and_,
    delete,
    exists,
    func,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import JSON, insert
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.documents import Passage
from core.domain.embedding_models import ModelInUse, ModelSwitch
from core.library.embedding_models.store import another_switch
from core.ports.stores import PassageIds, VectorIndex, Vectors
from storage.postgres.database import Database
from storage.postgres.documents import DOCUMENTS, driver_of
from storage.postgres.json_records import from_json, to_json
from storage.postgres.passages import CHUNKS, EmbeddingDumper, read_passages
from storage.postgres.tables import Base, allow, of_tenant, table_of
from storage.postgres.word_vectors import WORDS, SqlWordVectorStore

__all__ = ["EMBEDDING_MODELS", "PREPARED", "SeparateVectors", "SqlEmbeddingModelStore"]

_FRESH_SECONDS = 2.0  # after so long a process looks whether another one has changed the model. Chosen by hand.


class EmbeddingModelRow(Base):
    """The model in use, and the switch to another one: under way, or the last."""

    __tablename__ = "embedding_models"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT, UPDATE"))

    model: Mapped[str]
    name: Mapped[str]
    switch: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))


class PreparedVectorRow(Base):
    """A passage's vectors under a model that is not in use yet. embedding: None where another index holds it."""

    __tablename__ = "prepared_vectors"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "passage_id"], ["knowledge_chunks.tenant_id", "knowledge_chunks.id"], ondelete="CASCADE"
        ),
        allow("SELECT, INSERT, UPDATE, DELETE", seen="passage_id IN (SELECT id FROM knowledge_chunks)"),
    )

    passage_id: Mapped[int] = mapped_column(primary_key=True)  # first: deleting a passage looks for it
    model: Mapped[str] = mapped_column(primary_key=True)
    embedding: Mapped[Any | None] = mapped_column(VECTOR())
    meanings: Mapped[bytes] = mapped_column(info={"storage": "EXTERNAL"})


EMBEDDING_MODELS = table_of(EmbeddingModelRow)
PREPARED = table_of(PreparedVectorRow)

# Passages that were deleted meanwhile are left out; a lock keeps the others until the end of the transaction.
_PREPARE = (
    f"INSERT INTO {PREPARED.name} (tenant_id, model, passage_id, embedding, meanings)"
    " SELECT tenant_id, %(model)s, id, %(embedding)b::real[]::vector, %(meanings)s"
    f" FROM {CHUNKS.name} WHERE tenant_id = %(tenant)s AND id = %(id)s FOR KEY SHARE"
    " ON CONFLICT (tenant_id, model, passage_id)"
    " DO UPDATE SET embedding = excluded.embedding, meanings = excluded.meanings"
)

_ADOPT = text(
    f"UPDATE {CHUNKS.name} AS chunk SET embedding = prepared.embedding, meanings = prepared.meanings,"
    " embedded_by = CASE WHEN prepared.embedding IS NOT NULL THEN prepared.model END"
    f" FROM {PREPARED.name} AS prepared"
    " WHERE chunk.tenant_id = :tenant AND prepared.tenant_id = :tenant AND prepared.passage_id = chunk.id"
    " AND prepared.model = :name"
)


class SeparateVectors(Protocol):
    """An index outside PostgreSQL, with a collection for each model."""

    def of(self, model: str) -> VectorIndex:
        """The vectors of a model."""
        ...

    def drop_others(self, models: Sequence[str]) -> None:
        """Delete the vectors of all other models."""
        ...


class SqlEmbeddingModelStore:
    """Implements core.library.embedding_models.store.EmbeddingModelStore and core.ports.model_choice.ModelChoice.

    configured: the model of a library without a passage. separate: the index that holds the vectors; None when they are
    in the rows of the passages.
    """

    def __init__(self, database: Database, configured: str, separate: SeparateVectors | None = None) -> None:
        self._database, self._tenant, self._configured = database, database.tenant, configured
        self._separate = separate
        self._lock = Lock()
        self._known: ModelInUse | None = None
        self._looked_at = -_FRESH_SECONDS

    def register(self) -> None:
        """Note the model of the settings as this library's, unless it holds passages embedded with another."""
        row = insert(EMBEDDING_MODELS).values(tenant_id=self._tenant, model=self._configured, name="")
        empty = and_(EMBEDDING_MODELS.c.name == "", ~exists().where(CHUNKS.c.tenant_id == self._tenant))
        change = row.on_conflict_do_update(
            index_elements=["tenant_id"], set_={"model": row.excluded.model}, where=empty
        )
        with self._database.transaction("noting the embedding model") as connection:
            connection.execute(change)

    # The model in use

    def known(self) -> ModelInUse:
        """As this process last saw it, at most two seconds ago. Raises StoreFailed."""
        known = self._known
        if known is not None and monotonic() - self._looked_at < _FRESH_SECONDS:
            return known
        return self.current()

    def current(self) -> ModelInUse:
        """As it is now. Raises StoreFailed."""
        query = f"SELECT model, name FROM {EMBEDDING_MODELS.name} WHERE tenant_id = %(tenant)s"
        with self._lock:  # so that an older answer never replaces a newer one
            rows = self._database.read("looking for the embedding model", query, {})
            self._known = ModelInUse(*rows[0]) if rows else ModelInUse(self._configured)
            self._looked_at = monotonic()
            return self._known

    def point(self, model: ModelInUse) -> None:
        """The same model in another place, or its name. Raises StoreFailed."""
        change = update(EMBEDDING_MODELS).where(self._own(EMBEDDING_MODELS))
        with self._database.transaction("noting the embedding model") as connection:
            connection.execute(change.values(model=model.model, name=model.name))
        self.current()

    def _own(self, table: Any) -> ColumnElement[bool]:
        own: ColumnElement[bool] = table.c.tenant_id == self._tenant
        return own

    # The switch

    def latest(self) -> ModelSwitch | None:
        """The switch under way, else the last one. Raises StoreFailed."""
        with self._database.transaction("looking for a change of the embedding model") as connection:
            return self._latest(connection)

    def prepared(self) -> str:
        """The model whose vectors are being prepared; "" for none. Raises StoreFailed."""
        switch = self.latest()
        return switch.name if switch is not None and switch.under_way else ""

    def _latest(self, connection: Connection, *, locked: bool = False) -> ModelSwitch | None:
        query = select(EMBEDDING_MODELS.c.switch).where(self._own(EMBEDDING_MODELS))
        data = connection.scalar(query.with_for_update() if locked else query)
        return None if data is None else from_json(ModelSwitch, data)

    def _write(self, connection: Connection, switch: ModelSwitch, **values: str) -> ModelSwitch:
        change = update(EMBEDDING_MODELS).where(self._own(EMBEDDING_MODELS))
        connection.execute(change.values(switch=to_json(switch), **values))
        return switch

    def begin(self, switch: ModelSwitch) -> ModelSwitch:
        """Begin a switch. Raises BadRequest when another one is under way, StoreFailed."""
        with self._database.transaction("changing the embedding model") as connection:
            known = self._latest(connection, locked=True)
            if known is not None and known.under_way:
                if known.name != switch.name:
                    raise another_switch(known)
                return known
            return self._write(connection, switch)

    def advance(self, done: int, total: int) -> ModelSwitch | None:
        """Note the progress of the switch under way. Raises StoreFailed."""
        with self._database.transaction("changing the embedding model") as connection:
            known = self._latest(connection, locked=True)
            if known is None or not known.under_way:
                return known
            return self._write(connection, replace(known, done=done, total=total))

    def cancel(self, at: datetime) -> ModelSwitch | None:
        """End the switch under way. Raises StoreFailed."""
        with self._database.transaction("cancelling the change of the embedding model") as connection:
            known = self._latest(connection, locked=True)
            if known is None or not known.under_way:
                return None
            return self._write(connection, replace(known, ended=at, cancelled=True))

    # Vectors

    def lacking(self, name: str) -> tuple[PassageIds, int]:
        """The passages without a vector of this model, and the number of all. Raises StoreFailed."""
        stored_ids = None if self._separate is None else self._separate.of(name).passage_ids()
        with self._database.transaction("looking for passages to embed") as connection:
            return self._lacking(connection, name, stored_ids)

    def _lacking(self, connection: Connection, name: str, stored_ids: PassageIds | None) -> tuple[PassageIds, int]:
        everything = select(func.string_agg(func.int8send(CHUNKS.c.id), literal(b""))).where(self._own(CHUNKS))
        if stored_ids is not None:
            ids = _ids(connection.scalar(everything))
            return np.setdiff1d(ids, stored_ids), len(ids)
        prepared = exists().where(self._own(PREPARED), PREPARED.c.model == name, PREPARED.c.passage_id == CHUNKS.c.id)
        missing = everything.where(CHUNKS.c.embedded_by.is_distinct_from(name), ~prepared)
        total = connection.scalar(select(func.count()).select_from(CHUNKS).where(self._own(CHUNKS)))
        return _ids(connection.scalar(missing)), int(total or 0)

    def prepare(self, name: str, passages: Sequence[Passage], vectors: Vectors) -> None:
        """Store vectors of a model beside those in use. Raises StoreFailed."""
        together = self._separate is None
        rows = [
            {"tenant": self._tenant, "model": name, "id": passage.id, "meanings": passage.meanings}
            | {"embedding": np.asarray(vector, dtype=np.float32) if together else None}
            for passage, vector in zip(passages, vectors, strict=True)
        ]
        doing = "storing vectors of another model"
        with self._database.transaction(doing) as connection, driver_of(connection).cursor() as cursor:
            cursor.adapters.register_dumper(np.ndarray, EmbeddingDumper)
            cursor.executemany(_PREPARE, rows)
        if self._separate is not None:
            self._prepare_separately(self._separate.of(name), passages, vectors)

    def _prepare_separately(self, index: VectorIndex, passages: Sequence[Passage], vectors: Vectors) -> None:
        """An index learns of changed labels and deletions of the passages it holds: earlier ones are made up for."""
        index.add(passages, vectors)
        with self._database.transaction("reading passages") as connection:
            now = {each.id: each for each in read_passages(connection, self._tenant, ids=[p.id for p in passages])}
        obsolete = [each.id for each in passages if each.id not in now]
        if obsolete:
            index.discard(np.array(sorted(obsolete), dtype=np.int64))
        index.update(list(now.values()))

    def switch(self, at: datetime) -> bool:
        """Exchange the vectors in one transaction. Raises StoreFailed.

        Whatever stores or changes passages locks the row of its document first, so locking all of them, in the order of
        their ids, waits for what is being stored and keeps the rest out until the end.
        """
        known = self.latest()
        if known is None or not known.under_way:
            return False
        stored_ids = None if self._separate is None else self._separate.of(known.name).passage_ids()
        with self._database.transaction("exchanging the vectors of the library") as connection:
            known = self._latest(connection, locked=True)
            if known is None or not known.under_way:
                return False
            documents = select(DOCUMENTS.c.id).where(self._own(DOCUMENTS)).order_by(DOCUMENTS.c.id)
            connection.execute(documents.with_for_update(read=True))
            if len(self._lacking(connection, known.name, stored_ids)[0]):
                return False
            self._adopt(connection, known.name)
            self._write(connection, replace(known, ended=at), model=known.model, name=known.name)
        self.current()
        return True

    def adopt(self, name: str) -> None:
        """Put prepared vectors in place of those in use. Raises StoreFailed."""
        with self._database.transaction("storing vectors") as connection:
            self._adopt(connection, name)

    def _adopt(self, connection: Connection, name: str) -> None:
        connection.execute(_ADOPT, {"tenant": self._tenant, "name": name})
        connection.execute(delete(PREPARED).where(self._own(PREPARED), PREPARED.c.model == name))

    def words(self, name: str) -> SqlWordVectorStore:
        """The word vectors of a model."""
        return SqlWordVectorStore(self._database, lambda: name)

    def keep_only(self, names: Sequence[str]) -> None:
        """Delete what is stored for other models. Raises StoreFailed."""
        with self._database.transaction("deleting the vectors of other models") as connection:
            for table in (PREPARED, WORDS):
                connection.execute(delete(table).where(self._own(table), table.c.model.not_in(names)))
        if self._separate is not None:
            self._separate.drop_others(names)


def _ids(sent: bytes | None) -> PassageIds:
    """Ids, ascending, from one binary value, eight bytes each."""
    return np.sort(np.frombuffer(sent or b"", dtype=">i8").astype(np.int64))
