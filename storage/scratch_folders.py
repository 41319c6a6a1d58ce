"""Temporary folders that do not outlive their program: what a killed one left is deleted by the next one that starts.

They hold parts of uploaded files and whole databases, so none may stay. A locked file in the folder shows that its
program lives; the system releases the lock however the program ends.
"""

import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import BinaryIO

__all__ = ["remove_abandoned", "scratch_folder"]

_PREFIX, _MARK = "fivefold-", ".in-use"
_NEWBORN_SECONDS = 60.0  # a folder is made a moment before its file is locked. Chosen by hand.
_log = logging.getLogger(__name__)


@contextmanager
def scratch_folder(purpose: str) -> Iterator[Path]:
    """A temporary folder, empty but for a hidden file; removed with its contents on exit. purpose: part of its name."""
    with (
        TemporaryDirectory(prefix=f"{_PREFIX}{purpose}-", ignore_cleanup_errors=True) as folder,
        (Path(folder) / _MARK).open("wb") as mark,
    ):
        _lock(mark)
        yield Path(folder)


def remove_abandoned() -> int:
    """Delete the folders of programs that were killed; returns how many. Those of other users are left alone."""
    removed = 0
    for mark in Path(gettempdir()).glob(f"{_PREFIX}*/{_MARK}"):
        try:
            with mark.open("ab") as opened:
                if time.time() - mark.stat().st_mtime < _NEWBORN_SECONDS or not _lock(opened):
                    continue
                shutil.rmtree(mark.parent)
        except OSError as error:  # another program's user, or another program was faster
            _log.debug("The folder %s stays: %s", mark.parent, error)
            continue
        removed += 1
    if removed:
        _log.info("Temporary folders of killed programs were deleted: %d.", removed)
    return removed


def _lock(file: BinaryIO) -> bool:
    """Lock a file without waiting; returns whether it is locked now. On Windows nothing is, and nothing is removed."""
    if os.name == "nt":
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
