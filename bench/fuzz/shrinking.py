"""Makes the file of a finding smaller while it stays the same finding."""

from collections.abc import Callable
from time import monotonic

__all__ = ["smallest"]


def smallest(data: bytes, same: Callable[[bytes], bool], seconds: float) -> bytes:
    """The shortest bytes found in the time, by leaving out ever smaller stretches (Zeller & Hildebrandt 2002, ddmin).

    >>> smallest(b"aaaaXaaaaaYaa", lambda data: b"X" in data and b"Y" in data, 5.0)
    b'XY'
    """
    until, length = monotonic() + seconds, max(1, len(data) // 2)
    while length and monotonic() < until:
        position, shorter = 0, False
        while position < len(data) and monotonic() < until:
            without = data[:position] + data[position + length :]
            if without and same(without):
                data, shorter = without, True
            else:
                position += length
        if not shorter:
            length //= 2
    return data
