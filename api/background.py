"""What the API keeps between requests: work in the background, and the latest search results of each caller."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from time import monotonic

from core.domain.errors import FivefoldError
from core.domain.results import SearchResult

__all__ = ["BackgroundWork", "LatestResults"]

_MOST_PROBLEMS = 200  # that are remembered, the latest ones. Chosen by hand.
_log = logging.getLogger(__name__)


class BackgroundWork:
    """Work that this process carries out, by name. Its progress is stored by the work itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stops: dict[str, threading.Event] = {}
        self._problems: OrderedDict[str, str] = OrderedDict()

    def start(self, name: str, work: Callable[[Callable[[], bool]], object]) -> bool:
        """Start work unless work of this name is under way; returns whether it was started.

        work: polls the function it is given, which says whether to stop.
        """
        with self._lock:
            if name in self._stops:
                return False
            stop = self._stops[name] = threading.Event()
            self._problems.pop(name, None)
        threading.Thread(target=self._carry_out, args=(name, work, stop), name=name, daemon=True).start()
        return True

    def stop(self, name: str) -> bool:
        """Ask work to stop at its next step; returns whether this process carries it out."""
        with self._lock:
            found = self._stops.get(name)
            if found is not None:
                found.set()
        return found is not None

    def running(self, name: str) -> bool:
        """Whether this process carries it out now."""
        with self._lock:
            return name in self._stops

    def problem(self, name: str) -> str:
        """Why it could not be carried out; "" when it could."""
        with self._lock:
            return self._problems.get(name, "")

    def _carry_out(self, name: str, work: Callable[[Callable[[], bool]], object], stop: threading.Event) -> None:
        problem = ""
        try:
            work(stop.is_set)
        except FivefoldError as error:
            problem = str(error)
            _log.warning("%s failed: %s", name, error)
        finally:
            with self._lock:
                del self._stops[name]
                if problem:
                    self._problems[name] = problem
                    if len(self._problems) > _MOST_PROBLEMS:
                        self._problems.popitem(last=False)


_FRESH_SECONDS = 120.0  # as pages reuse an answer
_MOST = 64  # some megabytes. Chosen by hand.


class LatestResults:
    """Results by key for two minutes, at most 64. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[Hashable, tuple[float, SearchResult]] = OrderedDict()

    def result(self, key: Hashable, search: Callable[[], SearchResult]) -> SearchResult:
        """The known result, else that of the search. key: the person with their rights, and the request."""
        now = monotonic()
        with self._lock:
            at, known = self._known.get(key, (0.0, None))
        if known is not None and now - at < _FRESH_SECONDS:
            return known
        result = search()
        if not result.notices:  # what was missing may be there soon
            with self._lock:
                self._known[key] = (now, result)
                while len(self._known) > _MOST:
                    self._known.popitem(last=False)
        return result
