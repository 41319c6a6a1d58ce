"""Many people at once: `python -m bench.people --passages 100000`.

Generates a library of that many passages and serves it by one app, then by two, which share its data folder, as
behind a load balancer, and by one app with search processes. Each time

    searchers   ask new questions by the REST API, one after the other without a pause
    sessions    speak Streamlit's own protocol: open pages and search, some seconds after the last page was drawn

and then has small files read by one worker, by two and by three, each time into an empty library. This program asks
from the same machine, and so takes a part of its processors.
"""

import argparse
import json
import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from itertools import cycle
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx

import sample
from bench.ingest import small_files
from bench.library import Stock, data_folder, load, made_documents, own_settings
from bench.measured import quantile
from bench.memory_growth import megabytes_of
from bench.retrieval_peers import StoredVectors
from bench.soak import Noted, Record, body_of, new_token, running_worker
from bench.streamlit_session import StreamlitSession
from bootstrap.scratch_library import files_of, fill, scratch_library
from bootstrap.workbench import open_workbench, settings_from_environment
from core.formats.terminal import aligned
from tests.running import RunningApp, running_app

__all__ = ["People", "Workers", "measure_people", "measure_workers"]

_PATIENCE_SECONDS = 600.0
_READY_SECONDS = 30.0  # in which search processes start and load their models
_THINK_SECONDS = (2.5, 7.5)  # between two pages of a session. Chosen by hand.
_PAGES = ("", "search", "library", "coverage", "upload")
_LOOK_SECONDS = 0.1
_QUESTIONS = 4_000
_SETTINGS: dict[str, Any] = {"FIVEFOLD_WORKER": "false", "FIVEFOLD_API_RATE": "1000000/minute"}


@dataclass(frozen=True, slots=True)
class People:
    """So many at once on so many apps, each with so many search processes. pace: searches or pages a second; p50, p95
    in seconds; megabytes: that one more session takes, None for searchers."""

    what: str
    apps: int
    processes: int
    number: int
    pace: float
    p50: float
    p95: float
    errors: int
    megabytes: float | None = None


@dataclass(frozen=True, slots=True)
class Workers:
    """seconds: from the first file that is read to the last one."""

    workers: int
    files: int
    seconds: float


def measure_people(
    passages: int,
    served_by: Sequence[tuple[int, int]],
    searchers: Sequence[int],
    sessions: Sequence[int],
    seconds: float,
) -> Iterator[People]:
    """Each number of searchers and of sessions, for so many seconds each. served_by: numbers of apps, and of search
    processes of each."""
    with _generated_library(passages) as (data, questions):
        token = new_token(data)
        for number, processes in served_by:
            with ExitStack() as running:
                settings = _SETTINGS | {"FIVEFOLD_SEARCH_PROCESSES": str(processes)}
                served = [
                    running.enter_context(running_app(data, patience=_PATIENCE_SECONDS, **settings))
                    for _ in range(number)
                ]
                clients = [_client(app, token) for app in served]
                for client in clients:
                    running.enter_context(client)
                    body_of(client.get("/search", params={"q": questions[0]}))  # loads the models
                if processes:
                    sleep(_READY_SECONDS)
                endless = cycle(questions)
                for each in searchers:
                    yield _searched(served, processes, token, endless, each, seconds)
                for each in sessions:
                    yield _visited(served, processes, endless, each, seconds)


@contextmanager
def _generated_library(passages: int) -> Iterator[tuple[Path, list[str]]]:
    """The data folder of a library with so many passages, and questions to it."""
    with scratch_library(settings_from_environment()) as library:
        fill(library.workbench, files_of(sample.files()))
        stock = Stock.of(library)
    with data_folder() as data:
        settings = own_settings(data)
        stored = StoredVectors(data, passages, stock.vectors.shape[1])
        with closing(open_workbench(settings)) as library:
            load(library, stock, made_documents(stock, passages), stored.note)
        yield data, stored.questions(_QUESTIONS)


def _client(app: RunningApp, token: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=f"{app.url}/api", headers=headers, timeout=_PATIENCE_SECONDS)


def _searched(
    apps: Sequence[RunningApp], processes: int, token: str, questions: Iterator[str], number: int, seconds: float
) -> People:
    record, lock = Record(), threading.Lock()

    def work(turn: int, over: Callable[[float], bool]) -> None:
        with _client(apps[turn % len(apps)], token) as client:
            while not over(0.0):
                with lock:
                    question = next(questions)
                with suppress(Noted), record.timed("search"):
                    body_of(client.get("/search", params={"q": question, "limit": 10}))

    taken = _side_by_side(number, seconds, work)
    return _people("searchers", len(apps), processes, number, record, taken)


def _visited(
    apps: Sequence[RunningApp], processes: int, questions: Iterator[str], number: int, seconds: float
) -> People:
    """Sessions that stay open; the first page of each is not counted."""
    record, lock = Record(), threading.Lock()
    before = sum(megabytes_of(app.process.pid) for app in apps)

    def work(turn: int, over: Callable[[float], bool]) -> None:
        chance = random.Random(turn)
        with suppress(Noted), record.timed("visit"), StreamlitSession(apps[turn % len(apps)].url) as tab:
            tab.open()
            while not over(chance.uniform(*_THINK_SECONDS)):
                page = chance.choice(_PAGES)
                with lock:
                    parameters = {"q": next(questions)} if page == "search" else None
                with record.timed("page"):
                    for problem in tab.open(page, parameters).problems:
                        record.failed(f"page {page or 'home'}", problem)

    taken = _side_by_side(number, seconds + _THINK_SECONDS[1], work)
    after = sum(megabytes_of(app.process.pid) for app in apps)
    return _people("sessions", len(apps), processes, number, record, taken, (after - before) / number)


def _side_by_side(number: int, seconds: float, work: Callable[[int, Callable[[float], bool]], None]) -> float:
    """Run so many threads of work, each given its number and a wait that tells whether it is over; seconds taken."""
    over, began = threading.Event(), monotonic()
    threads = [threading.Thread(target=work, args=(turn, over.wait)) for turn in range(number)]
    for each in threads:
        each.start()
    sleep(seconds)
    over.set()
    for each in threads:
        each.join()
    return monotonic() - began


def _people(
    what: str, apps: int, processes: int, number: int, record: Record, seconds: float, megabytes: float | None = None
) -> People:
    taken = record.seconds["search"] or record.seconds["page"]
    errors = sum(record.errors.values())
    return People(
        what,
        apps,
        processes,
        number,
        len(taken) / seconds,
        quantile(taken, 0.5),
        quantile(taken, 0.95),
        errors,
        megabytes,
    )


def measure_workers(counts: Sequence[int]) -> Iterator[Workers]:
    """The same small files, read by each number of workers."""
    for number in counts:
        with data_folder() as data, ExitStack() as running:
            pdfs = [path for path in sample.files() if path.suffix == ".pdf"]
            files = [(file.name, file.read_bytes()) for file in small_files(pdfs, data)]
            token = new_token(data)
            app = running.enter_context(running_app(data, patience=_PATIENCE_SECONDS, **_SETTINGS))
            client = running.enter_context(_client(app, token))
            for name, content in files:
                body_of(client.post("/documents", files={"file": (name, content)}))
            for _ in range(number):
                running.enter_context(running_worker(data))
            first = _when_waiting(app, len(files) - 1)
            yield Workers(number, len(files), _when_waiting(app, 0) - first)


def _when_waiting(app: RunningApp, most: int) -> float:
    """When no more jobs than that wait. Raises AssertionError after a long time."""
    deadline = monotonic() + _PATIENCE_SECONDS
    while app.health().get("waiting_jobs", most + 1) > most:
        assert monotonic() < deadline, f"more than {most} jobs still wait:\n{app.printed()}"
        sleep(_LOOK_SECONDS)
    return monotonic()


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.people", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--apps", type=int, nargs="*", default=[2], help="without search processes, more than one")
    parser.add_argument("--processes", type=int, nargs="*", default=[0, 2], help="search processes of one app")
    parser.add_argument("--searchers", type=int, nargs="*", default=[1, 4, 16, 32, 64])
    parser.add_argument("--sessions", type=int, nargs="*", default=[10, 50])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 3])
    parser.add_argument("--seconds", type=float, default=20.0, help="of each measurement")
    parser.add_argument("--json", type=Path, help="write everything to this file")
    chosen = parser.parse_args()
    people: list[People] = []
    served_by = [(1, number) for number in chosen.processes] + [(number, 0) for number in chosen.apps if number > 1]
    for each in measure_people(chosen.passages, served_by, chosen.searchers, chosen.sessions, chosen.seconds):
        people.append(each)
        served = f"{each.apps} apps with {each.processes} search processes"
        print(f"{each.number} {each.what} on {served}: p95 {each.p95:.2f} s", flush=True)
    workers = list(measure_workers(chosen.workers))
    print(_tables(chosen.passages, people, workers))
    if chosen.json:
        found: dict[str, Any] = {"passages": chosen.passages, "people": [asdict(each) for each in people]}
        chosen.json.write_text(json.dumps(found | {"workers": [asdict(each) for each in workers]}, indent=1), "utf-8")


def _tables(passages: int, people: Sequence[People], workers: Sequence[Workers]) -> str:
    heads = ("on", "apps", "search processes", "at once", "a second", "p50 s", "p95 s", "errors", "MB each")
    rows = [
        (
            each.what,
            each.apps,
            each.processes,
            each.number,
            round(each.pace, 1),
            round(each.p50, 2),
            round(each.p95, 2),
            each.errors,
            "" if each.megabytes is None else round(each.megabytes, 1),
        )
        for each in people
    ]
    read = [(each.workers, each.files, round(each.seconds, 1), round(each.files / each.seconds, 1)) for each in workers]
    tables = [aligned(heads, rows)] if rows else []
    if read:
        tables.append(aligned(("workers", "files", "seconds", "files a second"), read))
    return f"\n{passages} passages\n" + "\n\n".join(tables)


if __name__ == "__main__":
    main()
