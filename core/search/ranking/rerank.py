"""Reranking: a cross-encoder scores question and passage together for the best candidates, until a deadline.

    candidates, best first → the first of them → their pieces → batches of 2 → logits, the best of each passage
    → Signals.rerank_logit → the factor `rerank`

The logit is one factor among others; it never decides alone. Models load at first use, on a thread of their own, and
each scores one question at a time.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from math import inf, isfinite
from threading import Event, Lock, Thread

from core.domain.documents import Passage, Span
from core.domain.errors import FivefoldError, ModelUnavailable
from core.domain.queries import ScoreProfile
from core.domain.results import Candidate
from core.knowledge.english_reading import language_of_question
from core.knowledge.languages import NATIVE
from core.knowledge.rerankers import RerankerRow, rerank_table
from core.ports.clock import Timer
from core.ports.models import CrossEncoder, CrossEncoderLoader, Reranked, Reranker
from core.text.sentences import sentences

__all__ = ["DeadlineReranker", "pieces_of", "rank_passages", "reranked", "rerankers", "with_rerank"]

_BATCH = 2  # pairs scored between two deadline checks; larger batches are no faster on a CPU
_RETRY_SECONDS = 300.0  # until a failed model is loaded again. Chosen by hand, not fitted.
_FACTOR = "rerank"
_GO_ON = "Search goes on without it. The log has the details; look for space on the disk."
_log = logging.getLogger(__name__)
_MOST_CHARACTERS = 2000  # of any text read at once; models read 512 tokens at most
_UNREAD = "the others count 0 for it and keep their order."


@dataclass(frozen=True, slots=True)
class _RerankTask:
    """One question being scored: `logits`, one per piece, fills in order, in batches, until `stopped` is set. sizes:
    number of pieces of each text."""

    question: str
    pieces: Sequence[str]
    sizes: Sequence[int]
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

    def forget_failure(self) -> None:
        """Load the model again at the next call, if that failed before."""
        self._failed_at = -inf

    def start_loading(self) -> None:
        """Start to load the model, without waiting for it."""
        with suppress(ModelUnavailable):  # the search that needs it says so
            self._loaded(-inf)

    def warm(self) -> None:
        """Load the model, however long it takes. Raises ModelUnavailable."""
        self._loaded(inf)

    def logits(self, question: str, texts: Sequence[Sequence[str]], deadline_ms: float | None = None) -> Reranked:
        """One logit per text, the highest of its pieces: they are scored in order until the deadline, each cut at 2,000
        characters. A text of which a piece was not scored has none, so that time does not decide its value.

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
        pieces = [piece[:_MOST_CHARACTERS] for text in texts for piece in text]
        none: list[float | None] = [None] * len(pieces)
        reading = _RerankTask(question[:_MOST_CHARACTERS], pieces, [len(text) for text in texts], none)
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
        except ModelUnavailable as error:
            self._failed_at = self._timer()
            loading.set_exception(error)
        except BaseException as error:  # noqa: BLE001 - raised again in the caller that needs the model
            _log.exception("The reranker '%s' cannot be loaded.", self.name)
            self._failed_at = self._timer()
            loading.set_exception(ModelUnavailable(f"The reranker '{self.name}' cannot be loaded: {error}.", _GO_ON))

    def _read(self, model: CrossEncoder, reading: _RerankTask) -> None:
        """Score batch after batch in a background thread, then release the model for the next question."""
        try:
            for start in range(0, len(reading.pieces), _BATCH):
                if reading.stopped.is_set():
                    break
                found = model.score(reading.question, reading.pieces[start : start + _BATCH])
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
    scored = iter(tuple(reading.logits))
    logits = tuple(_best(list(islice(scored, size))) for size in reading.sizes)
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
    candidates: Sequence[Candidate],
    question: str,
    reranker: Reranker,
    row: RerankerRow,
    deadline_ms: float | None = None,
) -> tuple[tuple[Candidate, ...], str]:
    """The candidates in the same order with `Signals.rerank_logit` of those scored, and a notice for the user.

    candidates: best first; the first `row.candidates` are scored, title and headings before the text, a long text in
    pieces of which the best counts. The others, those not scored in time, and those that the reranker cannot read, have
    no logit. If the model is unavailable, none has one, and the notice says so. deadline_ms: None for the reranker's
    own."""
    if row.english_only and language_of_question(question) not in ("", NATIVE):
        return tuple(candidates), f"The reranker '{row.name}' reads only English: nothing was reranked."
    best_first = candidates[: row.candidates]
    readable = [each for each in best_first if not (row.english_only and each.signals.other_language)]
    if best_first and not readable:
        return tuple(candidates), f"The reranker '{row.name}' reads only English, and the best passages are not."
    try:
        pieces = [pieces_of(each.passage, row.characters) for each in readable]
        found = reranker.logits(question, pieces, deadline_ms)
    except ModelUnavailable as missing:
        return tuple(candidates), f"Not reranked: {missing}"
    best = {each.passage.id: logit for each, logit in zip(readable, found.logits, strict=True)}
    first = {each.passage.id for each in best_first}
    scored = tuple(
        replace(
            each,
            signals=replace(
                each.signals, rerank_logit=best.get(each.passage.id), unreadable=each.passage.id not in best
            ),
        )
        if each.passage.id in first
        else each
        for each in candidates
    )
    return scored, found.notice


def _best(logits: Sequence[float | None]) -> float | None:
    known = [logit for logit in logits if logit is not None]
    return max(known) if known and len(known) == len(logits) else None


def pieces_of(passage: Passage, characters: int) -> list[str]:
    """What a reranker reads of a passage: title and headings, then at most so many characters of text that end with a
    sentence, as many pieces as the text takes. A longer sentence is a piece of its own. Of long headings the end is
    kept, a third of the characters.

    >>> from core.domain.documents import Span
    >>> text = "Keep it. Then send it. Delete it."
    >>> spans = (Span(0, 8), Span(9, 22), Span(23, 33))
    >>> pieces_of(Passage(text, 1, 0, 33, spans, context="Records"), 25)
    ['Records\\nKeep it. Then send it.', 'Records\\nDelete it.']
    """
    runs: list[tuple[int, int]] = []
    for span in passage.sentences or (Span(0, len(passage.text)),):
        if runs and span.end - runs[-1][0] <= characters:
            runs[-1] = (runs[-1][0], span.end)
        else:
            runs.append((span.start, span.end))
    context = passage.context[-(characters // 3) :]
    return [f"{context}\n{passage.text[start:end]}".strip() for start, end in runs]


def rank_passages(
    question: str, texts: Sequence[str], reranker: Reranker, row: RerankerRow
) -> list[tuple[int, float | None]]:
    """Rank any texts by how well they answer a question: (index in `texts`, raw logit), best first; ties by index.

    Any number of texts, in any language; a long one is read in pieces, as a passage is. Texts not scored before the
    deadline come last, in order, with None. Raises ModelUnavailable.

    >>> class Longest:
    ...     def logits(self, question, texts, deadline_ms=None):
    ...         return Reranked(tuple(float(len(text[0])) for text in texts))
    >>> rank_passages("Which is longest?", ["a", "ccc", "bb"], Longest(), rerank_table().rows["fast"])
    [(1, 3.0), (2, 2.0), (0, 1.0)]
    """
    passages = [Passage(text, 1, 0, len(text), sentences(text)) for text in texts]
    found = reranker.logits(question, [pieces_of(each, row.characters) for each in passages]).logits
    return sorted(enumerate(found), key=lambda item: (-inf if item[1] is None else item[1]) * -1)


def with_rerank(profile: ScoreProfile, share: float) -> ScoreProfile:
    """The profile with a weight for the factor `rerank`: its own if it has one, else this share of all the others.

    share: in (0, 1), of the reranker's row; the other weights shrink in proportion, so that the sum stays 1. The
    threshold shrinks too: what was above it without a reranker stays above it, read or not.

    >>> with_rerank(ScoreProfile("a", {"similarity": 0.5, "keyword": 0.5}), 0.3).weights
    {'similarity': 0.35, 'keyword': 0.35, 'rerank': 0.3}
    """
    if profile.weights.get(_FACTOR, 0.0) > 0:
        return profile
    others = {name: weight * (1 - share) for name, weight in profile.weights.items() if name != _FACTOR}
    return replace(profile, weights={**others, _FACTOR: share}, threshold=profile.threshold * (1 - share))
