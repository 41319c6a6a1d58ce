"""Memory of running processes over hours, and whether it grows."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Growth", "Verdict", "growth", "growth_by_period", "megabytes_of", "server_megabytes"]

_SURE = 0.975  # quantile of a 95 % interval
_SMALL = 0.02  # of the level: a growth below this per hour takes two days to double the memory, and is called flat
_LEAST = 1.0  # megabytes per hour: so is what takes more than a month to reach a gigabyte


class Verdict(StrEnum):
    """What the interval of a slope says."""

    FLAT = "flat"
    GROWING = "growing"
    UNKNOWN = "cannot be told yet"


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
    def verdict(self) -> Verdict:
        """Flat when all of the interval is below 2 % of the memory per hour, or below 1 MB; growing when all of it is
        above. An interval around that limit is too wide to tell: measure longer.

        >>> [str(Growth(800.0, slope, slope - 5, slope + 5).verdict) for slope in (3, 15, 40)]
        ['flat', 'cannot be told yet', 'growing']
        >>> [str(Growth(4.0, slope, slope - 0.3, slope + 0.3).verdict) for slope in (0.5, 1.0, 1.5)]
        ['flat', 'cannot be told yet', 'growing']
        """
        limit = max(_SMALL * self.level, _LEAST)
        if self.high < limit:
            return Verdict.FLAT
        return Verdict.GROWING if self.low > limit else Verdict.UNKNOWN

    def __str__(self) -> str:
        """
        >>> str(Growth(800.0, 3.0, -2.0, 8.0))
        'flat: +3.0 MB/hour, 95 % interval -2.0 to +8.0'
        """
        return f"{self.verdict}: {self.per_hour:+.1f} MB/hour, 95 % interval {self.low:+.1f} to {self.high:+.1f}"


def growth(minutes: Sequence[float], megabytes: Sequence[float]) -> Growth:
    """The slope of memory by time, least squares.

    Measurements that follow each other are alike, so the interval is by Newey and West (1987), with their lag of
    4·(n / 100)^(2/9): as if all were independent, it would be too narrow. Raises ValueError for fewer than four.

    >>> found = growth(range(60), [500 + minute / 6 for minute in range(60)])
    >>> round(found.per_hour, 3), str(found.verdict)
    (10.0, 'flat')
    >>> str(growth(range(60), [500 + minute for minute in range(60)]).verdict)
    'growing'
    """
    if len(minutes) < 4:
        raise ValueError(f"A slope needs four measurements, not {len(minutes)}.")
    hours = np.asarray(minutes, dtype=float) / 60
    level = np.asarray(megabytes, dtype=float)
    centred = hours - hours.mean()
    spread = float(centred @ centred)
    slope = float(centred @ level) / spread
    moment = centred * (level - level.mean() - slope * centred)
    count = len(level)
    error = (_variance_of_sum(moment) * count / (count - 2)) ** 0.5 / spread
    return _grown(level, slope, error, count - 2)


def growth_by_period(minutes: Sequence[float], megabytes: Sequence[float], period: float = 30.0) -> Growth:
    """The slope of what rises and falls with a period in minutes, such as connections, which `engine_for` replaces: the
    mean difference between each measurement and the one a period earlier. A straight line through two teeth of a saw
    would seem to grow, or to shrink, by where they are cut.

    The interval is as in `growth`. Raises ValueError for fewer than four pairs.

    >>> saw = [70 + minute % 30 for minute in range(61)]
    >>> str(growth(range(61), saw).verdict), str(growth_by_period(range(61), saw, 30))
    ('growing', 'flat: +0.0 MB/hour, 95 % interval +0.0 to +0.0')
    """
    level = np.asarray(megabytes, dtype=float)
    known = {round(minute): value for minute, value in zip(minutes, level, strict=True)}
    pairs = [(known[at - round(period)], value) for at, value in known.items() if at - round(period) in known]
    if len(pairs) < 4:
        raise ValueError(f"A slope needs four pairs of measurements, not {len(pairs)}.")
    steps = np.array([later - earlier for earlier, later in pairs]) * 60 / period
    error = _variance_of_sum(steps - steps.mean()) ** 0.5 / len(steps)
    return _grown(level, float(steps.mean()), error, len(steps) - 1)


def _variance_of_sum(moment: NDArray[np.float64]) -> float:
    """Of measurements that follow each other, less their mean; by Newey and West."""
    lag = int(4 * (len(moment) / 100) ** (2 / 9))
    variance = float(moment @ moment)
    for shift in range(1, lag + 1):
        variance += 2 * (1 - shift / (lag + 1)) * float(moment[shift:] @ moment[:-shift])
    return max(variance, 0.0)


def _grown(level: NDArray[np.float64], slope: float, error: float, freedom: int) -> Growth:
    from scipy.stats import t

    wide = float(t.ppf(_SURE, freedom)) * error
    return Growth(float(level.mean()), slope, slope - wide, slope + wide)


def megabytes_of(pid: int, *, children: bool = False) -> float:
    """Memory of a process, in megabytes: pages that no file holds. PostgreSQL's shared buffers are left out: their size
    is fixed, and they fill once.

    children: of all its descendants instead, without itself. A process that has ended counts as nothing.
    """
    import psutil

    try:
        process = psutil.Process(pid)
        processes: Iterable[psutil.Process] = process.children(recursive=True) if children else [process]
    except psutil.NoSuchProcess:
        return 0.0
    return sum(_proportional(each.pid) for each in processes) / 1e6


def server_megabytes(server: int) -> tuple[float, float]:
    """Memory of a PostgreSQL server's own processes, and of its connections over a local socket, in megabytes as above.

    server: its process. Each process is looked at once: connections come and go while their memory is added up.
    """
    import psutil

    own, connections = megabytes_of(server), 0.0
    for each in psutil.Process(server).children():
        with suppress(psutil.NoSuchProcess):
            size = megabytes_of(each.pid)
            if " [local] " in f"{' '.join(each.cmdline())} ":
                connections += size
            else:
                own += size
    return own, connections


def _proportional(pid: int) -> int:
    """Bytes: anonymous memory where Linux tells it, each page divided among its processes, else the resident set. Pages
    of files are left out: they can be reclaimed, and a share of them grows when another program ends.
    """
    import psutil

    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        lines = []
    if found := [int(line.split()[1]) for line in lines if line.startswith("Pss_Anon:")]:
        return found[0] * 1024
    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
