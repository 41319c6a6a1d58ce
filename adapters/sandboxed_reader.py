"""Reads files in a separate process, so that a file that crashes, hangs or exhausts memory affects no other.

The process has no network, no passwords and no rights to gain, and reaches no file but programs, libraries and
temporary files, where the system can keep it from them (adapters/confinement.py). It is started once and reused; it is
a plain `python -m adapters.sandboxed_reader`, never a fork, so it works from any thread of any server. It ends when its
input pipe closes, which the system does even when the parent is killed.
"""

import json
import os
import subprocess
import sys
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

import core.domain.errors
from adapters.confinement import Confinement, confine, own_environment
from adapters.ocr import installed_ocr
from core.domain.datasets import Column, ColumnType, ReadTable, Reject
from core.domain.documents import Page, TableRole
from core.domain.errors import BadFile, Cure, FileTooCostly, UnreadableFile
from core.domain.extraction import Block, BlockKind, ContainedFile, ExtractedDocument, FeedEntry, ParsedFeed
from core.ingestion.parsers import extract, extract_container
from core.ingestion.parsers.decrypt import decrypted
from core.ingestion.parsers.feed import read_feed

__all__ = ["SandboxedReader"]

_PROJECT = Path(__file__).parents[1]
_SPLIT = "Split the file, or raise FIVEFOLD_FILE_SECONDS and FIVEFOLD_FILE_MEGABYTES."
_LENGTH_BYTES = 8  # of the number in front of each message
_ENDING_SECONDS = 1.0  # how long a dying process is waited for. Chosen by hand.


@contextmanager
def _temporary(purpose: str) -> Iterator[Path]:
    with TemporaryDirectory(prefix=f"fivefold-{purpose}-") as folder:
        yield Path(folder)


class SandboxedReader:
    """core.ports.reader.FileReader in reusable worker processes, one per concurrent caller. Thread-safe.

    seconds, megabytes: limits per file. scratch: makes a temporary folder for a purpose and removes it. Every method
    raises what the function behind it raises; FileTooCostly above the limits, UnreadableFile when the worker crashed.
    """

    def __init__(
        self,
        seconds: int,
        megabytes: int,
        scratch: Callable[[str], AbstractContextManager[Path]] = _temporary,
    ) -> None:
        self._seconds, self._megabytes, self._scratch = seconds, megabytes, scratch
        self._idle: deque[_Worker] = deque()

    @contextmanager
    def scratch_folder(self) -> Iterator[Path]:
        """An empty temporary folder, removed with its contents on exit."""
        with self._scratch("reading") as folder:
            yield folder

    def read(self, name: str, data: bytes, folder: Path | None = None) -> ExtractedDocument:
        """The result of `extract`."""
        return _to_document(self._answer("read", name, data, folder=str(folder or "")))

    def take_out(self, name: str, data: bytes, folder: Path) -> ExtractedDocument | None:
        """The files in an archive or mail, written below `folder`; None for every other kind of file."""
        answer = self._answer("take out", name, data, folder=str(folder))
        return _to_document(answer) if answer else None

    def unlock(self, name: str, data: bytes, password: str) -> bytes:
        """A copy without its password, as `decrypted` makes it."""
        with self._scratch("unlocked") as folder:
            answer = self._answer("unlock", name, data, folder=str(folder), password=password)
            return Path(str(answer["path"])).read_bytes()

    def feed(self, url: str, data: bytes) -> ParsedFeed:
        """The result of `read_feed`."""
        answer = self._answer("feed", url, data)
        return ParsedFeed(answer["title"], tuple(FeedEntry(**each) for each in answer["entries"]))

    def confinement(self) -> Confinement:
        """What the system keeps the reading processes from."""
        return Confinement(**self._answer("confinement", "", b""))

    def _answer(self, task: str, name: str, data: bytes, **details: str) -> dict[str, Any]:
        """The answer of a worker process, as plain data."""
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker(self._megabytes)
        request = {"task": task, "name": name, "seconds": str(self._seconds), **details}
        answer = worker.ask(request, data, self._seconds)
        if answer is None:
            raise worker.post_mortem(name, self._seconds, self._megabytes)
        if answer.get("error") == FileTooCostly.__name__:
            worker.stop()
        else:
            self._idle.append(worker)
        if "error" in answer:
            raise getattr(core.domain.errors, answer["error"])(answer["message"], answer["hint"], Cure(answer["cure"]))
        return answer

    def close(self) -> None:
        """Stop the idle processes."""
        while self._idle:
            self._idle.pop().stop()


class _Worker:
    """One worker process."""

    def __init__(self, megabytes: int) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "adapters.sandboxed_reader", str(megabytes)],
            cwd=_PROJECT,
            env=own_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._timed_out = False
        self.stop = weakref.finalize(self, _stop, self._process)

    def ask(self, request: dict[str, str], data: bytes, seconds: int) -> dict[str, Any] | None:
        """The worker's answer, or None when it died or was stopped at its deadline."""
        assert self._process.stdin is not None and self._process.stdout is not None
        deadline = threading.Timer(seconds, self._expire)
        deadline.daemon = True
        deadline.start()
        try:
            _send(self._process.stdin, json.dumps(request).encode())
            _send(self._process.stdin, data)
            answer = _receive(self._process.stdout)
        except OSError:
            answer = None
        finally:
            deadline.cancel()
        return None if answer is None else json.loads(answer)

    def _expire(self) -> None:
        self._timed_out = True
        self._process.kill()

    def post_mortem(self, name: str, seconds: int, megabytes: int) -> BadFile:
        """The error for a worker that gave no answer."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_ENDING_SECONDS)  # the pipe closes a moment before the process ends
        self.stop()
        if self._timed_out:
            return FileTooCostly(f"Reading '{name}' took more than {seconds} seconds and was stopped.", _SPLIT)
        return UnreadableFile(
            f"Reading '{name}' crashed its reader (exit {self._process.returncode}); the file is damaged, "
            f"or needs more than {megabytes:,} MB.",
            "Export it again from the program that made it.",
            Cure.AGAIN,
        )


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue  # buffered data for a dead process is lost
    process.wait()


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(len(data).to_bytes(_LENGTH_BYTES, "big"))
    pipe.write(data)
    pipe.flush()


def _receive(pipe: IO[bytes]) -> bytes | None:
    """The next message, None at the end of the pipe."""
    head = pipe.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    length = int.from_bytes(head, "big")
    data = pipe.read(length)
    return data if len(data) == length else None


def _to_document(answer: dict[str, Any]) -> ExtractedDocument:
    """The answer as a value."""
    pages = tuple(Page(**page) for page in answer.pop("pages"))
    blocks = tuple(Block(**{**block, "kind": BlockKind(block["kind"])}) for block in answer.pop("blocks"))
    answer |= {name: tuple(answer[name]) for name in ("warnings", "setup_pages")}
    answer |= {"members": tuple(ContainedFile(**member) for member in answer["members"])}
    answer |= {"tables": tuple(_read_table(table) for table in answer["tables"])}
    return ExtractedDocument(pages=pages, blocks=blocks, **answer)


def _read_table(table: dict[str, Any]) -> ReadTable:
    columns = [{**column, "type": ColumnType(column["type"])} for column in table["columns"]]
    table |= {
        "columns": tuple(Column(**{**column, "top": tuple(map(tuple, column["top"]))}) for column in columns),
        "rejects": tuple(Reject(**{**each, "cells": tuple(each["cells"])}) for each in table["rejects"]),
        "left_out": tuple(map(tuple, table["left_out"])),
        "role": TableRole(table["role"]),
    }
    return ReadTable(**table)


def _serve(megabytes: int) -> None:
    """Answer requests until the input closes. Runs in the reading process."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keep whatever a library prints out of the answers
    confinement = confine(megabytes, _PROJECT)
    requests: deque[tuple[dict[str, str], bytes]] = deque()
    arrived = threading.Semaphore(0)
    threading.Thread(target=_listen, args=(requests, arrived), daemon=True).start()
    while True:
        arrived.acquire()
        request, data = requests.popleft()
        answer = asdict(confinement) if request["task"] == "confinement" else _answer(request, data)
        _send(answers, json.dumps(answer).encode())


def _listen(requests: deque[tuple[dict[str, str], bytes]], arrived: threading.Semaphore) -> None:
    """Receive requests; the end of the input ends the process even while it reads a file."""
    try:
        while True:
            request, data = _receive(sys.stdin.buffer), _receive(sys.stdin.buffer)
            if request is None or data is None:
                return
            requests.append((json.loads(request), data))
            arrived.release()
    finally:
        os._exit(0)  # also when a file is too large to take in: its caller must not wait


def _answer(request: dict[str, str], data: bytes) -> dict[str, Any]:
    """The result of a task, or the error it raises, as plain data. Runs in the worker process."""
    name = request["name"]
    try:
        return _run_task(request, data)
    except BadFile as error:
        return _to_message(error)
    except MemoryError:
        return _to_message(FileTooCostly(f"Reading '{name}' needs more memory than one file may take.", _SPLIT))
    except RecursionError:
        hint = "Save it again from the program that made it."
        return _to_message(UnreadableFile(f"'{name}' is nested deeper than any real document.", hint))


def _to_message(error: BadFile) -> dict[str, Any]:
    """An error as plain data."""
    return {"error": type(error).__name__, "message": error.message, "hint": error.hint, "cure": error.cure}


def _run_task(request: dict[str, str], data: bytes) -> dict[str, Any]:
    name, folder = request["name"], request.get("folder", "")
    match request["task"]:
        case "take out":
            container = extract_container(name, data, Path(folder), int(request["seconds"]), installed_ocr())
            return {} if container is None else asdict(container)
        case "unlock":
            path = Path(folder) / "decrypted"
            path.write_bytes(decrypted(name, data, request["password"]))
            return {"path": str(path)}
        case "feed":
            return asdict(read_feed(name, data))
        case _:
            where, seconds = Path(folder) if folder else None, int(request["seconds"])
            return asdict(extract(name, data, where, seconds, installed_ocr()))


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
