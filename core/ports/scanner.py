"""Local folders and the files in them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.domain.errors import BadFile

__all__ = ["FolderScanner", "ScannedFile"]


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file in a folder. path: relative to the folder, with "/". modified: nanoseconds since 1970."""

    path: str
    size: int
    modified: int


class FolderScanner(Protocol):
    """Lists and reads local folders; never writes."""

    def resolve(self, path: Path) -> Path:
        """The absolute path with symbolic links resolved, whether it exists or not."""
        ...

    def is_folder(self, path: Path) -> bool:
        """Whether the path is a folder that can be accessed."""
        ...

    def scan(self, folder: Path) -> Iterator[ScannedFile | tuple[str, BadFile]]:
        """Every file below a folder, ordered by path; for a folder that cannot be read, its path and the error.

        Skips symbolic links, anything that is no regular file, hidden files, lock files of office programs ("~$…") and
        unfinished downloads.
        """
        ...

    def read(self, folder: Path, file: ScannedFile) -> bytes | None:
        """The bytes of an unchanged file; None when it was moved, deleted or modified since it was scanned.

        Raises UnreadableFile when the system denies access, FileTooCostly above one gigabyte.
        """
        ...

    def folders(self, folder: Path, levels: int) -> Iterator[Path]:
        """The folder and its subfolders down to `levels`, without hidden, linked or unreadable ones."""
        ...
