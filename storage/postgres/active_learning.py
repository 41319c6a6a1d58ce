"""Training data of the label classifier in PostgreSQL: feature records, classifier versions, actions and verdicts."""
# Over 300 lines: five small tables of one store.

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Index, Integer, RowMapping, delete, func, select
from sqlalchemy.dialects.postgresql import JSON, insert
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.documents import Labels
from core.domain.sanitize import storable_text
from core.library.active_learning.neighbours import DocumentTraits
from core.library.active_learning.store import (
    LabelChoice,
    LabelMove,
    LabelVerdict,
    LearningAction,
    LearningActionKind,
    TrainingRecord,
    TrainingVersion,
)
from core.ports.stores import Vectors
from storage.postgres.database import Database
from storage.postgres.documents import lock_documents
from storage.postgres.json_records import JsonRecords, any_of, from_json, next_id, to_json, upsert
from storage.postgres.tables import (
    BY_DOCUMENT,
    NOBODY,
    Base,
    JsonValue,
    JsonValues,
    allow,
    id_column,
    of_document,
    of_tenant,
    table_of,
)

__all__ = [
    "ACTS",
    "RECORDS",
    "VERDICTS",
    "VERSIONS",
    "LabelVerdictRow",
    "LearningActionRow",
    "SqlActiveLearningStore",
    "TrainingRecordRow",
    "TrainingVersionRow",
]


class TrainingRecordRow(Base):
    """A document's features as used by the classifier. mean: of the sentence vectors, stored in `segments`."""

    __tablename__ = "lesson_records"
    __table_args__ = (
        of_document(),
        allow("SELECT, INSERT, UPDATE (model, data, mean, segments), DELETE", seen=BY_DOCUMENT),
    )

    document_id: Mapped[int] = mapped_column(primary_key=True)
    model: Mapped[str]
    data: Mapped[JsonValue]
    mean: Mapped[bytes]
    segments: Mapped[bytes]


class TrainingVersionRow(Base):
    """What the classifier learned from the labels confirmed at one moment."""

    __tablename__ = "lesson_versions"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT", seen=NOBODY))

    number: Mapped[int] = mapped_column(Integer(), primary_key=True)
    at: Mapped[datetime]
    data: Mapped[JsonValue]


class LearningActionRow(Base):
    """An action on a training version. Rows with the same number form one application; the number is the id of its
    first row."""

    __tablename__ = "lesson_acts"
    __table_args__ = (
        of_tenant(),
        Index("lesson_acts_of_application", "tenant_id", "number", "id"),
        allow("SELECT, INSERT", seen=NOBODY),
    )

    id: Mapped[int] = id_column("lesson_acts_id_seq")
    number: Mapped[int]
    kind: Mapped[str]
    version: Mapped[int] = mapped_column(Integer())
    who: Mapped[str]
    at: Mapped[datetime]
    moves: Mapped[JsonValues]


class LabelVerdictRow(Base):
    """A person's verdict on one label."""

    __tablename__ = "label_verdicts"
    __table_args__ = (
        of_tenant(),
        Index("label_verdicts_of_label", "tenant_id", "document_id", "field", "id"),
        allow("SELECT, INSERT", seen=BY_DOCUMENT),
    )

    id: Mapped[int] = id_column("label_verdicts_id_seq")
    document_id: Mapped[int]
    sha256: Mapped[str]
    field: Mapped[str]
    said: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]
    given: Mapped[str | None]
    automatic: Mapped[bool]
    move: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))


RECORDS = table_of(TrainingRecordRow)
VERSIONS = table_of(TrainingVersionRow)
ACTS = table_of(LearningActionRow)
VERDICTS = table_of(LabelVerdictRow)

_BLOCK = 500
_READ = (RECORDS.c.document_id, RECORDS.c.model, RECORDS.c.data, RECORDS.c.mean)
_APPLIED = (str(LearningActionKind.APPLIED), str(LearningActionKind.UNDONE))
_CHOSEN = (str(LearningActionKind.AT_ONCE), str(LearningActionKind.WHEN_APPLIED))
_CHOICE = f"""
    SELECT
        (SELECT kind FROM lesson_acts WHERE tenant_id = %(tenant)s AND kind = ANY(%(chosen)s::text[])
         ORDER BY id DESC LIMIT 1),
        (SELECT max(version) FROM lesson_acts WHERE tenant_id = %(tenant)s AND kind = '{LearningActionKind.APPLIED}'
         AND number NOT IN (SELECT number FROM lesson_acts
                            WHERE tenant_id = %(tenant)s AND kind = '{LearningActionKind.UNDONE}')),
        (SELECT max(number) FROM lesson_versions WHERE tenant_id = %(tenant)s)
"""


class SqlActiveLearningStore:
    """Implements core.library.active_learning.store.ActiveLearningStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._versions = JsonRecords(VERSIONS, TrainingVersion, database.tenant)

    # Records

    def save_records(self, records: Sequence[tuple[TrainingRecord, Vectors]]) -> None:
        """Store or replace documents' records; those of deleted documents are left out."""
        with self._database.transaction("recording how a document was classified") as connection:
            here = lock_documents(connection, self._tenant, [record.document_id for record, _ in records])
            rows = [self._record_row(*each) for each in records if each[0].document_id in here]
            upsert(connection, RECORDS, rows)

    def _record_row(self, record: TrainingRecord, segments: Vectors) -> dict[str, Any]:
        traits = record.traits
        return {
            "tenant_id": self._tenant,
            "document_id": record.document_id,
            "model": record.model,
            "data": {"own": to_json(traits.own), "marks": [storable_text(each) for each in traits.marks]},
            "mean": _packed(traits.mean),
            "segments": _packed(segments),
        }

    def records(self, model: str) -> Iterator[Sequence[TrainingRecord]]:
        """All records of a model, document ids ascending; each block is read in its own transaction."""
        own = (RECORDS.c.tenant_id == self._tenant, RECORDS.c.model == model)
        last = 0
        while True:
            query = select(*_READ).where(*own, RECORDS.c.document_id > last).order_by(RECORDS.c.document_id)
            with self._database.transaction("reading how documents were classified") as connection:
                rows = connection.execute(query.limit(_BLOCK)).all()
            if not rows:
                return
            yield [_record(row) for row in rows]
            last = rows[-1].document_id

    def records_of(self, document_ids: Sequence[int], model: str) -> Mapping[int, TrainingRecord]:
        """The records of these documents; missing ones are absent."""
        own = (RECORDS.c.tenant_id == self._tenant, RECORDS.c.model == model, self._of(document_ids))
        with self._database.transaction("reading how documents were classified") as connection:
            return {row.document_id: _record(row) for row in connection.execute(select(*_READ).where(*own))}

    def segments(self, document_id: int, model: str) -> Vectors | None:
        """The sentence vectors of a record of this model."""
        own = (RECORDS.c.tenant_id == self._tenant, RECORDS.c.document_id == document_id, RECORDS.c.model == model)
        query = select(RECORDS.c.segments, func.length(RECORDS.c.mean).label("width")).where(*own)
        with self._database.transaction("reading how a document was classified") as connection:
            row = connection.execute(query).first()
        return None if row is None else _unpacked(row.segments).reshape(-1, row.width // 2)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete records."""
        own = (RECORDS.c.tenant_id == self._tenant, self._of(document_ids))
        with self._database.transaction("forgetting how documents were classified") as connection:
            connection.execute(delete(RECORDS).where(*own))

    def _of(self, document_ids: Sequence[int]) -> Any:
        return RECORDS.c.document_id == any_of(document_ids)

    # Versions

    def add_version(self, version: TrainingVersion) -> bool:
        """Store a version; False when its number is taken."""
        row = {"number": version.number, "at": version.at}
        with self._database.transaction("storing what was learned") as connection:
            return self._versions.add(connection, row, version)

    def newest(self) -> int:
        """The number of the newest version; 0 without any."""
        query = "SELECT max(number) FROM lesson_versions WHERE tenant_id = %(tenant)s"
        ((number,),) = self._database.read("reading what was learned", query, {})
        return int(number or 0)

    def version(self, number: int) -> TrainingVersion | None:
        """One version; None for an unknown number."""
        with self._database.transaction("reading what was learned") as connection:
            return self._versions.first(connection, VERSIONS.c.number == number)

    # Actions

    def add_act(self, act: LearningAction) -> LearningAction:
        """Store an action; returns it with its id. The id of the first action of an application becomes its number."""
        with self._database.transaction("storing what was done with lessons") as connection:
            new_id = next_id(connection, ACTS)
            new = replace(act, id=new_id, number=act.number or new_id, labels=len(act.moves))
            row = {
                "tenant_id": self._tenant,
                "id": new.id,
                "number": new.number,
                "kind": str(new.kind),
                "version": new.version,
                "who": storable_text(new.who),
                "at": new.at,
                "moves": [to_json(move) for move in new.moves],
            }
            connection.execute(insert(ACTS).values(row))
        return new

    def acts(self, limit: int) -> Sequence[LearningAction]:
        """The newest actions that applied or undid a version, newest first, without their label changes."""
        labels = func.json_array_length(ACTS.c.moves).label("labels")
        columns = (*(column for column in ACTS.c if column.name != "moves"), labels)
        own = (ACTS.c.tenant_id == self._tenant, ACTS.c.kind.in_(_APPLIED))
        with self._database.transaction("reading what was done with lessons") as connection:
            rows = connection.execute(select(*columns).where(*own).order_by(ACTS.c.id.desc()).limit(limit)).all()
        return [_act(row, (), row.labels) for row in rows]

    def application(self, number: int) -> Sequence[LearningAction]:
        """All actions of one application, oldest first."""
        own = (ACTS.c.tenant_id == self._tenant, ACTS.c.number == number, ACTS.c.kind.in_(_APPLIED))
        with self._database.transaction("reading what was done with lessons") as connection:
            rows = connection.execute(select(ACTS).where(*own).order_by(ACTS.c.id)).all()
        return [_act(row, tuple(from_json(LabelMove, each) for each in row.moves), len(row.moves)) for row in rows]

    def choice(self) -> LabelChoice:
        """Whether labels change at once, and which version labels new documents."""
        values = {"chosen": list(_CHOSEN)}
        ((kind, applied, newest),) = self._database.read("reading what was done with lessons", _CHOICE, values)
        return LabelChoice(kind != str(LearningActionKind.WHEN_APPLIED), int(applied or 0), int(newest or 0))

    # Verdicts

    def add_verdicts(self, verdicts: Sequence[LabelVerdict]) -> None:
        """Store verdicts in this order."""
        if not verdicts:
            return
        with self._database.transaction("storing label judgments") as connection:
            connection.execute(insert(VERDICTS), [self._verdict_row(each) for each in verdicts])

    def _verdict_row(self, each: LabelVerdict) -> dict[str, Any]:
        verdict = {"said": storable_text(each.value), "who": storable_text(each.who), "at": each.at}
        given = None if each.given is None else storable_text(each.given)
        own = {"tenant_id": self._tenant, "document_id": each.document_id, "sha256": each.sha256, "field": each.field}
        move = None if each.move is None else to_json(each.move)
        return own | verdict | {"given": given, "automatic": each.automatic, "move": move}

    def verdicts(self, document_id: int | None = None, field: str | None = None) -> Sequence[LabelVerdict]:
        """All verdicts, oldest first; label changes are read only for a single document."""
        conditions = [VERDICTS.c.tenant_id == self._tenant]
        conditions += [] if document_id is None else [VERDICTS.c.document_id == document_id]
        conditions += [] if field is None else [VERDICTS.c.field == field]
        columns = [column for column in VERDICTS.c if column.name != "move" or document_id is not None]
        with self._database.transaction("reading label judgments") as connection:
            rows = connection.execute(select(*columns).where(*conditions).order_by(VERDICTS.c.id)).mappings().all()
        return [_verdict(row) for row in rows]


def _verdict(row: RowMapping) -> LabelVerdict:
    names = ("document_id", "sha256", "field", "who", "at", "given", "automatic")
    move = row.get("move")
    return LabelVerdict(
        value=row["said"],
        move=None if move is None else from_json(LabelMove, move),
        **{name: row[name] for name in names},
    )


def _act(row: Any, moves: tuple[LabelMove, ...], labels: int) -> LearningAction:
    return LearningAction(LearningActionKind(row.kind), row.at, row.who, row.version, row.number, moves, row.id, labels)


def _record(row: Any) -> TrainingRecord:
    traits = DocumentTraits(from_json(Labels, row.data["own"]), tuple(row.data["marks"]), _unpacked(row.mean))
    return TrainingRecord(row.document_id, row.model, traits)


def _packed(vectors: NDArray[np.float32]) -> bytes:
    return vectors.astype("<f2").tobytes()


def _unpacked(packed: bytes) -> NDArray[np.float32]:
    return np.frombuffer(packed, dtype="<f2").astype(np.float32)
