"""Reads one damaged file as the worker does, and says how that ended."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from types import FrameType

import psutil

from adapters.sandboxed_reader import SandboxedReader
from bench.fuzz.seeds import PASSWORD, SEEDS
from core.domain.errors import BadFile
from core.domain.extraction import ExtractedDocument
from core.ingestion.chunking import split

__all__ = ["Outcome", "Trial", "Tried", "opened_trial"]


class Outcome(StrEnum):
    """How reading a file ended."""

    READ = "read"
    REFUSED = "refused"
    CRASH = "crash"
    HANG = "hang"
    MEMORY = "memory"
    UNCLEAR = "unclear"

    @property
    def finding(self) -> bool:
        """Whether something must be mended."""
        return self not in (Outcome.READ, Outcome.REFUSED)


@dataclass(frozen=True, slots=True)
class Tried:
    """One file's end. told: the message, or the last line of the error behind a finding."""

    outcome: Outcome
    seconds: float
    message: str = ""


class Trial:
    """Reads files of one kind in one reading process."""

    def __init__(self, kind: str, seconds: int, megabytes: int, folder: Path) -> None:
        self._kind, self._name, self._seconds, self._folder = kind, SEEDS[kind].name, seconds, folder
        self.reader, self._peak = SandboxedReader(seconds, megabytes), 0.0

    def run(self, data: bytes) -> Tried:
        """Read, and split into passages."""
        started = perf_counter()
        try:
            with _alarm(2 * self._seconds):
                self._read(data)
        except BadFile as error:
            outcome = self._of(error)
            message = str(error) if outcome is not Outcome.CRASH else self._trace(data) or str(error)
            return Tried(outcome, perf_counter() - started, message)
        except TimeoutError:
            return Tried(Outcome.HANG, perf_counter() - started, "splitting into passages")
        except Exception as error:  # noqa: BLE001 - that it was raised is the finding
            return Tried(Outcome.CRASH, perf_counter() - started, f"after reading: {type(error).__name__}: {error}")
        return Tried(Outcome.READ, perf_counter() - started)

    def _read(self, data: bytes) -> None:
        if self._kind == "feed":
            self.reader.feed(self._name, data)
        elif self._kind == "password":
            self.reader.unlock(self._name, data, PASSWORD)
        else:
            found = self.reader.read(self._name, data, self._folder)
            _check(found)
            split(found, "Title")

    def _of(self, error: BadFile) -> Outcome:
        if "crashed its reader" in error.message:
            return Outcome.CRASH
        if "seconds and was stopped" in error.message:
            return Outcome.HANG
        if "needs more memory" in error.message:
            return Outcome.MEMORY
        clear = (self._name in error.message or self._kind == "password") and error.hint
        return Outcome.REFUSED if clear else Outcome.UNCLEAR

    def _trace(self, data: bytes) -> str:
        """The error that ended the reading process, found by reading the file once more without a sandbox."""
        path = self._folder / "crash.bin"
        path.write_bytes(data)
        words = [sys.executable, "-X", "faulthandler", "-m", "bench.fuzz.once", self._kind, str(path)]
        try:
            ended = subprocess.run(words, capture_output=True, text=True, timeout=self._seconds, check=False)
        except subprocess.TimeoutExpired:
            return "hangs without its sandbox"
        return ended.stderr.strip()[-2_000:] if ended.returncode else ""

    def megabytes(self) -> float:
        """The most memory the living reading process had."""
        for child in psutil.Process().children():
            status = Path(f"/proc/{child.pid}/status")
            if status.exists():
                peaks = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM")]
                self._peak = max([self._peak, *(int(each) / 1024 for each in peaks)])
        return self._peak


@contextmanager
def opened_trial(kind: str, seconds: int, megabytes: int, folder: str) -> Iterator[Trial]:
    """A trial whose reading process ends with the block."""
    trial = Trial(kind, seconds, megabytes, Path(folder))
    try:
        yield trial
    finally:
        trial.reader.close()


def _check(found: ExtractedDocument) -> None:
    """What every read document promises. Raises AssertionError."""
    texts = {page.number: page.text for page in found.pages}
    assert found.members or any(text.strip() for text in texts.values()), "read, and without text"
    assert list(texts) == list(range(1, len(texts) + 1)), "pages are not numbered from 1"
    for block in found.blocks:
        assert 0 <= block.start <= block.end <= len(texts[block.page]), f"a block lies outside its page: {block}"
    for text in texts.values():
        text.encode("utf-8")
        assert "\x00" not in text, "a text holds a zero character"


@contextmanager
def _alarm(seconds: int) -> Iterator[None]:
    """TimeoutError after some seconds, in the main thread of a system that has alarms."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
