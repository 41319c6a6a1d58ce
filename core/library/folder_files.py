"""The files below a watched folder, and their bytes: never outside of it, never through a link."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from core.errors import BadFile, FileTooCostly, UnreadableFile

__all__ = ["Found", "contents", "folders_below", "found_below"]

_MOST_BYTES = 1 << 30
_UNFINISHED = (".part", ".partial", ".crdownload", ".tmp", ".download")


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a folder. path: inside the folder, with "/". modified: nanoseconds since 1970."""

    path: str
    size: int
    modified: int


def found_below(folder: Path) -> Iterator[Found | tuple[str, BadFile]]:
    """Every file below a folder in the order of their paths, or the path of a folder that cannot be read and why.

    Left out are links, what is no file, and by their names: hidden files, locks of office programs ("~$…") and
    downloads under way.
    """
    yield from _below(folder, "")


def _below(folder: Path, inside: str) -> Iterator[Found | tuple[str, BadFile]]:
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
                yield Found(path, known.st_size, known.st_mtime_ns)
        except FileNotFoundError:
            continue  # it vanished while it was looked at
        except OSError as error:
            yield path, _unreadable(path, error)


def contents(folder: Path, file: Found) -> bytes | None:
    """The bytes of a file that stands still; None when it moved, vanished or changed meanwhile.

    Raises UnreadableFile when the system refuses it, FileTooCostly beyond a gigabyte.
    """
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
    asked = (file.size, file.modified)
    same = asked == (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    return data if same else None


def folders_below(folder: Path, levels: int) -> Iterator[Path]:
    """A folder and those in it, so many levels deep, without hidden ones and links; none of what cannot be read."""
    if not folder.is_dir():
        return
    yield folder
    if levels == 0:
        return
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and not entry.name.startswith("."):
            yield from folders_below(Path(entry.path), levels - 1)


def _unreadable(path: str, error: OSError) -> UnreadableFile:
    return UnreadableFile(
        f"'{path}' cannot be read: {error.strerror or type(error).__name__}.",
        "Let the program's user read it; it is tried again at every look.",
    )
