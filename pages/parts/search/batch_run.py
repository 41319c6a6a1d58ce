"""Batches under way in this process: each goes on when its tab is closed, and is there for whoever comes back."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

import streamlit as st

from core.moments import right_now
from core.search.batch import Ask, Batch, BatchQuestion, BatchState, Outcome, run_batch

__all__ = ["BatchRun", "batch_runs", "forget_batch", "go_on", "start_batch"]

_KEPT = 5
"""So many of the latest batches are kept, in memory: an outcome that must last is downloaded."""


@dataclass(slots=True)
class BatchRun:
    """A batch in the background. told: row → outcome, growing while it runs; current: the question asked now; `stop`
    ends it after the block under way."""

    number: int
    batch: Batch
    started: datetime
    told: dict[int, Outcome] = field(default_factory=dict)
    asking: int = 0
    done: int = 0
    current: str = ""
    stop: bool = False
    running: bool = True

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What became of the questions asked so far, in the order of the file."""
        told = list(self.told.values())
        return tuple(sorted(told, key=lambda each: each.question.row))

    @property
    def rest(self) -> tuple[BatchQuestion, ...]:
        """The questions still to be asked: those nobody came to, and those whose search failed."""
        answered = {row for row, each in list(self.told.items()) if each.state is not BatchState.FAILED}
        return tuple(each for each in self.batch.questions if each.row not in answered)


@dataclass(slots=True)
class _Runs:
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    by_number: dict[int, BatchRun] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def _runs() -> _Runs:
    return _Runs()


def batch_runs() -> tuple[BatchRun, ...]:
    """The batches of this process, newest first."""
    runs = _runs()
    with runs.lock:
        return tuple(runs.by_number[number] for number in sorted(runs.by_number, reverse=True))


def start_batch(batch: Batch, ask: Ask) -> BatchRun:
    """Ask all questions of a batch in the background."""
    runs = _runs()
    with runs.lock:
        run = BatchRun(next(runs.numbers), batch, right_now())
        runs.by_number[run.number] = run
        ended = [each for each in sorted(runs.by_number) if not runs.by_number[each].running]
        for number in ended[: max(0, len(runs.by_number) - _KEPT)]:
            del runs.by_number[number]
    _begin(run, batch.questions, ask)
    return run


def go_on(run: BatchRun, ask: Ask) -> None:
    """Ask what a batch has left, in the background; nothing while it runs."""
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
    run.asking, run.done, run.current = len(questions), 0, ""
    threading.Thread(target=_carry_out, args=(run, questions, ask), name="batch", daemon=True).start()


def _carry_out(run: BatchRun, questions: Sequence[BatchQuestion], ask: Ask) -> None:
    def on_outcome(outcome: Outcome) -> None:
        run.told[outcome.question.row] = outcome
        run.done += 1

    def on_question(question: BatchQuestion) -> None:
        run.current = question.question

    try:
        run_batch(questions, ask, on_outcome=on_outcome, on_question=on_question, stop=lambda: run.stop)
    finally:
        run.running = False
