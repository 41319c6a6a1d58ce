"""Batches in the background: started, stopped, resumed and forgotten, each with its outcomes so far."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count as counting_from

from bootstrap.environment import utc_now
from core.domain.errors import FivefoldError
from core.search.batch.questions import Ask, Batch, BatchOutcome, BatchQuestion, BatchState, run_batch
from pages.components import session
from pages.components.background import unexpected

__all__ = ["BatchRun", "batch_runs", "forget_batch", "resume_batch", "start_batch"]

_MOST_RUNS = 5
"""So many of the latest batches are kept, in memory: an outcome that must last is downloaded."""


@dataclass(slots=True)
class BatchRun:
    """A batch in the background.

    outcome_by_row: grows while it runs; current: the question asked now; `stop` ends it after the block under way.
    """

    number: int
    batch: Batch
    started: datetime
    outcome_by_row: dict[int, BatchOutcome] = field(default_factory=dict)
    asking: int = 0
    done: int = 0
    current: str = ""
    stop: bool = False
    running: bool = True
    problem: FivefoldError | None = None

    @property
    def outcomes(self) -> tuple[BatchOutcome, ...]:
        """The outcomes so far, in the order of the file."""
        outcomes = list(self.outcome_by_row.values())
        return tuple(sorted(outcomes, key=lambda each: each.question.row))

    @property
    def rest(self) -> tuple[BatchQuestion, ...]:
        """The questions still to ask: those not asked yet, and those whose search failed."""
        answered = {row for row, each in list(self.outcome_by_row.items()) if each.state is not BatchState.FAILED}
        return tuple(each for each in self.batch.questions if each.row not in answered)


@dataclass(slots=True)
class _Runs:
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: Iterator[int] = field(default_factory=lambda: counting_from(1))
    by_number: dict[int, BatchRun] = field(default_factory=dict)


def _runs() -> _Runs:
    return session.own(_Runs)


def batch_runs() -> tuple[BatchRun, ...]:
    """The batches of this process, newest first."""
    runs = _runs()
    with runs.lock:
        return tuple(runs.by_number[number] for number in sorted(runs.by_number, reverse=True))


def start_batch(batch: Batch, ask: Ask) -> BatchRun:
    """Ask all questions of a batch in the background."""
    runs = _runs()
    with runs.lock:
        run = BatchRun(next(runs.numbers), batch, utc_now())
        runs.by_number[run.number] = run
        ended = [each for each in sorted(runs.by_number) if not runs.by_number[each].running]
        for number in ended[: max(0, len(runs.by_number) - _MOST_RUNS)]:
            del runs.by_number[number]
    _begin(run, batch.questions, ask)
    return run


def resume_batch(run: BatchRun, ask: Ask) -> None:
    """Ask the remaining questions in the background; does nothing while it runs."""
    with _runs().lock:
        if run.running:
            return
        run.running, run.stop = True, False
    _begin(run, run.rest, ask)


def forget_batch(number: int) -> None:
    """Take a batch that has ended off the list."""
    runs = _runs()
    with runs.lock:
        if number in runs.by_number and not runs.by_number[number].running:
            del runs.by_number[number]


def _begin(run: BatchRun, questions: Sequence[BatchQuestion], ask: Ask) -> None:
    run.asking, run.done, run.current, run.problem = len(questions), 0, "", None
    threading.Thread(target=_carry_out, args=(run, questions, ask), name="batch", daemon=True).start()


def _carry_out(run: BatchRun, questions: Sequence[BatchQuestion], ask: Ask) -> None:
    def on_outcome(outcome: BatchOutcome) -> None:
        run.outcome_by_row[outcome.question.row] = outcome
        run.done += 1

    def on_question(question: BatchQuestion) -> None:
        run.current = question.question

    try:
        run_batch(questions, ask, on_outcome=on_outcome, on_question=on_question, stop=lambda: run.stop)
    except Exception:  # noqa: BLE001 - told to the person with a reference, and logged whole
        run.problem = unexpected("batch")
    finally:
        run.running = False
