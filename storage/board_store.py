"""Topics, coverage runs and decisions in PostgreSQL. Values travel as JSON, written and read by their own types."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy import Sequence as Ids
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.exc import IntegrityError

from core.boards import Cell, GapKind, Run, RunState, Topic
from core.coverage.store import name_taken, no_run, no_topic, outdated_topic, outdone
from core.reviews import Decision, Past
from storage.database import Database
from storage.json_values import read, written
from storage.review_models import CELLS, DECISIONS, RUNS, TOPICS
from storage.rows import storable_text

__all__ = ["SqlBoardStore"]

_KINDS = [kind.value for kind in GapKind]


class SqlBoardStore:
    """core.coverage.store.BoardStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    # Topics

    def topics(self, project: str | None, *, retired: bool = False) -> Sequence[Topic]:
        """Living (or retired) topics of a project and of all projects; None: every topic."""
        scope = [] if project is None else [(TOPICS.c.project == project) | TOPICS.c.project.is_(None)]
        own = (TOPICS.c.tenant_id == self._tenant, TOPICS.c.retired.is_(retired), *scope)
        with self._database.transaction("reading topics") as connection:
            found = connection.scalars(select(TOPICS.c.data).where(*own).order_by(TOPICS.c.id)).all()
        return [read(Topic, data) for data in found]

    def add_topics(self, topics: Sequence[Topic]) -> Sequence[Topic]:
        """Store new topics; one whose name lives already is given back as stored."""
        with self._database.transaction("storing topics") as connection:
            return [self._added(connection, topic) for topic in topics]

    def _added(self, connection: Connection, topic: Topic) -> Topic:
        new = replace(topic, id=_next(connection, "topics_id_seq"), version=1)
        # Two people may add the same name at once: the second waits for the first, then adds nothing.
        if _inserted(connection, TOPICS, self._topic_row(new)):
            return new
        known = select(TOPICS.c.data).where(
            TOPICS.c.tenant_id == self._tenant,
            TOPICS.c.project.is_not_distinct_from(topic.project),
            func.lower(TOPICS.c.name) == func.lower(storable_text(topic.name)),
            ~TOPICS.c.retired,
        )
        return read(Topic, connection.execute(known).scalar_one())

    def _topic_row(self, topic: Topic) -> dict[str, Any]:
        own = {"tenant_id": self._tenant, "id": topic.id, "project": topic.project, "name": storable_text(topic.name)}
        return own | {"retired": topic.retired, "version": topic.version, "data": written(topic)}

    def change_topics(self, topics: Sequence[Topic]) -> Sequence[Topic]:
        """Store changed topics, all or none. Raises Outdated, BadRequest when a name is taken, NotFound."""
        changed = [replace(topic, version=topic.version + 1) for topic in topics]
        # Retired ones first, so that a merged topic may take the name of one it took in.
        with self._database.transaction("storing topics") as connection:
            for topic in sorted(changed, key=lambda each: not each.retired):
                self._change_topic(connection, topic)
        return changed

    def _change_topic(self, connection: Connection, topic: Topic) -> None:
        own = (TOPICS.c.tenant_id == self._tenant, TOPICS.c.id == topic.id)
        statement = update(TOPICS).where(*own, TOPICS.c.version == topic.version - 1).values(self._topic_row(topic))
        with _unique(name_taken(topic.name)):
            if connection.execute(statement).rowcount:
                return
        known = connection.execute(select(TOPICS.c.data).where(*own)).scalar()
        raise no_topic(topic.name) if known is None else outdated_topic(read(Topic, known))

    # Runs

    def add_run(self, run: Run) -> Run:
        """Store a new run."""
        with self._database.transaction("storing a coverage run") as connection:
            new = replace(run, id=_next(connection, "coverage_runs_id_seq"))
            connection.execute(insert(RUNS).values(tenant_id=self._tenant, id=new.id, **_run_row(new)))
        return new

    def change_run(self, run: Run) -> None:
        """Store a run's progress, end or name. Raises NotFound."""
        own = (RUNS.c.tenant_id == self._tenant, RUNS.c.id == run.id)
        with self._database.transaction("storing a coverage run") as connection:
            if connection.execute(update(RUNS).where(*own).values(_run_row(run))).rowcount == 0:
                raise no_run(run.id)

    def run(self, run_id: int) -> Run:
        """Raises NotFound."""
        own = (RUNS.c.tenant_id == self._tenant, RUNS.c.id == run_id)
        with self._database.transaction("reading a coverage run") as connection:
            row = connection.execute(select(RUNS.c.data, RUNS.c.corpus).where(*own)).first()
        if row is None:
            raise no_run(run_id)
        return replace(read(Run, row.data), id=run_id, corpus={int(key): digest for key, digest in row.corpus.items()})

    def runs(self, project: str | None) -> Sequence[Run]:
        """The runs of exactly this project, newest first, `corpus` left empty."""
        own = (RUNS.c.tenant_id == self._tenant, RUNS.c.project.is_not_distinct_from(project))
        with self._database.transaction("reading coverage runs") as connection:
            rows = connection.execute(select(RUNS.c.id, RUNS.c.data).where(*own).order_by(RUNS.c.id.desc())).all()
        return [replace(read(Run, row.data), id=row.id) for row in rows]

    def delete_run(self, run_id: int) -> None:
        """Forget a run and its cells."""
        with self._database.transaction("deleting a coverage run") as connection:
            connection.execute(delete(RUNS).where(RUNS.c.tenant_id == self._tenant, RUNS.c.id == run_id))

    # Cells

    def save_cells(self, run_id: int, cells: Sequence[Cell]) -> None:
        """Store judged cells, replacing those of the same topic and kind. Raises NotFound."""
        if not cells:
            return
        rows = [
            {
                "tenant_id": self._tenant,
                "run_id": run_id,
                "topic_id": cell.topic_id,
                "kind": cell.kind.value,
                "state": cell.state.value,
                "score": cell.evidence_score,
                "data": written(cell),
            }
            for cell in cells
        ]
        fresh = pg_insert(CELLS)
        kept = fresh.on_conflict_do_update(
            index_elements=["tenant_id", "run_id", "topic_id", "kind"],
            set_={name: fresh.excluded[name] for name in ("state", "score", "data")},
        )
        with self._database.transaction("storing coverage cells") as connection, _unique(no_run(run_id)):
            connection.execute(kept, rows)

    def cells(self, run_id: int) -> Sequence[Cell]:
        """Every stored cell of a run, in the order of its topics, then of GapKind."""
        place = func.array_position(_KINDS, CELLS.c.kind)
        own = (CELLS.c.tenant_id == self._tenant, CELLS.c.run_id == run_id)
        with self._database.transaction("reading coverage cells") as connection:
            found = connection.scalars(select(CELLS.c.data).where(*own).order_by(CELLS.c.topic_id, place)).all()
        return [read(Cell, data) for data in found]

    def history(self, topic_id: int, kind: GapKind, project: str | None) -> Sequence[Past]:
        """What the finished runs of this project said of a cell, oldest first."""
        query = (
            select(RUNS.c.id, RUNS.c.finished_at, CELLS.c.state, CELLS.c.score)
            .join(RUNS, (RUNS.c.tenant_id == CELLS.c.tenant_id) & (RUNS.c.id == CELLS.c.run_id))
            .where(CELLS.c.tenant_id == self._tenant, CELLS.c.topic_id == topic_id, CELLS.c.kind == kind.value)
            .where(RUNS.c.project.is_not_distinct_from(project), RUNS.c.state == RunState.DONE.value)
            .order_by(RUNS.c.id)
        )
        with self._database.transaction("reading a cell's history") as connection:
            rows = connection.execute(query).all()
        return [read(Past, {"run_id": row[0], "at": row[1], "state": row[2], "score": row[3]}) for row in rows]

    # Decisions

    def decide(self, decisions: Sequence[Decision]) -> Sequence[Decision]:
        """Append decisions, all or none. Raises Outdated when one does not continue the count of its cell."""
        with self._database.transaction("storing a decision") as connection:
            return [self._decided(connection, decision) for decision in decisions]

    def _decided(self, connection: Connection, decision: Decision) -> Decision:
        new = replace(decision, id=_next(connection, "decisions_id_seq"))
        about = (
            DECISIONS.c.tenant_id == self._tenant,
            DECISIONS.c.project.is_not_distinct_from(new.project),
            DECISIONS.c.topic_id == new.topic_id,
            DECISIONS.c.kind == new.kind,
        )
        row = {"tenant_id": self._tenant, "id": new.id, "project": new.project, "topic_id": new.topic_id}
        row |= {"kind": new.kind, "number": new.number, "at": new.at, "data": written(new)}
        # The unique number decides a race: the slower of two inserts waits for the faster, and then adds nothing.
        added = _inserted(connection, DECISIONS, row)
        last = select(DECISIONS.c.data).where(*about, DECISIONS.c.id != new.id).order_by(DECISIONS.c.number.desc())
        known = connection.scalar(last.limit(1))
        before = None if known is None else read(Decision, known)
        if not added or new.number != (before.number if before else 0) + 1:
            raise outdone(new, before)
        return new

    def decisions(self, project: str | None) -> Sequence[Decision]:
        """The whole log of exactly this project, oldest first."""
        own = (DECISIONS.c.tenant_id == self._tenant, DECISIONS.c.project.is_not_distinct_from(project))
        with self._database.transaction("reading the decision log") as connection:
            found = connection.scalars(select(DECISIONS.c.data).where(*own).order_by(DECISIONS.c.id)).all()
        return [read(Decision, data) for data in found]


def _next(connection: Connection, sequence: str) -> int:
    return int(connection.scalar(select(Ids(sequence).next_value())) or 0)


def _inserted(connection: Connection, table: Any, row: dict[str, Any]) -> bool:
    """Insert a row unless one with the same unique columns is there; whether it was inserted."""
    statement = pg_insert(table).values(row).on_conflict_do_nothing().returning(table.c.id)
    return connection.scalar(statement) is not None


def _run_row(run: Run) -> dict[str, Any]:
    corpus = {str(document): digest for document, digest in run.corpus.items()}
    own = {"project": run.project, "state": run.state.value, "finished_at": run.finished_at}
    return own | {"data": written(replace(run, corpus={})), "corpus": corpus}


@contextmanager
def _unique(problem: Exception) -> Iterator[None]:
    """Say what a broken constraint means here."""
    try:
        yield
    except IntegrityError as error:
        raise problem from error
