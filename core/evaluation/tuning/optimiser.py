"""Optimises factor weights with Optuna, evaluated by cross-validation.

Questions are split into folds; for each fold, weights are found on the other folds and measured on it. The gain of the
held-out questions over the current weights, with interval and significance, decides the recommendation.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from core.domain.errors import BadRequest
from core.domain.evaluation import JudgedQuestion, MetricChange, OptimiserResult, OptimiserSettings
from core.domain.queries import ScoreProfile
from core.evaluation.metrics.grades import Grades, measure_rankings
from core.evaluation.metrics.measures import EQUAL_WITHIN, mean
from core.evaluation.metrics.significance import PairedTest, interval, paired
from core.evaluation.tuning.replay import Replay
from core.search.ranking.factors import FACTORS

__all__ = [
    "RAISABLE",
    "OptimisationRequest",
    "OptimisationStopped",
    "WeightChange",
    "check_optimising",
    "dealt",
    "optimised",
    "weight_changes",
]

RAISABLE = ("ndcg@10", "map", "mrr@10", "p@5", "recall@20")
"""The measures that can be raised: those of rankings."""

_LEAST_QUESTIONS = 10  # Chosen by hand, not fitted.
_SIGNIFICANT = 0.05  # p value; the usual convention
_HOW_SURE = f"p < {_SIGNIFICANT:g}"
_WIDE = 0.2  # range of a weight over the folds. Chosen by hand, not fitted.


class OptimisationStopped(Exception):
    """The optimisation was stopped on request."""


@dataclass(frozen=True, slots=True)
class OptimisationRequest:
    """One training question with its retrieved candidates."""

    question: JudgedQuestion
    replay: Replay


def dealt(kinds: Sequence[str], folds: int, seed: int) -> list[int]:
    """The fold of each question, in [0, folds): shuffled and stratified by kind.

    >>> sorted(dealt(["a"] * 4 + ["b"] * 2, 2, seed=1)[:4])
    [0, 0, 1, 1]
    """
    indices = list(range(len(kinds)))
    Random(seed).shuffle(indices)
    indices.sort(key=lambda index: kinds[index])
    fold = [0] * len(kinds)
    for turn, index in enumerate(indices):
        fold[index] = turn % folds
    return fold


def optimised(
    requests: Sequence[OptimisationRequest],
    grades: Grades,
    current: ScoreProfile,
    settings: OptimiserSettings,
    *,
    unanswerable: Sequence[Replay] = (),
    on_trial: Callable[[int, int], None] = lambda done, total: None,
    stop: Callable[[], bool] = lambda: False,
) -> OptimiserResult:
    """Search for weights with a higher `settings.measure` than the current profile; its other values, including the
    threshold, stay.

    asked: questions with something relevant known. unanswerable: those nothing answers; weights under which more of
    them are shown results than now are not recommended, whatever they gain. Raises BadRequest when the questions are
    too few or `settings` are invalid, OptimisationStopped when asked to stop.
    """
    _check(requests, settings)
    search = _Search(requests, grades, current, settings, on_trial, stop)
    everyone = range(len(requests))
    before = search.measured(current, everyone)
    found, after = search.held_out()
    fitted = search.best(everyone, settings.seed + settings.folds)
    gained = paired(before, after, settings.seed)
    worse, better = _changes(requests, before, after)
    now, then = (sum(bool(each.ranked(mix, 1)) for each in unanswerable) for mix in (current, fitted))
    shares = {name: [each.weights.get(name, 0.0) for each in found] for name in settings.factors}
    return OptimiserResult(
        training=interval(search.measured(fitted, everyone), settings.seed),
        held_out=interval(after, settings.seed),
        baseline=interval(before, settings.seed),
        gain=gained.gain,
        p_value=gained.p_value,
        recommended=gained.p_value < _SIGNIFICANT and gained.gain.mean > 0 and then <= now,
        verdict=_verdict(gained, len(requests), settings, louder=_louder(now, then)),
        profile=fitted,
        worse=worse,
        better=better,
        spread={name: (min(values), max(values)) for name, values in shares.items()},
    )


def _changes(
    requests: Sequence[OptimisationRequest], before: Sequence[float], after: Sequence[float]
) -> tuple[tuple[MetricChange, ...], tuple[MetricChange, ...]]:
    """What got worse and what got better, the largest change first."""
    changes = [
        MetricChange(each.question.key, each.question.question, each.question.kind, was, now)
        for each, was, now in zip(requests, before, after, strict=True)
        if abs(now - was) > EQUAL_WITHIN
    ]
    changes.sort(key=lambda change: (-abs(change.after - change.before), change.key))
    worse = tuple(change for change in changes if change.after < change.before)
    return worse, tuple(change for change in changes if change.after > change.before)


def check_optimising(settings: OptimiserSettings) -> None:
    """Raises BadRequest for a search that cannot be: no measure of rankings, a factor that is none, nothing to weigh,
    or numbers that make no folds or trials."""
    if settings.measure not in RAISABLE:
        raise BadRequest(f"'{settings.measure}' cannot be optimised.", f"Measures are: {', '.join(RAISABLE)}.")
    unknown = next((name for name in settings.factors if name not in FACTORS), None)
    if unknown is not None:
        raise BadRequest(f"There is no factor '{unknown}'.", f"Factors are: {', '.join(FACTORS)}.")
    if len(set(settings.factors)) < 2:
        raise BadRequest("There is nothing to weigh.", "Choose at least two factors.")
    for name, value, least, most in (
        ("folds", settings.folds, 2, 20),
        ("trials", settings.trials, 1, 10_000),
        ("seed", settings.seed, 0, 2**31 - 1),
    ):
        if not least <= value <= most:
            raise BadRequest(f"{value} is not a number of {name}.", f"Give a whole number from {least} to {most}.")


def _check(requests: Sequence[OptimisationRequest], settings: OptimiserSettings) -> None:
    check_optimising(settings)
    least = max(_LEAST_QUESTIONS, 2 * settings.folds)
    if len(requests) < least:
        raise BadRequest(
            f"{len(requests)} judged questions are too few to learn from and to check on others.",
            f"Judge results of at least {least} questions first.",
        )


def _louder(now: int, then: int) -> str:
    """What is wrong with weights under which more of the questions that nothing answers show results."""
    return f"{then} questions that nothing answers would show results, {now} do now" if then > now else ""


def _verdict(gained: PairedTest, questions: int, settings: OptimiserSettings, *, louder: str) -> str:
    gain, p_value = gained.gain.mean, gained.p_value
    sure = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
    gain_text = f"{settings.measure} {gain:+.3f} on {questions} held-out questions ({sure})"
    if gain <= 0:
        return f"Not recommended: on questions it had not seen, the found mix is not better: {gain_text}."
    if p_value >= _SIGNIFICANT:
        return f"Not recommended: the gain may be chance, {_HOW_SURE} is asked for: {gain_text}."
    return f"Not recommended: {louder}, whatever is gained: {gain_text}." if louder else f"Recommended: {gain_text}."


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A factor's weight before and after, in [0, 1]. low, high: the least and the most it got over the folds.

    wide: they lie so far apart that the questions do not decide it.
    """

    factor: str
    before: float
    after: float
    low: float
    high: float

    @property
    def wide(self) -> bool:
        """Whether the folds differ by a fifth of a score or more."""
        return self.high - self.low >= _WIDE


def weight_changes(current: ScoreProfile, found: OptimiserResult) -> tuple[WeightChange, ...]:
    """Every factor that weighed, weighs, or did in a fold; the heaviest first."""
    before, after = current.weights, found.profile.weights
    rows = [
        WeightChange(name, before.get(name, 0.0), after.get(name, 0.0), *found.spread.get(name, (0.0, 0.0)))
        for name in dict.fromkeys([*after, *before, *found.spread])
    ]
    some = [row for row in rows if max(row.before, row.after, row.high) > 0]
    return tuple(sorted(some, key=lambda row: (-row.after, -row.before)))


@dataclass(slots=True)
class _Search:
    """The questions, and how many mixes were tried on them."""

    requests: Sequence[OptimisationRequest]
    grades: Grades
    current: ScoreProfile
    settings: OptimiserSettings
    on_trial: Callable[[int, int], None]
    stop: Callable[[], bool]
    done: int = 0

    def held_out(self) -> tuple[Sequence[ScoreProfile], Sequence[float]]:
        """The mix found without each fold, and each question's measure under the mix found without it."""
        fold = dealt([each.question.kind for each in self.requests], self.settings.folds, self.settings.seed)
        found: list[ScoreProfile] = []
        held_out: dict[int, float] = {}
        for number in range(self.settings.folds):
            inside = [index for index, own in enumerate(fold) if own != number]
            outside = [index for index, own in enumerate(fold) if own == number]
            found.append(self.best(inside, self.settings.seed + number))
            held_out |= dict(zip(outside, self.measured(found[-1], outside), strict=True))
        return found, [held_out[index] for index in range(len(self.requests))]

    def best(self, indices: Sequence[int], seed: int) -> ScoreProfile:
        """The mix with the highest mean over these questions; the current one, when it is a mix, is tried first."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
        study.enqueue_trial({name: self.current.weights.get(name, 0.0) for name in self.settings.factors})
        for _ in range(self.settings.trials):
            if self.stop():
                raise OptimisationStopped
            trial = study.ask()
            raw = {name: trial.suggest_float(name, 0.0, 1.0) for name in self.settings.factors}
            study.tell(trial, mean(self.measured(self._mixed(raw), indices)))
            self.done += 1
            self.on_trial(self.done, self.settings.trials * (self.settings.folds + 1))
        return self._mixed(study.best_trial.params)

    def _mixed(self, raw: Mapping[str, float]) -> ScoreProfile:
        """The current profile with other weights, rounded to what a person can read and summing to 1."""
        total = sum(raw.values())
        if total <= 0:
            return self.current
        weights = {name: round(value / total, 3) for name, value in raw.items() if round(value / total, 3) > 0}
        largest = max(weights, key=lambda name: weights[name])
        weights[largest] = round(weights[largest] + 1 - sum(weights.values()), 12)
        return replace(self.current, weights=weights)

    def measured(self, profile: ScoreProfile, indices: Sequence[int]) -> list[float]:
        """The wanted measure of each of these questions."""
        chosen = [self.requests[index] for index in indices]
        rankings = {each.question.id: each.replay.ranking(profile, self.grades.level) for each in chosen}
        found = measure_rankings(self.grades, rankings, [self.settings.measure])
        return [found[each.question.id][self.settings.measure] for each in chosen]
