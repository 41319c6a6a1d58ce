"""The clock of measuring: what is due, taken by one machine, stopped with its worker, and never ended by a failure."""

import logging
import threading
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from core.domain.coverage import RunState
from core.domain.documents import DocumentState
from core.domain.errors import StoreFailed
from core.domain.evaluation import Experiment, JudgedQuestion, Level, QuestionSet
from core.evaluation.experiments import ExperimentRunner
from core.evaluation.tuning.profile_registry import ProfileRegistry
from storage.jobs import scheduler
from storage.jobs.scheduler import Scheduler
from tests.fakes import FakeEvaluationStore
from tests.running import until
from tests.search.library import NOW, payroll_library
from tests.stores.libraries import document

HOUR = timedelta(hours=1)
SECONDS = 20


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> datetime:
        return self.time


class Store(FakeEvaluationStore):
    """Fails when told to, and can be overtaken between looking and taking."""

    def __init__(self) -> None:
        super().__init__()
        self.failing, self.looked = False, threading.Event()
        self.overtaken: QuestionSet | None = None

    def sets(self, project: str | None, *, retired: bool = False) -> Sequence[QuestionSet]:
        self.looked.set()
        if self.failing:
            raise StoreFailed("The disk is full.", "Make room.")
        found = super().sets(project, retired=retired)
        if self.overtaken is not None:
            taken, self.overtaken = self.overtaken, None
            super().change_set(taken)
        return found


class Machine:
    """An experiment runner and its clock over a store that others may share."""

    def __init__(self, store: Store | None = None) -> None:
        self.clock, self.store = Clock(), store or Store()
        self.library = payroll_library()
        self.book = ProfileRegistry(self.store, self.clock)
        self.experiments = ExperimentRunner(
            self.store, self.library.searcher, self.library.catalogue, self.book, self.clock
        )
        self.scheduler = Scheduler(self.experiments)

    def add(self, name: str, every_hours: int, questions: int = 2, project: str | None = None) -> QuestionSet:
        """A set with questions."""
        new = self.store.add_set(QuestionSet(name, project, Level.PASSAGE, "Ada", NOW, every_hours=every_hours))
        judged_questions = [
            JudgedQuestion(new.id, f"q{n}", f"When are deposits of month {n} due?") for n in range(questions)
        ]
        self.store.add_questions(judged_questions)
        return new

    def stored_runs(self) -> list[tuple[str, RunState]]:
        """Set and state of every experiment, oldest first."""
        return [(each.set_name, each.state) for each in reversed(self.store.experiments())]


def measured(*names: str) -> list[tuple[str, RunState]]:
    """What is kept when these sets were measured one after the other."""
    return [(name, RunState.DONE) for name in names]


def test_a_set_is_measured_at_once_and_then_whenever_its_hours_have_passed() -> None:
    machine = Machine()
    machine.add("daily", 24)
    machine.add("only when asked", 0)
    machine.scheduler.look()
    machine.clock.time += 24 * HOUR - timedelta(seconds=1)
    machine.scheduler.look()
    assert machine.stored_runs() == measured("daily")
    machine.clock.time += timedelta(seconds=1)
    machine.scheduler.look()
    assert machine.stored_runs() == measured("daily", "daily")


def test_the_clock_measures_with_the_default_of_the_sets_project_and_says_so() -> None:
    machine = Machine()
    machine.add("Payroll", 1, project="Tallgrass")
    machine.book.choose("Tallgrass", "relevance", "Ada")
    machine.scheduler.look()
    [experiment] = machine.store.experiments()
    assert (experiment.profile.name, experiment.who, experiment.scheduled, experiment.project) == (
        "relevance",
        "schedule",
        True,
        "Tallgrass",
    )


def test_retired_sets_and_sets_without_questions_are_left_alone() -> None:
    machine = Machine()
    machine.store.change_set(replace(machine.add("retired", 1), retired=True))
    machine.add("empty", 1, questions=0)
    machine.add("full", 1)
    machine.scheduler.look()
    assert machine.stored_runs() == measured("full")


def test_of_two_machines_the_slower_one_leaves_the_set_to_the_other() -> None:
    store = Store()
    first, second = Machine(store), Machine(store)
    both = first.add("both", 1)
    first.add("second", 1)
    store.overtaken = replace(both, measured_at=NOW)  # the other machine has taken it since this one looked
    second.scheduler.look()
    assert first.stored_runs() == measured("second")
    first.scheduler.look()
    assert first.stored_runs() == measured("second")


def test_a_store_that_fails_is_logged_and_asked_again(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    machine.add("daily", 24)
    machine.store.failing = True
    with caplog.at_level(logging.WARNING):
        machine.scheduler.look()
    assert "The disk is full. Make room." in caplog.text
    machine.store.failing = False
    machine.scheduler.look()
    assert machine.stored_runs() == measured("daily")


def test_an_experiment_deleted_while_it_runs_ends_the_look_and_not_the_clock(caplog: pytest.LogCaptureFixture) -> None:
    machine = Machine()
    machine.add("first", 1)
    machine.add("second", 1)
    change = machine.store.change_experiment

    def deleted(experiment: Experiment) -> None:
        machine.store.delete_experiment(experiment.id)
        machine.store.change_experiment = change  # type: ignore[method-assign]
        change(experiment)

    machine.store.change_experiment = deleted  # type: ignore[method-assign]
    with caplog.at_level(logging.WARNING):
        machine.scheduler.look()
    assert "not (or no longer) here" in caplog.text
    machine.scheduler.look()
    assert machine.stored_runs() == measured("second")


def test_what_is_stopped_half_way_is_kept_so_and_due_again() -> None:
    machine = Machine()
    long = machine.add("long", 24, questions=9)
    machine.add("next", 24)
    requests: list[str] = []

    def stop() -> bool:
        requests.append("?")
        return len(requests) > 2  # once before the set, once before its first questions

    [stopped] = machine.experiments.measure_due(stop)
    assert (stopped.state, stopped.done) == (RunState.STOPPED, 4)
    assert [each.name for each in machine.experiments.due()] == ["long", "next"]
    assert machine.store.question_set(long.id).measured_at is None
    machine.scheduler.look()
    assert machine.stored_runs() == [("long", RunState.STOPPED), *measured("long", "next")]


def test_a_set_changed_while_it_was_measured_keeps_that_change() -> None:
    machine = Machine()
    stored = machine.add("daily", 24)

    def stop() -> bool:
        now = machine.store.question_set(stored.id)
        if now.measured_at is None or now.note:
            return bool(now.note)
        machine.store.change_set(replace(now, note="Do not forget."))
        return True

    [stopped] = machine.experiments.measure_due(stop)
    assert stopped.state is RunState.STOPPED
    assert machine.store.question_set(stored.id).note == "Do not forget."


# The thread


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute of a hundredth of a second."""
    monkeypatch.setattr(scheduler, "_LOOK_SECONDS", 0.01)


def threads() -> list[str]:
    """The clocks that run in this process."""
    return [each.name for each in threading.enumerate() if each.name == "schedule"]


@pytest.mark.usefixtures("hurried")
def test_a_failing_store_does_not_end_the_thread_and_stopping_does() -> None:
    machine = Machine()
    machine.add("daily", 24)
    machine.store.failing = True
    machine.scheduler.start()
    for _ in range(2):
        machine.store.looked.clear()
        assert machine.store.looked.wait(SECONDS)
    machine.store.failing = False
    while not machine.stored_runs() or machine.stored_runs()[0][1] is RunState.RUNNING:
        machine.store.looked.clear()
        assert machine.store.looked.wait(SECONDS)
    machine.scheduler.stop()
    assert threads() == []
    machine.scheduler.stop()
    assert machine.stored_runs() == measured("daily")


@pytest.mark.usefixtures("hurried")
def test_stopping_ends_a_measurement_under_way() -> None:
    machine = Machine()
    machine.add("long", 24, questions=40)
    searching, go_on = threading.Event(), threading.Event()
    search_many = machine.library.searcher.search_many

    def slowly(*arguments: object, **options: object) -> object:
        searching.set()
        assert go_on.wait(SECONDS)
        return search_many(*arguments, **options)  # type: ignore[arg-type]

    machine.library.searcher.search_many = slowly  # type: ignore[method-assign, assignment]
    machine.scheduler.start()
    assert searching.wait(SECONDS)
    stopping = threading.Thread(target=machine.scheduler.stop)
    stopping.start()
    assert machine.scheduler._stopping.wait(SECONDS)
    go_on.set()
    stopping.join(SECONDS)
    assert threads() == []
    assert machine.stored_runs() == [("long", RunState.STOPPED)]


def test_a_clock_that_never_ran_can_be_stopped() -> None:
    machine = Machine()
    machine.scheduler.stop()
    assert threads() == []


@pytest.mark.parametrize("worker", [True, False])
def test_the_worker_process_has_a_clock_and_ends_it(tmp_path: Path, engine: Engine, worker: bool) -> None:
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with open_workbench(Settings(tmp_path, database_url=url, worker=worker, tenant="clockwork")):
        assert threads() == ["schedule"] * worker
    assert threads() == []


def test_a_living_worker_queues_what_a_dead_program_stored_and_makes_backups(
    tmp_path: Path, engine: Engine, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_LOOK_SECONDS", 0.1)
    (tmp_path / "models").symlink_to(models, target_is_directory=True)
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    stored = tmp_path / "kept"
    settings = Settings(tmp_path, database_url=url, tenant="left-behind", backup_folder=str(stored))
    with closing(open_workbench(settings)) as opened:
        lost = opened.stores.catalogue.add_document(document("stored, and never queued")).id
        # It has no original, so reading it fails: a worker came to it.
        until(lambda: opened.workbench.documents.get(lost).state is DocumentState.FAILED, 60, "a job for the file")
        until(lambda: [*stored.glob("*.fivefold")], 60, "a backup")
