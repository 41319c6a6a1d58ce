# Longer than 300 lines: both ends of one protocol.
"""Chroma in the data folder: one process opens it, and every program of the machine asks that process.

    app, worker, commands → a socket in the folder → chromadb.PersistentClient

Two processes must not open one folder of Chroma: the search of the first does not find what the second stores, and
reading its vectors fails. The process is started by the first program that needs it, and ends soon after the last one
has left it, however that one ended. If it dies, the next request starts it again; a request may be made twice.

Three files in the folder are not Chroma's: a lock that the process holds, its socket, and what it printed last.
"""

import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from core.domain.errors import StoreFailed, StoreUnavailable

__all__ = ["LocalChroma", "LocalCollection", "main"]

_LOCK, _SOCKET, _LOG = "fivefold.lock", "fivefold.socket", "fivefold.log"
_SOCKET_PATH_BYTES = 100  # the longest path that every system accepts
# Chosen by hand, not fitted.
_START_SECONDS = 60.0
_LOOK_SECONDS = 0.05
_LEFT_SECONDS = 3.0  # after which the process ends when no program is connected
_MOST_SECONDS = 600.0  # of one request
_ATTEMPTS, _PAUSE_SECONDS = 5, 0.2  # until a process that ends in the middle of requests is told
_LONGEST_PAUSE_SECONDS = 2.0  # between processes that a program starts while another one's is about to listen
_WAITING = 64  # connections that wait to be accepted
_NOT_CHROMA = "OSError"
_AGAIN = "Try again in a moment."
_PROGRAM = f"import sys; from {__name__} import main; main(sys.argv[1])"  # not -m: answers name this module's classes


class _Request(NamedTuple):
    """What is called: a method of the client, or of the collection with this name."""

    collection: str
    method: str
    arguments: Mapping[str, Any]


class _Answer(NamedTuple):
    """error: the name of Chroma's exception, "" for none, _NOT_CHROMA for another one; value: what was returned, or the
    words of the exception."""

    error: str
    value: Any


class LocalChroma:
    """The part of chromadb's client that the product uses. Thread-safe. Methods raise chromadb's errors, and
    StoreFailed when the process cannot be started or does not answer."""

    def __init__(self, folder: Path) -> None:
        if os.name == "nt":
            raise StoreFailed(
                "Chroma in the data folder works on Linux and macOS.",
                "Run a Chroma server and set FIVEFOLD_CHROMA_URL, or set FIVEFOLD_VECTOR_INDEX=pgvector.",
            )
        self._folder = folder.expanduser().resolve()
        self._shortcut: Path | None = None
        self._lock = threading.Lock()
        self._idle: deque[Connection] = deque()
        self._closed = threading.Event()

    def get_or_create_collection(self, name: str, **options: Any) -> "LocalCollection":
        self.call(_Request("", "get_or_create_collection", {"name": name, **options}))
        return LocalCollection(self, name, options.get("metadata"))

    def list_collections(self) -> "Sequence[LocalCollection]":
        return [LocalCollection(self, *each) for each in self.call(_Request("", "list_collections", {}))]

    def delete_collection(self, name: str) -> None:
        from chromadb.errors import NotFoundError

        with suppress(NotFoundError):  # a repeated request finds it deleted
            self.call(_Request("", "delete_collection", {"name": name}))

    def get_max_batch_size(self) -> int:
        return int(self.call(_Request("", "get_max_batch_size", {})))

    def start(self) -> None:
        """Start the process where none runs; returns at once. A worker that started it would pass on its low priority.
        The first request reports a failure."""

        def connect() -> None:
            with suppress(StoreFailed):
                self.get_max_batch_size()

        threading.Thread(target=connect, name="chroma start", daemon=True).start()

    def close(self) -> None:
        """Leave the process, which ends soon when nobody else uses it; requests are refused from now on. Safe to call
        again."""
        self._closed.set()
        self._leave()
        with self._lock:
            if self._shortcut is not None:
                with suppress(OSError):  # a cleaner of temporary files was faster
                    self._shortcut.unlink()
                    self._shortcut.parent.rmdir()
                self._shortcut = None

    def _leave(self) -> None:
        with suppress(IndexError):
            while True:
                self._idle.pop().close()

    def call(self, request: _Request) -> Any:
        """What a request returns."""
        for left in reversed(range(_ATTEMPTS)):
            try:
                answer = self._answer_to(request)
                break
            except (EOFError, ConnectionError) as error:  # the process ended: the next one is asked
                self._leave()
                if not left:
                    raise StoreUnavailable(
                        f"Chroma in the data folder keeps ending: {self._printed()}", _AGAIN
                    ) from error
                time.sleep(_PAUSE_SECONDS)
            except OSError as error:
                hint = "Check who owns the folder, and that there is room."
                raise StoreFailed(f"Chroma in the data folder cannot be used: {error}.", hint) from error
        if answer.error == _NOT_CHROMA:
            raise StoreUnavailable(f"Chroma in the data folder failed: {answer.value}.", _AGAIN)
        if answer.error:
            from chromadb import errors

            raise getattr(errors, answer.error, errors.InternalError)(answer.value)
        return answer.value

    def _answer_to(self, request: _Request) -> _Answer:
        """The answer of the process. Raises EOFError, ConnectionError when it ends before."""
        if self._closed.is_set():
            raise StoreUnavailable("The library is closed.", "Start again.")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connected()
        try:
            connection.send(request)
            if not connection.poll(_MOST_SECONDS):
                raise StoreUnavailable(f"Chroma did not answer within {_MOST_SECONDS:.0f} seconds.", _AGAIN)
            answer: _Answer = connection.recv()
        except BaseException:  # a later answer must not be taken for another request's
            connection.close()
            raise
        self._idle.append(connection)
        if self._closed.is_set():
            self._leave()
        return answer

    def _connected(self) -> Connection:
        """A connection to the process, which is started where none listens."""
        deadline = time.monotonic() + _START_SECONDS
        process: subprocess.Popen[bytes] | None = None
        again_at, pause = 0.0, _PAUSE_SECONDS
        while True:
            try:
                return Client(self._address(), "AF_UNIX")
            except (FileNotFoundError, ConnectionError) as error:
                status = None if process is None else process.poll()
                if status or time.monotonic() > deadline:
                    words = f"Chroma in the data folder does not start: {self._printed()}"
                    failure = StoreFailed if status else StoreUnavailable
                    raise failure(
                        words, f"Look into chroma/{_LOG} in the data folder." if status else _AGAIN
                    ) from error
                # One that ended well left the folder to another, which is about to listen, or has ended, too.
                if process is None or (status == 0 and time.monotonic() >= again_at):
                    process = self._started()
                    again_at, pause = time.monotonic() + pause, min(2 * pause, _LONGEST_PAUSE_SECONDS)
                time.sleep(_LOOK_SECONDS)

    def _started(self) -> "subprocess.Popen[bytes]":
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._folder.stat().st_mode & 0o077:
            self._folder.chmod(0o700)  # whoever reaches the socket reads the vectors
        root = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
        with (self._folder / _LOG).open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _PROGRAM, str(self._folder)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=os.environ | {"PYTHONPATH": paths},
                start_new_session=True,  # Control-C in a terminal is for its program, not for all
            )
        threading.Thread(target=process.wait, name="chroma process", daemon=True).start()  # else it ends as a zombie
        return process

    def _address(self) -> str:
        path = self._folder / _SOCKET
        if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES:
            return str(path)
        with self._lock:
            if self._shortcut is None or not self._shortcut.is_symlink():
                self._shortcut = Path(mkdtemp(prefix="fivefold-")) / "chroma"
                self._shortcut.symlink_to(self._folder, target_is_directory=True)
            return str(self._shortcut / _SOCKET)

    def _printed(self) -> str:
        with suppress(OSError):
            lines = (self._folder / _LOG).read_text("utf-8", "replace").strip().splitlines()
            return lines[-1] if lines else "it printed nothing"
        return "it printed nothing"


@dataclass(frozen=True, slots=True)
class LocalCollection:
    """The part of chromadb's collection that the product uses."""

    client: LocalChroma
    name: str
    metadata: Mapping[str, Any] | None

    def count(self) -> int:
        return int(self._call("count"))

    def upsert(self, **arguments: Any) -> None:
        self._call("upsert", **arguments)

    def update(self, **arguments: Any) -> None:
        self._call("update", **arguments)

    def delete(self, **arguments: Any) -> None:
        self._call("delete", **arguments)

    def get(self, **arguments: Any) -> Any:
        return self._call("get", **arguments)

    def query(self, **arguments: Any) -> Any:
        return self._call("query", **arguments)

    def _call(self, method: str, **arguments: Any) -> Any:
        return self.client.call(_Request(self.name, method, arguments))


class _Server:
    """Answers requests with the Chroma of the working folder, one thread per connection."""

    def __init__(self) -> None:
        from storage.vectors.chroma import embedded_client

        self._client = embedded_client(Path())
        self._lock = threading.Lock()
        self._connections = 0
        self._left_at = time.monotonic()

    def serve(self) -> None:
        """Until no program has been connected for some seconds."""
        Path(_SOCKET).unlink(missing_ok=True)  # of a process that was killed
        with closing(Listener(_SOCKET, "AF_UNIX", _WAITING)) as listener:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
            while not self._is_left():
                time.sleep(_LOOK_SECONDS)

    def _is_left(self) -> bool:
        with self._lock:
            return not self._connections and time.monotonic() - self._left_at > _LEFT_SECONDS

    def _accept(self, listener: Listener) -> None:
        while True:
            try:
                connection = listener.accept()
                with self._lock:
                    self._connections += 1
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()
            except OSError:  # too many open files
                time.sleep(_LOOK_SECONDS)
            except RuntimeError:  # too many threads
                self._end(connection)

    def _talk(self, connection: Connection) -> None:
        try:
            while True:
                connection.send(self._answer(connection.recv()))
        except (EOFError, OSError):
            pass  # the program has left, or was killed
        finally:
            self._end(connection)

    def _end(self, connection: Connection) -> None:
        connection.close()
        with self._lock:
            self._connections -= 1
            self._left_at = time.monotonic()

    def _answer(self, request: _Request) -> _Answer:
        try:
            owner = self._client.get_collection(request.collection, None) if request.collection else self._client
            value = getattr(owner, request.method)(**request.arguments)
        except OSError as error:
            return _Answer(_NOT_CHROMA, str(error))
        except Exception as error:  # noqa: BLE001 - the program that asked gets it
            return _Answer(type(error).__name__, str(error))
        if request.method == "list_collections":
            value = [(each.name, each.metadata) for each in value]
        return _Answer("", None if request.method == "get_or_create_collection" else value)


def main(folder: str) -> None:
    """Serve a folder, unless another process does."""
    import fcntl

    os.chdir(folder)
    with Path(_LOCK).open("ab") as lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        with suppress(OSError):
            os.ftruncate(sys.stderr.fileno(), 0)  # what earlier processes printed
        try:
            _Server().serve()
        except StoreFailed as error:
            sys.exit(error.message)
        os._exit(0)  # with the lock: nothing of this process may go on while the next one opens the folder
