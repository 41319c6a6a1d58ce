"""Port for storing profiles, question sets, judgments and experiments. A store is bound to one tenant."""

from collections.abc import Sequence
from typing import Protocol

from core.domain.errors import BadRequest, NotFound, Outdated
from core.domain.evaluation import Experiment, JudgedQuestion, Judgment, QuestionSet
from core.domain.profiles import DefaultProfile, ProfileVersion

__all__ = [
    "EvaluationStore",
    "no_experiment",
    "no_question",
    "no_set",
    "outdated_profile",
    "outdated_set",
    "set_name_taken",
]


class EvaluationStore(Protocol):
    """Profiles and judgments are append-only; sets and experiments can change. Every method raises StoreFailed when the
    store fails."""

    # Profiles

    def profile_versions(self) -> Sequence[ProfileVersion]:
        """Every version of every profile, by name and then version."""
        ...

    def save_profile(self, version: ProfileVersion) -> None:
        """Add a version. Raises Outdated when its number does not follow the newest of its name (case-insensitive)."""
        ...

    def defaults(self) -> Sequence[DefaultProfile]:
        """The current default of each project, and of the whole library (project None); absent if none was chosen."""
        ...

    def set_default(self, default: DefaultProfile) -> None:
        """Add a choice; the log keeps those before."""
        ...

    # Question sets

    def sets(self, project: str | None, *, retired: bool = False) -> Sequence[QuestionSet]:
        """Active (or retired) sets of a project and those of the whole library; None: every set. Oldest first."""
        ...

    def question_set(self, set_id: int) -> QuestionSet:
        """Raises NotFound."""
        ...

    def add_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a new set (id 0). Raises BadRequest when an active set of its project has its name."""
        ...

    def change_set(self, questions: QuestionSet) -> QuestionSet:
        """Store a changed set with the version it was read with; gives it with its new one.

        Raises Outdated when someone else changed it, BadRequest when the name is taken, NotFound.
        """
        ...

    def questions(self, set_id: int) -> Sequence[JudgedQuestion]:
        """The living questions of a set, in the order they were added."""
        ...

    def add_questions(self, questions: Sequence[JudgedQuestion]) -> Sequence[JudgedQuestion]:
        """Store new questions (id 0), all or none; one whose key lives already in its set replaces that one and
        keeps its id. Raises NotFound for an unknown set.
        """
        ...

    def retire_question(self, question_id: int) -> None:
        """Take a question out of its set; its judgments stay. Raises NotFound."""
        ...

    # Judgments

    def judge(self, judgments: Sequence[Judgment]) -> Sequence[Judgment]:
        """Append judgments (id 0), all or none. Raises NotFound for an unknown set or question."""
        ...

    def judgments(self, set_id: int) -> Sequence[Judgment]:
        """The current judgments: the latest per question, unit and judge, by id ascending."""
        ...

    # Experiments

    def add_experiment(self, experiment: Experiment) -> Experiment:
        """Store a new experiment (id 0)."""
        ...

    def change_experiment(self, experiment: Experiment) -> None:
        """Store its progress, end or note. Raises NotFound."""
        ...

    def experiment(self, experiment_id: int) -> Experiment:
        """With its outcomes. Raises NotFound."""
        ...

    def experiments(self, set_id: int | None = None) -> Sequence[Experiment]:
        """Those of a set, or all, newest first, `outcomes` left empty."""
        ...

    def delete_experiment(self, experiment_id: int) -> None:
        """Delete an experiment. Does nothing when it does not exist."""
        ...


# Errors that every implementation raises


def outdated_profile(mine: ProfileVersion, newest: ProfileVersion | None) -> Outdated:
    """Someone has saved the same version, or the one it continues is not there."""
    name = mine.profile.name
    if newest is None:
        return Outdated(f"There is no profile '{name}' to continue.", "Save it under this name as a new profile.")
    problem = f"{newest.who} has saved version {newest.profile.version} of '{newest.profile.name}' meanwhile"
    return Outdated(f"{problem}; yours was not stored.", "Compare with it, then save again.")


def outdated_set(known: QuestionSet) -> Outdated:
    """Someone has changed this set since it was read."""
    return Outdated(f"'{known.name}' has been changed by someone else meanwhile.", "Look at it as it is now.")


def set_name_taken(name: str) -> BadRequest:
    """An active set of the project has this name."""
    return BadRequest(f"There is a question set '{name}' already.", "Choose another name.")


def no_set(set_id: int) -> NotFound:
    """The set is not stored."""
    return NotFound(f"Question set {set_id} is not (or no longer) here.", "Look at the sets again.")


def no_question(question_id: int) -> NotFound:
    """The question is not stored, or not in this set."""
    return NotFound(f"Question {question_id} is not (or no longer) in the set.", "Look at the set again.")


def no_experiment(experiment_id: int) -> NotFound:
    """The experiment is not stored."""
    return NotFound(f"Experiment {experiment_id} is not (or no longer) here.", "It was deleted; measure again.")
