"""An experiment carried out: a set's questions searched under a profile, graded and measured, a few at a time.

questions → a few at once → searched → graded → outcomes → measures; with all of them: better weights searched for
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from core.documents import Origin
from core.errors import BadRequest
from core.experiments import Experiment, Outcome
from core.judged import JudgedQuestion, Judgment, Level, QuestionSet
from core.queries import SearchRequest
from core.results import Dropped, DropReason, Hit, SearchResult
from core.tuning.optimise import Asked, Stopped, optimised
from core.tuning.outcomes import Graded, Grades, measured, prepared, summary, unjudged_share
from core.tuning.replay import DEPTH, Replay
from core.tuning.units import unit_of

__all__ = ["UNGRADED", "Searching", "carried_out", "request_of", "scored"]

UNGRADED = -1
"""Stands for the grade of a question's best result when nobody has graded it."""

Searching = Callable[[Sequence[SearchRequest]], Sequence[SearchResult]]

_AT_ONCE = 4  # questions between two looks at `stop`: what they looked at is let go of before the next
_SEEN = 10
_DECIDED = (DropReason.BELOW_THRESHOLD, DropReason.BEYOND_MAX)


def request_of(question: JudgedQuestion, questions: QuestionSet, profile: str, depth: int = DEPTH) -> SearchRequest:
    """How a question is asked: with its own filters, within its set's project, of documents: notes are not graded."""
    filters = question.filters
    if not filters.origins:
        filters = filters.replace(origins=(Origin.DOCUMENT.value,))
    if questions.project is not None and not filters.projects:
        filters = filters.replace(projects=(questions.project,))
    return SearchRequest(question.question, filters, profile, top_k=depth)


def scored(result: SearchResult, graded: Graded, level: Level) -> tuple[tuple[str, float, int], ...]:
    """(unit, total, grade) of every graded unit that is shown or not by its total alone, best first.

    What has no evidence, or hides behind its twin, is shown at no threshold, so it is left out; in a library that
    refuses to answer nothing is shown. A document has the total of its best passage. The best result stands here
    whether it is graded or UNGRADED. Of a question that nothing answers the first ten are irrelevant, unless people
    say otherwise.
    """
    if result.refusal:
        return ()
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


def carried_out(
    experiment: Experiment,
    questions: QuestionSet,
    asked: Sequence[JudgedQuestion],
    judgments: Sequence[Judgment],
    search: Searching,
    now: datetime,
    *,
    on_done: Callable[[int], None] = lambda done: None,
    stop: Callable[[], bool] = lambda: False,
) -> Experiment:
    """The experiment with its outcomes and measures, and with the weights found if it searches for some.

    now: when all questions are asked. on_done: told how many questions are asked, and then mixes tried. Raises Stopped
    when `stop` says so, BadRequest without questions, and what a search raises.
    """
    if not asked:
        raise BadRequest(f"'{questions.name}' holds no questions.", "Add questions to it first.")
    said = _by_question(judgments)
    outcomes: list[Outcome] = []
    replays: dict[int, Replay] = {}
    known: dict[int, Graded] = {}
    for start in range(0, len(asked), _AT_ONCE):
        if stop():
            raise Stopped
        batch = asked[start : start + _AT_ONCE]
        found = search([request_of(each, questions, experiment.profile.ref) for each in batch])
        results = {each.id: result for each, result in zip(batch, found, strict=True)}
        for each, outcome, graded in _measured(batch, results, said, questions.level):
            outcomes.append(outcome)
            known[each.id] = graded
            if experiment.optimising is not None:
                replays[each.id] = Replay(results[each.id], now)
        on_done(len(outcomes))
    experiment = replace(
        experiment, outcomes=tuple(outcomes), measures=summary(outcomes), unjudged=unjudged_share(outcomes)
    )
    return _improved(experiment, asked, replays, Grades(questions.level, known), on_done, stop)


def _measured(
    batch: Sequence[JudgedQuestion],
    results: Mapping[int, SearchResult],
    said: Mapping[int, Sequence[Judgment]],
    level: Level,
) -> Iterator[tuple[JudgedQuestion, Outcome, Graded]]:
    """Each question with its outcome, and with what is known of its results."""
    told = [judgment for each in batch for judgment in said.get(each.id, ())]
    grades = prepared(batch, results, told, level)
    for each, outcome in zip(batch, measured(batch, results, told, level), strict=True):
        graded = grades.questions[each.id]
        yield each, replace(outcome, scored=scored(results[each.id], graded, level)), graded


def _improved(
    experiment: Experiment,
    asked: Sequence[JudgedQuestion],
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
        [Asked(each, replays[each.id]) for each in asked if each.id in known],
        grades,
        experiment.profile,
        experiment.optimising,
        unanswerable=[replays[each.id] for each in asked if not each.answerable],
        on_trial=on_trial,
        stop=stop,
    )
    return replace(experiment, optimised=found)


def _by_question(judgments: Sequence[Judgment]) -> Mapping[int, list[Judgment]]:
    said: dict[int, list[Judgment]] = {}
    for judgment in judgments:
        said.setdefault(judgment.question_id, []).append(judgment)
    return said
