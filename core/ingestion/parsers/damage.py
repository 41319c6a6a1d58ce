"""What the libraries of the readers raise over a damaged file: few check what they read before they use it."""

import struct
import zipfile
import zlib

__all__ = ["damage"]

_DAMAGE: tuple[type[Exception], ...] = (
    *(LookupError, ValueError, TypeError, AttributeError, ArithmeticError, AssertionError, EOFError, OSError),
    *(SyntaxError, RuntimeError, struct.error, zipfile.BadZipFile, zlib.error),
)


def damage(*of_library: type[Exception]) -> tuple[type[Exception], ...]:
    """The exceptions of a library, and those that it lets through; fuzzing found each (`python -m bench.fuzz`)."""
    return (*of_library, *_DAMAGE)
