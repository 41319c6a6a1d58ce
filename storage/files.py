"""The store of original files, and atomic writes.

Originals are content-addressed: <place>/ab/cdef… is named by the SHA-256 of its bytes. The place is a folder, or a
bucket of an object store (s3://bucket/originals, gs://…, az://…). Files never change: the same bytes have one name.
A file that no longer matches its name is reported, not returned.
"""

import os
import string
import time
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from core.domain.errors import BadRequest, NotFound, StoreFailed, StoreUnavailable

__all__ = ["OriginalFiles", "replace_file"]


class OriginalFiles:
    """Implements core.ports.stores.BlobStore in a folder or at a URL."""

    def __init__(self, place: str, key: str = "") -> None:
        """place: a folder, or a URL of an object store. key: its access key and secret, as KEY:SECRET; "": those of the
        environment. Raises BadRequest for a URL that cannot be used."""
        self._place: _Folder | _Bucket = _Bucket(place, key) if "://" in place else _Folder(Path(place))

    def put(self, data: bytes) -> str:
        """Store the bytes durably; returns their hex SHA-256. Raises StoreFailed."""
        name = sha256(data).hexdigest()
        try:
            if not self._holds(name, data):
                self._place.write(_path(name), data)
        except self._place.errors as error:
            raise self._place.failed("could not be stored", error) from error
        return name

    def get(self, sha256: str) -> bytes:
        """The bytes. Raises NotFound, or StoreFailed when they no longer match their name."""
        missing = NotFound(f"The original {sha256[:12]}… is not stored.", "Upload the file again.")
        if not _is_name(sha256):
            raise missing
        try:
            data = self._place.read(_path(sha256))
        except FileNotFoundError as error:
            raise missing from error
        except self._place.errors as error:
            raise self._place.failed(f"{sha256[:12]}… cannot be read", error) from error
        if _digest(data) != sha256:
            raise StoreFailed(f"The original {sha256[:12]}… is damaged.", "Upload the file again, then retry.")
        return data

    def exists(self, sha256: str) -> bool:
        """Whether these bytes are stored. Raises StoreFailed."""
        try:
            return _is_name(sha256) and self._place.exists(_path(sha256))
        except self._place.errors as error:
            raise self._place.failed(f"{sha256[:12]}… cannot be looked up", error) from error

    def delete(self, sha256: str) -> None:
        """Delete the bytes; harmless when they are gone. Raises StoreFailed."""
        if not _is_name(sha256):
            return
        try:
            self._place.delete(_path(sha256))
        except FileNotFoundError:
            return
        except self._place.errors as error:
            raise self._place.failed(f"{sha256[:12]}… could not be deleted", error) from error

    def names(self) -> Iterator[str]:
        """The SHA-256 of every stored file, sorted. Raises StoreFailed."""
        try:
            found = sorted(self._place.paths())
        except self._place.errors as error:
            raise self._place.failed("cannot be listed", error) from error
        yield from filter(_is_name, (path.replace("/", "") for path in found))

    def _holds(self, name: str, data: bytes) -> bool:
        """Whether the whole blob is stored; a damaged one will be written again."""
        return self._place.exists(_path(name)) and self._place.read(_path(name)) == data


class _Folder:
    """Files in a folder, which the first one makes. Paths are relative, with "/" between their parts. errors: what any
    method may raise; `read` and `delete` raise FileNotFoundError for what is not there."""

    errors: tuple[type[Exception], ...] = (OSError,)

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, path: str) -> bytes:
        return (self._folder / path).read_bytes()

    def write(self, path: str, data: bytes) -> None:
        _write_durably(self._folder / path, data)

    def exists(self, path: str) -> bool:
        return (self._folder / path).exists()

    def delete(self, path: str) -> None:
        (self._folder / path).unlink()

    def paths(self) -> Iterator[str]:
        return (path.relative_to(self._folder).as_posix() for path in self._folder.glob("*/*") if path.is_file())

    def failed(self, what: str, error: Exception) -> StoreFailed:
        remedy = "Make room, or make the data folder readable and writable, then try again."
        return StoreFailed(f"The original {what}: {error}.", remedy)


class _Bucket:
    """The same in an object store, which writes all of a file or nothing. Region, address of a server of one's own and,
    without a key, access keys come from the environment, as other programs read them (AWS_REGION, AWS_ENDPOINT_URL)."""

    def __init__(self, url: str, key: str) -> None:
        from obstore.exceptions import BaseError
        from obstore.store import from_url

        self.errors: tuple[type[Exception], ...] = (OSError, BaseError)
        try:
            name, _, secret = key.partition(":")
            keys: Any = {"access_key_id": name, "secret_access_key": secret} if key else {}
            self._store: Any = from_url(url, retry_config=_RETRIES, **keys)
        except (BaseError, ValueError) as error:
            detail = str(error).splitlines()[0]
            raise BadRequest(
                f"The originals cannot be stored at {url}: {detail}.", "Correct FIVEFOLD_ORIGINALS_URL."
            ) from error

    def read(self, path: str) -> bytes:
        return bytes(self._store.get(path).bytes())

    def write(self, path: str, data: bytes) -> None:
        self._store.put(path, data)

    def exists(self, path: str) -> bool:
        try:
            self._store.head(path)
        except FileNotFoundError:
            return False
        return True

    def delete(self, path: str) -> None:
        self._store.delete(path)

    def paths(self) -> Iterator[str]:
        return (each["path"] for batch in self._store.list() for each in batch)

    def failed(self, what: str, error: Exception) -> StoreFailed:
        """It may answer a little later, so that jobs try again."""
        detail = str(error).splitlines()[0].rstrip(".")
        remedy = "Check FIVEFOLD_ORIGINALS_URL, the access keys and the network, then try again."
        return StoreUnavailable(f"The original {what}: {detail}.", remedy)


_RETRIES: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=15)}  # of one request. Chosen by hand.


def _path(name: str) -> str:
    return f"{name[:2]}/{name[2:]}"


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
