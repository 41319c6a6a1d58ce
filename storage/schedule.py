"""Does what the hour has come for, in a thread of the worker process: question sets are measured, feeds queued."""

import logging
import threading
from collections.abc import Callable, Sequence

from core.errors import FivefoldError
from core.tuning.lab import Lab

__all__ = ["Scheduler"]

_LOOK_SECONDS = 60.0
_STOP_SECONDS = 20.0
_log = logging.getLogger(__name__)


class Scheduler:
    """Looks once a minute. Any number of these may run, on any number of machines: a set is measured by one of them.

    others: what else is looked for; each is quick, queues what is due, and may find that another has done so.
    """

    def __init__(self, lab: Lab, others: Sequence[Callable[[], object]] = ()) -> None:
        self._lab, self._others = lab, tuple(others)
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
        """Do what is due. What goes wrong is logged, and tried again at the next look."""
        for other in self._others:
            try:
                other()
            except FivefoldError as error:
                _log.warning("What is due could not be queued: %s", error)
        try:
            for each in self._lab.measure_due(self._stopping.is_set):
                _log.info("'%s' was measured by the clock: experiment %d is %s.", each.set_name, each.id, each.state)
        except FivefoldError as error:  # the store does not answer, or somebody has deleted what was being measured
            _log.warning("Question sets could not be measured by the clock: %s", error)

    def _serve(self) -> None:
        while not self._stopping.wait(_LOOK_SECONDS):
            self.look()
