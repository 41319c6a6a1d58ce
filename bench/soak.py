"""Everyday work for minutes or hours: `python -m bench.soak --minutes 60`.

Starts the app and a worker on a library in a temporary folder, reads the sample library (or the files of FOLDER), then
works on it without a break, as a busy team would:

    searchers    ask questions by the REST API, with a token, each some seconds after its last answer
    uploader     uploads a new file every few seconds and waits until it is read; the oldest beyond forty are deleted
    assessor     assesses the coverage topics again and again
    sessions     speak Streamlit's own protocol: open pages, choose views, type questions, leave, come again

Every minute it prints how many of each were done, their p50 and p95 in seconds, errors, and the memory of app, worker,
search processes (FIVEFOLD_SEARCH_PROCESSES), PostgreSQL and its connections, which live for half an hour at most. At
the end it says whether memory grows after the warm-up. Errors are answers of 500 and above, refusals, error messages on
a page, hangs, files that cannot be read, and tracebacks in a log. Exit code 1: an error, or memory that is not flat.
"""
# Over 300 lines: the four kinds of work and their record are one story.

import argparse
import json
import os
import random
import re
import subprocess
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter
from typing import Any

import httpx

import sample
from bench.measured import quantile
from bench.memory_growth import Growth, Verdict, growth, growth_by_period, megabytes_of, server_megabytes
from bench.streamlit_session import PageView, StreamlitSession
from core.formats.terminal import aligned
from tests.running import ROOT, RunningApp, running_app

__all__ = ["Load", "Noted", "Record", "body_of", "new_token", "running_worker", "soak"]

_UPLOADS_STAY = 40  # uploaded files that stay, so that the library keeps its size
_RUNS_STAY = 5
_PAGES_PER_VISIT = (4, 12)  # pages that a session opens before it leaves
_PATIENCE_SECONDS = 600.0  # for a file or a run, on a busy machine
_JUDGED = ("app", "worker", "searching", "postgres", "connections")
_LEAST_MINUTES = 15  # measured after the warm-up, for a slope
_SAMPLE_SECONDS = 5.0  # PostgreSQL opens and closes connections all the time: one sample a minute says little
_LOGGED = re.compile(r"^Traceback|\bCRITICAL\b|\bPANIC\b|\bFATAL\b", re.MULTILINE)
_ASIDE = re.compile(r"FATAL:  (?:the database system is|terminating connection|role \"|no pg_hba|database \")")
"""Lines of PostgreSQL's log that belong to its start and stop."""


@dataclass(slots=True)
class Record:
    """What was done: seconds by kind, and errors by their words. Safe for threads."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def timed(self, kind: str) -> Iterator[None]:
        """Note how long a block took. What it raises is noted as an error instead, once; then `Noted` is raised."""
        from websockets.exceptions import WebSocketException

        began = perf_counter()
        try:
            yield
        except (httpx.HTTPError, WebSocketException, OSError, TimeoutError, _Failed, AssertionError) as error:
            self.failed(kind, f"{type(error).__name__}: {error}")
            raise Noted from error
        with self._lock:
            self.seconds[kind].append(perf_counter() - began)

    def failed(self, kind: str, words: str) -> None:
        """Note an error; a new one is told at once."""
        message = f"{kind}: {' '.join(words.split())[:300]}"
        with self._lock:
            self.errors[message] += 1
            if self.errors[message] == 1:
                print(f"error: {message}", flush=True)

    def table(self, since: dict[str, int] | None = None) -> str:
        """Number, p50, p95 and longest by kind. since: how many of each to leave out."""
        with self._lock:
            taken = {kind: list(all_of)[(since or {}).get(kind, 0) :] for kind, all_of in sorted(self.seconds.items())}
        rows = [
            (kind, len(each), round(quantile(each, 0.5), 2), round(quantile(each, 0.95), 2), round(max(each), 2))
            for kind, each in taken.items()
            if each
        ]
        return aligned(("kind", "number", "p50 s", "p95 s", "longest s"), rows) if rows else "nothing was done"

    def counts(self) -> dict[str, int]:
        """How many of each kind were done."""
        with self._lock:
            return {kind: len(each) for kind, each in self.seconds.items()}


class _Failed(Exception):
    """Something answered otherwise than it should."""


class Noted(Exception):
    """An error that was noted already."""


@dataclass(frozen=True, slots=True)
class Load:
    """How much work: so many searchers and sessions at once, seconds that each thinks between two steps, and seconds
    between two uploads and two runs."""

    searchers: int = 32
    sessions: int = 20
    pause_seconds: float = 5.0
    upload_seconds: float = 10.0
    run_seconds: float = 20.0


@dataclass(slots=True)
class _Work:
    """All work on one app, until `over`."""

    url: str
    token: str
    load: Load
    record: Record
    texts: list[str]
    over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)
    _serial: Iterator[int] = field(default_factory=lambda: count(1))

    def start(self) -> None:
        """Start every worker in a thread of its own."""
        works: list[Callable[[int], None]] = [self._search] * self.load.searchers
        works += [self._visit] * self.load.sessions + [self._upload, self._assess]
        for number, work in enumerate(works):
            self._threads.append(threading.Thread(target=work, args=(number,), daemon=True))
            self._threads[-1].start()

    def stop(self) -> None:
        """End all of it, and wait for what is under way."""
        self.over.set()
        deadline = monotonic() + _PATIENCE_SECONDS
        for each in self._threads:
            each.join(max(deadline - monotonic(), 0.0))
        hanging = sum(each.is_alive() for each in self._threads)
        if hanging:
            self.record.failed("end", f"{hanging} threads still wait for an answer")

    def _client(self) -> httpx.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.Client(base_url=f"{self.url}/api", headers=headers, timeout=_PATIENCE_SECONDS)

    def _again(self, pause_seconds: float, work: Callable[[], None]) -> None:
        """Do it again and again until the end; what went wrong is noted, and the next try is a new one."""
        while not self.over.wait(pause_seconds):
            with suppress(Noted):
                work()

    def _search(self, number: int) -> None:
        chance, questions = random.Random(number), sample.questions()
        with self._client() as api:

            def ask() -> None:
                params: dict[str, Any] = {"q": chance.choice(questions), "limit": 10}
                if chance.random() < 0.3:
                    params["truths"] = chance.choice(["regulatory", "compliance", "intent", "reference"])
                if chance.random() < 0.5:
                    params["q"] = f"{params['q']} {chance.choice(self.texts)[:60]}"  # one that nobody has asked before
                with self.record.timed("search"):
                    body_of(api.get("/search", params=params))
                if chance.random() < 0.1:
                    with self.record.timed("answer"):
                        body_of(api.post("/answers", json={"question": params["q"]}))

            self._again(self.load.pause_seconds * chance.uniform(0.5, 1.5), ask)

    def _upload(self, number: int) -> None:
        chance, mine = random.Random(number), list[int]()
        with self._client() as api:

            def upload() -> None:
                name, data = self._new_file(chance)
                with self.record.timed("upload"):
                    mine.append(body_of(api.post("/documents", files={"file": (name, data)}))["document_id"])
                with self.record.timed("read"):
                    self._wait_until_read(api, mine[-1], name)
                while len(mine) > _UPLOADS_STAY:
                    with self.record.timed("delete"):
                        body_of(api.delete(f"/documents/{mine.pop(0)}"))

            self._again(self.load.upload_seconds, upload)

    def _wait_until_read(self, api: httpx.Client, document: int, name: str) -> None:
        deadline = monotonic() + _PATIENCE_SECONDS
        while (status := body_of(api.get(f"/documents/{document}/status")))["state"] == "pending":
            if self.over.wait(1.0):
                return
            if monotonic() > deadline:
                raise _Failed(f"{name} was not read in {_PATIENCE_SECONDS:.0f} s, it is at {status['step']}")
        if status["state"] != "ready":
            raise _Failed(f"{name} is {status['state']}: {status.get('failure')}")

    def _new_file(self, chance: random.Random) -> tuple[str, bytes]:
        """A file that nobody has uploaded: sentences in a new order, a PDF with a mark at its end, or a table."""
        number = next(self._serial)
        kind = number % 6
        if kind == 0:
            pdf = chance.choice([each for each in sample.files() if each.suffix == ".pdf"])
            return f"{pdf.stem} copy {number}.pdf", pdf.read_bytes() + f"\n% copy {number}\n".encode()
        if kind == 3:
            rows = "\n".join(f"{chance.randrange(9999)},{chance.randrange(90)},{number}" for _ in range(200))
            return f"hours_{number}.csv", f"employee,hours,period\n{rows}\n".encode()
        paragraphs = [" ".join(chance.choices(self.texts, k=6)) for _ in range(chance.randrange(5, 40))]
        return f"Notes {number}.md", "\n\n".join((f"# Notes of meeting {number}", *paragraphs)).encode()

    def _assess(self, number: int) -> None:
        done: list[int] = []
        with self._client() as api:
            with self.record.timed("topics"):
                body_of(api.post("/coverage/topics", json={"topics": [{"name": each} for each in sample.topics()]}))

            def assess() -> None:
                with self.record.timed("coverage run"):
                    options = {"whole": len(done) % 2 == 0}
                    run = body_of(api.post("/coverage/runs", json=options))["id"]
                    self._wait_until_assessed(api, run)
                    done.append(run)
                if self.over.is_set():
                    return
                with self.record.timed("board"):
                    body_of(api.get("/coverage/board"))
                while len(done) > _RUNS_STAY:
                    with self.record.timed("delete run"):
                        body_of(api.delete(f"/coverage/runs/{done.pop(0)}"))

            self._again(self.load.run_seconds, assess)

    def _wait_until_assessed(self, api: httpx.Client, run: int) -> None:
        deadline = monotonic() + _PATIENCE_SECONDS
        while (state := body_of(api.get(f"/coverage/runs/{run}")))["state"] == "running":
            if self.over.wait(1.0):
                return
            if monotonic() > deadline:
                raise _Failed(f"run {run} is not done after {_PATIENCE_SECONDS:.0f} s")
        if state["state"] != "done":
            raise _Failed(f"run {run} is {state['state']}: {state['problem']}")

    def _visit(self, number: int) -> None:
        """One person after the other: each opens some pages, then closes the tab."""
        chance = random.Random(number)

        def visit() -> None:
            with self.record.timed("visit"), StreamlitSession(self.url) as tab:
                with self.record.timed("page home"):
                    self._check("home", tab.open())
                for _ in range(chance.randint(*_PAGES_PER_VISIT)):
                    if self.over.wait(self.load.pause_seconds * chance.uniform(0.5, 1.5)):
                        return
                    if not self._turn(tab, chance):
                        return

        self._again(self.load.pause_seconds * chance.uniform(0.5, 1.5), visit)

    def _turn(self, tab: StreamlitSession, chance: random.Random) -> bool:
        """Open a page, then do one thing on it that changes nothing: choose a view, type, or wait for its fragment.
        Returns whether the tab can be used further."""
        page = chance.choice([each for each in tab.pages if each != "inspect"])
        parameters = {
            "search": {"q": chance.choice(sample.questions())},
            "document": {"id": str(chance.randint(1, 14))},
        }
        with self.record.timed(f"page {page or 'home'}"):
            view = tab.open(page, parameters.get(page))
            self._check(page, view)
        if view.fragment:
            with self.record.timed(f"fragment of {page or 'home'}"):
                drawn = tab.redraw(view.fragment)
            if drawn is None:
                return False
            self._report(page, drawn)
        group = view.choices.get("View") or view.choices.get("Room")
        if group:
            chosen = chance.choice(group[1])
            with self.record.timed("choose a view"):
                self._check(f"{page} › {chosen}", tab.open(page, None, {group[0]: [chosen]}))
        elif "Ask a question" in view.fields:
            with self.record.timed("type a question"):
                self._check(page, tab.open(page, None, {view.fields["Ask a question"]: chance.choice(self.texts)[:80]}))
        return True

    def _check(self, page: str, view: PageView) -> None:
        self._report(page, view)
        if not view.elements:
            raise _Failed(f"{page or 'home'} drew nothing")

    def _report(self, page: str, view: PageView) -> None:
        for problem in view.problems:
            self.record.failed(f"page {page or 'home'}", problem)


def body_of(response: httpx.Response) -> Any:
    """The body. Raises _Failed for a refusal: nothing of this work is refused by a healthy app."""
    if response.status_code >= 400:
        raise _Failed(f"{response.status_code} {response.request.url.path}: {response.text[:200]}")
    return response.json() if response.content else None


@dataclass(frozen=True, slots=True)
class _Memory:
    """Megabytes, the mean of the minute that ends `minute` minutes after the start of the work."""

    minute: float
    app: float
    worker: float
    readers: float
    searching: float
    postgres: float
    connections: float


def soak(files: list[Path], minutes: float, load: Load, say: Callable[[str], None]) -> tuple[Record, list[_Memory]]:
    """Work for so many minutes; returns what was done, and the memory each minute."""
    record, memories = Record(), list[_Memory]()
    with TemporaryDirectory(prefix="fivefold-soak-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o711)  # as root, the database runs as another user, who must pass
        data = Path(folder) / "data"
        token = new_token(data)
        with (
            running_app(
                data, patience=_PATIENCE_SECONDS, FIVEFOLD_WORKER="false", FIVEFOLD_API_RATE="1000000/minute"
            ) as app,
            running_worker(data) as worker,
        ):
            work = _Work(app.url, token, load, record, _sentences(files))
            with work._client() as api:
                for path in files:
                    body_of(api.post("/documents", files={"file": (path.name, path.read_bytes())}))
                app.read_by_now(len(files), _PATIENCE_SECONDS)
                body_of(api.get("/search", params={"q": sample.questions()[0]}))  # loads the models
            say(f"{len(files)} files are read; the work begins.")
            began = monotonic()
            work.start()
            while (left := began + 60 * minutes - monotonic()) > 0:
                before = record.counts()
                samples = [_memory(app, worker, data)]
                minute_ends = monotonic() + min(60.0, left)
                while (rest := minute_ends - monotonic()) > 0 and not work.over.wait(min(_SAMPLE_SECONDS, rest)):
                    samples.append(_memory(app, worker, data))
                memories.append(_Memory((monotonic() - began) / 60, *map(fmean, zip(*samples, strict=True))))
                say(_minute(record, before, memories[-1]))
                for name, process in (("app", app.process), ("worker", worker)):
                    if process.poll() is not None:
                        record.failed(name, f"ended by itself with {process.returncode}")
                        work.over.set()
                if work.over.is_set():
                    break
            work.stop()
        _read_logs(record, (app.log, Path(folder) / "worker.log", data / "postgres" / "log"))
    return record, memories


def new_token(data: Path) -> str:
    """The secret of a new token of a new library."""
    from bootstrap.environment import Settings, settings_from_environment
    from bootstrap.workbench import open_workbench
    from core.domain.people import Door, Role, local_principal

    settings: Settings = replace(settings_from_environment(), data_folder=data, database_url="", worker=False)
    with open_workbench(settings) as workbench:
        return workbench.tokens.create("soak", Role.ADMINISTRATOR, None, local_principal(Door.COMMAND))[1]


@contextmanager
def running_worker(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    with (data.parent / "worker.log").open("ab") as log:
        worker = subprocess.Popen(
            [sys.executable, "-m", "cli", "worker"],
            cwd=ROOT,
            env=inherited | {"FIVEFOLD_DATA_FOLDER": str(data)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield worker
    finally:
        worker.terminate()
        worker.wait(60)


def _sentences(files: list[Path]) -> list[str]:
    text = "\n".join(each.read_text("utf-8") for each in [*files, *sample.files()] if each.suffix in (".md", ".txt"))
    return [line.strip(" #*-") for line in re.split(r"(?<=[.!?])\s+|\n+", text) if len(line) > 30]


def _memory(app: RunningApp, worker: subprocess.Popen[bytes], data: Path) -> tuple[float, ...]:
    server = int((data / "postgres" / "postmaster.pid").read_text("utf-8").split("\n", 1)[0])
    return (
        megabytes_of(app.process.pid),
        megabytes_of(worker.pid),
        megabytes_of(worker.pid, children=True),
        megabytes_of(app.process.pid, children=True),
        *server_megabytes(server),
    )


def _minute(record: Record, before: dict[str, int], memory: _Memory) -> str:
    done = sum(record.counts().values()) - sum(before.values())
    sizes = [f"{name} {size:.0f} MB" for name, size in asdict(memory).items() if name != "minute"]
    line = f"\nminute {memory.minute:.0f}: {done} done, {sum(record.errors.values())} errors so far; {', '.join(sizes)}"
    return "\n".join([line, record.table(before)])


def _read_logs(record: Record, logs: tuple[Path, ...]) -> None:
    for log in logs:
        if log.is_file():
            text = log.read_text("utf-8", "replace")
            for found in _LOGGED.finditer(text):
                logged = text[text.rfind("\n", 0, found.start()) + 1 : found.start() + 20_000]
                if not _ASIDE.search(logged.split("\n", 1)[0]):
                    record.failed(f"log of {log.stem}", _logged_words(logged))


def _logged_words(logged: str) -> str:
    """The exception of a traceback and where it was raised, innermost first; of anything else the text itself.

    >>> _logged_words('Traceback (most recent …):\\n  File "a.py", line 1\\n  File "b.py", line 2\\nKeyError: 7')
    'KeyError: 7 in File "b.py", line 2, File "a.py", line 1'
    """
    first, *lines = logged.split("\n")
    raised = next((line for line in lines if line and not line[0].isspace()), "")
    if not first.startswith("Traceback") or not raised:
        return logged
    places = [line.strip() for line in lines[: lines.index(raised)] if line.startswith('  File "')]
    return f"{raised} in {', '.join(reversed(places))}"


def growths(memories: list[_Memory], warm_up_minutes: float) -> dict[str, Growth]:
    """How memory grew after the warm-up, by process; empty when it was not measured often enough."""
    rows = [each for each in memories if each.minute > warm_up_minutes]
    if len(rows) < _LEAST_MINUTES:
        return {}
    minutes = [each.minute for each in rows]
    judged = [name for name in _JUDGED if any(getattr(each, name) for each in rows)]
    found = {name: growth(minutes, [getattr(each, name) for each in rows]) for name in judged}
    if minutes[-1] - minutes[0] >= 3 * _LEAST_MINUTES:  # of which connections live for two
        found["connections"] = growth_by_period(minutes, [each.connections for each in rows])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, help="files to work on instead of the sample library")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--searchers", type=int, default=Load().searchers)
    parser.add_argument("--sessions", type=int, default=Load().sessions)
    parser.add_argument(
        "--pause", type=float, default=Load().pause_seconds, help="seconds each thinks between two steps"
    )
    parser.add_argument("--warm-up", type=float, default=None, help="minutes left out of the slope; without it a third")
    parser.add_argument("--json", type=Path, help="write everything to this file")
    chosen = parser.parse_args()
    files = sorted(each for each in chosen.folder.rglob("*") if each.is_file()) if chosen.folder else sample.files()
    load = Load(chosen.searchers, chosen.sessions, chosen.pause)
    record, memories = soak(files, chosen.minutes, load, lambda words: print(words, flush=True))
    found = growths(memories, chosen.minutes / 3 if chosen.warm_up is None else chosen.warm_up)
    print(f"\n{chosen.minutes:g} minutes, {load.searchers} searchers, {load.sessions} sessions\n{record.table()}")
    failed = [f"{number} × {words}" for words, number in record.errors.most_common()]
    print("\n".join([f"\n{sum(record.errors.values())} errors", *failed]))
    print("\nmemory after the warm-up" + ("" if found else f": {Verdict.UNKNOWN}, too few minutes were measured"))
    for name, each in found.items():
        print(f"{name}: {each.level:.0f} MB, {each}")
    if chosen.json:
        data = {
            "minutes": chosen.minutes,
            "load": asdict(load),
            "seconds": record.seconds,
            "errors": record.errors,
            "memory": [asdict(each) for each in memories],
            "growth": {name: asdict(each) | {"verdict": each.verdict} for name, each in found.items()},
        }
        chosen.json.write_text(json.dumps(data, indent=1), "utf-8")
    fit = {name: {Verdict.FLAT, *([Verdict.UNKNOWN] if name == "connections" else [])} for name in found}
    if record.errors or not found or any(each.verdict not in fit[name] for name, each in found.items()):
        sys.exit(1)


if __name__ == "__main__":
    main()
