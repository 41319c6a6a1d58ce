"""Safety checks and metadata for Office packages (DOCX, PPTX, XLSX, OpenDocument)."""

import re
import zipfile
from io import BytesIO
from typing import Any

from core.domain.errors import Cure, EncryptedFile, FileTooCostly, UnreadableFile
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.damaged_parts import is_beside_the_text
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["check_package", "clean_metadata", "core_metadata"]

MOST_UNPACKED_BYTES = 1_000_000_000  # This and the limits below were chosen by hand, not fitted.
MOST_RATIO = 200  # unpacked to packed bytes, as of archives
_RATIO_FROM_BYTES = 50_000_000  # a smaller package may be packed as tightly as it likes
_PROLOG_BYTES = 65_536  # of a part, in which a document type must stand
_COMMENT = re.compile(rb"<!--.*?-->|<\?.*?\?>", re.S)  # and processing instructions, which may hold anything
_ROOT = re.compile(rb"<[A-Za-z_]")
_MANIFEST = "META-INF/manifest.xml"
_MOST_LETTERS = 500  # per metadata value


def check_package(name: str, data: bytes) -> None:
    """Raises for a package with excessive unpacked size, XML entities, encryption, or damage in its text."""
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
                    _refuse_entities(name, part.filename, _head(archive, part))
    except damage() as error:
        raise UnreadableFile(f"'{name}' is cut short or damaged ({error}).", "Download or export it again.") from error


def _head(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """The first bytes of a part, none of a damaged one that the file can be read without."""
    try:
        with archive.open(part) as file:
            return file.read(_PROLOG_BYTES)
    except damage():
        if is_beside_the_text(part.filename):
            return b""
        raise


def _sealed(name: str) -> EncryptedFile:
    """The error for OpenDocument files encrypted part by part, which is not supported."""
    return EncryptedFile(
        f"'{name}' is under a password that cannot be used here.", "Save a copy without password, and upload that."
    )


def _refuse_entities(name: str, part: str, head: bytes) -> None:
    """Refuses document type declarations, because they can expand entities. Office files have none; only the manifest
    of old OpenDocument files has one, without entities.

    Checks the part before the root element, in UTF-8 and UTF-16, ignoring comments and processing instructions.
    """
    refused = b"<!ENTITY" if part == _MANIFEST else b"<!DOCTYPE"
    plain = _COMMENT.sub(b"", head.replace(b"\x00", b""))
    root = _ROOT.search(plain)
    if refused in plain[: root.start() if root else None] or (root is None and len(head) == _PROLOG_BYTES):
        raise UnreadableFile(
            f"'{name}' declares XML entities, which no Office program writes.", "Save it again from Word or Excel."
        )


def core_metadata(properties: Any) -> dict[str, str]:
    """Core properties of an Office Open XML package: title, author, subject, keywords, date of last change."""
    modified = properties.modified
    return clean_metadata(
        title=properties.title,
        author=properties.author,
        subject=properties.subject,
        keywords=properties.keywords,
        modified=modified.date().isoformat() if modified else "",
    )


def clean_metadata(**fields: object) -> dict[str, str]:
    """Metadata without empty values, each at most 500 characters.

    >>> clean_metadata(title=" Leave\\x00 ", author=None)
    {'title': 'Leave'}
    """
    found = {key: clean(str(value)).strip()[:_MOST_LETTERS] for key, value in fields.items() if value}
    return {key: value for key, value in found.items() if value}
