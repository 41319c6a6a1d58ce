"""Benchmark of the cold start: from a new process to the first page over HTTP."""

import os
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from time import sleep

from bench.measured import Headline, Report, clock
from core.formats.terminal import aligned

__all__ = ["run"]

_ROOT = Path(__file__).parents[1]
_LIMIT_SECONDS = 120  # until the start counts as failed


def run(files: Sequence[Path]) -> Report:
    """Seconds to a page and memory after it, first on a new data folder, then twice on the one it made."""
    del files
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        rows = [(name, *_started(Path(folder))) for name in ("new data folder", "existing", "existing again")]
    headlines = [Headline(f"start, {name}", "s", seconds) for name, seconds, _ in rows if name != "existing again"] + [
        Headline("memory after the start", "MB", rows[-1][2])
    ]
    return Report(headlines, aligned(("start", "seconds to answer", "resident MB"), rows))


def _started(folder: Path) -> tuple[float, float]:
    import psutil

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.headless", "true"]
    environment = os.environ | {"FIVEFOLD_DATA_FOLDER": str(folder)}
    with clock() as until:
        process = subprocess.Popen([sys.executable, *words], cwd=_ROOT, env=environment, stdout=subprocess.DEVNULL)
        try:
            _wait(f"http://127.0.0.1:{port}/")
        except BaseException:
            process.kill()
            raise
    resident = psutil.Process(process.pid).memory_info().rss / 1e6
    process.terminate()
    process.wait(30)
    return until.seconds, resident


def _wait(url: str) -> None:
    for _ in range(_LIMIT_SECONDS * 20):
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            sleep(0.05)
    raise TimeoutError(f"{url} did not answer within {_LIMIT_SECONDS} s")
