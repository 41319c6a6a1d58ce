"""Reranking: the best candidates read once more, question and passage together, for as long as a deadline allows.

    candidates, best first → the first 100 → batches of 2 → logits → Signals.rerank_logit → the factor `rerank`

The logit is one factor among the others; it never decides alone. Models load at first use, apart from the search that
asks for them, and one question at a time is read by each.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from threading import Event, Lock, Thread
from time import monotonic

from core.documents import Passage
from core.errors import FivefoldError, ModelUnavailable
from core.queries import ScoreProfile
from core.reranking import Reranked, Reranker
from core.results import Candidate
from core.search.rerank_model import CrossEncoder, load_cross_encoder
from core.settings import Settings
from core.tables.rerankers import rerank_table

__all__ = ["DeadlineReranker", "rank_passages", "reranked", "rerankers", "with_rerank"]

_BATCH = 2  # pairs read between two looks at the clock; more are no faster on a processor
_RETRY_SECONDS = 300.0
_FACTOR = "rerank"


@dataclass(frozen=True, slots=True)
class _Reading:
    """One question being read: `logits` fills from the front, in batches, until `stopped` is set."""

    question: str
    texts: Sequence[str]
    logits: list[float | None]
    stopped: Event = field(default_factory=Event)
    ended: "Future[None]" = field(default_factory=Future)


class DeadlineReranker:
    """ports.Reranker over a cross-encoder that loads at first use. Thread-safe.

    load: gives the model or raises ModelUnavailable; a failure is remembered for five minutes. deadline_ms: when a call
    returns at the latest, scored or not; None waits for everything, loading included. A batch under way at the
    deadline is left to a thread that ends after it; meanwhile others are told that the model is busy.
    """

    def __init__(self, name: str, load: Callable[[], CrossEncoder], deadline_ms: int | None) -> None:
        self.name, self._load, self._deadline_ms = name, load, deadline_ms
        self._state = Lock()
        self._turn = Lock()
        self._loading: Future[CrossEncoder] | None = None
        self._failed_at = -inf

    @property
    def trouble(self) -> str:
        """Why the last attempt to load the model failed, "" when none has."""
        loading = self._loading
        problem = loading.exception() if loading is not None and loading.done() else None
        return problem.message if isinstance(problem, FivefoldError) else ""

    def warm(self) -> None:
        """Load the model, however long it takes. Raises ModelUnavailable."""
        self._loaded(inf)

    def logits(self, question: str, texts: Sequence[str]) -> Reranked:
        """A logit per text, in their order: texts are read from the first on, as far as the deadline allows, each cut
        at 2,000 characters. Raises ModelUnavailable when the weights cannot be had, also some minutes later."""
        if not texts:
            return Reranked(())
        until = inf if self._deadline_ms is None else monotonic() + self._deadline_ms / 1000
        unread: tuple[float | None, ...] = (None,) * len(texts)
        model = self._loaded(until)
        if model is None:
            said = (
                f"The reranker '{self.name}' is still being loaded, so nothing was reranked. Search again in a moment."
            )
            return Reranked(unread, said)
        if not self._turn.acquire(timeout=_seconds(until, longest=3600.0)):
            return Reranked(unread, f"The reranker '{self.name}' is busy with other questions: nothing was reranked.")
        characters = rerank_table().characters
        reading = _Reading(question[:characters], [text[:characters] for text in texts], list(unread))
        Thread(target=self._read, args=(model, reading), name=f"rerank-{self.name}").start()
        return self._scored(reading, model, until)

    def _loaded(self, until: float) -> CrossEncoder | None:
        """The model, or None when it is not there in time. Raises ModelUnavailable."""
        with self._state:
            failed = self._loading is not None and self._loading.done() and self._loading.exception() is not None
            if self._loading is None or (failed and monotonic() - self._failed_at > _RETRY_SECONDS):
                self._loading = Future()
                # A thread of its own, which nobody waits for at the end of the program: it may be fetching weights.
                Thread(target=self._make, args=(self._loading,), name=f"load-{self.name}", daemon=True).start()
            loading = self._loading
        try:
            return loading.result(None if until == inf else _seconds(until))
        except TimeoutError:
            return None
        except ModelUnavailable as missing:
            raise ModelUnavailable(missing.message, missing.hint) from None

    def _make(self, loading: "Future[CrossEncoder]") -> None:
        try:
            loading.set_result(self._load())
        except BaseException as error:  # noqa: BLE001 - handed on to whoever asks for the model
            self._failed_at = monotonic()
            loading.set_exception(error)

    def _read(self, model: CrossEncoder, reading: _Reading) -> None:
        """Score batch after batch, in a thread of its own; then it is the next question's turn."""
        try:
            for start in range(0, len(reading.texts), _BATCH):
                if reading.stopped.is_set():
                    break
                found = model.score(reading.question, reading.texts[start : start + _BATCH])
                told = [float(logit) if isfinite(logit) else None for logit in found]
                reading.logits[start : start + len(told)] = told
        except BaseException as error:  # noqa: BLE001 - handed on to whoever waits for the logits
            self._turn.release()
            reading.ended.set_exception(error)
        else:
            self._turn.release()
            reading.ended.set_result(None)

    def _scored(self, reading: _Reading, model: CrossEncoder, until: float) -> Reranked:
        try:
            reading.ended.result(None if until == inf else _seconds(until))
        except TimeoutError:
            reading.stopped.set()
        logits = tuple(reading.logits)
        read = sum(logit is not None for logit in logits)
        if read == len(logits):
            return Reranked(logits)
        in_time = "" if reading.ended.done() else f" in {self._deadline_ms} ms"
        said = f"{read} of {len(logits)} were reranked{in_time}; the others keep their place."
        return Reranked(logits, f"{said} {model.notice}".strip())


def _seconds(until: float, longest: float = inf) -> float:
    """What is left until then, in seconds, ≥ 0 and at most `longest`."""
    return min(max(until - monotonic(), 0.0), longest)


def rerankers(settings: Settings, threads: int, *, hurried: bool = True) -> Mapping[str, DeadlineReranker]:
    """Every reranker by name, fast first; none is loaded yet.

    threads: inference threads; 0 takes all cores. hurried False: without deadlines, for work nobody waits for.
    """
    found = {}
    for name, row in rerank_table().rows.items():
        model = getattr(settings, f"reranker_{name}") or row.model

        def load(model: str = model, name: str = name, max_tokens: int = row.max_tokens) -> CrossEncoder:
            return load_cross_encoder(model, name, settings.data_folder / "models", threads, max_tokens)

        found[name] = DeadlineReranker(name, load, row.deadline_ms if hurried else None)
    return found


def reranked(candidates: Sequence[Candidate], question: str, reranker: Reranker) -> tuple[tuple[Candidate, ...], str]:
    """The candidates in their order with `Signals.rerank_logit` of those that were read, and what to tell the user.

    candidates: best first, by fusion; the first 100 are read, title and headings before the text. The others, and those
    not reached in time, have no logit. A model that cannot be had leaves all as they were, and the notice says so.
    """
    read = candidates[: rerank_table().candidates]
    try:
        found = reranker.logits(question, [_read_text(candidate.passage) for candidate in read])
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
    """Any texts by how well they answer a question: (place in `texts`, raw logit), best first; ties by place.

    However many texts, each cut at 2,000 characters. Those the reranker's deadline left unread come last, in their
    order, with None. Raises ModelUnavailable.

    >>> class Longest:
    ...     def logits(self, question, texts):
    ...         return Reranked(tuple(float(len(text)) for text in texts))
    >>> rank_passages("Which is longest?", ["a", "ccc", "bb"], Longest())
    [(1, 3.0), (2, 2.0), (0, 1.0)]
    """
    found = reranker.logits(question, texts).logits
    return sorted(enumerate(found), key=lambda item: (-inf if item[1] is None else item[1]) * -1)


def with_rerank(profile: ScoreProfile) -> ScoreProfile:
    """The profile with a weight for the factor `rerank`: its own when it has one, else a share of all the others.

    The share is a row of core/tables/rerankers.toml; the others make room in proportion, so that the sum stays 1.

    >>> with_rerank(ScoreProfile("a", {"similarity": 0.5, "keyword": 0.5})).weights
    {'similarity': 0.35, 'keyword': 0.35, 'rerank': 0.3}
    """
    if profile.weights.get(_FACTOR, 0.0) > 0:
        return profile
    share = rerank_table().share
    others = {name: weight * (1 - share) for name, weight in profile.weights.items() if name != _FACTOR}
    return replace(profile, weights={**others, _FACTOR: share})
