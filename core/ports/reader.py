"""Reading untrusted files: within limits of time and memory, and by optical character recognition (OCR)."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from core.domain.extraction import ExtractedDocument, LayoutLine, ParsedFeed

__all__ = ["INSTALL", "MOST_PIXELS", "FileReader", "OcrPage", "OcrRun", "PageImage", "TextRecognizer"]


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


INSTALL = "Install Tesseract (text recognition) where files are read, then read this one again"

MOST_PIXELS = 40_000_000
"""Of a page drawn for recognition: A3 at 400 dots per inch has 31 million; more only costs memory."""


@dataclass(frozen=True, slots=True)
class PageImage:
    """A page image in a file format Tesseract reads, with its resolution in dots per inch."""

    data: bytes
    dots_per_inch: int


@dataclass(frozen=True, slots=True)
class OcrPage:
    """Text recognised on one image. sure: mean word confidence, 0 … 100. turned: clockwise quarter turns that make the
    image upright."""

    lines: tuple[LayoutLine, ...]
    sure: float
    turned: int = 0


@dataclass(frozen=True, slots=True)
class OcrRun:
    """Results of many pages, by page number. late: pages there was no time for, or that took too long."""

    pages: dict[int, OcrPage]
    late: tuple[int, ...]


class TextRecognizer(Protocol):
    """Reads the text on page images. Where no OCR is installed, readers get None instead."""

    def recognise(self, pictures: Iterable[tuple[int, Callable[[], PageImage]]], seconds: float) -> OcrRun:
        """Read the images, given as (page number, function that draws it), in order until the seconds are used up."""
        ...
