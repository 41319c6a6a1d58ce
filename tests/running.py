"""The real app in a process of its own, on a free port and a data folder of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.error import URLError
from urllib.request import urlopen

import anyio
import httpx

__all__ = ["RunningApp", "free_port", "in_own_loop", "running_app", "until"]

Result = TypeVar("Result")

ROOT = Path(__file__).resolve().parents[1]
START_SECONDS = 120.0
STOP_SECONDS = 40.0


def free_port() -> int:
    """A port nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(condition: Callable[[], Any], seconds: float, what: str) -> Any:
    """What `condition` gives once it is true. Raises AssertionError naming `what` after some seconds."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"{what} did not happen within {seconds:.0f} seconds"
        time.sleep(0.2)


class RunningApp:
    """`streamlit run app.py` as a person starts it. `log` keeps what it prints."""

    def __init__(self, data_folder: Path, port: int | None = None, **settings: str) -> None:
        self.data_folder, self.port = data_folder, port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = data_folder.parent / f"{data_folder.name}-{self.port}.log"
        environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
        environment |= {"FIVEFOLD_DATA_FOLDER": str(data_folder), **settings}
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--server.headless", "true"],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def health(self) -> dict[str, Any]:
        """What /healthz answers now; empty when nothing does, or when the library does not answer."""
        try:
            with urlopen(f"{self.url}/healthz", timeout=30) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except (URLError, ConnectionError, TimeoutError):
            return {}

    def wait(self, seconds: float = START_SECONDS) -> "RunningApp":
        """Until it is healthy. Raises AssertionError with its log when it ends before."""

        def healthy() -> bool:
            assert self.process.poll() is None, f"the app ended by itself:\n{self.printed()}"
            return self.health().get("status") == "ok"

        until(healthy, seconds, "a healthy start of the app")
        return self

    def until(self, condition: Callable[[dict[str, Any]], Any], seconds: float, what: str) -> None:
        """Until its health meets a condition. Raises AssertionError with its health and its log."""
        try:
            until(lambda: condition(self.health()), seconds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.health()}\n{self.printed()}") from error

    def read_by_now(self, documents: int, seconds: float = 300.0) -> None:
        """Until that many documents are in the library and no job waits."""

        def done(health: dict[str, Any]) -> bool:
            return health.get("documents") == documents and health.get("waiting_jobs") == 0

        self.until(done, seconds, f"the reading of {documents} documents")

    def add(self, *files: Path) -> None:
        """Upload files through the API, which costs less than a page, and wait until they are read."""
        before = self.health().get("documents", 0)
        with httpx.Client(headers={"X-Requested-With": "tests"}, timeout=120) as api:
            for file in files:
                data = {"file": (file.name, file.read_bytes())}
                api.post(f"{self.url}/api/documents", files=data).raise_for_status()
        self.read_by_now(before + len(files))

    def printed(self) -> str:
        """The last of what it printed."""
        return self.log.read_text("utf-8", "replace")[-4000:]

    def stop(self) -> int:
        """Ask it to end, as a service manager does, and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """kill -9, the whole process group: nothing of it can say goodbye."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)


def in_own_loop(story: Callable[..., Awaitable[Result]], *arguments: Any) -> Result:
    """The result of a coroutine function, run in a thread: a browser of another test keeps a loop in this one."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(anyio.run, story, *arguments).result()


@contextmanager
def running_app(
    data_folder: Path, port: int | None = None, *, patience: float = START_SECONDS, **settings: str
) -> Iterator[RunningApp]:
    """A healthy app, stopped at the end however the test goes. patience: seconds for its start."""
    app = RunningApp(data_folder, port, **settings)
    try:
        yield app.wait(patience)
    finally:
        if app.process.poll() is None:
            try:
                app.stop()
            except subprocess.TimeoutExpired:
                app.kill()
