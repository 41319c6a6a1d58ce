"""Atomic file writes: readers see the whole file or none."""

import os
import time
from pathlib import Path

__all__ = ["replace_file"]

_PATIENCE_SECONDS = 5.0


def replace_file(path: Path, data: bytes) -> None:
    """Write to a temporary file, then rename it over the target. Raises OSError.

    Windows refuses the rename while another process reads the target, usually for some milliseconds; it is tried
    again.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    beside.write_bytes(data)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            beside.replace(path)
        except PermissionError:
            if time.monotonic() > deadline:
                beside.unlink(missing_ok=True)
                raise
            time.sleep(0.01)
        else:
            return
