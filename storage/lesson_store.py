"""What is kept of learning, in PostgreSQL. Values travel as JSON, written and read by their own types."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import BigInteger, RowMapping, any_, cast, delete, func, select
from sqlalchemy import Sequence as Ids
from sqlalchemy.dialects.postgresql import ARRAY, insert

from core.documents import Labels
from core.ingest.lessons import Traits
from core.library.lessons_store import Act, ActKind, Choice, LessonVersion, Move, Record, Verdict
from core.ports import Vectors
from storage.database import Database
from storage.json_values import read, written
from storage.lesson_models import ACTS, RECORDS, VERDICTS, VERSIONS
from storage.rows import storable_text

__all__ = ["SqlLessonStore"]

_BLOCK = 500
_READ = (RECORDS.c.document_id, RECORDS.c.model, RECORDS.c.data, RECORDS.c.mean)
_APPLIED = (str(ActKind.APPLIED), str(ActKind.UNDONE))
_CHOSEN = (str(ActKind.AT_ONCE), str(ActKind.WHEN_APPLIED))


class SqlLessonStore:
    """core.library.lessons_store.LessonStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    # Records

    def save_record(self, record: Record, segments: Vectors) -> None:
        """Store or replace a document's record."""
        traits = record.traits
        told = {
            "model": record.model,
            "data": {"own": written(traits.own), "marks": [storable_text(each) for each in traits.marks]},
            "mean": _packed(traits.mean),
            "segments": _packed(segments),
        }
        row = insert(RECORDS).values(tenant_id=self._tenant, document_id=record.document_id, **told)
        kept = row.on_conflict_do_update(index_elements=["tenant_id", "document_id"], set_=told)
        with self._database.transaction("recording how a document was classified") as connection:
            connection.execute(kept)

    def records(self, model: str) -> Iterator[Sequence[Record]]:
        """All records of a model, document ids ascending; each block in a transaction of its own."""
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

    def records_of(self, document_ids: Sequence[int], model: str) -> Mapping[int, Record]:
        """The records of these documents; missing ones are absent."""
        own = (RECORDS.c.tenant_id == self._tenant, RECORDS.c.model == model, self._of(document_ids))
        with self._database.transaction("reading how documents were classified") as connection:
            return {row.document_id: _record(row) for row in connection.execute(select(*_READ).where(*own))}

    def segments(self, document_id: int) -> Vectors | None:
        """The vectors kept with a record."""
        own = (RECORDS.c.tenant_id == self._tenant, RECORDS.c.document_id == document_id)
        query = select(RECORDS.c.segments, func.length(RECORDS.c.mean).label("width")).where(*own)
        with self._database.transaction("reading how a document was classified") as connection:
            row = connection.execute(query).first()
        return None if row is None else _unpacked(row.segments).reshape(-1, row.width // 2)

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop records."""
        own = (RECORDS.c.tenant_id == self._tenant, self._of(document_ids))
        with self._database.transaction("forgetting how documents were classified") as connection:
            connection.execute(delete(RECORDS).where(*own))

    def _of(self, document_ids: Sequence[int]) -> Any:
        return RECORDS.c.document_id == any_(cast([int(each) for each in document_ids], ARRAY(BigInteger)))

    # Versions

    def add_version(self, version: LessonVersion) -> bool:
        """Store a version; False when its number is taken."""
        row = {"tenant_id": self._tenant, "number": version.number, "at": version.at, "data": written(version)}
        add = insert(VERSIONS).values(row).on_conflict_do_nothing().returning(VERSIONS.c.number)
        with self._database.transaction("storing what was learned") as connection:
            return connection.scalar(add) is not None

    def newest(self) -> int:
        """The number of the newest version, 0 without any."""
        query = select(func.max(VERSIONS.c.number)).where(VERSIONS.c.tenant_id == self._tenant)
        with self._database.transaction("reading what was learned") as connection:
            return int(connection.scalar(query) or 0)

    def version(self, number: int) -> LessonVersion | None:
        """One version; None when there is none of this number."""
        own = (VERSIONS.c.tenant_id == self._tenant, VERSIONS.c.number == number)
        with self._database.transaction("reading what was learned") as connection:
            data = connection.scalar(select(VERSIONS.c.data).where(*own))
        return None if data is None else read(LessonVersion, data)

    # Acts

    def add_act(self, act: Act) -> Act:
        """Store an act and give it back with its id; the first of an application gives it its number."""
        with self._database.transaction("storing what was done with lessons") as connection:
            new_id = int(connection.scalar(Ids("lesson_acts_id_seq").next_value()) or 0)
            new = replace(act, id=new_id, number=act.number or new_id, labels=len(act.moves))
            row = {
                "tenant_id": self._tenant,
                "id": new.id,
                "number": new.number,
                "kind": str(new.kind),
                "version": new.version,
                "who": storable_text(new.who),
                "at": new.at,
                "moves": [written(move) for move in new.moves],
            }
            connection.execute(insert(ACTS).values(row))
        return new

    def acts(self, limit: int) -> Sequence[Act]:
        """The newest acts of application and undoing, newest first, without their moves."""
        labels = func.json_array_length(ACTS.c.moves).label("labels")
        columns = (*(column for column in ACTS.c if column.name != "moves"), labels)
        own = (ACTS.c.tenant_id == self._tenant, ACTS.c.kind.in_(_APPLIED))
        with self._database.transaction("reading what was done with lessons") as connection:
            rows = connection.execute(select(*columns).where(*own).order_by(ACTS.c.id.desc()).limit(limit)).all()
        return [_act(row, (), row.labels) for row in rows]

    def application(self, number: int) -> Sequence[Act]:
        """All acts of an application, oldest first."""
        own = (ACTS.c.tenant_id == self._tenant, ACTS.c.number == number, ACTS.c.kind.in_(_APPLIED))
        with self._database.transaction("reading what was done with lessons") as connection:
            rows = connection.execute(select(ACTS).where(*own).order_by(ACTS.c.id)).all()
        return [_act(row, tuple(read(Move, each) for each in row.moves), len(row.moves)) for row in rows]

    def choice(self) -> Choice:
        """What new documents are labelled by."""
        own = ACTS.c.tenant_id == self._tenant
        undone = select(ACTS.c.number).where(own, ACTS.c.kind == str(ActKind.UNDONE))
        applied = select(func.max(ACTS.c.version)).where(
            own, ACTS.c.kind == str(ActKind.APPLIED), ACTS.c.number.not_in(undone)
        )
        chosen = select(ACTS.c.kind).where(own, ACTS.c.kind.in_(_CHOSEN)).order_by(ACTS.c.id.desc()).limit(1)
        with self._database.transaction("reading what was done with lessons") as connection:
            kind, version = connection.execute(
                select(chosen.scalar_subquery().label("kind"), applied.scalar_subquery().label("version"))
            ).one()
        return Choice(kind != str(ActKind.WHEN_APPLIED), int(version or 0))

    # Verdicts

    def add_verdicts(self, verdicts: Sequence[Verdict]) -> None:
        """Store what people said, in this order."""
        if not verdicts:
            return
        with self._database.transaction("storing what was said of labels") as connection:
            connection.execute(insert(VERDICTS), [self._verdict_row(each) for each in verdicts])

    def _verdict_row(self, each: Verdict) -> dict[str, Any]:
        said = {"said": storable_text(each.said), "who": storable_text(each.who), "at": each.at}
        given = None if each.given is None else storable_text(each.given)
        own = {"tenant_id": self._tenant, "document_id": each.document_id, "sha256": each.sha256, "field": each.field}
        move = None if each.move is None else written(each.move)
        return own | said | {"given": given, "automatic": each.automatic, "move": move}

    def verdicts(self, document_id: int | None = None, field: str | None = None) -> Sequence[Verdict]:
        """What was said, oldest first; moves are read for one document only."""
        wanted = [VERDICTS.c.tenant_id == self._tenant]
        wanted += [] if document_id is None else [VERDICTS.c.document_id == document_id]
        wanted += [] if field is None else [VERDICTS.c.field == field]
        columns = [column for column in VERDICTS.c if column.name != "move" or document_id is not None]
        with self._database.transaction("reading what was said of labels") as connection:
            rows = connection.execute(select(*columns).where(*wanted).order_by(VERDICTS.c.id)).mappings().all()
        return [_verdict(row) for row in rows]


def _verdict(row: RowMapping) -> Verdict:
    names = ("document_id", "sha256", "field", "said", "who", "at", "given", "automatic")
    move = row.get("move")
    return Verdict(**{name: row[name] for name in names}, move=None if move is None else read(Move, move))


def _act(row: Any, moves: tuple[Move, ...], labels: int) -> Act:
    return Act(ActKind(row.kind), row.at, row.who, row.version, row.number, moves, row.id, labels)


def _record(row: Any) -> Record:
    traits = Traits(read(Labels, row.data["own"]), tuple(row.data["marks"]), _unpacked(row.mean))
    return Record(row.document_id, row.model, traits)


def _packed(vectors: NDArray[np.float32]) -> bytes:
    return vectors.astype("<f2").tobytes()


def _unpacked(packed: bytes) -> NDArray[np.float32]:
    return np.frombuffer(packed, dtype="<f2").astype(np.float32)
