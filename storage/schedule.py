"""Measures the question sets whose hour has come, in a thread of the worker process."""

import logging
import threading

from core.errors import FivefoldError
from core.tuning.lab import Lab

__all__ = ["Scheduler"]

_LOOK_SECONDS = 60.0
_STOP_SECONDS = 20.0
_log = logging.getLogger(__name__)


class Scheduler:
    """Looks once a minute. Any number of these may run, on any number of machines: a set is measured by one of them."""

    def __init__(self, lab: Lab) -> None:
        self._lab = lab
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="schedule", daemon=True)

    def start(self) -> None:
        """Begin; returns at once. The first look is a minute later, when the program has settled."""
        self._thread.start()

    def stop(self) -> None:
        """End, and a measurement under way at its next questions. Harmless when repeated."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def look(self) -> None:
        """Measure what is due. What goes wrong is logged, and tried again at the next look."""
        try:
            for each in self._lab.measure_due(self._stopping.is_set):
                _log.info("'%s' was measured by the clock: experiment %d is %s.", each.set_name, each.id, each.state)
        except FivefoldError as error:  # the store does not answer, or somebody has deleted what was being measured
            _log.warning("Question sets could not be measured by the clock: %s", error)

    def _serve(self) -> None:
        while not self._stopping.wait(_LOOK_SECONDS):
            self.look()
