"""Files on disk: the store of original files, and atomic writes.

Originals are content-addressed: <place>/ab/cdef… is named by the SHA-256 of its bytes. The place is a folder, or any
fsspec URL (s3://bucket/originals). Files never change: the same bytes have the same name. A file that no longer matches
its name is reported, not returned.
"""

import os
import string
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from core.domain.errors import NotFound, StoreFailed

__all__ = ["OriginalFiles", "replace_file"]


class OriginalFiles:
    """Implements core.ports.stores.BlobStore in a folder or at a URL."""

    def __init__(self, folder: str) -> None:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem

        files, self._root = url_to_fs(folder)
        self._files: Any = files
        self._local = isinstance(files, LocalFileSystem)

    def put(self, data: bytes) -> str:
        """Store the bytes durably; returns their hex SHA-256. Raises StoreFailed."""
        name = sha256(data).hexdigest()
        try:
            if not self._holds(name, data):
                self._write(name, data)
        except OSError as error:
            raise StoreFailed(
                f"The original could not be stored: {error}.",
                "Make room, or make the data folder writable, then upload again.",
            ) from error
        return name

    def get(self, sha256: str) -> bytes:
        """The bytes. Raises NotFound, or StoreFailed when they no longer match their name."""
        missing = NotFound(f"The original {sha256[:12]}… is not in the data folder.", "Upload the file again.")
        if not _is_name(sha256):
            raise missing
        try:
            data = bytes(self._files.cat_file(self._path(sha256)))
        except FileNotFoundError as error:
            raise missing from error
        except OSError as error:
            raise StoreFailed(
                f"The original {sha256[:12]}… cannot be read: {error}.", "Check the data folder."
            ) from error
        if _digest(data) != sha256:
            raise StoreFailed(f"The original {sha256[:12]}… is damaged on disk.", "Upload the file again, then retry.")
        return data

    def exists(self, sha256: str) -> bool:
        """Whether these bytes are stored."""
        return _is_name(sha256) and bool(self._files.exists(self._path(sha256)))

    def delete(self, sha256: str) -> None:
        """Delete the bytes; harmless when they are gone. Raises StoreFailed."""
        if not _is_name(sha256):
            return
        try:
            self._files.rm_file(self._path(sha256))
        except FileNotFoundError:
            return
        except OSError as error:
            raise StoreFailed(
                f"The original {sha256[:12]}… could not be deleted: {error}.", "Make the data folder writable."
            ) from error

    def names(self) -> Iterator[str]:
        """The SHA-256 of every stored file, sorted. Raises StoreFailed."""
        try:
            found = self._files.find(self._root) if self._files.exists(self._root) else ()
        except OSError as error:
            raise StoreFailed(f"The originals cannot be listed: {error}.", "Check the data folder.") from error
        for path in sorted(found):
            name = "".join(str(path).rsplit("/", 2)[-2:])
            if _is_name(name):
                yield name

    def _path(self, name: str) -> str:
        return f"{self._root}/{name[:2]}/{name[2:]}"

    def _holds(self, name: str, data: bytes) -> bool:
        """Whether the whole blob is stored; a damaged one will be written again."""
        return self.exists(name) and bytes(self._files.cat_file(self._path(name))) == data

    def _write(self, name: str, data: bytes) -> None:
        if self._local:
            _write_durably(Path(self._path(name)), data)
        else:
            self._files.makedirs(f"{self._root}/{name[:2]}", exist_ok=True)
            self._files.pipe_file(self._path(name), data)


def _is_name(name: str) -> bool:
    return len(name) == 64 and set(name) <= set(string.hexdigits.lower())


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _write_durably(path: Path, data: bytes) -> None:
    """Write all or nothing, synced to disk before returning, so that a power cut leaves the whole file or none."""
    new_folder = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=path.parent, prefix=".part-", delete=False) as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise
    for folder in (path.parent, path.parent.parent) if new_folder else (path.parent,):
        _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_PATIENCE_SECONDS = 5.0  # of retries while another process reads the target. Chosen by hand.


def replace_file(path: Path, data: bytes) -> None:
    """Write to a temporary file, then rename it over the target. Raises OSError.

    Windows refuses the rename while another process reads the target, usually for some milliseconds; it is tried
    again.
    """
    beside = path.with_name(f"{path.name}.{os.getpid()}.new")
    beside.write_bytes(data)
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            beside.replace(path)
        except PermissionError:
            if time.monotonic() > deadline:
                beside.unlink(missing_ok=True)
                raise
            time.sleep(0.01)
        else:
            return
