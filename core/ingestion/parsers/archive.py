"""Unpacks ZIP, TAR and gzip archives, also nested ones, into files that are ingested as separate documents.

Entries are written under numbers, never under names from the archive. Declared sizes are summed over nested archives
before unpacking, so that a decompression bomb is refused early.
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
from typing import IO

from core.domain.errors import BadFile, Cure, EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile, UnsupportedFile
from core.domain.extraction import ContainedFile, ExtractedDocument
from core.ingestion.file_names import FileNamePatterns, clean_name, is_junk, unzipped_name
from core.ingestion.parsers.file_kinds import ARCHIVES, FileKind, detect

__all__ = ["MOST_DEPTH", "MOST_ENTRIES", "MOST_RATIO", "MOST_UNPACKED_BYTES", "read_archive"]

MOST_UNPACKED_BYTES = 4_000_000_000
"""Limit for all files together. Chosen by hand, not fitted, like the limits below."""
MOST_FILE_BYTES = 1_000_000_000
"""Limit for one file."""
MOST_RATIO = 200
"""Limit of unpacked to packed bytes, applied from RATIO_FROM_BYTES on; text packs 3 to 10 times, a table of zeros
1,000 times."""
RATIO_FROM_BYTES = 100_000_000  # below, an archive may be packed as tightly as it likes. Chosen by hand.
MOST_ENTRIES = 20_000  # files per archive, nested ones included. Chosen by hand.
MOST_DEPTH = 4
"""Levels of nested archives, including the outermost."""
_MOST_NAMED = 100  # left-out files named in warnings; the rest are counted. Chosen by hand.
_CHUNK = 1 << 20  # bytes unpacked at a time, so that the limits apply early
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, OSError, ValueError, NotImplementedError)
_ENTRY_DAMAGED = (*_DAMAGED, RuntimeError)  # zipfile raises RuntimeError for an encrypted entry


@dataclass(slots=True)
class _ArchiveUnpacker:
    """State of unpacking one uploaded archive, with the remaining budget. packed: size of the upload in bytes."""

    name: str
    packed: int
    folder: Path
    names: FileNamePatterns = field(default_factory=FileNamePatterns)
    members: list[ContainedFile] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    locked: int = 0
    entries: int = 0
    unpacked: int = 0
    written: int = 0

    def expect(self, entries: int, unpacked: int) -> None:
        """Adds an archive's declared sizes to the totals before unpacking. Raises FileTooCostly."""
        self.entries += entries
        self.unpacked += unpacked
        if self.entries > MOST_ENTRIES:
            raise _bomb(self.name, f"holds more than {MOST_ENTRIES:,} files")
        if self.unpacked > MOST_UNPACKED_BYTES:
            raise _bomb(self.name, f"would unpack to more than {MOST_UNPACKED_BYTES:,} bytes")
        if self.unpacked > RATIO_FROM_BYTES and self.unpacked > MOST_RATIO * self.packed:
            raise _bomb(self.name, f"would unpack to more than {MOST_RATIO} times its size, as no real archive does")

    def leave_out(self, entry: str, why: str) -> None:
        """Records an entry that is skipped, with the reason."""
        self.left_out.append(f"'{clean_name(entry)}' was left out: {why}.")

    def next_path(self) -> Path:
        """The path for the next file."""
        self.written += 1
        return self.folder / f"{self.written}"


def read_archive(name: str, data: bytes, folder: Path | None) -> ExtractedDocument:
    """The files of an archive, written below `folder`, with a warning for each one skipped.

    Raises EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile or UnsupportedFile (also without a folder).
    """
    if folder is None:
        raise UnsupportedFile(f"'{name}' is an archive, and there is no folder to unpack it in.", "Unpack it first.")
    unpacking = _ArchiveUnpacker(name, len(data), folder)
    kind = detect(name, data).kind
    try:
        _open(unpacking, kind, BytesIO(data), "", 1)
    except _ENTRY_DAMAGED as error:
        raise UnreadableFile(f"'{name}' is cut short or damaged ({error}).", "Download or pack it again.") from error
    if not unpacking.members:
        raise _nothing(unpacking)
    return ExtractedDocument((), (), kind, warnings=_left_out_warnings(unpacking), members=tuple(unpacking.members))


def _left_out_warnings(unpacking: _ArchiveUnpacker) -> tuple[str, ...]:
    """Warnings for skipped entries, and a count of those beyond the limit."""
    more = len(unpacking.left_out) - _MOST_NAMED
    return (*unpacking.left_out[:_MOST_NAMED], *([f"{more} more files were left out."] if more > 0 else ()))


def _nothing(unpacking: _ArchiveUnpacker) -> BadFile:
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


def _open(unpacking: _ArchiveUnpacker, kind: FileKind, stream: IO[bytes], prefix: str, depth: int) -> None:
    """Unpacks one archive; prefix: its path inside the outermost archive, ending in "/", or ""."""
    if depth > MOST_DEPTH:
        raise _bomb(unpacking.name, f"holds archives within archives more than {MOST_DEPTH} deep")
    if kind is FileKind.ZIP:
        _open_zip(unpacking, stream, prefix, depth)
    elif kind is FileKind.TAR:
        _open_tar(unpacking, stream, prefix, depth)
    else:
        _open_gzip(unpacking, stream, prefix, depth)


def _open_zip(unpacking: _ArchiveUnpacker, stream: IO[bytes], prefix: str, depth: int) -> None:
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


def _open_tar(unpacking: _ArchiveUnpacker, stream: IO[bytes], prefix: str, depth: int) -> None:
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


def _counted(archive: tarfile.TarFile, unpacking: _ArchiveUnpacker) -> Iterator[tarfile.TarInfo]:
    """The headers of all entries. Sparse files count with their declared size, which exceeds the stored one."""
    for entry in archive:
        unpacking.expect(1, entry.size)
        yield entry


def _open_gzip(unpacking: _ArchiveUnpacker, stream: IO[bytes], prefix: str, depth: int) -> None:
    """Unpacks one gzip file or TAR; its unpacked size is not declared, so it is counted while writing."""
    path = unpacking.next_path()
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


def _take(
    unpacking: _ArchiveUnpacker, name: str, size: int, opened: Callable[[], IO[bytes] | None], depth: int
) -> None:
    """Writes one entry to disk and registers it; a damaged entry is skipped, the others are unaffected."""
    if size > MOST_FILE_BYTES:
        unpacking.leave_out(name, f"it has {size:,} bytes, and {MOST_FILE_BYTES:,} is the most a file may have")
        return
    path = unpacking.next_path()
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


def _keep(unpacking: _ArchiveUnpacker, name: str, path: Path, depth: int) -> None:
    """Unpacks a nested archive, records an unreadable file, or adds the file as a document."""
    try:
        kind: FileKind | None = detect(name, path.read_bytes()).kind
    except (UnsupportedFile, EmptyFile) as error:
        path.unlink()
        reason = error.message.removeprefix(f"'{name}' ").removesuffix(".")
        unpacking.leave_out(name, f"it {reason}")
        return
    except BadFile:  # ingesting it as its own document reports the error
        kind = None
    if kind not in ARCHIVES or kind is None:
        unpacking.members.append(ContainedFile(unpacking.names.free(clean_name(name)), str(path)))
        return
    try:
        with path.open("rb") as stream:
            _open(unpacking, kind, stream, f"{name}/", depth + 1)
    except _ENTRY_DAMAGED as error:
        unpacking.leave_out(name, f"it is damaged ({error})")
    finally:
        path.unlink(missing_ok=True)
