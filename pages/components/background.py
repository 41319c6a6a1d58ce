"""Work in the background of this process: coverage runs, experiments and meeting packs. It outlives the tab that
started it."""

import logging
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

import streamlit as st

from core.coverage.meeting_pack.pack import MeetingPack
from core.coverage.meeting_pack.pdf import pack_pdf
from core.domain.errors import FivefoldError
from pages.components import session

__all__ = [
    "BackgroundRun",
    "assess",
    "board_run",
    "experiment_run",
    "make_pdf",
    "pdf_run",
    "start_experiment",
    "unexpected",
]

_log = logging.getLogger(__name__)
_MOST_FILES = 20  # finished files held in memory for their download; the oldest goes first
_MOST_RUNS = 200  # runs that are remembered after their end, with their problems; the oldest goes first


class _Stopped(Exception):
    """The person stopped the work."""


@dataclass(slots=True)
class BackgroundRun:
    """One piece of work under way or ended.

    id: of the coverage run or experiment, 0 for a file. done: steps so far. total: 0 while unknown. stop: asks it to
    end at the next step. file: what it made. problem: why it failed.
    """

    id: int = 0
    done: int = 0
    total: int = 0
    stop: bool = False
    running: bool = True
    file: bytes | None = None
    ended_at: datetime | None = None
    problem: FivefoldError | None = None

    def step(self, done: int, total: int = 0) -> None:
        """Notes the progress."""
        self.done, self.total = done, total


@dataclass(slots=True)
class _Runs:
    """The latest run of each key."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    latest: dict[Hashable, BackgroundRun] = field(default_factory=dict)


@st.cache_resource(show_spinner=False)
def _runs() -> _Runs:
    return _Runs()


def _start(key: Hashable, name: str, begin: Callable[[], int], work: Callable[[BackgroundRun], None]) -> BackgroundRun:
    """The run under this key, started unless it is under way. name: of the thread. begin: returns its id; may raise."""
    runs = _runs()
    with runs.lock:
        known = runs.latest.get(key)
        if known is not None and known.running:
            return known
        runs.latest.pop(key, None)  # the newest run is the last
        run = runs.latest[key] = BackgroundRun(begin())
        for old in [each for each, one in runs.latest.items() if not one.running][:-_MOST_RUNS]:
            del runs.latest[old]
        threading.Thread(target=_carry_out, args=(run, name, work), name=name, daemon=True).start()
        return run


def _carry_out(run: BackgroundRun, name: str, work: Callable[[BackgroundRun], None]) -> None:
    try:
        work(run)
    except _Stopped:
        _log.info("Stopped: %s.", name)
    except FivefoldError as problem:
        run.problem = problem
    except Exception:  # noqa: BLE001 - told to the person with a reference, and logged whole
        run.problem = unexpected(name)
    finally:
        run.ended_at, run.running = datetime.now(UTC), False


def unexpected(name: str) -> FivefoldError:
    """What a person is told of the exception that is being handled; the log gets it whole, under the same reference.

    name: of the work."""
    reference = uuid4().hex[:8].upper()
    _log.exception("Unexpected error in the background (%s), reference %s", name, reference)
    return FivefoldError(
        "This could not be finished.", f"Try again. The log has the details under the reference {reference}."
    )


def board_run(project: str | None) -> BackgroundRun | None:
    """The last coverage run of this board that this process carries out; None when there is none."""
    return _runs().latest.get(("coverage", project))


def assess(project: str | None, *, resume: int | None = None, whole: bool = False) -> BackgroundRun:
    """Start a run of the project's topics, or go on with an interrupted one. Raises BadRequest without topics."""
    runs = session.workbench().coverage.runs

    def work(run: BackgroundRun) -> None:
        runs.carry_out(run.id, stop=lambda: run.stop, on_cell=run.step, whole=whole)

    return _start(("coverage", project), "coverage", lambda: resume or runs.start(project).id, work)


def experiment_run(experiment_id: int) -> BackgroundRun | None:
    """An experiment that this process carries out, or has carried out; None when it was another process."""
    return _runs().latest.get(("experiment", experiment_id))


def start_experiment(experiment_id: int) -> BackgroundRun:
    """Carry out an experiment that was begun."""
    experiments = session.workbench().evaluation.experiments

    def work(run: BackgroundRun) -> None:
        experiments.carry_out(run.id, stop=lambda: run.stop, on_step=run.step)

    return _start(("experiment", experiment_id), "experiment", lambda: experiment_id, work)


def pdf_run(contents: Hashable) -> BackgroundRun | None:
    """The meeting pack that this person had made last with these contents; None when there is none."""
    return _runs().latest.get(_pdf_key(contents))


def make_pdf(contents: Hashable, packed: Callable[[], MeetingPack]) -> None:
    """Make a meeting pack's PDF. contents: tells one pack from another. packed: gathers it, as this person sees it."""

    def work(run: BackgroundRun) -> None:
        def on_page(page: int) -> None:
            if run.stop:
                raise _Stopped
            run.step(page)

        run.file = pack_pdf(packed(), on_page)

    _start(_pdf_key(contents), "meeting pack", lambda: 0, work)
    _drop_old_files()


def _pdf_key(contents: Hashable) -> Hashable:
    """A person only ever gets a file that was made with the person's own rights."""
    person = session.principal()
    return ("pdf", person.login, person.projects, contents)


def _drop_old_files() -> None:
    runs = _runs()
    with runs.lock:
        ended = [key for key, run in runs.latest.items() if not run.running and run.file is not None]
        for key in ended[:-_MOST_FILES]:
            del runs.latest[key]
