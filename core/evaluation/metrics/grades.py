"""Grades the results of judged questions and computes each question's metrics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256 as digest
from statistics import fmean, median_low

from core.domain.documents import Passage
from core.domain.errors import BadRequest
from core.domain.evaluation import ANSWERS_FROM, Interval, JudgedQuestion, Judgment, Level, QuestionOutcome, Relevant
from core.domain.results import SearchResult
from core.evaluation.judgments.agreement import grades_by_judge
from core.evaluation.judgments.units import document_of, passages_in, ranking, unit_of
from core.evaluation.metrics.measures import MEASURES, normalised, ranking_measures
from core.evaluation.metrics.significance import interval

__all__ = [
    "GradedResult",
    "Grades",
    "grades_of",
    "measure_rankings",
    "measured",
    "prepared",
    "summary",
    "unjudged_share",
]

_DEPTH = 100
"""Ranked units used by the metrics: "map" is cut off here."""
_KEPT = 20  # ranked units stored with an outcome
_GRADED_FIRST = 10  # first units counted for the unjudged share, as in ndcg@10
_SHOWN_FIRST = 5  # shown results used by hit@5 and answer@5
_LIBRARY = {name: measure.library for name, measure in MEASURES.items() if measure.library}


@dataclass(frozen=True, slots=True)
class GradedResult:
    """Grades of one question's results.

    units: unit → grade, from judgments or known answers. answering: units of passages known to contain an answer.
    answer_known: whether an answering passage is known, retrieved or not.
    """

    answerable: bool
    units: Mapping[str, int]
    answering: frozenset[str] = frozenset()
    answer_known: bool = False


@dataclass(frozen=True, slots=True)
class Grades:
    """Grades of a set's questions, by question id; computed once and valid for any ranking of the same candidates."""

    level: Level
    questions: Mapping[int, GradedResult]


def grades_of(
    question: JudgedQuestion, judgments: Iterable[Judgment], level: Level, passages: Mapping[str, Passage]
) -> GradedResult:
    """The grade of every unit known for a question. passages: unit → passage of everything the search considered.

    A unit's grade is the lower median of its judges' latest grades; "can't judge" does not count. A document has the
    highest of its own grade and its passages' grades. Without judgments known answers count: each gives its grade to
    every passage of its document (and page) with all its words; or to its document, unless people have judged the
    document or one of those passages. An answer whose passage was not retrieved counts as a missed result.
    """
    people = _consensus(judgments).get(question.id, {})
    return _graded(question, people, level, passages)


def prepared(
    questions: Iterable[JudgedQuestion],
    results: Mapping[int, SearchResult],
    judgments: Iterable[Judgment],
    level: Level,
) -> Grades:
    """The grades of every question with a result, by question id, for the passages its search considered."""
    people = _consensus(judgments)
    return Grades(
        level,
        {
            question.id: _graded(question, people.get(question.id, {}), level, passages_in(results[question.id]))
            for question in questions
            if question.id in results
        },
    )


def measure_rankings(
    grades: Grades, rankings: Mapping[int, Sequence[str]], names: Sequence[str]
) -> dict[int, dict[str, float]]:
    """Question id → measure → value in [0, 1], for measures of rankings ("ndcg@10"): all questions in one go.

    rankings: question id → units, best first. A question without a ranking, without a relevant unit, or that nothing
    answers is left out. Raises BadRequest for a measure that is not one of rankings.
    """
    unknown = [name for name in names if name not in _LIBRARY]
    if unknown:
        raise BadRequest(f"'{unknown[0]}' does not measure a ranking.", f"Rankings have: {', '.join(_LIBRARY)}.")
    judged = {
        str(number): grades.questions[number].units
        for number in rankings
        if number in grades.questions and grades.questions[number].answerable
    }
    found = ranking_measures(
        judged, {str(number): units for number, units in rankings.items()}, [_LIBRARY[name] for name in names]
    )
    return {int(key): {name: values[_LIBRARY[name]] for name in names} for key, values in found.items()}


def measured(
    questions: Iterable[JudgedQuestion],
    results: Mapping[int, SearchResult],
    judgments: Iterable[Judgment],
    level: Level,
) -> tuple[QuestionOutcome, ...]:
    """The outcome of every question with a result, in order. results: question id → its search result.

    A measure that does not apply to a question is absent, never 0: those of rankings need something relevant,
    "hit@5" too, "answer@5" a passage known to answer, "false_refusal" a question that can be answered; one that nothing
    answers has "refused" only. "hit@5" and "answer@5" go by the first five results shown at either level, not by the
    first five documents: a hit is relevant, or of a relevant document; an answer is graded 2 or more by people, or
    holds all words of a known answer of its document, whatever the page.
    """
    answered = [question for question in questions if question.id in results]
    grades = prepared(answered, results, judgments, level)
    rankings = {question.id: ranking(results[question.id], level, _DEPTH) for question in answered}
    values = measure_rankings(grades, rankings, tuple(_LIBRARY))
    return tuple(
        _outcome(question, results[question.id], grades.questions[question.id], rankings[question.id], values, level)
        for question in answered
    )


def summary(outcomes: Sequence[QuestionOutcome], seed: int = 0) -> Mapping[str, Interval]:
    """Metric → mean with interval over the questions it applies to; metrics that apply to none are absent."""
    names = dict.fromkeys([*MEASURES, *(name for outcome in outcomes for name in outcome.measures)])
    values = {name: [o.measures[name] for o in outcomes if name in o.measures] for name in names}
    return {name: interval(own, seed) for name, own in values.items() if own}


def unjudged_share(outcomes: Iterable[QuestionOutcome]) -> float | None:
    """Mean share of the first ten results nobody has graded, in [0, 1], over questions with results; None without."""
    shares = [outcome.unjudged for outcome in outcomes if outcome.unjudged is not None]
    return fmean(shares) if shares else None


# Grades


def _consensus(judgments: Iterable[Judgment]) -> dict[int, dict[str, int]]:
    """Question id → unit → lower median of its judges' grades."""
    people: dict[int, dict[str, int]] = {}
    for (question_id, unit), given in grades_by_judge(judgments).items():
        people.setdefault(question_id, {})[unit] = median_low(given.values())
    return people


def _graded(
    question: JudgedQuestion, people: Mapping[str, int], level: Level, passages: Mapping[str, Passage]
) -> GradedResult:
    by_people = _at_level(people, level)
    known: list[tuple[str, int]] = []
    answering = {unit for unit, grade in _at_level(people, Level.PASSAGE).items() if grade >= ANSWERS_FROM}
    missed = False
    for entry in question.relevant:
        if by_people.get(entry.sha256, ANSWERS_FROM) < ANSWERS_FROM and entry.sha256 in people:
            continue  # people have looked at the document, and it does not answer
        holding = _holding(entry, passages)
        answering.update(unit for unit in holding if unit not in people)
        missed = missed or not holding
        known += _known(entry, [u for u in holding if entry.page in (None, passages[u].page)], people, level)
    return GradedResult(
        question.answerable, _highest([*known, *by_people.items()]), frozenset(answering), bool(answering) or missed
    )


def _at_level(people: Mapping[str, int], level: Level) -> dict[str, int]:
    """What people say of the units of a level: a document has the highest of its own grade and its passages'."""
    if level is Level.DOCUMENT:
        return _highest((document_of(unit), grade) for unit, grade in people.items())
    return {unit: grade for unit, grade in people.items() if unit != document_of(unit)}


def _holding(entry: Relevant, passages: Mapping[str, Passage]) -> list[str]:
    """The passages of the known document that hold all words of the answer, whatever their page."""
    phrases = [normalised(words) for words in entry.must_contain]
    texts = {unit: normalised(passages[unit].text) for unit in passages if document_of(unit) == entry.sha256}
    return [unit for unit, text in texts.items() if all(words in text for words in phrases)]


def _known(entry: Relevant, holding: Sequence[str], people: Mapping[str, int], level: Level) -> list[tuple[str, int]]:
    """The grades a known answer gives where no person has judged."""
    if level is Level.DOCUMENT:
        overruled = entry.sha256 in people or any(unit in people for unit in holding)
        return [] if overruled else [(entry.sha256, entry.grade)]
    return [(unit, entry.grade) for unit in holding or [_missed(entry)] if unit not in people]


def _missed(entry: Relevant) -> str:
    """Stands for the passage of a known answer that was not looked at: no passage has page 0 or this digest."""
    words = digest("\n".join(map(normalised, entry.must_contain)).encode()).hexdigest()[:12]
    return f"{entry.sha256}:{entry.page or 0}:missed-{words}"


def _highest(grades: Iterable[tuple[str, int]]) -> dict[str, int]:
    highest: dict[str, int] = {}
    for unit, grade in grades:
        highest[unit] = max(grade, highest.get(unit, grade))
    return highest


# Outcomes


def _outcome(
    question: JudgedQuestion,
    result: SearchResult,
    graded: GradedResult,
    ranked: Sequence[str],
    values: Mapping[int, Mapping[str, float]],
    level: Level,
) -> QuestionOutcome:
    first = ranked[:_GRADED_FIRST]
    return QuestionOutcome(
        question_id=question.id,
        key=question.key,
        question=question.question,
        kind=question.kind,
        answerable=question.answerable,
        hits=len(result.hits),
        measures={**values.get(question.id, {}), **_shown(result, graded, level)},
        unjudged=fmean(unit not in graded.units for unit in first) if first else None,
        ranking=tuple(ranked[:_KEPT]),
        first=result.documents[result.hits[0].candidate.passage.document_id].name if result.hits else "",
        milliseconds=result.milliseconds,
    )


def _shown(result: SearchResult, graded: GradedResult, level: Level) -> dict[str, float]:
    """The metrics computed from the shown results."""
    silent = float(not result.answered)
    if not graded.answerable:
        return {"refused": silent}
    found: dict[str, float] = {}
    first = result.hits[:_SHOWN_FIRST]
    if any(grade > 0 for grade in graded.units.values()):
        found["hit@5"] = float(any(graded.units.get(unit_of(result, hit, level), 0) > 0 for hit in first))
    if graded.answer_known:
        found["answer@5"] = float(any(unit_of(result, hit, Level.PASSAGE) in graded.answering for hit in first))
    return found | {"false_refusal": silent}
