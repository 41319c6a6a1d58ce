"""What a bench measures with: seconds, quantiles, resident memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

import numpy as np

__all__ = ["Clock", "clock", "quantile", "resident_megabytes"]


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
    """Memory of this process held in RAM."""
    import psutil

    return psutil.Process().memory_info().rss / 1e6
