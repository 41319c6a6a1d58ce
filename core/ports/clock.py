"""Timing without a clock in core: the timer is an argument."""

from collections.abc import Callable

__all__ = ["Timer", "stopwatch"]

Timer = Callable[[], float]
"""Seconds since some fixed moment, never running backwards, such as `time.perf_counter`."""


def stopwatch(timer: Timer) -> Callable[[], float]:
    """Start a stopwatch; each call of the returned function gives the elapsed milliseconds.

    >>> elapsed_ms = stopwatch(iter([10.0, 10.5, 12.0]).__next__)
    >>> elapsed_ms(), elapsed_ms()
    (500.0, 2000.0)
    """
    started = timer()
    return lambda: (timer() - started) * 1000
