"""Office packages (DOCX, PPTX, XLSX, OpenDocument): what is refused before a reader opens one, and whose they are."""

import re
import zipfile
import zlib
from io import BytesIO
from typing import Any

from core.errors import Cure, EncryptedFile, FileTooCostly, UnreadableFile
from core.ingest.extract.clean import clean

__all__ = ["check_package", "core_metadata", "kept"]

MOST_UNPACKED_BYTES = 1_000_000_000
MOST_RATIO = 200
_RATIO_FROM_BYTES = 50_000_000
_PROLOG_BYTES = 65_536
_COMMENT = re.compile(rb"<!--.*?-->", re.S)
_ROOT = re.compile(rb"<[A-Za-z_]")
_MANIFEST = "META-INF/manifest.xml"
_MOST_LETTERS = 500


def check_package(name: str, data: bytes) -> None:
    """Raises for a package that unpacks to absurd sizes, declares XML entities, needs a password, or is damaged."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = archive.infolist()
            unpacked = sum(part.file_size for part in parts)
            if unpacked > MOST_UNPACKED_BYTES or (unpacked > _RATIO_FROM_BYTES and unpacked > MOST_RATIO * len(data)):
                raise FileTooCostly(
                    f"'{name}' unpacks from {len(data):,} to {unpacked:,} bytes, as no real document does.",
                    "Save it again from the program that made it.",
                    Cure.OTHER_FILE,
                )
            for part in parts:
                if part.flag_bits & 1:
                    raise _sealed(name)
                if part.filename == _MANIFEST and b"encryption-data" in archive.read(part):
                    raise _sealed(name)
                if part.filename.endswith((".xml", ".rels")):
                    with archive.open(part) as file:
                        _refuse_entities(name, part.filename, file.read(_PROLOG_BYTES))
    except (zipfile.BadZipFile, zlib.error, ValueError, OSError, NotImplementedError, EOFError) as error:
        raise UnreadableFile(f"'{name}' is cut short or damaged ({error}).", "Download or export it again.") from error


def _sealed(name: str) -> EncryptedFile:
    """The packages of OpenDocument encrypt part by part, which nothing here opens."""
    return EncryptedFile(
        f"'{name}' is under a password that cannot be used here.", "Save a copy without password, and upload that."
    )


def _refuse_entities(name: str, part: str, head: bytes) -> None:
    """Office files never declare a document type; one that does tries to make the reader expand entities. Only the
    manifest of old OpenDocument files names one, without entities.

    Looked for before the root element, in UTF-16 as in UTF-8, and behind comments.
    """
    refused = b"<!ENTITY" if part == _MANIFEST else b"<!DOCTYPE"
    plain = _COMMENT.sub(b"", head.replace(b"\x00", b""))
    root = _ROOT.search(plain)
    if refused in plain[: root.start() if root else None] or (root is None and len(head) == _PROLOG_BYTES):
        raise UnreadableFile(
            f"'{name}' declares XML entities, which no Office program writes.", "Save it again from Word or Excel."
        )


def core_metadata(properties: Any) -> dict[str, str]:
    """What an Office Open XML package says of itself: title, author, subject, keywords, and the day it was changed."""
    modified = properties.modified
    return kept(
        title=properties.title,
        author=properties.author,
        subject=properties.subject,
        keywords=properties.keywords,
        modified=modified.date().isoformat() if modified else "",
    )


def kept(**told: object) -> dict[str, str]:
    """Metadata without what is empty, each at most 500 letters.

    >>> kept(title=" Leave\\x00 ", author=None)
    {'title': 'Leave'}
    """
    found = {key: clean(str(value)).strip()[:_MOST_LETTERS] for key, value in told.items() if value}
    return {key: value for key, value in found.items() if value}
