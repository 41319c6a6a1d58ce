"""Profiles, question sets, judgments and experiments in dicts."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from threading import RLock

from core.domain.evaluation import Experiment, JudgedQuestion, Judgment, QuestionSet
from core.domain.profiles import DefaultProfile, ProfileVersion
from core.evaluation.store import no_experiment, no_question, no_set, outdated_profile, outdated_set, set_name_taken

__all__ = ["FakeEvaluationStore"]


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
        held = [default for default in latest if default.name]
        return sorted(held, key=lambda default: (default.project is not None, default.project or ""))

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
            return self._kept(replace(questions, id=next(self._ids), version=1))

    def change_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a changed set; returns it with its new version. Raises Outdated, NotFound, and BadRequest when the
        name is in use."""
        with self._lock:
            known = self.question_set(questions.id)
            if known.version != questions.version:
                raise outdated_set(known)
            return self._kept(replace(questions, version=questions.version + 1))

    def _kept(self, new: QuestionSet) -> QuestionSet:
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
            said = [judgment for judgment in self._judgments if judgment.set_id == set_id]
        latest = {(judgment.question_id, judgment.unit, judgment.who): judgment for judgment in said}
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
