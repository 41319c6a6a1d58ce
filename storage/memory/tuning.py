"""Profiles, question sets, judgments and experiments in dicts."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from threading import RLock

from core.experiments import Experiment
from core.judged import JudgedQuestion, Judgment, QuestionSet
from core.profiles import DefaultProfile, ProfileVersion
from core.tuning.store import no_experiment, no_question, no_set, outdated_profile, outdated_set, set_name_taken

__all__ = ["MemoryTuningStore"]


class MemoryTuningStore:
    """core.tuning.store.TuningStore; every method is one step for all threads."""

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
        """Every version of every profile, by name and then version."""
        with self._lock:
            return [self._profiles[key] for key in sorted(self._profiles)]

    def save_profile(self, version: ProfileVersion) -> None:
        """Add a version. Raises Outdated when its number does not follow the newest of its name."""
        name, number = version.profile.name.lower(), version.profile.version
        with self._lock:
            known = sum(each == name for each, _ in self._profiles)
            if number != known + 1:
                raise outdated_profile(version, self._profiles.get((name, known)))
            self._profiles[name, number] = version

    def defaults(self) -> Sequence[DefaultProfile]:
        """The choice that holds for each project and for the whole library (first); given back: absent."""
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
        """Living (or retired) sets of a project and those of the whole library; None: every set. In order of age."""
        with self._lock:
            found = [each for each in self._sets.values() if each.retired is retired]
        return [each for each in found if project is None or each.project in (None, project)]

    def question_set(self, set_id: int) -> QuestionSet:
        """Raises NotFound."""
        with self._lock:
            if set_id not in self._sets:
                raise no_set(set_id)
            return self._sets[set_id]

    def add_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a new set. Raises BadRequest when a living set of its project has its name."""
        with self._lock:
            return self._kept(replace(questions, id=next(self._ids), version=1))

    def change_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a changed set; gives it with its new version. Raises Outdated, BadRequest when the name is taken,
        NotFound."""
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
        """The living questions of a set, in the order they were added."""
        with self._lock:
            return [each for each in self._questions.values() if each.set_id == set_id and not each.retired]

    def add_questions(self, questions: Sequence[JudgedQuestion]) -> Sequence[JudgedQuestion]:
        """Store new questions, all or none; one whose key lives already in its set replaces that one. Raises NotFound
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
        """Take a question out of its set; its judgments stay. Raises NotFound."""
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
        """Those that hold: the latest per question, unit and judge, by id ascending."""
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
        """Store its progress, end or note. Raises NotFound."""
        with self._lock:
            self.experiment(experiment.id)
            self._experiments[experiment.id] = experiment

    def experiment(self, experiment_id: int) -> Experiment:
        """With its outcomes. Raises NotFound."""
        with self._lock:
            if experiment_id not in self._experiments:
                raise no_experiment(experiment_id)
            return self._experiments[experiment_id]

    def experiments(self, set_id: int | None = None) -> Sequence[Experiment]:
        """Those of a set, or all, newest first, `outcomes` left empty."""
        with self._lock:
            found = [each for each in self._experiments.values() if set_id in (None, each.set_id)]
        return [replace(each, outcomes=()) for each in sorted(found, key=lambda each: each.id, reverse=True)]

    def delete_experiment(self, experiment_id: int) -> None:
        """Forget an experiment."""
        with self._lock:
            self._experiments.pop(experiment_id, None)
