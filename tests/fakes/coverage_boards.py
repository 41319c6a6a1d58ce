"""Topics, coverage runs and decisions in dicts."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from threading import RLock

from core.coverage.store import name_taken, no_run, no_topic, outdated_topic, outdone
from core.domain.coverage import Cell, CoverageRun, Decision, DecisionHistory, GapKind, RunState, Topic

__all__ = ["FakeCoverageBoardStore"]

_KINDS = list(GapKind)


class FakeCoverageBoardStore:
    """Implements core.coverage.store.CoverageBoardStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._topics: dict[int, Topic] = {}
        self._runs: dict[int, CoverageRun] = {}
        self._cells: dict[int, dict[tuple[int, GapKind], Cell]] = {}
        self._decisions: list[Decision] = []

    def topics(self, project: str | None, *, retired: bool = False) -> Sequence[Topic]:
        """Topics in use (or retired) of a project and of all projects; None: every topic."""
        with self._lock:
            found = [topic for topic in self._topics.values() if topic.retired is retired]
        return [topic for topic in found if project is None or topic.project in (None, project)]

    def add_topics(self, topics: Sequence[Topic]) -> Sequence[Topic]:
        """Store new topics; where the name is in use, the stored topic is returned."""
        with self._lock:
            return [self._namesake(topic) or self._added(topic) for topic in topics]

    def _added(self, topic: Topic) -> Topic:
        new = replace(topic, id=next(self._ids), version=1)
        self._topics[new.id] = new
        return new

    def _namesake(self, topic: Topic) -> Topic | None:
        same = (topic.project, topic.name.lower())
        living = (each for each in self._topics.values() if not each.retired and each.id != topic.id)
        return next((each for each in living if (each.project, each.name.lower()) == same), None)

    def change_topics(self, topics: Sequence[Topic]) -> Sequence[Topic]:
        """Store changed topics, all or none. Raises Outdated, NotFound, and BadRequest when a name is in use."""
        with self._lock:
            before, self._topics = self._topics, dict(self._topics)
            done = False
            try:
                for topic in sorted(topics, key=lambda each: not each.retired):
                    self._change_topic(topic)
                done = True
            finally:
                self._topics = self._topics if done else before
            return [self._topics[topic.id] for topic in topics]

    def _change_topic(self, topic: Topic) -> None:
        known = self._topics.get(topic.id)
        if known is None:
            raise no_topic(topic.name)
        if known.version != topic.version:
            raise outdated_topic(known)
        if not topic.retired and self._namesake(topic):
            raise name_taken(topic.name)
        self._topics[topic.id] = replace(topic, version=topic.version + 1)

    def add_run(self, run: CoverageRun) -> CoverageRun:
        """Store a new run."""
        with self._lock:
            new = replace(run, id=next(self._ids))
            self._runs[new.id], self._cells[new.id] = new, {}
        return new

    def change_run(self, run: CoverageRun) -> None:
        """Store a run's progress, end or name. Raises NotFound."""
        with self._lock:
            self.run(run.id)
            self._runs[run.id] = run

    def run(self, run_id: int) -> CoverageRun:
        """One run. Raises NotFound."""
        if run_id not in self._runs:
            raise no_run(run_id)
        return self._runs[run_id]

    def runs(self, project: str | None) -> Sequence[CoverageRun]:
        """The runs of exactly this project, newest first; `corpus` is left empty."""
        with self._lock:
            found = [replace(run, corpus={}) for run in self._runs.values() if run.project == project]
        return sorted(found, key=lambda run: run.id, reverse=True)

    def delete_run(self, run_id: int) -> None:
        """Delete a run and its cells."""
        with self._lock:
            self._runs.pop(run_id, None)
            self._cells.pop(run_id, None)

    def save_cells(self, run_id: int, cells: Sequence[Cell]) -> None:
        """Store assessed cells, replacing those of the same topic and kind. Raises NotFound."""
        with self._lock:
            if cells:
                self.run(run_id)
                self._cells[run_id] |= {(cell.topic_id, cell.kind): cell for cell in cells}

    def cells(self, run_id: int) -> Sequence[Cell]:
        """Every stored cell of a run, ordered by topic, then by GapKind."""
        with self._lock:
            found = list(self._cells.get(run_id, {}).values())
        return sorted(found, key=lambda cell: (cell.topic_id, _KINDS.index(cell.kind)))

    def history(self, topic_id: int, kind: GapKind, project: str | None) -> Sequence[DecisionHistory]:
        """The results for a cell in the finished runs of this project, oldest first."""
        past = []
        for run in reversed(self.runs(project)):
            cell = self._cells[run.id].get((topic_id, kind))
            if cell is not None and run.state is RunState.DONE and run.finished_at is not None:
                past.append(DecisionHistory(run.id, run.finished_at, cell.state, cell.evidence_score))
        return past

    def decide(self, decisions: Sequence[Decision]) -> Sequence[Decision]:
        """Append decisions, all or none. Raises Outdated when a number is not the next one of its cell."""
        with self._lock:
            log = list(self._decisions)
            for decision in decisions:
                about = [each for each in log if _cell(each) == _cell(decision)]
                if decision.number != len(about) + 1:
                    raise outdone(decision, about[-1] if about else None)
                log.append(replace(decision, id=next(self._ids)))
            added, self._decisions = log[len(self._decisions) :], log
            return added

    def decisions(self, project: str | None) -> Sequence[Decision]:
        """The whole decision log of exactly this project, oldest first."""
        with self._lock:
            return [decision for decision in self._decisions if decision.project == project]


def _cell(decision: Decision) -> tuple[str | None, int, str]:
    return decision.project, decision.topic_id, decision.kind
