"""Many questions at once: each answered by the same search as one alone, and what became of each told in one line."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.documents import Truth
from core.errors import FivefoldError
from core.filters import SearchFilters
from core.queries import SearchRequest
from core.results import Citation, DropReason, SearchResult

__all__ = [
    "UNKNOWN_TRUTH",
    "Ask",
    "Batch",
    "BatchQuestion",
    "BatchState",
    "BatchTotals",
    "Outcome",
    "RowProblem",
    "outcome_of",
    "run_batch",
    "totals",
    "without_hits",
]

Ask = Callable[[Sequence[SearchRequest]], Sequence[SearchResult]]
"""Answers requests, in their order, with citations. Raises FivefoldError."""

UNKNOWN_TRUTH = "unknown"
_BLOCK = 32
"""Questions embedded together: enough to use the model well, few enough to stop and to tell progress in between."""


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """One row that can be asked. row: its number in the file as a spreadsheet counts, the header being 1. filters: the
    row's own inside those of the whole batch. profile "": the default. top_k None: the profile's own.
    only_routed, rerank: as the whole batch is asked."""

    row: int
    key: str
    question: str
    filters: SearchFilters = SearchFilters()
    profile: str = ""
    top_k: int | None = None
    only_routed: bool = False
    rerank: str = ""

    @property
    def request(self) -> SearchRequest:
        """The question as the Search page asks it."""
        return SearchRequest(
            self.question,
            self.filters,
            profile=self.profile,
            top_k=self.top_k,
            only_routed=self.only_routed,
            rerank=self.rerank,
        )


@dataclass(frozen=True, slots=True)
class RowProblem:
    """A row that cannot be asked, and why. field: the column that is wrong, "" for the row as a whole; text: how the
    row begins."""

    row: int
    field: str
    problem: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """A file of questions as read. ignored: columns that are not understood. notices: what to know before it is run."""

    name: str
    questions: tuple[BatchQuestion, ...]
    problems: tuple[RowProblem, ...] = ()
    ignored: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class BatchState(StrEnum):
    """What became of a question. A search that failed is never one without hits."""

    ANSWERED = "answered"
    NO_HITS = "no hits"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One question's outcome. hits: passages that answer, those after the last one shown included unless the row says
    how many it wants. by_truth: truth, or "unknown", → how many of them. best: the best sentence of the first hit, None
    without hits; score: that hit's total, in [0, 1]. why: what kept it from an answer, "" when it has one. filters: in
    words. profile: that scored it."""

    question: BatchQuestion
    state: BatchState
    hits: int = 0
    by_truth: Mapping[str, int] = field(default_factory=dict)
    best: Citation | None = None
    score: float | None = None
    why: str = ""
    filters: tuple[str, ...] = ()
    profile: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchTotals:
    """How many rows of a batch ended how. by_truth: hits of all questions per truth. to_ask: not asked yet."""

    rows: int
    answered: int
    no_hits: int
    failed: int
    refused: int
    to_ask: int
    by_truth: Mapping[str, int]


def run_batch(
    questions: Sequence[BatchQuestion],
    ask: Ask,
    *,
    on_outcome: Callable[[Outcome], None],
    on_question: Callable[[BatchQuestion], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    block: int = _BLOCK,
) -> None:
    """Ask the questions block by block, telling each outcome as soon as it is there, in the order of the questions.

    on_question: told the first question of what is asked next. stop: looked at before each block, and before each
    question where a block had to be taken apart. Where a block fails, its questions are asked one by one, so that one
    bad question fails alone.
    """
    for start in range(0, len(questions), block):
        if stop():
            return
        together = questions[start : start + block]
        on_question(together[0])
        try:
            results = ask([each.request for each in together])
        except FivefoldError:
            _one_by_one(together, ask, on_outcome, on_question, stop)
        else:
            for asked, result in zip(together, results, strict=True):
                on_outcome(outcome_of(asked, result))


def _one_by_one(
    questions: Sequence[BatchQuestion],
    ask: Ask,
    on_outcome: Callable[[Outcome], None],
    on_question: Callable[[BatchQuestion], None],
    stop: Callable[[], bool],
) -> None:
    for each in questions:
        if stop():
            return
        on_question(each)
        try:
            (result,) = ask([each.request])
        except FivefoldError as problem:
            on_outcome(Outcome(each, BatchState.FAILED, why=str(problem), profile=each.profile))
        else:
            on_outcome(outcome_of(each, result))


def outcome_of(asked: BatchQuestion, result: SearchResult) -> Outcome:
    """What a result says of a question, in one line.

    A result without hits of which a part of the library could not be searched is a failure: nobody knows what is there.
    """
    failures = [f"{leg.leg} search failed: {leg.error}" for leg in result.legs if leg.error]
    told = Outcome(
        question=asked,
        state=BatchState.ANSWERED,
        filters=result.filters_in_words,
        profile=result.profile.ref,
        notices=result.notices,
    )
    if not result.hits:
        state, why = (BatchState.FAILED, " · ".join(failures)) if failures else (BatchState.NO_HITS, result.silence)
        return replace(told, state=state, why=why)
    found = [hit.candidate.passage for hit in result.hits]
    if asked.top_k is None:
        found += [each.candidate.passage for each in result.dropped if each.reason is DropReason.BEYOND_MAX]
    counts = Counter(passage.truth or UNKNOWN_TRUTH for passage in found)
    first = result.hits[0]
    return replace(
        told,
        hits=len(found),
        by_truth=_in_order({str(truth): number for truth, number in counts.items()}),
        best=next(iter(first.citations), None),
        score=first.score.total,
    )


def _in_order(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in (*(truth.value for truth in Truth), UNKNOWN_TRUTH) if counts.get(name)}


def without_hits(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """The questions nothing in the library answers; those whose search failed are not among them."""
    return tuple(each for each in outcomes if each.state is BatchState.NO_HITS)


def totals(batch: Batch, outcomes: Sequence[Outcome]) -> BatchTotals:
    """The counts of a batch, finished or not; answered + no_hits + failed + refused + to_ask = rows."""
    states = Counter(each.state for each in outcomes)
    by_truth: Counter[str] = Counter()
    for each in outcomes:
        by_truth.update(each.by_truth)
    return BatchTotals(
        rows=len(batch.questions) + len(batch.problems),
        answered=states[BatchState.ANSWERED],
        no_hits=states[BatchState.NO_HITS],
        failed=states[BatchState.FAILED],
        refused=len(batch.problems),
        to_ask=len(batch.questions) - len(outcomes),
        by_truth=_in_order(by_truth),
    )
