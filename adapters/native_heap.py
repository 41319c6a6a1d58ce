"""The heap of the C library."""

import ctypes
import logging

__all__ = ["keep_free_memory", "limit_free_memory", "return_free_memory"]

_log = logging.getLogger(__name__)
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8  # of glibc's malloc.h
_ARENAS, _BYTES_ALONE = 2, 256 * 1024  # chosen by hand
_MOST_BYTES_KEPT, _TRIMMED = 32 << 20, 1 << 30  # the most that glibc allows, and enough for a step of training


def limit_free_memory() -> bool:
    """Keep a process of many threads from holding memory that it has freed. Returns whether the C library can.

    glibc spreads threads over up to eight arenas per core, and what one arena has freed serves no other: see
    M_ARENA_MAX in mallopt(3). A block above M_MMAP_THRESHOLD is returned to the system when it is freed; unless the
    threshold is set, glibc raises it up to 32 MB, and blocks that come and go leave ever more gaps in the arenas. Other
    C libraries have no such settings, and nothing happens.
    """
    return _call("mallopt", _M_ARENA_MAX, _ARENAS) and _call("mallopt", _M_MMAP_THRESHOLD, _BYTES_ALONE)


def keep_free_memory() -> bool:
    """Keep what is freed, in a program that trains a model and then ends. Returns whether the C library can.

    A step of training frees and takes thousands of blocks of some megabytes. Returned to the system each time, they are
    cleared each time, which took more than half of the time."""
    return _call("mallopt", _M_MMAP_THRESHOLD, _MOST_BYTES_KEPT) and _call("mallopt", _M_TRIM_THRESHOLD, _TRIMMED)


def return_free_memory() -> bool:
    """Give pages of the heap that hold nothing back to the system; glibc by itself returns only those at its end, see
    malloc_trim(3). Returns whether there were any. It takes some milliseconds, in which Python goes on."""
    return _call("malloc_trim", 0)


def _call(name: str, *arguments: int) -> bool:
    try:
        return bool(getattr(ctypes.CDLL(None), name)(*arguments))
    except (AttributeError, OSError, TypeError) as error:
        _log.debug("This C library has no %s: %s", name, error)
        return False
