"""A file of arrays: atomic, memory-mapped, with a checksum.

    array, array, …   each from a multiple of 64 bytes on
    description       JSON: metadata of the writer, and name, type, shape and offset of each array
    seal              length of the description, checksum of everything before the seal, a format mark

It is written under another name and renamed when complete. A map of a file that is replaced or deleted stays valid; a
change in place is detected by size and modification time before reading.
"""

import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

__all__ = ["ArrayFile", "ArrayWriter", "DamagedFile", "open_arrays", "writing_arrays"]

_SEAL = struct.Struct("<QI8s")
_MARK = b"5FOLDm01"
_ALIGNED = 64  # bytes of a cache line
_CHUNK = 1 << 20  # bytes checksummed at a time


class DamagedFile(Exception):
    """The file is damaged or has another format."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class ArrayFile:
    """An open file: read-only arrays and the writer's metadata. Closed on garbage collection."""

    about: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    _descriptor: int
    _found: tuple[int, int]

    def intact(self) -> bool:
        """Whether it is unchanged since it was opened and checked."""
        return _state(self._descriptor) == self._found

    def stands_at(self, path: Path) -> bool:
        """Whether the file at this path is this one."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), path.stat())
        except OSError:
            return False


class ArrayWriter:
    """Adds arrays to a file block by block, so that no array must fit in memory."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._checksum, self._entries = file, 0, dict[str, Any]()

    def add(self, name: str, blocks: Iterable[NDArray[Any]]) -> NDArray[Any]:
        """Write at least one block, one below the other; returns the array, memory-mapped."""
        start, rows = self._file.tell(), 0
        for block in blocks:
            rows += len(block)
            self._write(np.ascontiguousarray(block).tobytes())
            kind, shape = block.dtype.str, block.shape[1:]
        self._entries[name] = {"type": kind, "shape": (rows, *shape), "start": start}
        self._write(bytes(-self._file.tell() % _ALIGNED))
        self._file.flush()
        return _mapped(self._file, self._entries[name])

    def _write(self, data: bytes) -> None:
        self._checksum = zlib.crc32(data, self._checksum)
        self._file.write(data)

    def finish(self, about: Mapping[str, Any]) -> None:
        """Write the description and the seal."""
        description = json.dumps({"about": about, "arrays": self._entries}).encode()
        self._write(description)
        self._file.write(_SEAL.pack(len(description), self._checksum, _MARK))
        self._file.flush()
        os.fsync(self._file.fileno())


@contextmanager
def writing_arrays(path: Path) -> Iterator[ArrayWriter]:
    """A file that replaces the one at the path when the block ends without an error. Raises OSError."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with beside.open("w+b") as file:
            yield ArrayWriter(file)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def open_arrays(path: Path) -> ArrayFile:
    """The file, checked from end to end. Raises DamagedFile, FileNotFoundError, OSError."""
    with path.open("rb") as file:
        found = _state(file.fileno())
        try:
            header = _checked(file, found[0])
            arrays = {name: _mapped(file, entry) for name, entry in header["arrays"].items()}
        except (ValueError, KeyError, TypeError) as error:
            raise DamagedFile from error
        if _state(file.fileno()) != found:
            raise DamagedFile
        opened = ArrayFile(header["about"], arrays, os.dup(file.fileno()), found)
    finalize(opened, os.close, opened._descriptor)
    return opened


def _state(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_size, status.st_mtime_ns


def _checked(file: BinaryIO, size: int) -> Any:
    """The description; everything before the seal is checked first."""
    if size < _SEAL.size:
        raise DamagedFile
    file.seek(size - _SEAL.size)
    length, checksum, mark = _SEAL.unpack(file.read())
    if mark != _MARK or length > size - _SEAL.size:
        raise DamagedFile
    file.seek(0)
    found, left, buffer = 0, size - _SEAL.size, memoryview(bytearray(_CHUNK))
    while left:
        read = file.readinto(buffer[: min(left, _CHUNK)])  # type: ignore[attr-defined]
        if not read:
            raise DamagedFile
        found, left = zlib.crc32(buffer[:read], found), left - read
    if found != checksum:
        raise DamagedFile
    file.seek(size - _SEAL.size - length)
    return json.loads(file.read(length))


def _mapped(file: BinaryIO, entry: Mapping[str, Any]) -> NDArray[Any]:
    """An array of the file, paged in on access. The map lives as long as the array."""
    kind, shape, start = np.dtype(entry["type"]), tuple(entry["shape"]), entry["start"]
    count = int(np.prod(shape))
    if not count:
        return np.empty(shape, dtype=kind)
    begin = start - start % mmap.ALLOCATIONGRANULARITY
    mapped = mmap.mmap(file.fileno(), start - begin + count * kind.itemsize, access=mmap.ACCESS_READ, offset=begin)
    return np.frombuffer(mapped, dtype=kind, count=count, offset=start - begin).reshape(shape)
