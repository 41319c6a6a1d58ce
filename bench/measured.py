"""Measuring tools of the benchmarks: seconds, quantiles, resident memory, and what a bench reports."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from time import perf_counter

import numpy as np

__all__ = ["Clock", "Headline", "Peak", "Report", "clock", "peak_memory", "quantile", "resident_megabytes"]

_LOOK_SECONDS = 0.05  # between two looks at the memory


@dataclass(frozen=True, slots=True)
class Headline:
    """A line of the summary. peer: what was measured beside it, "" without one. more: whether more is better."""

    what: str
    unit: str
    ours: float
    peer: str = ""
    theirs: float | None = None
    more: bool = False

    def advantage(self, other: float | None) -> float | None:
        """How many times better ours is than another value: above 1 is better. None where that cannot be said."""
        if not other or not self.ours:
            return None
        return self.ours / other if self.more else other / self.ours


@dataclass(frozen=True, slots=True)
class Report:
    """What a bench found: its lines of the summary, and its own tables."""

    headlines: Sequence[Headline]
    details: str


@dataclass(slots=True)
class Clock:
    """Seconds between entering and leaving."""

    seconds: float = 0.0


@contextmanager
def clock() -> Iterator[Clock]:
    """Measure a block."""
    measured, started = Clock(), perf_counter()
    yield measured
    measured.seconds = perf_counter() - started


def quantile(values: Sequence[float], share: float) -> float:
    """A quantile; share in [0, 1]."""
    return float(np.quantile(values, share))


def resident_megabytes() -> float:
    """Resident memory of this process."""
    import psutil

    return float(psutil.Process().memory_info().rss) / 1e6


@dataclass(slots=True)
class Peak:
    """Peak resident memory of this process between entering and leaving."""

    megabytes: float = 0.0


@contextmanager
def peak_memory() -> Iterator[Peak]:
    """Sample the memory of a block in a thread, twenty times a second."""
    peak, over = Peak(), Event()

    def look() -> None:
        while not over.wait(_LOOK_SECONDS):
            peak.megabytes = max(peak.megabytes, resident_megabytes())

    watcher = Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        over.set()
        watcher.join()
        peak.megabytes = max(peak.megabytes, resident_megabytes())
