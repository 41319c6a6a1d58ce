"""The lab: question sets measured under profiles, weights searched for, and every run kept to be compared."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

from core.boards import RunState
from core.coverage.gaps import corpus_digest
from core.documents import Origin
from core.errors import BadRequest, FivefoldError, Outdated
from core.experiments import Experiment, ExperimentKind, Optimising
from core.filters import SearchFilters
from core.judged import Judgment, QuestionSet
from core.ports import Catalogue, Profiles
from core.search.pipeline import Searcher
from core.tuning.measuring import carried_out, request_of
from core.tuning.optimise import Stopped, check_optimising
from core.tuning.replay import DEPTH
from core.tuning.store import TuningStore

__all__ = ["DEPTH", "QUIET_AFTER", "Ground", "Lab", "interrupted", "request_of"]

QUIET_AFTER = timedelta(seconds=60)
"""A running experiment that has not said anything for this long was killed."""

_BEAT = timedelta(seconds=1)


def interrupted(experiment: Experiment, now: datetime) -> bool:
    """Whether it was killed half-way: it can be begun again, and finds the same."""
    return experiment.state is RunState.RUNNING and now - experiment.beat_at > QUIET_AFTER


@dataclass(frozen=True, slots=True)
class Ground:
    """What a measurement stands on: the last judgment it knew (0: none), and a digest of what search could read."""

    judgments_version: int
    corpus_hash: str


class Lab:
    """Experiments of one tenant: begun, carried out in the background, kept."""

    def __init__(
        self,
        store: TuningStore,
        searcher: Searcher,
        catalogue: Catalogue,
        profiles: Profiles,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._searcher, self._catalogue = store, searcher, catalogue
        self._profiles, self._now = profiles, now
        self._writing = Lock()

    def begin(
        self,
        set_id: int,
        profile: str,
        who: str,
        *,
        note: str = "",
        optimising: Optimising | None = None,
        scheduled: bool = False,
    ) -> Experiment:
        """Keep a new experiment; `carry_out` does it. optimising: search for weights instead of measuring.

        Raises NotFound, and BadRequest for an unknown profile, a set without questions, a search for weights that
        cannot be, or nobody's name.
        """
        if not who.strip():
            raise BadRequest("An experiment needs a name.", "Say who you are: fill in “Your name”, then try again.")
        if optimising is not None:
            check_optimising(optimising)
        questions = self._store.question_set(set_id)
        asked = len(self._store.questions(set_id))
        if not asked:
            raise BadRequest(f"'{questions.name}' holds no questions.", "Add questions to it first.")
        now = self._now()
        return self._store.add_experiment(
            Experiment(
                set_id=set_id,
                set_name=questions.name,
                project=questions.project,
                kind=ExperimentKind.MEASURED if optimising is None else ExperimentKind.OPTIMISED,
                profile=self._profiles.find(profile),
                who=who.strip(),
                started_at=now,
                beat_at=now,
                total=_steps(asked, optimising),
                optimising=optimising,
                note=note.strip(),
                scheduled=scheduled,
            )
        )

    def carry_out(
        self,
        experiment_id: int,
        *,
        stop: Callable[[], bool] = lambda: False,
        on_step: Callable[[int, int], None] = lambda done, total: None,
    ) -> Experiment:
        """Do all of an experiment, and keep how it ended; one begun before begins anew, one that is done stays so.

        `stop` is asked between a few questions, or two mixes. A failing search or store leaves it failed, with why.
        Raises NotFound, and StoreFailed when not even the failure could be kept.
        """
        experiment = self._store.experiment(experiment_id)
        if experiment.state is RunState.DONE:
            return experiment
        began = self._now()
        progress = _Progress(self, replace(experiment, state=RunState.RUNNING, problem=""), on_step, began)
        try:
            ended = self._done(progress, began, stop)
        except Stopped:
            ended = replace(progress.experiment, state=RunState.STOPPED)
        except FivefoldError as problem:
            ended = replace(progress.experiment, state=RunState.FAILED, problem=str(problem))
        now = self._now()
        return self._keep(
            replace(ended, beat_at=now, finished_at=now, milliseconds=(now - began) / timedelta(milliseconds=1))
        )

    def _done(self, progress: "_Progress", began: datetime, stop: Callable[[], bool]) -> Experiment:
        set_id = progress.experiment.set_id
        questions, asked = self._store.question_set(set_id), self._store.questions(set_id)
        judgments = self._store.judgments(set_id)
        progress.of(_steps(len(asked), progress.experiment.optimising))
        experiment = carried_out(
            progress.experiment,
            questions,
            asked,
            judgments,
            lambda requests: self._searcher.search_many(requests, began, cited=False),
            began,
            on_done=progress.told,
            stop=stop,
        )
        stood_on = _ground(judgments, self._corpus(questions.project))
        return replace(
            experiment,
            judgments_version=stood_on.judgments_version,
            corpus_hash=stood_on.corpus_hash,
            state=RunState.DONE,
            done=experiment.total,
        )

    def _corpus(self, project: str | None) -> str:
        filters = SearchFilters(origins=(Origin.DOCUMENT.value,), projects=(project,) if project else ()).resolved(
            self._now()
        )
        return corpus_digest(self._catalogue.fingerprints(filters))

    def _keep(self, experiment: Experiment) -> Experiment:
        """Store how far it is, with the note somebody may have written meanwhile."""
        with self._writing:
            kept = replace(experiment, note=self._store.experiment(experiment.id).note)
            self._store.change_experiment(kept)
        return kept

    def ground(self, set_id: int) -> Ground:
        """What a measurement of a set would stand on now: where an experiment says otherwise, something has changed
        since. Raises NotFound."""
        return _ground(self._store.judgments(set_id), self._corpus(self._store.question_set(set_id).project))

    # What is kept

    def experiments(self, set_id: int | None = None) -> Sequence[Experiment]:
        """Those of a set, or all, newest first, without their outcomes."""
        return self._store.experiments(set_id)

    def experiment(self, experiment_id: int) -> Experiment:
        """With its outcomes. Raises NotFound."""
        return self._store.experiment(experiment_id)

    def annotate(self, experiment_id: int, note: str) -> None:
        """Write a note beside an experiment. Raises NotFound."""
        with self._writing:
            self._store.change_experiment(replace(self._store.experiment(experiment_id), note=note.strip()))

    def delete(self, experiment_id: int) -> None:
        """Forget an experiment."""
        self._store.delete_experiment(experiment_id)

    # On schedule

    def due(self) -> Sequence[QuestionSet]:
        """The sets whose hours have passed since they were last measured by the clock."""
        now = self._now()
        return [
            each
            for each in self._store.sets(None)
            if each.every_hours
            and (each.measured_at is None or now - each.measured_at >= timedelta(hours=each.every_hours))
        ]

    def measure_due(self, stop: Callable[[], bool] = lambda: False) -> Sequence[Experiment]:
        """Measure every due set under its project's default profile; a set another machine has taken is left to it.

        One that was stopped half-way is due again.
        """
        measured_now: list[Experiment] = []
        for each in self.due():
            if stop():
                break
            try:
                taken = self._store.change_set(replace(each, measured_at=self._now()))
            except Outdated:
                continue
            if not self._store.questions(each.id):
                continue
            begun = self.begin(each.id, self._profiles.default(each.project).ref, "schedule", scheduled=True)
            measured_now.append(self.carry_out(begun.id, stop=stop))
            if measured_now[-1].state is RunState.STOPPED:
                self._give_back(taken, each.measured_at)
        return measured_now

    def _give_back(self, taken: QuestionSet, measured_at: datetime | None) -> None:
        """Let the clock take a set again, unless somebody has changed it meanwhile."""
        with suppress(Outdated):
            self._store.change_set(replace(taken, measured_at=measured_at))


def _steps(questions: int, optimising: Optimising | None) -> int:
    """Questions asked, and mixes tried: for each fold, and for all questions."""
    return questions if optimising is None else questions + optimising.trials * (optimising.folds + 1)


def _ground(judgments: Sequence[Judgment], corpus_hash: str) -> Ground:
    return Ground(max((judgment.id for judgment in judgments), default=0), corpus_hash)


class _Progress:
    """How far an experiment is: told at every step, kept about once a second."""

    def __init__(self, lab: Lab, experiment: Experiment, on_step: Callable[[int, int], None], began: datetime) -> None:
        self._lab, self._on_step, self._beat = lab, on_step, began
        self.experiment = replace(experiment, done=0, beat_at=began)

    def of(self, total: int) -> None:
        """So many steps there are: the set may have grown since it was begun. Others see that it is under way."""
        self.experiment = self._lab._keep(replace(self.experiment, total=total))

    def told(self, done: int) -> None:
        """So many steps are done."""
        self.experiment = replace(self.experiment, done=done)
        self._on_step(done, self.experiment.total)
        now = self._lab._now()
        if now - self._beat >= _BEAT:
            self._beat = now
            self._lab._keep(replace(self.experiment, beat_at=now))
