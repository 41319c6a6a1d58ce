"""Lists and reads the files below a watched folder; never leaves it and never follows links."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from core.domain.errors import BadFile, FileTooCostly, UnreadableFile
from core.library.sources.store import ScannedFile

__all__ = ["LocalFolderScanner"]

_MOST_BYTES = 1 << 30  # one gigabyte. Chosen by hand.

_UNFINISHED = (".part", ".partial", ".crdownload", ".tmp", ".download")


class LocalFolderScanner:
    """core.library.sources.store.FolderScanner over the local file system."""

    def resolve(self, path: Path) -> Path:
        """The absolute path without links in it."""
        return path.resolve()

    def is_folder(self, path: Path) -> bool:
        """Whether the path is a folder that can be accessed."""
        return path.is_dir()

    def scan(self, folder: Path) -> Iterator[ScannedFile | tuple[str, BadFile]]:
        """Every file below a folder, ordered by path; for a folder that cannot be read, its path and the error."""
        yield from _below(folder, "")

    def read(self, folder: Path, file: ScannedFile) -> bytes | None:
        """The bytes of an unchanged file; None when it was moved, deleted or modified. Raises UnreadableFile,
        FileTooCostly."""
        return _contents(folder, file)

    def folders(self, folder: Path, levels: int) -> Iterator[Path]:
        """The folder and its subfolders down to `levels`."""
        if folder.is_dir():
            yield folder
            yield from _folders_below(folder, levels)


def _below(folder: Path, inside: str) -> Iterator[ScannedFile | tuple[str, BadFile]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield inside or ".", _unreadable(inside or ".", error)
        return
    for entry in entries:
        name = entry.name.encode("utf-8", "replace").decode("utf-8")
        if name.startswith((".", "~$")) or name.lower().endswith(_UNFINISHED):
            continue
        path = f"{inside}{name}"
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from _below(Path(entry.path), f"{path}/")
            elif entry.is_file(follow_symlinks=False):
                known = entry.stat(follow_symlinks=False)
                yield ScannedFile(path, known.st_size, known.st_mtime_ns)
        except FileNotFoundError:
            continue  # it vanished while it was looked at
        except OSError as error:
            yield path, _unreadable(path, error)


def _contents(folder: Path, file: ScannedFile) -> bytes | None:
    path = folder / file.path
    if file.size > _MOST_BYTES:
        raise FileTooCostly(
            f"'{file.path}' is larger than {_MOST_BYTES // 2**30} GB.", "Split it, or take out what nobody searches."
        )
    try:
        opened = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(opened, "rb") as stream:
            before = os.fstat(opened)
            inside = Path(os.path.realpath(path)) == path  # a folder on the way may have become a link
            data = stream.read() if stat.S_ISREG(before.st_mode) and inside else None
            after = os.fstat(opened)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(file.path, error) from error
    listed_state = (file.size, file.modified)
    same = listed_state == (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return data if same else None


def _folders_below(folder: Path, levels: int) -> Iterator[Path]:
    if levels == 0:
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield Path(entry.path)
            yield from _folders_below(Path(entry.path), levels - 1)


def _unreadable(path: str, error: OSError) -> UnreadableFile:
    return UnreadableFile(
        f"'{path}' cannot be read: {error.strerror or type(error).__name__}.",
        "Let the program's user read it; it is tried again at every look.",
    )
