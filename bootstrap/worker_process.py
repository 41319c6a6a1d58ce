"""The worker in a process of its own: a file never costs the app.

It returns its jobs to the queue when the app stops or was killed. A worker that needs more memory than it may is
killed; its jobs are taken up again, and the one that is to blame is given up after three attempts
(storage/jobs/worker.py).
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bootstrap.environment import Settings
from bootstrap.supervised_process import SupervisedProcess, settings_from_parent

__all__ = ["STOPPED_FOR_A_STEP", "WorkerProcess"]

_LESS_URGENT = 5  # added to its niceness: pages come first. Chosen by hand.
_FIRST_TO_KILL = 500  # of 1,000: where memory ends, Linux ends the worker and not the app or the database
STOPPED_FOR_A_STEP = 75
"""Exit status of a worker that ended itself, to end a step that did not end."""


class WorkerProcess(SupervisedProcess):
    """The supervised worker. command: what runs, for tests."""

    planned_exit = STOPPED_FOR_A_STEP

    def __init__(self, settings: Settings, command: Sequence[str] = ("-m", "bootstrap.worker_process")) -> None:
        super().__init__("worker", settings, command, settings.worker_megabytes)

    def notice(self) -> str:
        """For the user while the worker keeps ending; "" otherwise."""
        if not self.keeps_ending:
            return ""
        return "The process that reads files keeps ending and is started again. The log of the app says why."


def _serve() -> None:
    """Work until the input closes. Runs in the worker process."""
    from bootstrap.workbench import run_worker

    settings, parent_ended = settings_from_parent()
    _step_back()
    run_worker(settings, parent_ended, lambda: os._exit(STOPPED_FOR_A_STEP))


def _step_back() -> None:
    """Let pages and the database come first, in time and in memory."""
    if hasattr(os, "nice"):
        os.nice(_LESS_URGENT)
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text(str(_FIRST_TO_KILL), "ascii")


if __name__ == "__main__":
    _serve()
