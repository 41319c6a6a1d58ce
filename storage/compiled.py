"""Compiles loops over arrays with numba, once per machine: the machine code is kept for the next process.

Without it every process, each command of the command line too, compiles for some seconds.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["compiled"]


def compiled(loop: Callable[..., Any]) -> Any:
    """The loop, compiled at the first call with arguments of a type; it releases the interpreter lock.

    numba keeps the machine code in `__pycache__` beside the source, else in the user's cache folder, and compiles again
    when source or processor differ. Where neither folder can be written, each process compiles.
    """
    from numba import njit

    try:
        dispatcher: Any = njit(nogil=True, cache=True)(loop)
    except RuntimeError:
        return njit(nogil=True)(loop)
    dispatcher._cache = _Forgiving(dispatcher._cache)
    return dispatcher


class _Forgiving:
    """numba's cache of one loop, of which a full disk or a lost folder makes an empty one."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def load_overload(self, *args: Any) -> Any:
        with suppress(OSError):
            return self._cache.load_overload(*args)
        return None

    def save_overload(self, *args: Any) -> None:
        with suppress(OSError):
            self._cache.save_overload(*args)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)
