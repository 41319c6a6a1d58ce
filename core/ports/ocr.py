"""Optical character recognition (OCR) of page images."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from core.domain.extraction import LayoutLine

__all__ = ["INSTALL", "MOST_PIXELS", "OcrPage", "OcrRun", "PageImage", "TextRecognizer"]

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
