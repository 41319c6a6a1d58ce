"""Memory of running processes over hours, and whether it grows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

__all__ = ["Growth", "growth", "megabytes_of"]

_WIDE = 1.96  # standard errors of a 95 % interval
_SMALL = 0.02  # of the level: a growth below this per hour takes two days to double the memory, and is called flat


@dataclass(frozen=True, slots=True)
class Growth:
    """A straight line through measurements of memory.

    level: its middle, in megabytes. per_hour, low, high: its slope in megabytes per hour, and the 95 % interval.
    """

    level: float
    per_hour: float
    low: float
    high: float

    @property
    def flat(self) -> bool:
        """Whether the interval contains zero, or all of it is below 2 % of the memory per hour."""
        return self.low <= 0 or self.high < _SMALL * self.level

    def __str__(self) -> str:
        """
        >>> str(Growth(800.0, 3.0, -2.0, 8.0))
        '+3.0 MB/hour [-2.0, +8.0], flat'
        """
        word = "flat" if self.flat else "grows"
        return f"{self.per_hour:+.1f} MB/hour [{self.low:+.1f}, {self.high:+.1f}], {word}"


def growth(minutes: Sequence[float], megabytes: Sequence[float]) -> Growth:
    """The slope of memory by time, least squares.

    Measurements that follow each other are alike, so the interval is by Newey and West (1987), with their lag of
    4·(n / 100)^(2/9): as if all were independent, it would be too narrow. Raises ValueError for fewer than four.

    >>> found = growth(range(60), [500 + minute / 6 for minute in range(60)])
    >>> round(found.per_hour, 3), found.flat
    (10.0, True)
    >>> growth(range(60), [500 + minute for minute in range(60)]).flat
    False
    """
    if len(minutes) < 4:
        raise ValueError(f"A slope needs four measurements, not {len(minutes)}.")
    hours = np.asarray(minutes, dtype=float) / 60
    level = np.asarray(megabytes, dtype=float)
    centred = hours - hours.mean()
    spread = float(centred @ centred)
    slope = float(centred @ level) / spread
    moment = centred * (level - level.mean() - slope * centred)
    count = len(moment)
    lag = int(4 * (count / 100) ** (2 / 9))
    variance = float(moment @ moment)
    for shift in range(1, lag + 1):
        variance += 2 * (1 - shift / (lag + 1)) * float(moment[shift:] @ moment[:-shift])
    error = (max(variance, 0.0) * count / (count - 2)) ** 0.5 / spread
    return Growth(float(level.mean()), slope, slope - _WIDE * error, slope + _WIDE * error)


def megabytes_of(pid: int, *, children: bool = False) -> float:
    """Memory of a process, in megabytes: its own resident pages, and its share of those it shares with others.

    children: of all its descendants instead, without itself. A process that has ended counts as nothing.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        processes: Iterable[psutil.Process] = process.children(recursive=True) if children else [process]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(_proportional(each.pid) for each in processes) / 1e6


def _proportional(pid: int) -> int:
    """Bytes: the proportional set size where Linux tells it, else the resident set."""
    import psutil

    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
