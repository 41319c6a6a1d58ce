"""A copy of a tenant's vectors and labels that makes search fast, and follows the library.

The database stays the truth. Before each search one question to it tells which documents' passages changed, whichever
process changed them, and only those are read again. The copy is a file, shared by the processes of a machine, and in
each process's memory what changed since it was written; when that has become much, the file is written anew. While
there is no copy, because it is being made or cannot be kept, nothing is given, and searches ask the database.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic

from core.errors import FivefoldError
from core.filters import SearchFilters
from core.ports import PassageIds
from storage.database import Database
from storage.mirror_changes import changes_since
from storage.mirror_columns import Words
from storage.mirror_files import DamagedFile
from storage.mirror_following import Library
from storage.mirror_held import Held
from storage.mirror_keeping import library_file, read_library, write_anew, write_library
from storage.mirror_vectors import compile_kernels

__all__ = ["Mirror"]

_log = logging.getLogger(__name__)

_AT_ONCE = 20_000
"""Changed passages that a search waits for: some 0.7 s. Where more changed, the database answers meanwhile."""

_CHANGED_LEAST, _CHANGED_SHARE = 4096, 1 / 16
"""The file is written anew when more passages changed since: least number, and share of the library."""

_IN_MEMORY = 100_000
"""Changed passages that fit beside the others, with 190 MB; where more changed, everything is read into a new file."""

_NEVER = float("-inf")
_AGAIN_SECONDS = 300.0  # after a failure
_CLOSING_SECONDS = 30.0
_TURN_SECONDS = 0.5  # how often one that waits for another process's writing looks whether it is to end


class _Stopped(Exception):
    """The program ends."""


class Mirror:
    """Thread-safe. model: whose vectors are copied; given as a function, it is asked for when first needed.

    Made in the background when first asked for, or at once by `open`; a process that never asks has none.
    """

    def __init__(self, database: Database, model: str | Callable[[], str], folder: Path) -> None:
        named = (lambda: model) if isinstance(model, str) else model
        self._library, self._folder = Library(database, named, self._go_on), folder
        self._held: Held | None = None
        self._turn = Lock()  # one thread at a time changes what is held
        self._looked = _NEVER  # when it was last seen to be as the library is
        self._behind = False  # so far that the background catches up
        self._starting = Lock()
        self._working: Thread | None = None
        self._not_before = _NEVER
        self._stop = Event()
        self._notice = ""

    @property
    def notice(self) -> str:
        """What the user should know; "" when all is well."""
        return self._notice

    # What is asked of it; None: ask the database

    def current(self, within_seconds: float = 0.0) -> Held | None:
        """The library as it is now, or was at most so long ago. Raises StoreFailed."""
        held = self._held
        if held is None or self._behind:
            self._work()
            return None
        if not held.file.intact():
            _log.warning("%s was written to by somebody else; it is made anew.", library_file(self._folder))
            self._held = None
            self._work()
            return None
        now = monotonic()
        if now - self._looked < within_seconds:
            return held
        found = self._followed(held)
        if found is not None:
            self._looked = now
        return found

    def look_again(self) -> None:
        """This process changes the library: the next question looks at the database."""
        self._looked = _NEVER

    def admissible(self, filters: SearchFilters) -> PassageIds | None:
        """Ids of the passages the filters admit, ascending."""
        held = self.current()
        return None if held is None else held.admissible(filters)

    def undated(self, filters: SearchFilters) -> int | None:
        """Documents left out by the date filter only because they are undated."""
        held = self.current()
        return None if held is None else held.undated(filters)

    def open(self) -> None:
        """Read or make the copy now, and wait for it. Where it cannot be kept, `notice` says why."""
        self._not_before = _NEVER
        self._work()
        if self._working is not None:
            self._working.join()

    def close(self) -> None:
        """Stop what is going on in the background. Harmless when repeated."""
        self._stop.set()
        if self._working is not None:
            self._working.join(_CLOSING_SECONDS)

    # Following the library

    def _followed(self, held: Held) -> Held | None:
        changes, documents = self._library.differing(held)
        if not documents and changes.started == held.started:
            self._advance(held, changes.next if changes.noted else held.next)
            return held
        with self._turn:
            if self._held is None:
                return None
            try:
                found = self._library.caught_up(self._held, _AT_ONCE)
            except MemoryError as error:
                self._held, found = None, None
                self._fail(error)
            except _Stopped:
                return None
            if found is not None:
                self._held = found
            self._behind = found is None
        if found is None or _much_changed(found):
            self._work()
        return found

    def _advance(self, held: Held, following: int) -> None:
        """Nothing differs: what was looked at need not be listed again."""
        if following != held.next and self._turn.acquire(blocking=False):
            if self._held is held:
                self._held = replace(held, next=following)
            self._turn.release()

    # In the background

    def _work(self) -> None:
        """Make the copy, catch up or write it anew, unless that goes on, or has just failed."""
        with self._starting:
            going_on = self._working is not None and self._working.is_alive()
            if not going_on and not self._stop.is_set() and monotonic() >= self._not_before:
                self._working = Thread(target=self._serve, name="mirror", daemon=True)
                self._working.start()

    def _serve(self) -> None:
        try:
            compile_kernels()
            with self._alone():
                held = self._kept(self._found() or self._made())
                with self._turn:
                    self._held, self._behind = self._library.caught_up(held), False
        except _Stopped:
            return
        except (OSError, MemoryError, FivefoldError) as error:
            self._fail(error)
        else:
            self._notice = ""

    def _found(self) -> Held | None:
        """What this process holds, or the file that is newer: another process may have written one."""
        held = self._held if self._held is not None and self._held.file.intact() else None
        if held is not None and held.file.stands_at(library_file(self._folder)):
            return held
        try:
            return read_library(self._folder, self._library.database.tenant, self._library.model())
        except FileNotFoundError:
            return held
        except DamagedFile:
            _log.warning("%s is not what was written; it is made anew.", library_file(self._folder))
            return held

    def _made(self) -> Held:
        tenant, model = self._library.database.tenant, self._library.model()
        changes, words = changes_since(self._library.database, 0), Words()
        write_anew(self._folder, tenant, model, words, changes.noted, self._library.read(words, None))
        return read_library(self._folder, tenant, model)

    def _kept(self, held: Held) -> Held:
        """Caught up, and in the file for the most part."""
        caught_up = self._library.caught_up(held, _IN_MEMORY)
        if caught_up is None:
            caught_up = self._made()
        if caught_up.file.stands_at(library_file(self._folder)) and not _much_changed(caught_up):
            return caught_up
        tenant, model = self._library.database.tenant, self._library.model()
        write_library(self._folder, tenant, model, caught_up, self._go_on)
        return read_library(self._folder, tenant, model)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """No other process writes meanwhile; what a killed one left is swept."""
        from filelock import FileLock, Timeout

        self._folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._folder / "lock")
        while True:
            self._go_on()
            try:
                lock.acquire(timeout=_TURN_SECONDS)
                break
            except Timeout:
                continue
        try:
            for path in self._folder.glob("*.new"):
                path.unlink(missing_ok=True)
            yield
        finally:
            lock.release()

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise _Stopped

    def _fail(self, error: Exception) -> None:
        self._not_before = monotonic() + _AGAIN_SECONDS
        said = error.message if isinstance(error, FivefoldError) else str(error) or type(error).__name__
        self._notice = f"The copy of the library that makes search fast cannot be kept, so searches take longer: {said}"
        _log.warning("%s", self._notice)


def _much_changed(held: Held) -> bool:
    return held.changed > max(_CHANGED_LEAST, _CHANGED_SHARE * len(held.parts[0].columns))
