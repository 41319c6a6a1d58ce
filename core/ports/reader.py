"""Reading untrusted files within limits of time and memory."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from core.domain.extraction import ExtractedDocument, ParsedFeed

__all__ = ["FileReader"]


class FileReader(Protocol):
    """Reads one file at a time per caller; a file that crashes or hangs the reader affects no other file.

    Every method raises a BadFile for a file that cannot be used: FileTooCostly beyond the limits, UnreadableFile when
    the reader crashed. Thread-safe.
    """

    def scratch_folder(self) -> AbstractContextManager[Path]:
        """An empty folder for output files; removed with its contents on exit."""
        ...

    def read(self, name: str, data: bytes, folder: Path) -> ExtractedDocument:
        """Extract the text of a file; its tables and embedded files are written below `folder`."""
        ...

    def take_out(self, name: str, data: bytes, folder: Path) -> ExtractedDocument | None:
        """Extract the files in an archive or mail, written below `folder`; None for every other kind of file."""
        ...

    def unlock(self, name: str, data: bytes, password: str) -> bytes:
        """A copy of the file without its password. Raises EncryptedFile for a wrong password."""
        ...

    def feed(self, url: str, data: bytes) -> ParsedFeed:
        """The entries of the RSS or Atom feed at a URL."""
        ...

    def close(self) -> None:
        """Release resources, such as idle processes."""
        ...
