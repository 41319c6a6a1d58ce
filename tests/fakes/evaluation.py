"""Evaluation and coverage in dicts: profiles, question sets and experiments; topics, runs and decisions."""
# Over 300 lines: two stores with many short methods.

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import count
from threading import RLock

from core.coverage.store import name_taken, no_run, no_topic, outdated_topic, outdone
from core.domain.coverage import Cell, CoverageRun, Decision, DecisionHistory, GapKind, RunState, Topic, TopicRevision
from core.domain.evaluation import Experiment, JudgedQuestion, Judgment, QuestionSet
from core.domain.profiles import DefaultProfile, ProfileVersion
from core.evaluation.store import no_experiment, no_question, no_set, outdated_profile, outdated_set, set_name_taken

__all__ = ["FakeCoverageBoardStore", "FakeEvaluationStore"]


class FakeEvaluationStore:
    """Implements core.evaluation.store.EvaluationStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._profiles: dict[tuple[str, int], ProfileVersion] = {}
        self._defaults: dict[str | None, list[DefaultProfile]] = {}
        self._sets: dict[int, QuestionSet] = {}
        self._questions: dict[int, JudgedQuestion] = {}
        self._judgments: list[Judgment] = []
        self._experiments: dict[int, Experiment] = {}

    # Profiles

    def profile_versions(self) -> Sequence[ProfileVersion]:
        """Every version of every profile, ordered by name, then version."""
        with self._lock:
            return [self._profiles[key] for key in sorted(self._profiles)]

    def save_profile(self, version: ProfileVersion) -> None:
        """Add a version. Raises Outdated when its number is not the next one for its name."""
        name, number = version.profile.name.lower(), version.profile.version
        with self._lock:
            known = sum(each == name for each, _ in self._profiles)
            if number != known + 1:
                raise outdated_profile(version, self._profiles.get((name, known)))
            self._profiles[name, number] = version

    def defaults(self) -> Sequence[DefaultProfile]:
        """The valid choice for the whole library (first) and for each project; withdrawn ones are absent."""
        with self._lock:
            latest = [choices[-1] for choices in self._defaults.values()]
        stored = [default for default in latest if default.is_set]
        return sorted(stored, key=lambda default: (default.project is not None, default.project or ""))

    def set_default(self, default: DefaultProfile) -> None:
        """Add a choice."""
        with self._lock:
            self._defaults.setdefault(default.project, []).append(default)

    # Question sets

    def sets(self, project: str | None, *, retired: bool = False) -> Sequence[QuestionSet]:
        """Sets in use (or retired) of a project and those of the whole library, oldest first; None: every set."""
        with self._lock:
            found = [each for each in self._sets.values() if each.retired is retired]
        return [each for each in found if project is None or each.project in (None, project)]

    def question_set(self, set_id: int) -> QuestionSet:
        """One set. Raises NotFound."""
        with self._lock:
            if set_id not in self._sets:
                raise no_set(set_id)
            return self._sets[set_id]

    def add_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a new set. Raises BadRequest when a set in use of its project has the same name."""
        with self._lock:
            return self._store(replace(questions, id=next(self._ids), version=1))

    def change_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a changed set; returns it with its new version. Raises Outdated, NotFound, and BadRequest when the
        name is in use."""
        with self._lock:
            known = self.question_set(questions.id)
            if known.version != questions.version:
                raise outdated_set(known)
            return self._store(replace(questions, version=questions.version + 1))

    def _store(self, new: QuestionSet) -> QuestionSet:
        others = [each for each in self._sets.values() if not each.retired and each.id != new.id]
        names = {(each.project, each.name.lower()) for each in others}
        if not new.retired and (new.project, new.name.lower()) in names:
            raise set_name_taken(new.name)
        self._sets[new.id] = new
        return new

    def questions(self, set_id: int) -> Sequence[JudgedQuestion]:
        """The questions of a set that are in use, oldest first."""
        with self._lock:
            return [each for each in self._questions.values() if each.set_id == set_id and not each.retired]

    def add_questions(self, questions: Sequence[JudgedQuestion]) -> Sequence[JudgedQuestion]:
        """Store new questions, all or none; a question replaces the one with the same key in its set. Raises NotFound
        for an unknown set."""
        with self._lock:
            self._must_know({question.set_id for question in questions})
            return [self._added(question) for question in questions]

    def _must_know(self, set_ids: set[int]) -> None:
        missing = set_ids - self._sets.keys()
        if missing:
            raise no_set(min(missing))

    def _added(self, question: JudgedQuestion) -> JudgedQuestion:
        living = {each.key: each.id for each in self.questions(question.set_id)}
        replaced = None if question.retired else living.get(question.key)
        new = replace(question, id=replaced or next(self._ids))
        self._questions[new.id] = new
        return new

    def retire_question(self, question_id: int) -> None:
        """Retire a question; its judgments stay. Raises NotFound."""
        with self._lock:
            if question_id not in self._questions:
                raise no_question(question_id)
            self._questions[question_id] = replace(self._questions[question_id], retired=True)

    # Judgments

    def judge(self, judgments: Sequence[Judgment]) -> Sequence[Judgment]:
        """Append judgments, all or none. Raises NotFound for an unknown set or question."""
        with self._lock:
            self._must_know({judgment.set_id for judgment in judgments})
            known = {(question.set_id, question.id) for question in self._questions.values()}
            for judgment in judgments:
                if (judgment.set_id, judgment.question_id) not in known:
                    raise no_question(judgment.question_id)
            new = [replace(judgment, id=next(self._ids)) for judgment in judgments]
            self._judgments += new
        return new

    def judgments(self, set_id: int) -> Sequence[Judgment]:
        """The valid judgments: the latest per question, unit and judge, ids ascending."""
        with self._lock:
            statements = [judgment for judgment in self._judgments if judgment.set_id == set_id]
        latest = {(judgment.question_id, judgment.unit, judgment.who): judgment for judgment in statements}
        return sorted(latest.values(), key=lambda judgment: judgment.id)

    # Experiments

    def add_experiment(self, experiment: Experiment) -> Experiment:
        """Store a new experiment."""
        with self._lock:
            new = replace(experiment, id=next(self._ids))
            self._experiments[new.id] = new
        return new

    def change_experiment(self, experiment: Experiment) -> None:
        """Store an experiment's progress, end or note. Raises NotFound."""
        with self._lock:
            self.experiment(experiment.id)
            self._experiments[experiment.id] = experiment

    def experiment(self, experiment_id: int) -> Experiment:
        """One experiment with its outcomes. Raises NotFound."""
        with self._lock:
            if experiment_id not in self._experiments:
                raise no_experiment(experiment_id)
            return self._experiments[experiment_id]

    def experiments(self, set_id: int | None = None) -> Sequence[Experiment]:
        """Experiments of a set, or all, newest first; `outcomes` is left empty."""
        with self._lock:
            found = [each for each in self._experiments.values() if set_id in (None, each.set_id)]
        return [replace(each, outcomes=()) for each in sorted(found, key=lambda each: each.id, reverse=True)]

    def delete_experiment(self, experiment_id: int) -> None:
        """Delete an experiment."""
        with self._lock:
            self._experiments.pop(experiment_id, None)


_KINDS = list(GapKind)


class FakeCoverageBoardStore:
    """Implements core.coverage.store.CoverageBoardStore; every method is atomic across threads."""

    def __init__(self) -> None:
        self._lock, self._ids = RLock(), count(1)
        self._topics: dict[int, Topic] = {}
        self._runs: dict[int, CoverageRun] = {}
        self._cells: dict[int, dict[tuple[int, GapKind], Cell]] = {}
        self._decisions: list[Decision] = []
        self._revisions: list[TopicRevision] = []

    def topics(self, project: str | None, *, retired: bool = False) -> Sequence[Topic]:
        """Topics in use (or retired) of a project and of all projects; None: every topic."""
        with self._lock:
            found = [topic for topic in self._topics.values() if topic.retired is retired]
        return [topic for topic in found if project is None or topic.project in (None, project)]

    def add_topics(self, topics: Sequence[Topic], who: str = "", at: datetime | None = None) -> Sequence[Topic]:
        """Store new topics; where the name is in use, the stored topic is returned."""
        with self._lock:
            known = set(self._topics)
            stored = [self._namesake(topic) or self._added(topic) for topic in topics]
            self._log([(None, topic) for topic in stored if topic.id not in known], who, at)
            return stored

    def _log(self, pairs: Sequence[tuple[Topic | None, Topic]], who: str, at: datetime | None) -> None:
        if at is not None and pairs:
            edit = next(self._ids)
            self._revisions[:0] = [TopicRevision(edit, at, who, before, after) for before, after in pairs]

    def topic_revisions(self, limit: int) -> Sequence[TopicRevision]:
        """The newest revisions of all topics, newest edit first, at most so many."""
        with self._lock:
            return self._revisions[:limit]

    def _added(self, topic: Topic) -> Topic:
        new = replace(topic, id=next(self._ids), version=1)
        self._topics[new.id] = new
        return new

    def _namesake(self, topic: Topic) -> Topic | None:
        same = (topic.project, topic.name.lower())
        living = (each for each in self._topics.values() if not each.retired and each.id != topic.id)
        return next((each for each in living if (each.project, each.name.lower()) == same), None)

    def change_topics(self, topics: Sequence[Topic], who: str = "", at: datetime | None = None) -> Sequence[Topic]:
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
            self._log([(before[topic.id], self._topics[topic.id]) for topic in topics], who, at)
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
