"""Coverage topics, assessment runs with their cells, and the decision log in PostgreSQL."""
# More than 300 lines: four tables and their queries are one port.

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import (
    CheckConstraint,
    Connection,
    ForeignKeyConstraint,
    Index,
    Integer,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.coverage.store import name_taken, no_run, no_topic, outdated_topic, outdone
from core.domain.coverage import Cell, CoverageRun, Decision, DecisionHistory, GapKind, RunState, Topic, TopicRevision
from core.domain.sanitize import storable_text
from storage.postgres.database import Database
from storage.postgres.document_projects import KNOWN_DOCUMENTS, every_project, redact_purged
from storage.postgres.json_records import JsonRecords, any_of, from_json, next_id, next_ids, to_json, upsert
from storage.postgres.tables import BY_OWN_PROJECT, BY_PROJECT, Base, allow, id_column, of_tenant, table_of

__all__ = [
    "CELLS",
    "DECISIONS",
    "RUNS",
    "TOPICS",
    "TOPIC_REVISIONS",
    "CellRow",
    "CoverageRunRow",
    "DecisionRow",
    "SqlCoverageBoardStore",
    "TopicRevisionRow",
    "TopicRow",
]

T = TypeVar("T")

_TOPIC_SEEN = (
    f"({BY_PROJECT}) AND (data #>> '{{source,document_id}}' IS NULL"
    f" OR (data #>> '{{source,document_id}}')::bigint IN {KNOWN_DOCUMENTS})"
)
"""Topics of the person's projects and of all projects, unless they quote a document of another project."""


class TopicRow(Base):
    """One topic; `data` is the whole value, the columns are for queries. A name is unique per project among topics in
    use."""

    __tablename__ = "topics"
    __table_args__ = (
        of_tenant(),
        Index(
            "topics_living_names",
            "tenant_id",
            "project",
            text("lower(name)"),
            unique=True,
            postgresql_where=text("NOT retired"),
            postgresql_nulls_not_distinct=True,
        ),
        allow("SELECT, INSERT, UPDATE", seen=_TOPIC_SEEN),
    )

    id: Mapped[int] = id_column("topics_id_seq")
    project: Mapped[str | None]
    name: Mapped[str]
    retired: Mapped[bool]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[dict[str, Any]]


class TopicRevisionRow(Base):
    """One topic in one edit. Rows are only added."""

    __tablename__ = "topic_revisions"
    __table_args__ = (
        of_tenant(),
        Index("topic_revisions_newest", "tenant_id", text("edit DESC")),
        allow("SELECT, INSERT", seen="topic_id IN (SELECT id FROM topics)"),
    )

    id: Mapped[int] = id_column("topic_revisions_id_seq")
    edit: Mapped[int]
    topic_id: Mapped[int]
    data: Mapped[dict[str, Any]]


class CoverageRunRow(Base):
    """One run; `data` is the value without `corpus`, which is read to compare only."""

    __tablename__ = "coverage_runs"
    __table_args__ = (
        of_tenant(),
        Index("coverage_runs_newest", "tenant_id", "project", text("id DESC")),
        allow("SELECT, INSERT, UPDATE, DELETE", seen=BY_OWN_PROJECT),
    )

    id: Mapped[int] = id_column("coverage_runs_id_seq")
    project: Mapped[str | None]
    state: Mapped[str]
    finished_at: Mapped[datetime | None]
    data: Mapped[dict[str, Any]]
    corpus: Mapped[dict[str, Any]]


class CellRow(Base):
    """One assessed cell of a run."""

    __tablename__ = "cells"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "run_id"], ["coverage_runs.tenant_id", "coverage_runs.id"], ondelete="CASCADE"
        ),
        Index("cells_of_topic", "tenant_id", "topic_id", "kind"),
        allow("SELECT, INSERT, UPDATE, DELETE", seen="run_id IN (SELECT id FROM coverage_runs)"),
    )

    run_id: Mapped[int] = mapped_column(primary_key=True)
    topic_id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    state: Mapped[str]
    score: Mapped[float]
    data: Mapped[dict[str, Any]]


class DecisionRow(Base):
    """One entry of the decision log. Rows are only added; `number` counts the decisions of a cell."""

    __tablename__ = "decisions"
    __table_args__ = (
        of_tenant(),
        CheckConstraint("number > 0", name="decisions_number_check"),
        Index(
            "decisions_count",
            "tenant_id",
            "project",
            "topic_id",
            "kind",
            "number",
            unique=True,
            postgresql_nulls_not_distinct=True,
        ),
        allow("SELECT, INSERT", seen=BY_OWN_PROJECT),
    )

    id: Mapped[int] = id_column("decisions_id_seq")
    project: Mapped[str | None]
    topic_id: Mapped[int]
    kind: Mapped[str]
    number: Mapped[int] = mapped_column(Integer())
    at: Mapped[datetime]
    data: Mapped[dict[str, Any]]


TOPICS = table_of(TopicRow)
TOPIC_REVISIONS = table_of(TopicRevisionRow)
RUNS = table_of(CoverageRunRow)
CELLS = table_of(CellRow)
DECISIONS = table_of(DecisionRow)

_KINDS = [kind.value for kind in GapKind]


class SqlCoverageBoardStore:
    """Implements core.coverage.store.CoverageBoardStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._topics = JsonRecords(TOPICS, Topic, database.tenant)
        self._revisions = JsonRecords(TOPIC_REVISIONS, TopicRevision, database.tenant)
        self._cells = JsonRecords(CELLS, Cell, database.tenant)
        self._decisions = JsonRecords(DECISIONS, Decision, database.tenant)

    # Topics

    def topics(self, project: str | None, *, retired: bool = False) -> Sequence[Topic]:
        """Topics in use (or retired) of a project and of all projects; None: every topic."""
        scope = [] if project is None else [(TOPICS.c.project == project) | TOPICS.c.project.is_(None)]
        with self._database.transaction("reading topics") as connection:
            return self._topics.all(connection, TOPICS.c.retired.is_(retired), *scope, order=TOPICS.c.id)

    def add_topics(self, topics: Sequence[Topic], who: str = "", at: datetime | None = None) -> Sequence[Topic]:
        """Store new topics; where the name is in use, the stored topic is returned."""
        with self._database.transaction("storing topics") as connection:
            stored = [self._add_topic(connection, topic) for topic in self._redacted(connection, topics)]
            self._log(connection, [(None, topic) for topic, new in stored if new], who, at)
        return [topic for topic, _ in stored]

    def _redacted(self, connection: Connection, values: Sequence[T]) -> list[T]:
        return redact_purged(self._database, connection, values)

    def _add_topic(self, connection: Connection, topic: Topic) -> tuple[Topic, bool]:
        """The stored topic, and whether it is new."""
        new = replace(topic, id=next_id(connection, TOPICS), version=1)
        if self._topics.add(connection, _topic_row(new), new):
            return new, True
        same_name = func.lower(TOPICS.c.name) == func.lower(storable_text(topic.name))
        of_project = TOPICS.c.project.is_not_distinct_from(topic.project)
        return self._topics.all(connection, of_project, same_name, ~TOPICS.c.retired)[0], False

    def change_topics(self, topics: Sequence[Topic], who: str = "", at: datetime | None = None) -> Sequence[Topic]:
        """Store changed topics, all or none. Raises Outdated, NotFound, and BadRequest when a name is in use."""
        with self._database.transaction("storing topics") as connection:
            changed = [replace(each, version=each.version + 1) for each in self._redacted(connection, topics)]
            known = self._topics.all(connection, TOPICS.c.id == any_of([topic.id for topic in changed]))
            before = {topic.id: topic for topic in known}
            # Retired topics first, so that a merged topic may take the name of one of its parts.
            for topic in sorted(changed, key=lambda each: not each.retired):
                self._change_topic(connection, topic)
            self._log(connection, [(before[topic.id], topic) for topic in changed], who, at)
        return changed

    def _log(
        self, connection: Connection, pairs: Sequence[tuple[Topic | None, Topic]], who: str, at: datetime | None
    ) -> None:
        if at is None:
            return
        ids = next_ids(connection, TOPIC_REVISIONS, len(pairs))
        revisions = [TopicRevision(ids[0], at, who, before, after) for before, after in pairs]
        for number, revision in zip(ids, self._redacted(connection, revisions), strict=True):
            row = {"id": number, "edit": revision.edit, "topic_id": revision.after.id}
            self._revisions.add(connection, row, revision)

    def topic_revisions(self, limit: int) -> Sequence[TopicRevision]:
        """The newest revisions of all topics, newest edit first, at most so many."""
        newest = (TOPIC_REVISIONS.c.edit.desc(), TOPIC_REVISIONS.c.id)
        with self._database.transaction("reading the log of topics") as connection:
            found = self._revisions.all(connection, order=newest, limit=limit)
            edits = sorted({each.edit for each in found})
            count = select(TOPIC_REVISIONS.c.edit, func.count()).group_by(TOPIC_REVISIONS.c.edit)
            of_edits = count.where(TOPIC_REVISIONS.c.tenant_id == self._tenant, TOPIC_REVISIONS.c.edit == any_of(edits))
            seen = {row[0]: row[1] for row in connection.execute(of_edits)}
            with every_project(self._database, connection):
                stored = {row[0]: row[1] for row in connection.execute(of_edits)}
        return [replace(each, hidden=stored[each.edit] - seen[each.edit]) for each in found]

    def _change_topic(self, connection: Connection, topic: Topic) -> None:
        own = TOPICS.c.id == topic.id
        with _unique(name_taken(topic.name)):
            if self._topics.change(connection, _topic_row(topic), topic, own, TOPICS.c.version == topic.version - 1):
                return
        known = self._topics.first(connection, own)
        raise no_topic(topic.name) if known is None else outdated_topic(known)

    # Runs

    def add_run(self, run: CoverageRun) -> CoverageRun:
        """Store a new run."""
        with self._database.transaction("storing a coverage run") as connection:
            new = replace(run, id=next_id(connection, RUNS))
            row = self._run_row(connection, new)
            connection.execute(insert(RUNS).values(tenant_id=self._tenant, id=new.id, **row))
        return new

    def change_run(self, run: CoverageRun) -> None:
        """Store a run's progress, end or name. Raises NotFound."""
        own = (RUNS.c.tenant_id == self._tenant, RUNS.c.id == run.id)
        with self._database.transaction("storing a coverage run") as connection:
            if connection.execute(update(RUNS).where(*own).values(self._run_row(connection, run))).rowcount == 0:
                raise no_run(run.id)

    def _run_row(self, connection: Connection, run: CoverageRun) -> dict[str, Any]:
        corpus = {str(document): digest for document, digest in run.corpus.items()}
        own = {"project": run.project, "state": run.state.value, "finished_at": run.finished_at}
        (known,) = self._redacted(connection, [replace(run, corpus={})])
        return own | {"data": to_json(known), "corpus": corpus}

    def run(self, run_id: int) -> CoverageRun:
        """One run. Raises NotFound."""
        own = (RUNS.c.tenant_id == self._tenant, RUNS.c.id == run_id)
        with self._database.transaction("reading a coverage run") as connection:
            row = connection.execute(select(RUNS.c.data, RUNS.c.corpus).where(*own)).first()
        if row is None:
            raise no_run(run_id)
        return replace(
            from_json(CoverageRun, row.data), id=run_id, corpus={int(key): digest for key, digest in row.corpus.items()}
        )

    def runs(self, project: str | None) -> Sequence[CoverageRun]:
        """The runs of exactly this project, newest first; `corpus` is left empty."""
        own = (RUNS.c.tenant_id == self._tenant, RUNS.c.project.is_not_distinct_from(project))
        with self._database.transaction("reading coverage runs") as connection:
            rows = connection.execute(select(RUNS.c.id, RUNS.c.data).where(*own).order_by(RUNS.c.id.desc())).all()
        return [replace(from_json(CoverageRun, row.data), id=row.id) for row in rows]

    def delete_run(self, run_id: int) -> None:
        """Delete a run and its cells."""
        with self._database.transaction("deleting a coverage run") as connection:
            connection.execute(delete(RUNS).where(RUNS.c.tenant_id == self._tenant, RUNS.c.id == run_id))

    # Cells

    def save_cells(self, run_id: int, cells: Sequence[Cell]) -> None:
        """Store assessed cells, replacing those of the same topic and kind. Raises NotFound."""
        with self._database.transaction("storing coverage cells") as connection, _unique(no_run(run_id)):
            own = {"tenant_id": self._tenant, "run_id": run_id}
            upsert(connection, CELLS, [own | _cell_row(cell) for cell in self._redacted(connection, cells)])

    def cells(self, run_id: int) -> Sequence[Cell]:
        """Every stored cell of a run, ordered by topic, then by GapKind."""
        kind_position = func.array_position(_KINDS, CELLS.c.kind)
        with self._database.transaction("reading coverage cells") as connection:
            return self._cells.all(connection, CELLS.c.run_id == run_id, order=(CELLS.c.topic_id, kind_position))

    def history(self, topic_id: int, kind: GapKind, project: str | None) -> Sequence[DecisionHistory]:
        """The results for a cell in the finished runs of this project, oldest first."""
        query = (
            select(RUNS.c.id, RUNS.c.finished_at, CELLS.c.state, CELLS.c.score)
            .join(RUNS, (RUNS.c.tenant_id == CELLS.c.tenant_id) & (RUNS.c.id == CELLS.c.run_id))
            .where(CELLS.c.tenant_id == self._tenant, CELLS.c.topic_id == topic_id, CELLS.c.kind == kind.value)
            .where(RUNS.c.project.is_not_distinct_from(project), RUNS.c.state == RunState.DONE.value)
            .order_by(RUNS.c.id)
        )
        with self._database.transaction("reading a cell's history") as connection:
            rows = connection.execute(query).all()
        return [
            from_json(DecisionHistory, {"run_id": row[0], "at": row[1], "state": row[2], "score": row[3]})
            for row in rows
        ]

    # Decisions

    def decide(self, decisions: Sequence[Decision]) -> Sequence[Decision]:
        """Append decisions, all or none. Raises Outdated when a number is not the next one of its cell."""
        with self._database.transaction("storing a decision") as connection:
            return [self._add_decision(connection, each) for each in self._redacted(connection, decisions)]

    def _add_decision(self, connection: Connection, decision: Decision) -> Decision:
        new = replace(decision, id=next_id(connection, DECISIONS))
        about = (
            DECISIONS.c.project.is_not_distinct_from(new.project),
            DECISIONS.c.topic_id == new.topic_id,
            DECISIONS.c.kind == new.kind,
            DECISIONS.c.id != new.id,
        )
        row = {"id": new.id, "project": new.project, "topic_id": new.topic_id, "kind": new.kind}
        added = self._decisions.add(connection, row | {"number": new.number, "at": new.at}, new)
        before = self._decisions.first(connection, *about, order=DECISIONS.c.number.desc())
        if not added or new.number != (before.number if before else 0) + 1:
            raise outdone(new, before)
        return new

    def decisions(self, project: str | None) -> Sequence[Decision]:
        """The whole decision log of exactly this project, oldest first."""
        own = DECISIONS.c.project.is_not_distinct_from(project)
        with self._database.transaction("reading the decision log") as connection:
            return self._decisions.all(connection, own, order=DECISIONS.c.id)


def _topic_row(topic: Topic) -> dict[str, Any]:
    own = {"id": topic.id, "project": topic.project, "name": storable_text(topic.name)}
    return own | {"retired": topic.retired, "version": topic.version}


def _cell_row(cell: Cell) -> dict[str, Any]:
    own = {"topic_id": cell.topic_id, "kind": cell.kind.value, "state": cell.state.value}
    return own | {"score": cell.evidence_score, "data": to_json(cell)}


@contextmanager
def _unique(problem: Exception) -> Iterator[None]:
    """Maps a violated unique constraint to BadRequest."""
    try:
        yield
    except IntegrityError as error:
        raise problem from error
