"""Judgment pools: the combined first results of several profiles, and how much of them is judged."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256 as digest

from core.domain.documents import Document, Passage
from core.domain.evaluation import JudgedQuestion, Judgment, Level
from core.domain.results import Citation, Dropped, Hit, SearchResult
from core.evaluation.judgments.units import passages_in, ranking, unit_of
from core.evaluation.metrics.grades import grades_of
from core.search.citations.cite import cite

__all__ = ["JudgingProgress", "Pool", "PoolItem", "QuestionProgress", "pooled", "progress_of"]

_NEAREST = 5
"""Nearest misses in the pool when no profile shows a result. Chosen by hand, not fitted."""


@dataclass(frozen=True, slots=True)
class PoolItem:
    """One result to judge. mine: this judge's judgment, None before one is given.

    passage: the graded one, or the best one of the graded document. citation: its best-matching sentence. places:
    profile → 1-based rank. score: highest total under any profile, in [0, 1]. known: grade from known answers. others:
    judgments of other judges, only if revealed. When judging blind, places, score and known are empty.
    """

    unit: str
    passage: Passage
    document: Document
    citation: Citation | None = None
    ranks: Mapping[str, int] = field(default_factory=dict)
    score: float | None = None
    known: int | None = None
    mine: Judgment | None = None
    others: tuple[Judgment, ...] = ()


@dataclass(frozen=True, slots=True)
class Pool:
    """The first `depth` results of every profile for one question, as one judge sees them.

    items: by best rank; when judging blind, in a stable random order per judge. reveal: whether other judges' grades
    are shown. nearest: the items are nearest misses, because no profile shows a result. notices: parts of the search
    that failed or were degraded.
    """

    question: JudgedQuestion
    profiles: tuple[str, ...]
    depth: int
    who: str
    blind: bool
    items: tuple[PoolItem, ...]
    reveal: bool = False
    nearest: bool = False
    notices: tuple[str, ...] = ()

    @property
    def judged(self) -> int:
        """Number of items this judge has judged, including "can't judge"."""
        return sum(item.mine is not None for item in self.items)

    @property
    def units(self) -> tuple[str, ...]:
        return tuple(item.unit for item in self.items)

    def item(self, unit: str) -> PoolItem | None:
        """The item of a unit, if it is in the pool."""
        return next((each for each in self.items if each.unit == unit), None)

    def next_open(self, after: str = "") -> PoolItem | None:
        """The first item not judged yet, looked for from the one after `after` on and then from the start; None when
        all are."""
        start = self.units.index(after) + 1 if after in self.units else 0
        return next((each for each in (*self.items[start:], *self.items[:start]) if each.mine is None), None)

    def with_judgments(self, judgments: Iterable[Judgment]) -> "Pool":
        """The pool updated with judgments of its question, oldest first: all of them, or only new ones."""
        own = [each for each in judgments if each.question_id == self.question.id]
        about: dict[str, list[Judgment]] = {}
        for each in own:
            about.setdefault(each.unit, []).append(each)
        items = tuple(self._judged_item(item, about[item.unit]) if item.unit in about else item for item in self.items)
        return replace(self, items=items)

    def _judged_item(self, item: PoolItem, judgments: Sequence[Judgment]) -> PoolItem:
        latest = {each.who: each for each in (*item.others, *judgments)}
        mine = latest.pop(self.who, item.mine)
        return replace(item, mine=mine, others=tuple(latest[who] for who in sorted(latest)) if self.reveal else ())


def pooled(
    question: JudgedQuestion,
    results: Mapping[str, SearchResult],
    *,
    level: Level,
    depth: int,
    who: str,
    blind: bool,
) -> Pool:
    """The union of the profiles' first results, without judgments. results: profile → its search result."""
    shown = _shown(results, level, depth)
    nearest = not shown
    items = list(_nearest(results, level) if nearest else shown)
    if blind:
        items = [replace(item, ranks={}, score=None) for item in items]
        items.sort(key=lambda item: _shuffled(question, who, item.unit))
    else:
        known = _known(question, results, level)
        items = [replace(item, known=known.get(item.unit)) for item in items]
        items.sort(key=lambda item: (min(item.ranks.values(), default=0), -(item.score or 0.0), item.unit))
    notices = dict.fromkeys(notice for result in results.values() for notice in result.notices)
    return Pool(question, tuple(results), depth, who, blind, tuple(items), nearest=nearest, notices=tuple(notices))


def _shown(results: Mapping[str, SearchResult], level: Level, depth: int) -> list[PoolItem]:
    """Every unit among the first results of a profile; passage and citation from its best rank."""
    found: dict[str, PoolItem] = {}
    for profile, result in results.items():
        first: dict[str, Hit] = {}
        for hit in result.hits:
            first.setdefault(unit_of(result, hit, level), hit)
        for rank, unit in enumerate(ranking(result, level, depth), start=1):
            item = _item(result, first[unit], unit, {profile: rank})
            known = found.get(unit)
            if known is not None:
                best = known if min(known.ranks.values()) <= rank else item
                score = max(known.score or 0.0, item.score or 0.0)
                item = replace(best, ranks={**known.ranks, profile: rank}, score=score)
            found[unit] = item
    return list(found.values())


def _nearest(results: Mapping[str, SearchResult], level: Level) -> list[PoolItem]:
    """The nearest misses, when nothing is shown."""
    found: dict[str, PoolItem] = {}
    for result in results.values():
        scored = [each for each in result.dropped if each.score is not None]
        for dropped in sorted(scored, key=lambda each: -(each.score.total if each.score else 0.0)):
            unit = unit_of(result, dropped, level)
            if unit not in found and len(found) < _NEAREST:
                found[unit] = _item(result, dropped, unit, {})
    return list(found.values())


def _item(result: SearchResult, found: Hit | Dropped, unit: str, ranks: Mapping[str, int]) -> PoolItem:
    passage = found.candidate.passage
    document = result.documents[passage.document_id]
    cited = found.citations if isinstance(found, Hit) else ()
    if not cited:
        cited = cite(passage, document, result.rarity, kind=result.route.answer_kind, most=1)
    total = found.score.total if found.score is not None else None
    return PoolItem(unit, passage, document, next(iter(cited), None), ranks, total)


def _known(question: JudgedQuestion, results: Mapping[str, SearchResult], level: Level) -> Mapping[str, int]:
    """Unit → grade from known answers."""
    if not question.relevant:
        return {}
    passages = {unit: passage for result in results.values() for unit, passage in passages_in(result).items()}
    return grades_of(question, (), level, passages).units


def _shuffled(question: JudgedQuestion, who: str, unit: str) -> str:
    """Sort key: a random order per question and judge that is stable when units are added."""
    return digest(f"{question.id}\n{who}\n{unit}".encode()).hexdigest()


# How much is judged


@dataclass(frozen=True, slots=True)
class QuestionProgress:
    """Judging progress of one question.

    pooled: units in its pool, None when no pool is known. graded: units with a grade by anyone; mine: units judged by
    this judge, including "can't judge". Without a known pool both count every unit.
    """

    question: JudgedQuestion
    pooled: int | None
    graded: int
    mine: int

    @property
    def open(self) -> bool:
        """Whether something is left for this judge; of a question without a known pool: whether they have begun."""
        return not self.mine if self.pooled is None else self.mine < self.pooled


@dataclass(frozen=True, slots=True)
class JudgingProgress:
    """How much of a set is judged. The sums and shares are over the questions whose pool is known."""

    questions: tuple[QuestionProgress, ...]

    @property
    def pooled(self) -> int:
        """Units of all known pools."""
        return sum(each.pooled or 0 for each in self.questions)

    @property
    def graded(self) -> float | None:
        """Share of the pooled units somebody has graded, in [0, 1]; None when nothing is pooled."""
        return self._share([each.graded for each in self.questions if each.pooled is not None])

    @property
    def mine(self) -> float | None:
        """Share of the pooled units this judge has said something of, in [0, 1]; None when nothing is pooled."""
        return self._share([each.mine for each in self.questions if each.pooled is not None])

    def _share(self, counts: Sequence[int]) -> float | None:
        return sum(counts) / self.pooled if self.pooled else None

    def of(self, question_id: int) -> QuestionProgress | None:
        """The part of a question, if it is in the set."""
        return next((each for each in self.questions if each.question.id == question_id), None)

    def next_open(self, after: int = 0) -> JudgedQuestion | None:
        """The first question with something left for this judge, looked for from the one after `after` (a question id)
        on and then from the start; None when all are done."""
        ids = [each.question.id for each in self.questions]
        start = ids.index(after) + 1 if after in ids else 0
        order = (*self.questions[start:], *self.questions[:start])
        return next((each.question for each in order if each.open), None)


def progress_of(
    questions: Iterable[JudgedQuestion],
    judgments: Iterable[Judgment],
    who: str,
    pools: Mapping[int, Sequence[str]],
) -> JudgingProgress:
    """How much of a set is judged. judgments: those that hold. pools: question id → units of its pool."""
    graded: dict[int, set[str]] = {}
    mine: dict[int, set[str]] = {}
    for judgment in judgments:
        if judgment.grade is not None:
            graded.setdefault(judgment.question_id, set()).add(judgment.unit)
        if judgment.who == who:
            mine.setdefault(judgment.question_id, set()).add(judgment.unit)
    parts = []
    for question in questions:
        pool = set(pools[question.id]) if question.id in pools else None
        own, all_graded = mine.get(question.id, set()), graded.get(question.id, set())
        parts.append(
            QuestionProgress(question, None, len(all_graded), len(own))
            if pool is None
            else QuestionProgress(question, len(pool), len(pool & all_graded), len(pool & own))
        )
    return JudgingProgress(tuple(parts))
