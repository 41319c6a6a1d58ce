"""Runs scheduled work in a thread of the worker process: measures question sets, queues feeds and watched folders."""

import logging
import threading
from collections.abc import Callable, Sequence

from core.domain.errors import FivefoldError
from core.evaluation.experiments import ExperimentRunner

__all__ = ["Scheduler"]

_LOOK_SECONDS = 60.0  # schedules are given in hours
_STOP_SECONDS = 20.0  # how long stopping waits for a measurement to reach its next questions
_log = logging.getLogger(__name__)


class Scheduler:
    """Checks once a minute what is due. Several may run, on any machines: each set is measured by only one of them.

    others: further checks; each is quick, queues what is due, and tolerates that another scheduler already did.
    """

    def __init__(self, runner: ExperimentRunner, others: Sequence[Callable[[], object]] = ()) -> None:
        self._runner, self._others = runner, tuple(others)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="schedule", daemon=True)

    def start(self) -> None:
        """Start the thread and return at once. The first check is a minute later, after start-up."""
        self._thread.start()

    def stop(self) -> None:
        """Stop; a running measurement ends before its next questions. Safe to call again."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def look(self) -> None:
        """Run what is due. Errors are logged and the work is retried at the next check."""
        for other in self._others:
            try:
                other()
            except FivefoldError as error:
                _log.warning("What is due could not be queued: %s", error)
        try:
            for each in self._runner.measure_due(self._stopping.is_set):
                _log.info("'%s' was measured as scheduled: experiment %d is %s.", each.set_name, each.id, each.state)
        except FivefoldError as error:  # the store does not answer, or the measured set was deleted
            _log.warning("Question sets could not be measured as scheduled: %s", error)

    def _serve(self) -> None:
        while not self._stopping.wait(_LOOK_SECONDS):
            self.look()
