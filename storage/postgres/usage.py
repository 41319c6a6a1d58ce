"""Usage events in PostgreSQL, with totals per document."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Index,
    Integer,
    Select,
    Subquery,
    any_,
    cast,
    delete,
    func,
    insert,
    literal_column,
    select,
    text,
    union_all,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by, distinct_on
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from core.search.store import (
    KEPT_QUESTIONS,
    MARKS,
    TAKEN,
    DocumentUsage,
    UsageEvent,
    UsageKind,
    UsageSummary,
    summarised,
)
from storage.postgres.database import Database, Scope
from storage.postgres.documents import DOCUMENTS
from storage.postgres.json_records import any_of
from storage.postgres.tables import BY_DOCUMENT, BY_LOGIN, Base, allow, id_column, login_column, of_tenant, table_of

__all__ = ["DOCUMENT_USES", "USE_EVENTS", "DocumentUsageRow", "SqlUsageLog", "UsageEventRow"]

_NOT_SHOWN = "kind <> 'shown'"


class UsageEventRow(Base):
    """One event. Rows are only added; they are deleted only with their document.

    What others asked is hidden from a person with some projects only.
    `document_id` has no foreign key: insights and episodes are used as well. Most events are `shown`, which no query
    looks up, so the indexes leave them out.
    """

    __tablename__ = "use_events"
    __table_args__ = (
        of_tenant(),
        Index("use_events_of_document", "tenant_id", "document_id", "kind"),
        Index("use_events_of_question", "tenant_id", "question", "id", postgresql_where=text(_NOT_SHOWN)),
        Index("use_events_of_passage", "tenant_id", "passage_id", "id", postgresql_where=text(_NOT_SHOWN)),
        allow("SELECT, INSERT, DELETE", seen=f"{BY_DOCUMENT} AND {BY_LOGIN}"),
    )

    id: Mapped[int] = id_column("use_events_id_seq")
    kind: Mapped[str]
    document_id: Mapped[int]
    passage_id: Mapped[int]
    question: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]
    login: Mapped[str] = login_column()


class DocumentUsageRow(Base):
    """Usage totals of a document, recomputed from its events in the transaction that adds an event that can change
    them. uses 0: every mark was withdrawn."""

    __tablename__ = "document_uses"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT, UPDATE (uses, last, questions), DELETE", seen=BY_DOCUMENT))

    document_id: Mapped[int] = mapped_column(primary_key=True)
    uses: Mapped[int] = mapped_column(Integer())
    last: Mapped[datetime | None]
    questions: Mapped[list[str]]


USE_EVENTS = table_of(UsageEventRow)
DOCUMENT_USES = table_of(DocumentUsageRow)

_TAKEN, _MARKS = [str(kind) for kind in TAKEN], [str(kind) for kind in MARKS]
_NEVER: Mapping[str, Any] = {"uses": 0, "last": None, "questions": []}


class SqlUsageLog:
    """Implements core.search.store.UsageLog."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        # Totals are counted over everybody's events, whoever adds one.
        self._unscoped = replace(database, scope=Scope(login=database.scope.login))
        self._scoped = database.scope.projects is not None

    def record(self, events: Sequence[UsageEvent]) -> None:
        """Append events, all or none, in this order; updates the totals in the same transaction. Events of documents
        outside the scope are left out."""
        events = self._visible(events) if self._scoped else events
        if not events:
            return
        touched = sorted({event.document_id for event in events if event.kind is not UsageKind.SHOWN})
        with self._unscoped.transaction("recording what was used") as connection:
            self._lock(connection, touched)
            connection.execute(insert(USE_EVENTS), [self._row(event) for event in events])
            self._tally(connection, touched)

    def _visible(self, events: Sequence[UsageEvent]) -> Sequence[UsageEvent]:
        query = select(DOCUMENTS.c.id).where(
            DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == any_of([each.document_id for each in events])
        )
        with self._database.transaction("recording what was used") as connection:
            seen = set(connection.scalars(query))
        return [each for each in events if each.document_id in seen]

    def _row(self, event: UsageEvent) -> dict[str, Any]:
        own = {"tenant_id": self._tenant, "kind": str(event.kind), "at": event.at}
        own |= {"document_id": event.document_id, "passage_id": event.passage_id}
        return own | {"question": storable_text(event.question), "who": storable_text(event.who)}

    def _lock(self, connection: Connection, document_ids: Sequence[int]) -> None:
        """Lock the totals of these documents until the transaction ends, so that the last to count sees all events.
        Locks in order of ids, which avoids deadlocks."""
        if not document_ids:
            return
        rows = [{"tenant_id": self._tenant, "document_id": i, **_NEVER} for i in document_ids]
        connection.execute(upsert(DOCUMENT_USES).values(rows).on_conflict_do_nothing())
        own = (DOCUMENT_USES.c.tenant_id == self._tenant, DOCUMENT_USES.c.document_id.in_(document_ids))
        mine = select(DOCUMENT_USES.c.document_id).where(*own).order_by(DOCUMENT_USES.c.document_id)
        connection.execute(mine.with_for_update())

    def _tally(self, connection: Connection, document_ids: Sequence[int]) -> None:
        if not document_ids:
            return
        counted = {row["document_id"]: row for row in connection.execute(self._counted(document_ids)).mappings()}
        for document_id in document_ids:
            row = counted.get(document_id)
            values: dict[str, Any] = dict(_NEVER)
            if row is not None:
                questions = (row["questions"] or [])[:KEPT_QUESTIONS]
                values = {"uses": row["uses"], "last": row["last"], "questions": questions}
            own = (DOCUMENT_USES.c.tenant_id == self._tenant, DOCUMENT_USES.c.document_id == document_id)
            connection.execute(update(DOCUMENT_USES).where(*own).values(values))

    def _counted(self, document_ids: Sequence[int]) -> Select[Any]:
        """SQL version of `core.search.store.tallied` for those of these documents that were used."""
        events = self._counting_events(document_ids)
        newest_first = func.row_number().over(
            partition_by=events.c.document_id, order_by=(events.c.at.desc(), events.c.id.desc())
        )
        columns = (events.c.document_id, events.c.question, events.c.at)
        placed = select(*columns, newest_first.label("place")).subquery()
        counts = (
            select(
                placed.c.document_id,
                placed.c.question,
                func.count().label("uses"),
                func.max(placed.c.at).label("last"),
                func.min(placed.c.place).label("place"),
            )
            .group_by(placed.c.document_id, placed.c.question)
            .subquery()
        )
        questions = func.array_agg(aggregate_order_by(counts.c.question, counts.c.place))
        return select(
            counts.c.document_id,
            func.sum(counts.c.uses).label("uses"),
            func.max(counts.c.last).label("last"),
            questions.filter(counts.c.question != "").label("questions"),
        ).group_by(counts.c.document_id)

    def _counting_events(self, document_ids: Sequence[int]) -> Subquery:
        """The events that count as use: all actions, and valid marks that say helpful."""
        events = USE_EVENTS.c
        columns = ("document_id", "question", "at", "id")
        own = (events.tenant_id == self._tenant, events.document_id.in_(document_ids))
        about = (events.document_id, events.who, events.question, events.passage_id)
        latest = (
            select(*(events[name] for name in columns), events.kind)
            .ext(distinct_on(*about))
            .where(*own, events.kind.in_(_MARKS))
            .order_by(*about, events.id.desc())
            .subquery()
        )
        taken = select(*(events[name] for name in columns)).where(*own, events.kind.in_(_TAKEN))
        helpful = select(*(latest.c[name] for name in columns)).where(latest.c.kind == str(UsageKind.HELPFUL))
        return union_all(taken, helpful).subquery()

    def uses(self, document_ids: Sequence[int]) -> Mapping[int, DocumentUsage]:
        """Usage totals of these documents; those never used are absent. What others asked is hidden from a person with
        some projects only; how many questions there were is not."""
        table = DOCUMENT_USES.c
        ids = any_(cast([int(i) for i in document_ids], ARRAY(BigInteger)))
        query = select(table.document_id, table.uses, table.last, table.questions).where(
            table.tenant_id == self._tenant, table.document_id == ids, table.uses > 0
        )
        with self._database.transaction("reading what was used") as connection:
            rows = connection.execute(query).all()
        return {
            row.document_id: DocumentUsage(
                row.uses, row.last, ("",) * len(row.questions) if self._scoped else tuple(row.questions)
            )
            for row in rows
        }

    def last_used(self, limit: int) -> Sequence[tuple[int, datetime]]:
        """The documents used last, with the time; the latest first."""
        table = DOCUMENT_USES.c
        query = select(table.document_id, table.last).where(table.tenant_id == self._tenant, table.uses > 0)
        newest_first = query.order_by(table.last.desc(), table.document_id).limit(limit)
        with self._database.transaction("reading what was used") as connection:
            return [(row.document_id, row.last) for row in connection.execute(newest_first)]

    def events_of(
        self, *, question: str | None = None, passage_id: int | None = None, limit: int = 1000
    ) -> Sequence[UsageEvent]:
        """The latest `limit` events other than shown, of a question, a passage or both, oldest first. Raises
        ValueError when neither is given."""
        if question is None and passage_id is None:
            raise ValueError("say whose events: of a question, of a passage, or of both")
        events = USE_EVENTS.c
        # Same wording as in the partial indexes, which PostgreSQL uses only for a matching condition.
        about = [events.tenant_id == self._tenant, literal_column("kind <> 'shown'")]
        about += [] if question is None else [events.question == storable_text(question)]
        about += [] if passage_id is None else [events.passage_id == passage_id]
        query = select(USE_EVENTS).where(*about).order_by(events.id.desc()).limit(limit)
        with self._database.transaction("reading what was used") as connection:
            rows = connection.execute(query).all()
        return [
            UsageEvent(UsageKind(row.kind), row.document_id, row.passage_id, row.question, row.who, row.at)
            for row in reversed(rows)
        ]

    def summary(self, document_id: int) -> UsageSummary:
        """How often a document was shown, opened and cited, by question."""
        events = USE_EVENTS.c
        query = (
            select(events.question, events.kind, func.count(), func.max(events.at))
            .where(events.tenant_id == self._tenant, events.document_id == document_id, events.kind.not_in(_MARKS))
            .group_by(events.question, events.kind)
        )
        with self._database.transaction("reading what was used") as connection:
            rows = connection.execute(query).all()
        return summarised((question, UsageKind(kind), number, at) for question, kind, number, at in rows)

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the events and totals of these documents."""
        with self._database.transaction("forgetting what was used") as connection:
            for table in (DOCUMENT_USES, USE_EVENTS):
                own = (table.c.tenant_id == self._tenant, table.c.document_id.in_(list(document_ids)))
                connection.execute(delete(table).where(*own))
