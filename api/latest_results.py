"""The latest search results, so that rescoring and "why not" need no second retrieval."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from time import monotonic

from core.domain.results import SearchResult

__all__ = ["LatestResults"]

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
