"""What this installation uses on disk, and which optional programs and models it has."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bootstrap.environment import Settings

__all__ = ["OptionalPart", "ReaderLimit", "StoredPart", "optional_parts", "reader_limits", "storage_used"]


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A folder of the data folder. bytes: None where it is on its own server. rebuilt: made again when lost."""

    name: str
    folder: str
    bytes: int | None
    rebuilt: bool


@dataclass(frozen=True, slots=True)
class OptionalPart:
    """Something an installation may have. used: what it is, "" where it is missing; missing: the way to get it."""

    name: str
    used: str
    missing: str


_PARTS: Mapping[str, tuple[str, bool]] = {
    "originals": ("Originals", False),
    "postgres": ("Database, with the vectors", False),
    "chroma": ("Vectors in Chroma", True),
    "mirror": ("Copy of the vectors for fast search", True),
    "bm25": ("Keyword index", True),
    "models": ("Converted models", True),
}
"""Folder → what is in it, and whether it is made again when it is lost."""


def storage_used(settings: Settings) -> Sequence[StoredPart]:
    """The parts of the data folder with their sizes; a part this installation does not use is left out."""
    found = []
    for folder, (name, rebuilt) in _PARTS.items():
        path = settings.data_folder / folder
        elsewhere = {"postgres": settings.database_url, "originals": settings.originals_url}
        if elsewhere.get(folder):
            found.append(StoredPart(name, "on its own server", None, rebuilt))
        elif path.exists():
            found.append(StoredPart(name, folder, _size(path), rebuilt))
    return found


def _size(folder: Path) -> int:
    """Bytes of all files below a folder. A file that is deleted meanwhile, or may not be read, counts as nothing."""
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                total += Path(path, name).lstat().st_size
            except OSError:  # the database deletes files of its own at any time
                continue
    return total


def optional_parts(settings: Settings) -> Sequence[OptionalPart]:
    """The text recognition for scanned pages, and the language model that may write an answer."""
    from adapters.ocr import installed_ocr

    ocr = installed_ocr()
    return (
        OptionalPart(
            "Text recognition for scanned pages",
            ocr.program if ocr else "",
            "Install Tesseract; scanned pages are then read when their file is processed again.",
        ),
        OptionalPart(
            "Language model for written summaries",
            f"{settings.answer_model} at {settings.answer_url}" if settings.answer_url else "",
            "Optional. Set FIVEFOLD_ANSWER_URL and FIVEFOLD_ANSWER_MODEL; without it no text is sent anywhere.",
        ),
    )


@dataclass(frozen=True, slots=True)
class ReaderLimit:
    """One thing that the process that takes files apart is kept from. lacking: what to know where it is not."""

    name: str
    holds: bool
    lacking: str


def reader_limits(settings: Settings) -> Sequence[ReaderLimit]:
    """What this system keeps a reading process from, asked of one. Raises BadFile when none can be started."""
    from adapters.sandboxed_reader import SandboxedReader

    reader = SandboxedReader(settings.file_seconds, settings.file_megabytes)
    try:
        confinement = reader.confinement()
    finally:
        reader.close()
    elsewhere = "This system does not offer it; Linux does. Read files of strangers in a container or on Linux."
    return (
        ReaderLimit("Limited memory", confinement.memory, "Windows offers no such limit."),
        ReaderLimit("No additional rights", confinement.rights, elsewhere),
        ReaderLimit("No network", confinement.network, f"{elsewhere} It needs seccomp, on x86-64 or ARM."),
        ReaderLimit(
            "No access to your files", confinement.files, f"{elsewhere} It needs Landlock (Linux 5.13 or newer)."
        ),
    )
