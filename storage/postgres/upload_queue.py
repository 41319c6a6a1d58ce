"""The list of uploaded files being processed, counted, sorted and paged by PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Index,
    Text,
    and_,
    any_,
    case,
    cast,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.documents import Document, DocumentState, Origin
from core.domain.errors import Cure
from core.library.upload_queue import STOPPED_BY_HAND, UploadCounts, UploadQueueView
from core.ports.job_queue import INDEXING, STOPPED, WAITING
from storage.postgres.database import Database
from storage.postgres.documents import DOCUMENTS, LIVING, document_from, lock_documents
from storage.postgres.json_records import any_of
from storage.postgres.tables import BY_DOCUMENT, Base, allow, of_document, table_of

__all__ = ["READINGS", "SqlUploadQueueStore"]


class ReadingRow(Base):
    """When a document was last processed to its end, with or without success; the speed of a batch is computed from
    it."""

    __tablename__ = "readings"
    __table_args__ = (
        of_document(),
        Index("readings_newest", "tenant_id", "ended"),
        allow("SELECT, INSERT, UPDATE (ended), DELETE", seen=BY_DOCUMENT),
    )

    document_id: Mapped[int] = mapped_column(primary_key=True)
    ended: Mapped[datetime]


READINGS = table_of(ReadingRow)

_WAITS = DOCUMENTS.c.step.in_(("", WAITING))


def _in_state(state: DocumentState) -> ColumnElement[bool]:
    return DOCUMENTS.c.state == state.value


_WORTH_AGAIN = and_(_in_state(DocumentState.FAILED), DOCUMENTS.c.cure == Cure.AGAIN.value)


def _counts(listed: str) -> str:
    """The query for the fields of UploadCounts, in their order. Written once: every open page asks each second."""
    of_few = "(SELECT count(*) FROM documents WHERE {listed} AND {kind})"  # the index lacks their columns
    counted = (
        "count(*) FILTER (WHERE state = 'pending')",
        of_few.format(listed=listed, kind=f"state = 'pending' AND step IN ('', '{WAITING}')"),
        "count(*) FILTER (WHERE state = 'failed')",
        of_few.format(listed=listed, kind=f"state = 'failed' AND cure = '{Cure.AGAIN}'"),
        "count(*) FILTER (WHERE state = 'ready' AND sureness < %(sure)s)",
        "count(*) FILTER (WHERE state = 'ready' AND sureness >= %(sure)s)",
    )
    return f"SELECT {', '.join(counted)} FROM documents WHERE {listed}"


_COUNTS = _counts(LIVING)
_COUNTS_BY_NAME = _counts(f"{LIVING} AND strpos(lower(name), %(part)s) > 0")


class SqlUploadQueueStore:
    """Implements core.library.upload_queue.UploadQueueStore for one tenant."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def counts(self, sure: float, words: str = "") -> UploadCounts:
        """Number of files by state whose name contains the words. sure: probability, in [0, 1], below which a label is
        uncertain."""
        part = words.strip().lower()
        query = _COUNTS_BY_NAME if part else _COUNTS
        (row,) = self._database.read("counting files", query, {"sure": sure, "part": part})
        return UploadCounts(*row)

    def page(self, shown: UploadQueueView, words: str, sure: float, limit: int, offset: int) -> Sequence[Document]:
        """One page of files; those that need attention come first."""
        ease = case(
            (_in_state(DocumentState.FAILED), 0.0),
            (and_(_in_state(DocumentState.PENDING), ~_WAITS), 1.0),
            (_in_state(DocumentState.PENDING), 3.0),
            (_unsure(sure), 2.0 + DOCUMENTS.c.sureness / 2),
            else_=4.0 + DOCUMENTS.c.sureness,
        )
        order = (ease, DOCUMENTS.c.id.desc())
        # First the ids: PostgreSQL would turn the labels of every document into text before it sorts them.
        chosen = select(DOCUMENTS.c.id).where(*self._listed(words), *_only(shown, sure))
        ids = chosen.order_by(*order).limit(limit).offset(offset)
        own = (DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id.in_(ids))
        return self._read(self._documents().where(*own).order_by(*order))

    def reading(self, limit: int) -> Sequence[Document]:
        """The files being processed now, oldest first."""
        running = (_in_state(DocumentState.PENDING), ~_WAITS)
        return self._read(self._documents().where(*self._listed(""), *running).order_by(DOCUMENTS.c.id).limit(limit))

    def members(self, parents: Sequence[int]) -> Sequence[Document]:
        """The documents extracted from these container files, archived ones aside."""
        within = DOCUMENTS.c.parent == any_(_ids(parents))
        return self._read(self._documents().where(*self._listed(""), within).order_by(DOCUMENTS.c.id))

    def projects(self) -> Sequence[str]:
        """Every project with a document that is not archived, by name."""
        own = (*self._listed(""), DOCUMENTS.c.project.is_not(None))
        with self._database.transaction("reading projects") as connection:
            return sorted(connection.scalars(select(DOCUMENTS.c.project).distinct().where(*own)))

    def oldest(self) -> datetime | None:
        """Upload time of the oldest file not processed yet; None without one."""
        # Planned for this state: a plan for any state reads the library from its oldest document on.
        query = f"SELECT min(uploaded_at) FROM documents WHERE {LIVING} AND state = 'pending'"
        first: datetime | None = self._database.read("measuring a batch", query, {})[0][0]
        return first

    def to_try_again(self) -> Sequence[int]:
        """Ids, ascending, of files that were stopped, or that failed for a reason a retry may resolve."""
        return self._numbers(_WORTH_AGAIN)

    def pending(self) -> Sequence[int]:
        """Ids, ascending, of all files not processed yet, or that an index may lack."""
        return self._numbers(or_(_in_state(DocumentState.PENDING), DOCUMENTS.c.step == INDEXING))

    def _numbers(self, kind: ColumnElement[bool]) -> Sequence[int]:
        query = select(DOCUMENTS.c.id).where(DOCUMENTS.c.tenant_id == self._tenant, kind)
        with self._database.transaction("looking for files") as connection:
            return list(connection.scalars(query.order_by(DOCUMENTS.c.id)))

    def requeue(self, document_ids: Sequence[int]) -> Sequence[int]:
        """Mark failed ones among these as waiting; returns their ids."""
        changes = {"state": DocumentState.PENDING.value, "step": WAITING, "failure": "", "remedy": ""}
        chosen = (_in_state(DocumentState.FAILED), DOCUMENTS.c.id == any_(_ids(document_ids)))
        return self._change(changes, chosen, "queueing files again")

    def stop(self, document_ids: Sequence[int] | None) -> Sequence[int]:
        """Stop files not processed yet (None: all); returns their ids."""
        searchable, (failure, remedy) = DOCUMENTS.c.passages > 0, STOPPED_BY_HAND
        changes = {
            "state": case((searchable, DocumentState.READY.value), else_=DocumentState.FAILED.value),
            "step": STOPPED,
            "cure": Cure.AGAIN.value,
            "failure": case((searchable, ""), else_=failure),
            "remedy": case((searchable, ""), else_=remedy),
        }
        chosen = [_in_state(DocumentState.PENDING)]
        if document_ids is not None:
            chosen.append(DOCUMENTS.c.id == any_(_ids(document_ids)))
        return self._change(changes, chosen, "stopping files")

    def _change(self, changes: dict[str, Any], chosen: Sequence[ColumnElement[bool]], doing: str) -> Sequence[int]:
        of_them = (DOCUMENTS.c.tenant_id == self._tenant, *chosen)
        with self._database.transaction(doing) as connection:
            ids = connection.scalars(select(DOCUMENTS.c.id).where(*of_them)).all()
            lock_documents(connection, self._tenant, ids, change=True)
            own = DOCUMENTS.c.id == any_of(ids)
            query = update(DOCUMENTS).where(*of_them, own).values(changes).returning(DOCUMENTS.c.id)
            return sorted(connection.scalars(query))

    def ended(self, document_ids: Sequence[int], at: datetime) -> None:
        """Record that processing of documents ended: no index lacks them. Ignores those deleted meanwhile."""
        own = (DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == any_of(document_ids))
        documents = select(DOCUMENTS.c.tenant_id, DOCUMENTS.c.id, literal(at)).where(*own)
        row = insert(READINGS).from_select(["tenant_id", "document_id", "ended"], documents)
        with self._database.transaction("noting the end of a file") as connection:
            lock_documents(connection, self._tenant, document_ids, change=True)
            connection.execute(
                row.on_conflict_do_update(index_elements=["tenant_id", "document_id"], set_={"ended": at})
            )
            connection.execute(update(DOCUMENTS).where(*own, DOCUMENTS.c.step == INDEXING).values(step=""))

    def ends(self, since: datetime, *, read: bool = False) -> tuple[int, datetime | None]:
        """How many files ended since then and are not queued again, and when the first of them ended. read: without
        those that failed."""
        of_document = and_(DOCUMENTS.c.tenant_id == READINGS.c.tenant_id, DOCUMENTS.c.id == READINGS.c.document_id)
        query = (
            select(func.count(), func.min(READINGS.c.ended))
            .join(DOCUMENTS, of_document)
            .where(READINGS.c.tenant_id == self._tenant, READINGS.c.ended >= since)
            .where(_in_state(DocumentState.READY) if read else ~_in_state(DocumentState.PENDING))
        )
        with self._database.transaction("measuring the pace") as connection:
            number, first = connection.execute(query).one()
        return number, first

    def _listed(self, words: str) -> list[ColumnElement[bool]]:
        """Conditions: documents of the tenant that are not archived and whose name contains the words."""
        conditions = [
            DOCUMENTS.c.tenant_id == self._tenant,
            ~DOCUMENTS.c.archived,
            DOCUMENTS.c.origin == Origin.DOCUMENT.value,
        ]
        part = words.strip().lower()
        return [*conditions, func.strpos(func.lower(DOCUMENTS.c.name), part) > 0] if part else conditions

    def _documents(self) -> Any:
        labels = cast(DOCUMENTS.c.labels, Text).label("labels")
        return select(*(labels if column.name == "labels" else column for column in DOCUMENTS.c))

    def _read(self, query: Any) -> Sequence[Document]:
        with self._database.transaction("listing files") as connection:
            return [document_from(row) for row in connection.execute(query).mappings()]


def _unsure(sure: float) -> ColumnElement[bool]:
    return DOCUMENTS.c.sureness < sure


def _only(shown: UploadQueueView, sure: float) -> list[ColumnElement[bool]]:
    ready = _in_state(DocumentState.READY)
    match shown:
        case UploadQueueView.ALL:
            return []
        case UploadQueueView.RUNNING:
            return [_in_state(DocumentState.PENDING)]
        case UploadQueueView.FAILED:
            return [_in_state(DocumentState.FAILED)]
        case UploadQueueView.DOUBTFUL:
            return [ready, _unsure(sure)]
        case UploadQueueView.DONE:
            return [ready, ~_unsure(sure)]


def _ids(numbers: Sequence[int]) -> Any:
    return cast([int(number) for number in numbers], ARRAY(BigInteger))
