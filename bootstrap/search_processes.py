"""Searches in processes of their own, so that they use more than one core and pages are drawn meanwhile.

    app → a free channel → process → the same library, opened without a worker → result → app

Each process has two channels and searches for two questions at once: while one waits for the database, the other goes
on. Questions wait in line for a channel. When a process dies, the app searches for its questions itself, and the
process is started again.
"""

import logging
import pickle
import sys
import threading
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from bootstrap.environment import Settings
from bootstrap.supervised_process import SupervisedProcess, settings_from_parent
from core.domain.errors import BadRequest, FivefoldError
from core.domain.filters import SearchFilters
from core.domain.five_truths import FiveTruthsAnswer
from core.domain.frozen import pickle_fast
from core.domain.queries import SearchRequest
from core.domain.results import SearchResult
from core.ports.own_changes import OwnChanges
from core.workbench import Workbench

if TYPE_CHECKING:
    from bootstrap.workbench import OpenWorkbench
    from storage.postgres.database import Scope

__all__ = ["ScopedSearches", "SearchProcessPool"]

# Chosen by hand, not fitted.
_CHANNELS = 2  # per process
_MOST_SECONDS = 120.0  # a process that needs longer for a question is ended
_MEGABYTES = 16_384  # per process, with the files of the library that all processes share
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class _Channel:
    """One end of a pipe to a process, for one question at a time."""

    connection: Connection
    process: "_SearchProcess"


class _Channels:
    """The channels of all processes, given out in the order of the calls. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[_Channel] = set()
        self._free: deque[_Channel] = deque()
        self._waiting: deque[Future[_Channel | None]] = deque()

    def add(self, channel: _Channel) -> None:
        """A process listens on it."""
        with self._lock:
            self._open.add(channel)
        self.give_back(channel)

    def remove(self, channel: _Channel) -> None:
        """Nobody listens any more."""
        with self._lock:
            self._open.discard(channel)
            with suppress(ValueError):
                self._free.remove(channel)
            self._give_out()

    def take(self) -> _Channel | None:
        """The next free channel; None when there is none, free or in use."""
        turn: Future[_Channel | None] = Future()
        with self._lock:
            self._waiting.append(turn)
            self._give_out()
        try:
            return turn.result()
        except BaseException:  # this thread is to end
            if not turn.cancel() and (channel := turn.result()) is not None:
                self.give_back(channel)
            raise

    def give_back(self, channel: _Channel) -> None:
        """It is free."""
        with self._lock:
            if channel in self._open:
                self._free.append(channel)
            self._give_out()

    def _give_out(self) -> None:
        while self._waiting and (self._free or not self._open):
            turn = self._waiting.popleft()
            if turn.set_running_or_notify_cancel():
                turn.set_result(self._free.popleft() if self._free else None)


class _SearchProcess(SupervisedProcess):
    """One process. channels: gets its channels as soon as it is ready."""

    stop_seconds = 2.0  # it has nothing to lose

    def __init__(self, settings: Settings, channels: _Channels, command: Sequence[str]) -> None:
        super().__init__("search process", settings, command, _MEGABYTES)
        self._channels, self._ready = channels, False
        self._own: Sequence[_Channel] = ()
        self._theirs: Sequence[Connection] = ()

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()

    def _inherited(self) -> Sequence[int]:
        pairs = [Pipe() for _ in range(_CHANNELS)]
        self._own, self._theirs = [_Channel(own, self) for own, _ in pairs], [theirs for _, theirs in pairs]
        self._ready = False
        return [theirs.fileno() for theirs in self._theirs]

    def _started(self) -> None:
        for theirs in self._theirs:
            theirs.close()  # then ours tells when the process dies

    def _look(self) -> None:
        with suppress(EOFError, OSError):  # it died
            if not self._ready and self._own[0].connection.poll():
                self._own[0].connection.recv_bytes()
                self._ready = True
                for channel in self._own:
                    self._channels.add(channel)

    def _ended(self) -> None:
        for channel in self._own:
            self._channels.remove(channel)
        self._own = ()


class SearchProcessPool:
    """As many processes as the settings ask for. own: what the app changes, which each question asked later sees.
    command: what runs, for tests. Raises BadRequest where they cannot work."""

    def __init__(
        self, settings: Settings, own: OwnChanges, command: Sequence[str] = ("-m", "bootstrap.search_processes")
    ) -> None:
        if sys.platform == "win32":
            raise BadRequest("Search processes do not work on Windows.", "Set FIVEFOLD_SEARCH_PROCESSES=0.")
        theirs = replace(settings, worker=False, search_processes=0)
        self._own, self._channels = own, _Channels()
        self._processes = [_SearchProcess(theirs, self._channels, command) for _ in range(settings.search_processes)]

    def start(self) -> None:
        """Start them; returns at once. Until one is ready, the app searches itself."""
        for process in self._processes:
            process.start()

    def stop(self) -> None:
        """Let them end. Safe to call again."""
        threads = [threading.Thread(target=process.stop) for process in self._processes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    @property
    def pids(self) -> Sequence[int]:
        """The numbers of the running processes."""
        return [pid for process in self._processes if (pid := process.pid) is not None]

    def notice(self) -> str:
        """For the user while a process keeps ending; "" otherwise."""
        if not any(process.keeps_ending for process in self._processes):
            return ""
        return "A process that searches keeps ending and is started again. The log of the app says why."

    def call(self, scope: "Scope", name: str, arguments: tuple[Any, ...]) -> Any:
        """What a process answers; None when there is none, or it died, or failed in a way that is no FivefoldError.
        Raises the FivefoldError that it met."""
        channel = self._channels.take()
        if channel is None:
            return None
        sent = pickle.dumps((self._own.numbers, scope, name, arguments), pickle.HIGHEST_PROTOCOL)
        answered = False
        try:
            value, error = pickle.loads(_reply_to(sent, channel.connection))
            answered = True
        except (EOFError, OSError):  # it died, or was too slow
            return None
        except Exception:  # noqa: BLE001 - the app searches itself
            _log.exception("A search process gave an answer that cannot be read, and is ended.")
            return None
        finally:
            if answered:
                self._channels.give_back(channel)
            else:  # its answer may still come, and must not reach somebody else
                self._channels.remove(channel)
                channel.process.kill()
        if error is not None:
            raise error
        return value


def _reply_to(sent: bytes, connection: Connection) -> bytes:
    """Raises EOFError when the process has died, TimeoutError when it is too slow."""
    connection.send_bytes(sent)
    if not connection.poll(_MOST_SECONDS):
        _log.warning("A search process did not answer within %.0f s and is ended.", _MOST_SECONDS)
        raise TimeoutError
    return connection.recv_bytes()


@dataclass(frozen=True, slots=True)
class ScopedSearches:
    """Implements core.ports.search_processes.SearchProcesses for what one person sees of the library."""

    pool: SearchProcessPool
    scope: "Scope"

    def search(self, request: SearchRequest) -> SearchResult | None:
        """Raises StoreFailed, BadRequest."""
        found: SearchResult | None = self.pool.call(self.scope, "search", (request,))
        return found

    def answer(self, question: str, filters: SearchFilters, profile: str) -> FiveTruthsAnswer | None:
        """Raises BadRequest."""
        found: FiveTruthsAnswer | None = self.pool.call(self.scope, "answer", (question, filters, profile))
        return found


def _serve(descriptors: Sequence[int]) -> None:
    """Search until the input closes. Runs in the search process."""
    from bootstrap.workbench import ProcessRole, open_workbench

    settings, parent_ended = settings_from_parent()
    library = open_workbench(settings, ProcessRole.SEARCH)
    with library as workbench:
        workbench.search.warm()
        channels = [Connection(descriptor) for descriptor in descriptors]
        channels[0].send_bytes(b"ready")
        for channel in channels:
            threading.Thread(target=_answer_all, args=(channel, library), daemon=True).start()
        while not parent_ended(3600.0):
            pass


def _answer_all(channel: Connection, library: "OpenWorkbench") -> None:
    with channel, suppress(EOFError, OSError):  # the app ended
        while True:
            channel.send_bytes(_reply(channel.recv_bytes(), library))


def _reply(call: bytes, library: "OpenWorkbench") -> bytes:
    """The value and the error of a call."""
    try:
        changes, scope, name, arguments = pickle.loads(call)
        library.own.follow(changes)
        return pickle_fast((_answered(library.of_scope(scope), name, arguments), None))
    except FivefoldError as error:
        return pickle_fast((None, error))
    except Exception:  # noqa: BLE001 - the app searches itself, and raises it there
        _log.exception("A search process failed; the app searches itself.")
        return pickle_fast((None, None))


def _answered(workbench: Workbench, name: str, arguments: tuple[Any, ...]) -> object:
    if name == "search":
        (request,) = arguments
        return workbench.search.run(request, remember=False)
    question, filters, profile = arguments
    return workbench.answers.ask(question, filters=filters, profile=profile, remember=False)


if __name__ == "__main__":
    _serve([int(each) for each in sys.argv[1:]])
