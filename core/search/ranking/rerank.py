"""Reranking: a cross-encoder scores question and passage together for the best candidates, until a deadline.

    candidates, best first → the first 100 → batches of 2 → logits → Signals.rerank_logit → the factor `rerank`

The logit is one factor among others; it never decides alone. Models load at first use, on a thread of their own, and
each scores one question at a time.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf, isfinite
from threading import Event, Lock, Thread

from core.domain.documents import Passage
from core.domain.errors import FivefoldError, ModelUnavailable
from core.domain.queries import ScoreProfile
from core.domain.results import Candidate
from core.knowledge.rerankers import rerank_table
from core.ports.clock import Timer
from core.ports.models import CrossEncoder, CrossEncoderLoader, Reranked, Reranker

__all__ = ["DeadlineReranker", "rank_passages", "reranked", "rerankers", "with_rerank"]

_BATCH = 2  # pairs scored between two deadline checks; larger batches are no faster on a CPU
_RETRY_SECONDS = 300.0  # until a failed model is loaded again. Chosen by hand, not fitted.
_FACTOR = "rerank"
_UNREAD = "the others count 0 for it and keep their order."


@dataclass(frozen=True, slots=True)
class _RerankTask:
    """One question being scored: `logits` fills in order, in batches, until `stopped` is set."""

    question: str
    texts: Sequence[str]
    logits: list[float | None]
    stopped: Event = field(default_factory=Event)
    ended: "Future[None]" = field(default_factory=Future)


class DeadlineReranker:
    """core.ports.models.Reranker over a cross-encoder that loads at first use. Thread-safe.

    load: returns the model or raises ModelUnavailable; a failure is cached for five minutes. deadline_ms: the latest
    time a call returns, with partial results if need be; None waits for everything, loading included. A batch that runs
    past the deadline finishes in the background; until then other callers get a notice that the model is busy."""

    def __init__(self, name: str, load: Callable[[], CrossEncoder], deadline_ms: int | None, timer: Timer) -> None:
        self.name, self._load, self._deadline_ms, self._timer = name, load, deadline_ms, timer
        self._state = Lock()
        self._turn = Lock()
        self._loading: Future[CrossEncoder] | None = None
        self._failed_at = -inf

    @property
    def problem(self) -> str:
        """Why the last attempt to load the model failed, "" when none failed."""
        loading = self._loading
        problem = loading.exception() if loading is not None and loading.done() else None
        return problem.message if isinstance(problem, FivefoldError) else ""

    def warm(self) -> None:
        """Load the model, however long it takes. Raises ModelUnavailable."""
        self._loaded(inf)

    def logits(self, question: str, texts: Sequence[str], deadline_ms: float | None = None) -> Reranked:
        """One logit per text, in order: texts are scored in order until the deadline, each cut at 2,000 characters.
        Raises ModelUnavailable when the weights cannot be loaded; repeated for five minutes."""
        if not texts:
            return Reranked(())
        allowed_ms = self._deadline_ms if deadline_ms is None else deadline_ms
        until = inf if allowed_ms is None else self._timer() + allowed_ms / 1000
        unread: tuple[float | None, ...] = (None,) * len(texts)
        model = self._loaded(until)
        if model is None:
            notice = (
                f"The reranker '{self.name}' is still being loaded, so nothing was reranked. Search again in a moment."
            )
            return Reranked(unread, notice)
        if not self._turn.acquire(timeout=self._seconds_left(until, longest=3600.0)):
            return Reranked(unread, f"The reranker '{self.name}' is busy with other questions: nothing was reranked.")
        characters = rerank_table().characters
        reading = _RerankTask(question[:characters], [text[:characters] for text in texts], list(unread))
        Thread(target=self._read, args=(model, reading), name=f"rerank-{self.name}").start()
        try:
            reading.ended.result(None if until == inf else self._seconds_left(until))
        except TimeoutError:
            reading.stopped.set()
        return _scored(reading, model, allowed_ms)

    def _loaded(self, until: float) -> CrossEncoder | None:
        """The model, or None when it is not loaded in time. Raises ModelUnavailable."""
        with self._state:
            failed = self._loading is not None and self._loading.done() and self._loading.exception() is not None
            if self._loading is None or (failed and self._timer() - self._failed_at > _RETRY_SECONDS):
                self._loading = Future()
                # A daemon thread, so that the program can exit while it downloads weights.
                Thread(target=self._make, args=(self._loading,), name=f"load-{self.name}", daemon=True).start()
            loading = self._loading
        try:
            return loading.result(None if until == inf else self._seconds_left(until))
        except TimeoutError:
            return None
        except ModelUnavailable as missing:
            raise ModelUnavailable(missing.message, missing.hint) from None

    def _make(self, loading: "Future[CrossEncoder]") -> None:
        try:
            loading.set_result(self._load())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller that needs the model
            self._failed_at = self._timer()
            loading.set_exception(error)

    def _read(self, model: CrossEncoder, reading: _RerankTask) -> None:
        """Score batch after batch in a background thread, then release the model for the next question."""
        try:
            for start in range(0, len(reading.texts), _BATCH):
                if reading.stopped.is_set():
                    break
                found = model.score(reading.question, reading.texts[start : start + _BATCH])
                finite = [float(logit) if isfinite(logit) else None for logit in found]
                reading.logits[start : start + len(finite)] = finite
        except BaseException as error:  # noqa: BLE001 - raised again in the caller that waits for the logits
            self._turn.release()
            reading.ended.set_exception(error)
        else:
            self._turn.release()
            reading.ended.set_result(None)

    def _seconds_left(self, until: float, longest: float = inf) -> float:
        """Seconds left until the deadline, in [0, longest]."""
        return min(max(until - self._timer(), 0.0), longest)


def _scored(reading: _RerankTask, model: CrossEncoder, allowed_ms: float | None) -> Reranked:
    """What has been read by now, and a notice where that is not all."""
    logits = tuple(reading.logits)
    read = sum(logit is not None for logit in logits)
    if read == len(logits):
        return Reranked(logits)
    in_time = "" if reading.ended.done() else f" in {allowed_ms:g} ms"
    explanation = f"{read} of {len(logits)} were reranked{in_time}; {_UNREAD}"
    return Reranked(logits, f"{explanation} {model.notice}".strip())


def rerankers(
    models: Mapping[str, str], load: CrossEncoderLoader, timer: Timer, *, hurried: bool = True
) -> Mapping[str, DeadlineReranker]:
    """Every reranker by name, fast first; none is loaded yet.

    models: name → model (folder or hub name) instead of the table's; missing or "": the table's. hurried False: without
    deadlines, for background work.
    """
    return {
        name: DeadlineReranker(
            name,
            partial(load, models.get(name) or row.model, name, row.max_tokens),
            row.deadline_ms if hurried else None,
            timer,
        )
        for name, row in rerank_table().rows.items()
    }


def reranked(
    candidates: Sequence[Candidate], question: str, reranker: Reranker, deadline_ms: float | None = None
) -> tuple[tuple[Candidate, ...], str]:
    """The candidates in the same order with `Signals.rerank_logit` of those scored, and a notice for the user.

    candidates: best first, by fusion; the first 100 are scored, each with title and headings before the text. The
    others, and those not scored in time, have no logit. If the model is unavailable, none has one, and the notice says
    so. deadline_ms: None for the reranker's own."""
    read = candidates[: rerank_table().candidates]
    try:
        found = reranker.logits(question, [_read_text(candidate.passage) for candidate in read], deadline_ms)
    except ModelUnavailable as missing:
        return tuple(candidates), f"Not reranked: {missing}"
    scored = tuple(
        replace(candidate, signals=replace(candidate.signals, rerank_logit=logit))
        for candidate, logit in zip(read, found.logits, strict=True)
    )
    return (*scored, *candidates[len(read) :]), found.notice


def _read_text(passage: Passage) -> str:
    return f"{passage.context}\n{passage.text}".strip()


def rank_passages(question: str, texts: Sequence[str], reranker: Reranker) -> list[tuple[int, float | None]]:
    """Rank any texts by how well they answer a question: (index in `texts`, raw logit), best first; ties by index.

    Any number of texts, each cut at 2,000 characters. Texts not scored before the deadline come last, in order, with
    None. Raises ModelUnavailable.

    >>> class Longest:
    ...     def logits(self, question, texts, deadline_ms=None):
    ...         return Reranked(tuple(float(len(text)) for text in texts))
    >>> rank_passages("Which is longest?", ["a", "ccc", "bb"], Longest())
    [(1, 3.0), (2, 2.0), (0, 1.0)]
    """
    found = reranker.logits(question, texts).logits
    return sorted(enumerate(found), key=lambda item: (-inf if item[1] is None else item[1]) * -1)


def with_rerank(profile: ScoreProfile) -> ScoreProfile:
    """The profile with a weight for the factor `rerank`: its own if it has one, else a share of all the others.

    The share is a row of core/knowledge/rerankers.toml; the other weights shrink in proportion, so that the sum stays
    1.

    >>> with_rerank(ScoreProfile("a", {"similarity": 0.5, "keyword": 0.5})).weights
    {'similarity': 0.35, 'keyword': 0.35, 'rerank': 0.3}
    """
    if profile.weights.get(_FACTOR, 0.0) > 0:
        return profile
    share = rerank_table().share
    others = {name: weight * (1 - share) for name, weight in profile.weights.items() if name != _FACTOR}
    return replace(profile, weights={**others, _FACTOR: share})
