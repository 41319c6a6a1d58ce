"""Archives: ZIP, TAR and gzip, also within one another, taken apart into files that are read as documents of their own.

Nothing is written under a name an archive chose: entries lie under numbers in the folder the reader was given. What
they unpack to is counted before anything is unpacked, over all archives within archives, so that a bomb costs nothing.
"""

import gzip
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from core.errors import BadFile, Cure, EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile, UnsupportedFile
from core.ingest.extract.detect import FileKind, detect
from core.ingest.extract.values import Extracted, Member
from core.ingest.file_names import Names, clean_name, is_junk, unzipped_name

__all__ = ["ARCHIVES", "MOST_DEPTH", "MOST_ENTRIES", "MOST_RATIO", "MOST_UNPACKED_BYTES", "read_archive"]

ARCHIVES = frozenset({FileKind.ZIP, FileKind.TAR, FileKind.GZIP})
MOST_UNPACKED_BYTES = 4_000_000_000
"""Of all files together."""
MOST_FILE_BYTES = 1_000_000_000
"""Of one file."""
MOST_RATIO = 200
"""Unpacked to packed bytes, from RATIO_FROM_BYTES on; text packs 3 to 10 times, a table of zeros 1,000 times."""
RATIO_FROM_BYTES = 100_000_000
MOST_ENTRIES = 20_000
MOST_DEPTH = 4
"""Archives within archives; the outermost is the first."""
_TOLD = 100
_CHUNK = 1 << 20
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, ValueError, NotImplementedError)
_ENTRY_DAMAGED = (*_DAMAGED, RuntimeError)  # RuntimeError: zipfile's word for an entry under a password


@dataclass(slots=True)
class _Unpacking:
    """What is being taken out of one uploaded archive, and how much may still come. packed: bytes of the upload."""

    name: str
    packed: int
    folder: Path
    names: Names = field(default_factory=Names)
    members: list[Member] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    locked: int = 0
    entries: int = 0
    unpacked: int = 0
    written: int = 0

    def expect(self, entries: int, unpacked: int) -> None:
        """Count what an archive says it holds, before it is unpacked. Raises FileTooCostly."""
        self.entries += entries
        self.unpacked += unpacked
        if self.entries > MOST_ENTRIES:
            raise _bomb(self.name, f"holds more than {MOST_ENTRIES:,} files")
        if self.unpacked > MOST_UNPACKED_BYTES:
            raise _bomb(self.name, f"would unpack to more than {MOST_UNPACKED_BYTES:,} bytes")
        if self.unpacked > RATIO_FROM_BYTES and self.unpacked > MOST_RATIO * self.packed:
            raise _bomb(self.name, f"would unpack to more than {MOST_RATIO} times its size, as no real archive does")

    def leave_out(self, entry: str, why: str) -> None:
        """An entry that becomes no document."""
        self.left_out.append(f"'{clean_name(entry)}' was left out: {why}.")

    def place(self) -> Path:
        """Where the next file is written."""
        self.written += 1
        return self.folder / f"{self.written}"


def read_archive(name: str, data: bytes, folder: Path | None) -> Extracted:
    """Its files, written below `folder` (None: looked at only, their paths lead nowhere), and a note of each left out.

    Raises EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile or UnsupportedFile.
    """
    if folder is None:
        with TemporaryDirectory(prefix="fivefold-archive-") as passing:
            return read_archive(name, data, Path(passing))
    unpacking = _Unpacking(name, len(data), folder)
    kind = detect(name, data).kind
    try:
        _open(unpacking, kind, BytesIO(data), "", 1)
    except _ENTRY_DAMAGED as error:
        raise UnreadableFile(f"'{name}' is cut short or damaged ({error}).", "Download or pack it again.") from error
    if not unpacking.members:
        raise _nothing(unpacking)
    return Extracted((), (), kind, warnings=_told(unpacking), members=tuple(unpacking.members))


def _told(unpacking: _Unpacking) -> tuple[str, ...]:
    """What was left out, entry by entry, and how much more where that is too long a list."""
    more = len(unpacking.left_out) - _TOLD
    return (*unpacking.left_out[:_TOLD], *([f"{more} more files were left out."] if more > 0 else ()))


def _nothing(unpacking: _Unpacking) -> BadFile:
    name, left_out = unpacking.name, unpacking.left_out
    if not left_out:
        return EmptyFile(f"'{name}' is an archive without a file in it.", "Pack it again, then upload it.")
    if unpacking.locked == len(left_out):
        return EncryptedFile(
            f"The files in '{name}' are protected by a password.", "Unpack it with its password and upload the files."
        )
    return UnsupportedFile(
        f"'{name}' is an archive without a file this product reads. {left_out[0]}", "Look whether it is the right one."
    )


def _bomb(name: str, what: str) -> FileTooCostly:
    hint = "Unpack it yourself, and upload what you need."
    return FileTooCostly(f"'{name}' {what}; it was not unpacked.", hint, Cure.OTHER_FILE)


def _open(unpacking: _Unpacking, kind: FileKind, stream: IO[bytes], prefix: str, depth: int) -> None:
    """Take out the files of one archive; prefix: the path of this archive inside the outermost, with "/", or ""."""
    if depth > MOST_DEPTH:
        raise _bomb(unpacking.name, f"holds archives within archives more than {MOST_DEPTH} deep")
    if kind is FileKind.ZIP:
        _open_zip(unpacking, stream, prefix, depth)
    elif kind is FileKind.TAR:
        _open_tar(unpacking, stream, prefix, depth)
    else:
        _open_gzip(unpacking, stream, prefix, depth)


def _open_zip(unpacking: _Unpacking, stream: IO[bytes], prefix: str, depth: int) -> None:
    with zipfile.ZipFile(stream) as archive:
        entries = [entry for entry in archive.infolist() if not entry.filename.endswith("/")]
        unpacking.expect(len(entries), sum(entry.file_size for entry in entries))
        for entry in entries:
            name = prefix + unzipped_name(entry.filename, entry.flag_bits)
            if is_junk(name):
                continue
            if stat.S_ISLNK(entry.external_attr >> 16):
                unpacking.leave_out(name, "it is a link to another file")
            elif entry.flag_bits & 1:
                unpacking.locked += 1
                unpacking.leave_out(name, "it is protected by a password; unpack the archive and upload the file")
            else:
                _take(unpacking, name, entry.file_size, lambda entry=entry: archive.open(entry), depth)  # type: ignore[misc]


def _open_tar(unpacking: _Unpacking, stream: IO[bytes], prefix: str, depth: int) -> None:
    with tarfile.open(fileobj=stream, mode="r:") as archive:
        entries = [entry for entry in _counted(archive, unpacking) if not entry.isdir()]
        for entry in entries:
            name = prefix + entry.name
            if is_junk(name):
                continue
            if not entry.isreg():
                unpacking.leave_out(name, "it is a link or a device, not a file")
                continue
            _take(unpacking, name, entry.size, lambda entry=entry: archive.extractfile(entry), depth)  # type: ignore[misc]


def _counted(archive: tarfile.TarFile, unpacking: _Unpacking) -> Iterator[tarfile.TarInfo]:
    """The heads of all entries. A sparse file says it is larger than what is there, so sizes are counted as said."""
    for entry in archive:
        unpacking.expect(1, entry.size)
        yield entry


def _open_gzip(unpacking: _Unpacking, stream: IO[bytes], prefix: str, depth: int) -> None:
    """One file, or a TAR: what it unpacks to stands nowhere, so it is counted while it is written."""
    path = unpacking.place()
    with gzip.GzipFile(fileobj=stream) as unpacked, path.open("wb") as file:
        while chunk := unpacked.read(_CHUNK):
            unpacking.expect(0, len(chunk))
            file.write(chunk)
    inner = (prefix.rstrip("/") or unpacking.name).removesuffix(".gz")
    inner = f"{inner[:-4]}.tar" if inner.endswith(".tgz") else inner
    if _is_tar(path):
        with path.open("rb") as file:
            _open_tar(unpacking, file, prefix, depth)
        path.unlink()
        return
    unpacking.expect(1, 0)
    _keep(unpacking, inner, path, depth)


def _is_tar(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(512)[257:262] == b"ustar"


def _take(unpacking: _Unpacking, name: str, size: int, opened: Callable[[], IO[bytes] | None], depth: int) -> None:
    """Write one entry to disk, and keep it. A damaged one is left out; the others are whole."""
    if size > MOST_FILE_BYTES:
        unpacking.leave_out(name, f"it has {size:,} bytes, and {MOST_FILE_BYTES:,} is the most a file may have")
        return
    path = unpacking.place()
    try:
        source = opened()
        assert source is not None  # a regular file of a TAR always opens
        with source, path.open("wb") as file:
            while chunk := source.read(_CHUNK):
                file.write(chunk)
    except _ENTRY_DAMAGED as error:
        path.unlink(missing_ok=True)
        unpacking.leave_out(name, f"it is damaged ({error})")
        return
    _keep(unpacking, name, path, depth)


def _keep(unpacking: _Unpacking, name: str, path: Path, depth: int) -> None:
    """Take apart what is an archive itself; note what nobody can read; the rest becomes a document."""
    try:
        kind: FileKind | None = detect(name, path.read_bytes()).kind
    except (UnsupportedFile, EmptyFile) as error:
        path.unlink()
        said = error.message.removeprefix(f"'{name}' ").removesuffix(".")
        unpacking.leave_out(name, f"it {said}")
        return
    except BadFile:  # its own document says what is wrong with it, and what to do
        kind = None
    if kind not in ARCHIVES or kind is None:
        unpacking.members.append(Member(unpacking.names.free(clean_name(name)), str(path)))
        return
    try:
        with path.open("rb") as stream:
            _open(unpacking, kind, stream, f"{name}/", depth + 1)
    except _ENTRY_DAMAGED as error:
        unpacking.leave_out(name, f"it is damaged ({error})")
    finally:
        path.unlink(missing_ok=True)
