"""The heap of the C library."""

import ctypes
import logging

__all__ = ["limit_arenas", "return_free_memory"]

_log = logging.getLogger(__name__)
_M_ARENA_MAX = -8  # of glibc's malloc.h
_ARENAS = 2


def limit_arenas() -> bool:
    """Keep a process of many threads from holding memory that it has freed. Returns whether the C library can.

    glibc spreads threads over up to eight arenas per core, and what one arena has freed serves no other: see
    M_ARENA_MAX in mallopt(3). Other C libraries have no such setting, and nothing happens.
    """
    return _call("mallopt", _M_ARENA_MAX, _ARENAS)


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
