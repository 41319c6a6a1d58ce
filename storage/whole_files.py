"""Files that are seen whole or not at all."""

import os
import time
from pathlib import Path

__all__ = ["replace_file"]

_PATIENCE_SECONDS = 5.0


def replace_file(path: Path, data: bytes) -> None:
    """Write beside the target, then rename over it. Raises OSError.

    Windows refuses the rename while another process is reading the target, which takes that process milliseconds.
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
