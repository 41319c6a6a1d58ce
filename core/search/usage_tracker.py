"""Usage tracking that never slows a search: events wait in a bounded queue, and one thread writes them.

    search → shown, opened → queue → thread → UsageLog          marks and citations → UsageLog, at once
    search ← uses ← cache ← thread ← UsageLog

Automatic events (shown, opened) may be lost when the store does not respond; they are counted, and `notice` reports
them. Deliberate actions (a mark, a citation) are written at once, and a failure raises an error.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from threading import Condition, Lock, Thread

from core.domain.documents import Passage
from core.domain.errors import FivefoldError
from core.domain.results import SearchResult
from core.search.store import (
    UNUSED,
    DocumentUsage,
    PassageUsage,
    UsageEvent,
    UsageKind,
    UsageLog,
    UsageSummary,
    passage_uses,
    stored_question,
)

__all__ = ["UsageTracker"]

_BATCH = 500  # events per transaction. Chosen by hand, not fitted.
_CLOSE_SECONDS = 5.0  # longest wait of flush and close. Chosen by hand, not fitted.
_READ_SECONDS = 1.0  # longest wait of a reader for waiting events; they are written every fifth of a second
_FRESH = timedelta(seconds=30)
"""How long a cached usage is fresh; older ones are refreshed in the background. Chosen by hand."""
_MOST_KNOWN = 4096  # cached documents. Chosen by hand, not fitted.
_REPEATED = timedelta(minutes=10)
"""A repeated event of a person, passage and question within this time counts once: every click redraws the page."""
_MOST_REMEMBERED = 10_000  # recent events checked for repetition. Chosen by hand, not fitted.
_MARK = {True: UsageKind.HELPFUL, False: UsageKind.NOT_HELPFUL, None: UsageKind.UNMARKED}


class UsageTracker:
    """Records usage events and reports usage. Thread-safe.

    remembers: return what was read before while it is refreshed in the background; False: read what is older than half
    a minute at once. room: how many events may wait. gather_seconds: how long the thread waits for more before it
    writes, so that a page of results is one transaction. The thread starts with the first event; `close` writes what is
    left.
    """

    def __init__(
        self,
        log: UsageLog,
        now: Callable[[], datetime],
        *,
        remembers: bool = True,
        room: int = 10_000,
        gather_seconds: float = 0.2,
    ) -> None:
        self._log, self._now, self._remembers = log, now, remembers
        self._room, self._gather_seconds = room, gather_seconds
        self._changed = Condition()
        self._writing = Lock()
        self._waiting: deque[UsageEvent] = deque()
        self._stale: set[int] = set()
        self._thread: Thread | None = None
        self._busy = self._hurry = self._closed = False
        self._dropped, self._problem = 0, ""
        self._dropped_since: datetime | None = None
        self._known: OrderedDict[int, tuple[datetime, DocumentUsage]] = OrderedDict()
        self._lately: OrderedDict[tuple[UsageKind, int, int, str, str], datetime] = OrderedDict()

    # Recording

    def shown(self, result: SearchResult, who: str = "") -> None:
        """The hits of a result were shown to somebody. Returns at once and never raises."""
        question = result.request.question
        self._offer([self._event(UsageKind.SHOWN, hit.candidate.passage, question, who) for hit in result.hits])

    def opened(self, passage: Passage, question: str = "", who: str = "") -> None:
        """Somebody opened a passage. Returns at once and never raises."""
        self._offer([self._event(UsageKind.OPENED, passage, question, who)])

    def document_opened(self, document_id: int, who: str = "") -> None:
        """Somebody opened a document as a whole. Returns at once and never raises."""
        self._offer([UsageEvent(UsageKind.OPENED, document_id, 0, "", who.strip(), self._now())])

    def cited(self, passage: Passage, question: str = "", who: str = "") -> None:
        """Somebody cites the passage in their work. Raises StoreFailed."""
        self._write_now(self._event(UsageKind.CITED, passage, question, who))

    def mark(self, passage: Passage, question: str, who: str, *, helpful: bool | None) -> None:
        """Somebody marks a passage as helpful or not; None removes the mark. The latest mark of each person counts.

        Raises StoreFailed.
        """
        self._write_now(self._event(_MARK[helpful], passage, question, who))

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete all events of these documents, queued ones too. Raises StoreFailed."""
        deleted = set(document_ids)
        with self._writing:
            with self._changed:
                self._waiting = deque(event for event in self._waiting if event.document_id not in deleted)
            self._log.delete(document_ids)
        with self._changed:
            for document_id in document_ids:
                self._known.pop(document_id, None)

    # Reading

    def uses(self, document_ids: Iterable[int]) -> Mapping[int, DocumentUsage]:
        """Document id → its usage, for documents that were used; at most some seconds old. Never raises: when the store
        does not respond, the result is empty.

        Documents seen before are answered from the cache, and stale entries are refreshed in the background.
        """
        ids, now = list(dict.fromkeys(document_ids)), self._now()
        with self._changed:
            known = {i: self._known[i] for i in ids if i in self._known}
            old = {i for i, (read, _) in known.items() if now - read > _FRESH}
            if not self._remembers:
                known, old = {i: each for i, each in known.items() if i not in old}, set()
            if old - self._stale and not self._closed:
                self._stale |= old
                self._wake()
        usage = {i: use for i, (_, use) in known.items()} | dict(self._read([i for i in ids if i not in known]))
        return {i: usage[i] for i in ids if usage[i].uses}

    def last_used(self, limit: int) -> Sequence[tuple[int, datetime]]:
        """The documents opened, cited or marked last, with the time; the latest first. Raises StoreFailed."""
        return self._log.last_used(limit)

    def of_question(self, question: str) -> Mapping[int, PassageUsage]:
        """Passage id → who opened, cited and marked it for this question. Raises StoreFailed."""
        return passage_uses(self._log.events_of(question=stored_question(question)))

    def of_passage(self, passage_id: int) -> Sequence[UsageEvent]:
        """All events of a passage except shown, for any question, oldest first. Raises StoreFailed."""
        return self._log.events_of(passage_id=passage_id)

    def of_document(self, document_id: int) -> UsageSummary:
        """How often a document was shown, opened and cited, by question; what waits to be written is written first.
        Raises StoreFailed."""
        self.flush(_READ_SECONDS)
        return self._log.summary(document_id)

    @property
    def dropped(self) -> int:
        """Number of events lost since the start."""
        return self._dropped

    @property
    def notice(self) -> str:
        """A notice about lost events, "" when there are none."""
        if not self._dropped or self._dropped_since is None:
            return ""
        since = f"{self._dropped_since:%Y-%m-%d %H:%M} UTC"
        lost = "1 time" if self._dropped == 1 else f"{self._dropped:,} times"
        return (
            f"What was shown or opened could not be noted {lost} since {since}: {self._problem} Search is not affected."
        )

    # Writing

    def flush(self, seconds: float = _CLOSE_SECONDS) -> bool:
        """Wait until all queued events are written or dropped; returns whether they are."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            return self._changed.wait_for(lambda: not (self._waiting or self._stale or self._busy), seconds)

    def close(self) -> None:
        """Write what is queued and end the thread; later events are dropped. Safe to call again."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(_CLOSE_SECONDS)

    def _event(self, kind: UsageKind, passage: Passage, question: str, who: str) -> UsageEvent:
        return UsageEvent(kind, passage.document_id, passage.id, stored_question(question), who.strip(), self._now())

    def _offer(self, events: Sequence[UsageEvent]) -> None:
        """Queue these events; those that find no room are dropped."""
        with self._changed:
            fresh = [event for event in events if not self._again(event)]
            room = 0 if self._closed else max(0, self._room - len(self._waiting))
            self._waiting.extend(fresh[:room])
            if len(fresh) > room:
                why = "the program is closing." if self._closed else f"{self._room:,} events were waiting already."
                self._drop(len(fresh) - room, why)
            if self._waiting:
                self._wake()

    def _again(self, event: UsageEvent) -> bool:
        """Whether the same event was recorded recently; if not, it is recorded as recent now."""
        key = _identity(event)
        last = self._lately.get(key)
        if last is not None and event.at - last < _REPEATED:
            return True
        self._lately[key] = event.at
        self._lately.move_to_end(key)
        if len(self._lately) > _MOST_REMEMBERED:
            self._lately.popitem(last=False)
        return False

    def _write_now(self, event: UsageEvent) -> None:
        with self._changed:
            if event.kind is UsageKind.CITED and self._again(event):
                return
        try:
            with self._writing:
                self._log.record([event])
        except FivefoldError:
            with self._changed:
                self._lately.pop(_identity(event), None)
            raise
        self._read([event.document_id])

    # The writer thread

    def _wake(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = Thread(target=self._serve, name="use recorder", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _serve(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._stale or self._closed)
                if not self._waiting and not self._stale:
                    return
                self._changed.wait_for(lambda: self._hurry or self._closed, self._gather_seconds)
                self._busy = True
            try:
                self._step()
            finally:
                with self._changed:
                    self._busy = False
                    self._hurry = self._hurry and bool(self._waiting or self._stale)
                    self._changed.notify_all()

    def _step(self) -> None:
        """Write one batch, then refresh the cache entries that it, or time, has made stale."""
        with self._writing:
            with self._changed:
                batch = [self._waiting.popleft() for _ in range(min(_BATCH, len(self._waiting)))]
            try:
                self._log.record(batch)
            except FivefoldError as problem:
                with self._changed:
                    self._drop(len(batch), problem.message)
        with self._changed:
            used = {event.document_id for event in batch if event.kind is not UsageKind.SHOWN}
            old, self._stale = self._stale | (used & self._known.keys()), set()
        self._read(sorted(old))

    def _drop(self, events: int, why: str) -> None:
        self._dropped_since = self._dropped_since or self._now()
        self._dropped, self._problem = self._dropped + events, why

    def _read(self, document_ids: Sequence[int]) -> Mapping[int, DocumentUsage]:
        """Read the usage of these documents and cache it. When the store does not respond: the cached values, or none;
        cached as well, so that not every search tries again."""
        if not document_ids:
            return {}
        try:
            read = self._log.uses(document_ids)
            found = {i: read.get(i, UNUSED) for i in document_ids}
        except FivefoldError:
            with self._changed:
                found = {i: self._known[i][1] if i in self._known else UNUSED for i in document_ids}
        with self._changed:
            now = self._now()
            for document_id, use in found.items():
                self._known[document_id] = (now, use)
                self._known.move_to_end(document_id)
            while len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        return found


def _identity(event: UsageEvent) -> tuple[UsageKind, int, int, str, str]:
    """What makes two events the same but for their time."""
    return event.kind, event.document_id, event.passage_id, event.question, event.who
