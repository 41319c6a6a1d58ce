"""Runs many questions through the normal search and summarises each result in one row."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from core.domain.documents import Truth
from core.domain.errors import FivefoldError
from core.domain.filters import SearchFilters
from core.domain.queries import LEG_LABELS, SearchRequest
from core.domain.results import Citation, DropReason, SearchResult

__all__ = [
    "UNKNOWN_TRUTH",
    "Ask",
    "Batch",
    "BatchOutcome",
    "BatchQuestion",
    "BatchState",
    "BatchTotals",
    "RowProblem",
    "outcome_of",
    "run_batch",
    "totals",
    "unanswered",
]

Ask = Callable[[Sequence[SearchRequest]], Sequence[SearchResult]]
"""Answers requests, in their order, with citations. Raises FivefoldError."""

UNKNOWN_TRUTH = "unknown"
_BLOCK = 32
"""Questions embedded together: enough to use the model well, few enough to stop and to tell progress in between."""


@dataclass(frozen=True, slots=True)
class BatchQuestion:
    """One valid row. row: its number as in a spreadsheet, the header being 1. filters: those of the batch narrowed by
    the row's own. profile "": the default. top_k None: the profile's own. only_routed, rerank: as set for the batch."""

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
        """The search request, as the Search page would send it."""
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
    """An invalid row, and why. field: the invalid column, "" for the row as a whole; text: how the row begins."""

    row: int
    field: str
    problem: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Batch:
    """A parsed file of questions. ignored: unknown columns. notices: for the user, before the run."""

    name: str
    questions: tuple[BatchQuestion, ...]
    problems: tuple[RowProblem, ...] = ()
    ignored: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


class BatchState(StrEnum):
    """The state of a question. unanswered: probably not answered. A failed search is never reported as unanswered."""

    ANSWERED = "answered"
    UNANSWERED = "unanswered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """One question's result. hits: number of passages listed for an answered one, including those beyond the last one
    shown unless the row limits them. by_truth: truth, or "unknown", → number of hits. best: the best sentence of the
    first passage, also of an unanswered one; None without any; score: its total, in [0, 1]. answer_probability: in
    [0, 1], None when it could not be judged. why: the reason for no answer, "" when there is one. filters: as text.
    profile: used for scoring."""

    question: BatchQuestion
    state: BatchState
    hits: int = 0
    by_truth: Mapping[str, int] = field(default_factory=dict)
    best: Citation | None = None
    score: float | None = None
    answer_probability: float | None = None
    why: str = ""
    filters: tuple[str, ...] = ()
    profile: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BatchTotals:
    """Number of rows per state. by_truth: hits of all questions per truth. to_ask: not asked yet."""

    rows: int
    answered: int
    unanswered: int
    failed: int
    refused: int
    to_ask: int
    by_truth: Mapping[str, int]


def run_batch(
    questions: Sequence[BatchQuestion],
    ask: Ask,
    *,
    on_outcome: Callable[[BatchOutcome], None],
    on_question: Callable[[BatchQuestion], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
    block: int = _BLOCK,
) -> None:
    """Ask the questions block by block, and report each outcome in the order of the questions.

    on_question: called with the first question of what is asked next. stop: checked before each block, and before each
    question of a block that failed. The questions of a failed block are asked one by one, so that one bad question
    fails alone."""
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
            for question, result in zip(together, results, strict=True):
                on_outcome(outcome_of(question, result))


def _one_by_one(
    questions: Sequence[BatchQuestion],
    ask: Ask,
    on_outcome: Callable[[BatchOutcome], None],
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
            on_outcome(BatchOutcome(each, BatchState.FAILED, why=str(problem), profile=each.profile))
        else:
            on_outcome(outcome_of(each, result))


def outcome_of(question: BatchQuestion, result: SearchResult) -> BatchOutcome:
    """Summarise the result of a question in one row.

    It counts as failed when a part of the library could not be searched, so that the probability of an answer is not
    known.
    """
    failures = [f"The search {LEG_LABELS[leg.leg]} failed: {leg.error}" for leg in result.legs if leg.error]
    outcome = BatchOutcome(
        question=question,
        state=BatchState.ANSWERED,
        filters=result.filters_in_words,
        best=next((citation for hit in result.hits[:1] for citation in hit.citations), None),
        score=result.hits[0].score.total if result.hits else None,
        answer_probability=result.answer_probability,
        profile=result.profile.ref,
        notices=result.notices,
    )
    if failures and result.answer_probability is None:
        return replace(outcome, state=BatchState.FAILED, best=None, score=None, why=" ".join(failures))
    if not result.answered:
        return replace(outcome, state=BatchState.UNANSWERED, why=result.silence)
    found = [hit.candidate.passage for hit in result.hits]
    if question.top_k is None:
        found += [each.candidate.passage for each in result.dropped if each.reason is DropReason.BEYOND_MAX]
    counts = Counter(passage.truth or UNKNOWN_TRUTH for passage in found)
    by_truth = _in_order({str(truth): number for truth, number in counts.items()})
    return replace(outcome, hits=len(found), by_truth=by_truth)


def _in_order(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: counts[name] for name in (*(truth.value for truth in Truth), UNKNOWN_TRUTH) if counts.get(name)}


def unanswered(outcomes: Sequence[BatchOutcome]) -> tuple[BatchOutcome, ...]:
    """The questions that the library probably does not answer; failed searches are not among them."""
    return tuple(each for each in outcomes if each.state is BatchState.UNANSWERED)


def totals(batch: Batch, outcomes: Sequence[BatchOutcome]) -> BatchTotals:
    """The counts of a batch, finished or not; answered + unanswered + failed + refused + to_ask = rows."""
    states = Counter(each.state for each in outcomes)
    by_truth: Counter[str] = Counter()
    for each in outcomes:
        by_truth.update(each.by_truth)
    return BatchTotals(
        rows=len(batch.questions) + len(batch.problems),
        answered=states[BatchState.ANSWERED],
        unanswered=states[BatchState.UNANSWERED],
        failed=states[BatchState.FAILED],
        refused=len(batch.problems),
        to_ask=len(batch.questions) - len(outcomes),
        by_truth=_in_order(by_truth),
    )
