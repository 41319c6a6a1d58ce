"""The heap of the C library."""

import ctypes
import logging

__all__ = ["limit_arenas"]

_log = logging.getLogger(__name__)
_M_ARENA_MAX = -8  # of glibc's malloc.h
_ARENAS = 2


def limit_arenas() -> bool:
    """Keep a process of many threads from holding memory that it has freed. Returns whether the C library can.

    glibc spreads threads over up to eight arenas per core, and what one arena has freed serves no other: see
    M_ARENA_MAX in mallopt(3). Other C libraries have no such setting, and nothing happens.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _ARENAS))
    except (AttributeError, OSError, TypeError) as error:
        _log.debug("This C library has no arenas to limit: %s", error)
        return False
