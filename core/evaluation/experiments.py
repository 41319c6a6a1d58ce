"""Experiments: measure question sets under a profile or optimise weights, and store every run."""
# Longer than 300 lines: starting, resuming, measuring and storing an experiment share its progress and its stop
# signal.

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from threading import Lock

from core.coverage.gaps import corpus_digest
from core.domain.coverage import RunState
from core.domain.documents import Origin
from core.domain.errors import BadRequest, FivefoldError, Outdated
from core.domain.evaluation import (
    Experiment,
    ExperimentKind,
    JudgedQuestion,
    Judgment,
    Level,
    OptimiserSettings,
    QuestionOutcome,
    QuestionSet,
)
from core.domain.filters import SearchFilters
from core.domain.queries import SearchRequest
from core.domain.results import Dropped, DropReason, Hit, SearchResult
from core.evaluation.judgments.units import unit_of
from core.evaluation.metrics.grades import GradedResult, Grades, measured, prepared, summary, unjudged_share
from core.evaluation.store import EvaluationStore
from core.evaluation.tuning.optimiser import OptimisationRequest, OptimisationStopped, check_optimising, optimised
from core.evaluation.tuning.replay import DEPTH, Replay
from core.ports.catalogue import Catalogue
from core.ports.stores import Profiles
from core.search.pipeline import SearchPipeline

__all__ = [
    "DEPTH",
    "QUIET_AFTER",
    "UNGRADED",
    "ExperimentRunner",
    "ExperimentSettings",
    "Searching",
    "interrupted",
    "request_of",
    "run_experiment",
    "scored",
]

UNGRADED = -1
"""Stands for the grade of a question's best result when nobody has graded it."""

Searching = Callable[[Sequence[SearchRequest]], Sequence[SearchResult]]

_AT_ONCE = 4  # questions between two checks of `stop`; limits the results in memory

_SEEN = 10  # first results of an unanswerable question that count as irrelevant. Chosen by hand, not fitted.

_DECIDED = (DropReason.BELOW_THRESHOLD, DropReason.BEYOND_MAX)


def request_of(question: JudgedQuestion, questions: QuestionSet, profile: str, depth: int = DEPTH) -> SearchRequest:
    """How a question is asked: with its own filters, within its set's project, of documents: notes are not graded."""
    filters = question.filters
    if not filters.origins:
        filters = filters.replace(origins=(Origin.DOCUMENT.value,))
    if questions.project is not None and not filters.projects:
        filters = filters.replace(projects=(questions.project,))
    return SearchRequest(question.question, filters, profile, top_k=depth)


def scored(result: SearchResult, graded: GradedResult, level: Level) -> tuple[tuple[str, float, int], ...]:
    """(unit, total, grade) of every graded unit that is shown or not by its total alone, best first.

    What has no evidence, or hides behind its twin, is shown at no threshold, so it is left out. A document has the
    total of its best passage. The best result stands here whether it is graded or UNGRADED. Of a question that
    nothing answers the first ten are irrelevant, unless people say otherwise.
    """
    best: dict[str, float] = {}
    seen: tuple[Hit | Dropped, ...] = (*result.hits, *(each for each in result.dropped if each.reason in _DECIDED))
    for item in seen:
        if item.score is not None:
            unit = unit_of(result, item, level)
            best[unit] = max(item.score.total, best.get(unit, 0.0))
    order = sorted(best, key=lambda unit: -best[unit])
    grades = dict.fromkeys(order[:1], UNGRADED) if graded.answerable else dict.fromkeys(order[:_SEEN], 0)
    grades |= graded.units
    return tuple((unit, best[unit], grades[unit]) for unit in order if unit in grades)


def run_experiment(
    experiment: Experiment,
    questions: QuestionSet,
    judged_questions: Sequence[JudgedQuestion],
    judgments: Sequence[Judgment],
    search: Searching,
    now: datetime,
    *,
    on_done: Callable[[int], None] = lambda done: None,
    stop: Callable[[], bool] = lambda: False,
) -> Experiment:
    """The experiment with its outcomes and measures, and with the weights found if it searches for some.

    now: time at which all questions are asked. on_done: gets the number of steps done (questions asked, then weight
    mixes tried). Raises OptimisationStopped when `stop` says so, BadRequest without questions, and search errors.
    """
    if not judged_questions:
        raise BadRequest(f"'{questions.name}' contains no questions.", "Add questions to it first.")
    judgments_by_question = _by_question(judgments)
    outcomes: list[QuestionOutcome] = []
    replays: dict[int, Replay] = {}
    known: dict[int, GradedResult] = {}
    for start in range(0, len(judged_questions), _AT_ONCE):
        if stop():
            raise OptimisationStopped
        batch = judged_questions[start : start + _AT_ONCE]
        found = search([request_of(each, questions, experiment.profile.ref) for each in batch])
        results = {each.id: result for each, result in zip(batch, found, strict=True)}
        for each, outcome, graded in _measured(batch, results, judgments_by_question, questions.level):
            outcomes.append(outcome)
            known[each.id] = graded
            if experiment.optimising is not None:
                replays[each.id] = Replay(results[each.id], now)
        on_done(len(outcomes))
    experiment = replace(
        experiment, outcomes=tuple(outcomes), measures=summary(outcomes), unjudged=unjudged_share(outcomes)
    )
    return _improved(experiment, judged_questions, replays, Grades(questions.level, known), on_done, stop)


def _measured(
    batch: Sequence[JudgedQuestion],
    results: Mapping[int, SearchResult],
    judgments_by_question: Mapping[int, Sequence[Judgment]],
    level: Level,
) -> Iterator[tuple[JudgedQuestion, QuestionOutcome, GradedResult]]:
    """Each question with its outcome, and with what is known of its results."""
    own = [judgment for each in batch for judgment in judgments_by_question.get(each.id, ())]
    grades = prepared(batch, results, own, level)
    for each, outcome in zip(batch, measured(batch, results, own, level), strict=True):
        graded = grades.questions[each.id]
        yield each, replace(outcome, scored=scored(results[each.id], graded, level)), graded


def _improved(
    experiment: Experiment,
    questions: Sequence[JudgedQuestion],
    replays: Mapping[int, Replay],
    grades: Grades,
    on_done: Callable[[int], None],
    stop: Callable[[], bool],
) -> Experiment:
    """With better weights, when it searches for some."""
    if experiment.optimising is None:
        return experiment

    known = {outcome.question_id for outcome in experiment.outcomes if "ndcg@10" in outcome.measures}

    def on_trial(done: int, total: int) -> None:
        on_done(len(experiment.outcomes) + done)

    found = optimised(
        [OptimisationRequest(each, replays[each.id]) for each in questions if each.id in known],
        grades,
        experiment.profile,
        experiment.optimising,
        unanswerable=[replays[each.id] for each in questions if not each.answerable],
        on_trial=on_trial,
        stop=stop,
    )
    return replace(experiment, optimised=found)


def _by_question(judgments: Sequence[Judgment]) -> Mapping[int, list[Judgment]]:
    by_question: dict[int, list[Judgment]] = {}
    for judgment in judgments:
        by_question.setdefault(judgment.question_id, []).append(judgment)
    return by_question


QUIET_AFTER = timedelta(seconds=60)
"""A running experiment without a heartbeat for this long counts as killed. Chosen by hand, not fitted."""

_BEAT = timedelta(seconds=1)


def interrupted(experiment: Experiment, now: datetime) -> bool:
    """Whether the experiment was killed before its end: it can be started again with the same result."""
    return experiment.state is RunState.RUNNING and now - experiment.beat_at > QUIET_AFTER


@dataclass(frozen=True, slots=True)
class ExperimentSettings:
    """Basis of a measurement: id of the last judgment (0: none), and a digest of the searchable library."""

    judgments_version: int
    corpus_hash: str


class ExperimentRunner:
    """Starts, executes and stores the experiments of one tenant."""

    def __init__(
        self,
        store: EvaluationStore,
        searcher: SearchPipeline,
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
        optimising: OptimiserSettings | None = None,
        scheduled: bool = False,
    ) -> Experiment:
        """Store a new experiment; `carry_out` executes it. optimising: optimise weights instead of measuring.

        Raises NotFound, and BadRequest for an unknown profile, a set without questions, a search for weights that
        cannot be, or nobody's name.
        """
        if not who.strip():
            raise BadRequest("An experiment needs a name.", "Fill in “Your name”, then try again.")
        if optimising is not None:
            check_optimising(optimising)
        questions = self._store.question_set(set_id)
        question_count = len(self._store.questions(set_id))
        if not question_count:
            raise BadRequest(f"'{questions.name}' contains no questions.", "Add questions to it first.")
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
                total=_steps(question_count, optimising),
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
        """Execute an experiment and store its result; an interrupted one starts again, a finished one is unchanged.

        `stop` is asked between a few questions, or two mixes. A failing search or store leaves it failed, with why.
        Raises NotFound, and StoreFailed when not even the failure could be kept.
        """
        experiment = self._store.experiment(experiment_id)
        if experiment.state is RunState.DONE:
            return experiment
        began = self._now()
        progress = _Progress(self, replace(experiment, state=RunState.RUNNING, problem=""), on_step, began)
        try:
            ended = self._done(progress, began, lambda: stop() or progress.stopped)
        except OptimisationStopped:
            ended = replace(progress.experiment, state=RunState.STOPPED)
        except FivefoldError as problem:
            ended = replace(progress.experiment, state=RunState.FAILED, problem=str(problem))
        now = self._now()
        return self._keep(
            replace(ended, beat_at=now, finished_at=now, milliseconds=(now - began) / timedelta(milliseconds=1))
        )

    def stop(self, experiment_id: int) -> Experiment:
        """Ask an experiment to stop within some seconds, whichever program carries it out. Raises NotFound."""
        with self._writing:
            experiment = self._store.experiment(experiment_id)
            if experiment.state is RunState.RUNNING:
                experiment = replace(experiment, state=RunState.STOPPED)
                self._store.change_experiment(experiment)
        return experiment

    def _done(self, progress: "_Progress", began: datetime, stop: Callable[[], bool]) -> Experiment:
        set_id = progress.experiment.set_id
        questions, judged = self._store.question_set(set_id), self._store.questions(set_id)
        judgments = self._store.judgments(set_id)
        stood_on = _ground(judgments, self._corpus(questions.project))  # what is uploaded meanwhile came after it
        progress.of(_steps(len(judged), progress.experiment.optimising))
        experiment = run_experiment(
            progress.experiment,
            questions,
            judged,
            judgments,
            lambda requests: self._searcher.search_many(requests, began, cited=False),
            began,
            on_done=progress.note_progress,
            stop=stop,
        )
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

    def _still_running(self, experiment: Experiment) -> bool:
        """Store how far it is, unless somebody has stopped it."""
        with self._writing:
            if self._store.experiment(experiment.id).state is RunState.STOPPED:
                return False
            self._store_with_note(experiment)
        return True

    def _keep(self, experiment: Experiment) -> Experiment:
        with self._writing:
            return self._store_with_note(experiment)

    def _store_with_note(self, experiment: Experiment) -> Experiment:
        """Store how far it is, with the note somebody may have written meanwhile."""
        changed = replace(experiment, note=self._store.experiment(experiment.id).note)
        self._store.change_experiment(changed)
        return changed

    def ground(self, set_id: int) -> ExperimentSettings:
        """What a measurement of a set would stand on now: where an experiment says otherwise, something has changed
        since. Raises NotFound."""
        return _ground(self._store.judgments(set_id), self._corpus(self._store.question_set(set_id).project))

    # Stored experiments

    def experiments(self, set_id: int | None = None) -> Sequence[Experiment]:
        """Those of a set, or all, newest first, without their outcomes."""
        return self._store.experiments(set_id)

    def experiment(self, experiment_id: int) -> Experiment:
        """With its outcomes. Raises NotFound."""
        return self._store.experiment(experiment_id)

    def annotate(self, experiment_id: int, note: str) -> None:
        """Set the note of an experiment. Raises NotFound."""
        with self._writing:
            self._store.change_experiment(replace(self._store.experiment(experiment_id), note=note.strip()))

    def delete(self, experiment_id: int) -> None:
        """Delete an experiment."""
        self._store.delete_experiment(experiment_id)

    # On schedule

    def due(self) -> Sequence[QuestionSet]:
        """The sets whose interval has passed since their last scheduled measurement."""
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
            started = self.begin(each.id, self._profiles.default(each.project).ref, "schedule", scheduled=True)
            measured_now.append(self.carry_out(started.id, stop=stop))
            if measured_now[-1].state is RunState.STOPPED:
                self._give_back(taken, each.measured_at)
        return measured_now

    def _give_back(self, taken: QuestionSet, measured_at: datetime | None) -> None:
        """Let the clock take a set again, unless somebody has changed it meanwhile."""
        with suppress(Outdated):
            self._store.change_set(replace(taken, measured_at=measured_at))


def _steps(questions: int, optimising: OptimiserSettings | None) -> int:
    """Questions asked, and mixes tried: for each fold, and for all questions."""
    return questions if optimising is None else questions + optimising.trials * (optimising.folds + 1)


def _ground(judgments: Sequence[Judgment], corpus_hash: str) -> ExperimentSettings:
    return ExperimentSettings(max((judgment.id for judgment in judgments), default=0), corpus_hash)


class _Progress:
    """Progress of an experiment: reported at every step, stored about once a second. stopped: somebody asked for it."""

    stopped = False

    def __init__(
        self, runner: ExperimentRunner, experiment: Experiment, on_step: Callable[[int, int], None], began: datetime
    ) -> None:
        self._runner, self._on_step, self._beat = runner, on_step, began
        self.experiment = replace(experiment, done=0, beat_at=began)

    def of(self, total: int) -> None:
        """So many steps there are: the set may have grown since it was begun. Others see that it is under way."""
        self.experiment = self._runner._keep(replace(self.experiment, total=total))

    def note_progress(self, done: int) -> None:
        """So many steps are done."""
        self.experiment = replace(self.experiment, done=done)
        self._on_step(done, self.experiment.total)
        now = self._runner._now()
        if now - self._beat >= _BEAT:
            self._beat = now
            self.stopped = not self._runner._still_running(replace(self.experiment, beat_at=now))
