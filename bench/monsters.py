"""`python -m bench.monsters [--only NAME…]`: files made to hurt, through a whole library: time and memory of each step.

Each is read by a process of its own, as a worker reads it, with an embedded database. The table shows how long each
step took, the most memory of the process and of the reader it started, and how the document ended.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from threading import Event, Thread
from time import perf_counter, sleep

import psutil

from bootstrap.scratch_library import scratch_workbench
from bootstrap.workbench import settings_from_environment
from core.domain.documents import Document
from core.domain.errors import NotFound
from core.formats.terminal import aligned
from core.workbench import Workbench

__all__ = ["MONSTERS", "main"]

_LOOK_SECONDS = 0.05
_STEPS = ("read", "load", "split", "embed", "classify", "entities", "store", "enrich")


def _lines_of(before: bytes, after: bytes) -> Callable[[], bytes]:
    return lambda: before + b"\n" * 1_500_000 + after


_WORDS = b"Employees accrue leave each month and it is paid at the regular rate "

MONSTERS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "newlines": ("newlines.txt", _lines_of(b"Leave is paid.", b"Overtime is paid.")),
    "newlines, Markdown": ("newlines.md", _lines_of(b"# Leave\nIt is paid.", b"Overtime is paid.")),
    "newlines, web page": ("newlines.html", _lines_of(b"<p>Leave is paid.", b"<pre>\n</pre>Overtime is paid.")),
    "newlines, CSV": ("newlines.csv", _lines_of(b"a,b\n1,2", b"3,4\n")),
    "newlines, mail": ("newlines.eml", _lines_of(b"From: a@b.example\nSubject: S\n\nLeave.", b"Overtime.")),
    "line of words": ("line.txt", lambda: _WORDS * (60_000_000 // len(_WORDS))),
    "line of letters": ("letters.txt", lambda: b"x" * 60_000_000),
    "line, Markdown": ("line.md", lambda: _WORDS * (20_000_000 // len(_WORDS))),
    "line, web page": ("line.html", lambda: b"<p>" + (_WORDS * (20_000_000 // len(_WORDS)))),
    "sparse JSON": (
        "sparse.json",
        lambda: json.dumps([{"id": at, f"key{at}": at} for at in range(20_000)]).encode(),
    ),
    "sparse JSON, long": (
        "long.json",
        lambda: json.dumps([{"id": at, f"key{at % 5_000}": at} for at in range(200_000)]).encode(),
    ),
}


def main(words: Sequence[str] | None = None) -> None:
    """Run the chosen monsters, each in a process of its own."""
    parser = argparse.ArgumentParser(prog="python -m bench.monsters", description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", choices=tuple(MONSTERS), default=())
    parser.add_argument("--seconds", type=int, default=900, help="after which a monster is given up")
    parser.add_argument("--one", choices=tuple(MONSTERS), help=argparse.SUPPRESS)
    chosen = parser.parse_args(words)
    if chosen.one:
        _read_here(chosen.one)
        return
    rows = []
    for name in chosen.only or MONSTERS:
        command = [sys.executable, "-m", "bench.monsters", "--one", name]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            stopping = Thread(target=_stop_after, args=(process, chosen.seconds), daemon=True)
            stopping.start()
            assert process.stdout is not None
            messages: dict[str, str] = {}
            for line in process.stdout:
                messages |= json.loads(line)
        rows.append([name, *(messages.get(each, "") for each in (*_STEPS, "app MB", "reader MB", "end"))])
        print(name, messages, file=sys.stderr, flush=True)
    print(aligned(["monster", *_STEPS, "app MB", "reader MB", "end"], rows))


def _stop_after(process: "subprocess.Popen[str]", seconds: float) -> None:
    until = perf_counter() + seconds
    while process.poll() is None and perf_counter() < until:
        sleep(_LOOK_SECONDS)
    for child in psutil.Process(process.pid).children(recursive=True) if process.poll() is None else ():
        child.kill()
    process.kill()


def _read_here(name: str) -> None:
    file_name, make = MONSTERS[name]
    with scratch_workbench(settings_from_environment()) as workbench:
        workbench.documents.upload("warm.txt", b"Leave is paid.")
        for each in workbench.documents.list():
            workbench.ingestion.ingest(each.id)
        number = workbench.documents.upload(file_name, make()).document_id
        over, watch = Event(), _Watch(workbench, number)
        watching = Thread(target=watch.until, args=(over,), daemon=True)
        watching.start()
        document = workbench.ingestion.ingest(number)
        over.set()
        watching.join()
        _tell({"end": _end(document)})
        started = perf_counter()
        workbench.enrichment.enrich(number)
        _tell({"enrich": f"{perf_counter() - started:.1f}"})


def _end(document: Document) -> str:
    message = " ".join((document.failure, *document.warnings))
    return f"{document.state}, {document.passages} passages. {message}"


def _tell(messages: dict[str, str]) -> None:
    print(json.dumps(messages), flush=True)


class _Watch:
    """Looks at a document's step and at the memory twenty times a second, and prints what changed."""

    def __init__(self, workbench: Workbench, number: int) -> None:
        self._workbench, self._number = workbench, number
        self._seconds: dict[str, float] = {}
        self._app = self._reader = 0.0

    def until(self, over: Event) -> None:
        """Look until the event is set."""
        before = last = perf_counter()
        while not over.wait(_LOOK_SECONDS):
            try:
                step = self._workbench.documents.get(self._number).step.partition(" ")[0] or "store"
            except NotFound:
                return
            now = perf_counter()
            self._seconds[step] = self._seconds.get(step, 0.0) + now - before
            before = now
            self._look_at_memory()
            if now - last > 1:
                last = now
                self._say()
        self._say()

    def _look_at_memory(self) -> None:
        own = psutil.Process()
        self._app = max(self._app, own.memory_info().rss / 1e6)
        for child in own.children():
            try:
                if "adapters.sandboxed_reader" in " ".join(child.cmdline()):
                    self._reader = max(self._reader, child.memory_info().rss / 1e6)
            except psutil.NoSuchProcess:
                continue

    def _say(self) -> None:
        seconds = {step: f"{spent:.1f}" for step, spent in self._seconds.items()}
        _tell({**seconds, "app MB": f"{self._app:.0f}", "reader MB": f"{self._reader:.0f}", "end": "stopped"})


if __name__ == "__main__":
    main()
