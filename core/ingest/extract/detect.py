"""What a file is, by its bytes first and its name second."""

import re
import zipfile
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from pathlib import PurePath

from core.errors import EmptyFile, EncryptedFile, UnreadableFile, UnsupportedFile

__all__ = ["FileKind", "Kind", "detect"]


class FileKind(StrEnum):
    """The kinds of file that can be read; values are media types."""

    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    HTML = "text/html"
    MARKDOWN = "text/markdown"
    CSV = "text/csv"
    TSV = "text/tab-separated-values"
    JSON = "application/json"
    PARQUET = "application/vnd.apache.parquet"
    TEXT = "text/plain"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is, and a warning when its name says something else."""

    kind: FileKind
    warning: str = ""


_BY_SUFFIX = {
    ".pdf": FileKind.PDF,
    ".docx": FileKind.DOCX,
    ".docm": FileKind.DOCX,
    ".xlsx": FileKind.XLSX,
    ".xlsm": FileKind.XLSX,
    ".html": FileKind.HTML,
    ".htm": FileKind.HTML,
    ".xhtml": FileKind.HTML,
    ".md": FileKind.MARKDOWN,
    ".markdown": FileKind.MARKDOWN,
    ".csv": FileKind.CSV,
    ".tsv": FileKind.TSV,
    ".tab": FileKind.TSV,
    ".json": FileKind.JSON,
    ".jsonl": FileKind.JSON,
    ".ndjson": FileKind.JSON,
    ".parquet": FileKind.PARQUET,
    ".txt": FileKind.TEXT,
    ".text": FileKind.TEXT,
    ".log": FileKind.TEXT,
}
_SPOKEN = {
    FileKind.PDF: "a PDF",
    FileKind.DOCX: "a Word document",
    FileKind.XLSX: "an Excel workbook",
    FileKind.HTML: "a web page",
    FileKind.TEXT: "plain text",
    FileKind.PARQUET: "a Parquet table",
}
_TEXTUAL = frozenset({FileKind.HTML, FileKind.MARKDOWN, FileKind.CSV, FileKind.TSV, FileKind.JSON, FileKind.TEXT})
_ZIP_PARTS = {"word/document.xml": FileKind.DOCX, "xl/workbook.xml": FileKind.XLSX}
_PDF_HEAD_BYTES = 1024
_HTML_HEAD = re.compile(
    rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_SIGNATURES = (
    (b"\x89PNG", "a picture (PNG)"),
    (b"\xff\xd8\xff", "a picture (JPEG)"),
    (b"GIF8", "a picture (GIF)"),
    (b"II*\x00", "a picture (TIFF)"),
    (b"MM\x00*", "a picture (TIFF)"),
    (b"\x1f\x8b", "a compressed file (gzip)"),
    (b"7z\xbc\xaf", "an archive (7z)"),
    (b"Rar!", "an archive (RAR)"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"{\\rtf", "a rich text file (RTF)"),
    (b"SQLite format 3", "an SQLite database"),
)
_SUPPORTED = "Readable are PDF, DOCX, XLSX, CSV, TSV, Parquet, JSON, HTML, Markdown and plain text."
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_BINARY_HEAD_BYTES = 65536
_BINARY_SHARE = 0.02
_BINARY_LEAST = 8
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")


def detect(name: str, data: bytes) -> Kind:
    """The kind of a file. Raises EmptyFile, EncryptedFile, UnreadableFile or UnsupportedFile.

    >>> detect("report.docx", b"%PDF-1.7 ...").kind.name
    'PDF'
    """
    if not data.strip(b"\x00 \t\r\n"):
        size = "0 bytes" if not data else "nothing but blanks"
        raise EmptyFile(f"'{name}' is empty ({size}).", "Export or download the file again, then upload it.")
    named = _BY_SUFFIX.get(PurePath(name).suffix.lower())
    found = _by_content(name, data, named)
    if found is None:
        return Kind(named if named in _TEXTUAL else FileKind.TEXT, _mismatch(named, FileKind.TEXT))
    return Kind(found, _mismatch(named, found))


def _mismatch(named: FileKind | None, found: FileKind) -> str:
    if named is None or named is found or (named in _TEXTUAL and found is FileKind.TEXT):
        return ""
    return f"The name says {named.name}, but the file is {_SPOKEN[found]} and was read as such."


def _by_content(name: str, data: bytes, named: FileKind | None) -> FileKind | None:
    """The kind the bytes show; None for text of some kind."""
    if b"%PDF-" in data[:_PDF_HEAD_BYTES]:
        return FileKind.PDF
    if data.startswith(b"PAR1"):
        return FileKind.PARQUET
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_zip(name, data)
    if data.startswith(_OLE):
        raise _old_office(name, data)
    for signature, spoken in _SIGNATURES:
        if data.startswith(signature):
            raise UnsupportedFile(f"'{name}' is {spoken}, which cannot be read.", _SUPPORTED)
    if _HTML_HEAD.match(data[:4096].removeprefix(b"\xef\xbb\xbf")) and named is not FileKind.MARKDOWN:
        return FileKind.HTML
    if named in {FileKind.PDF, FileKind.DOCX, FileKind.XLSX, FileKind.PARQUET}:
        raise UnreadableFile(
            f"'{name}' is not {_SPOKEN[named]}: its beginning is missing or damaged.", "Export or download it again."
        )
    if not data.startswith(_UNICODE_MARKS) and _is_binary(data):
        raise UnreadableFile(
            f"'{name}' holds binary data, not text.", "It is damaged or not what its name says; export it again."
        )
    return None


def _in_zip(name: str, data: bytes) -> FileKind:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = set(archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
        raise UnreadableFile(f"'{name}' is cut short or damaged ({error}).", "Download or export it again.") from error
    for part, kind in _ZIP_PARTS.items():
        if part in parts:
            return kind
    raise UnsupportedFile(f"'{name}' is an archive without a document this product reads.", _SUPPORTED)


def _old_office(name: str, data: bytes) -> EncryptedFile | UnsupportedFile:
    if _ENCRYPTED_PACKAGE in data:
        return EncryptedFile(f"'{name}' is protected by a password.", "Save a copy without password and upload that.")
    return UnsupportedFile(
        f"'{name}' is in the old Office format (.doc, .xls, .ppt).", "Save it as .docx or .xlsx and upload that."
    )


def _is_binary(data: bytes) -> bool:
    """Whether control bytes are too many for text in UTF-8 or a one-byte encoding; UTF-16 is told by its zeros."""
    head = data[:_BINARY_HEAD_BYTES]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) > 0.3 * len(head) / 2 and min(even, odd) < 0.05 * len(head) / 2:
        return False
    controls = sum(head.count(bytes([byte])) for byte in (*range(9), *range(14, 27), *range(28, 32)))
    return controls > max(_BINARY_LEAST, _BINARY_SHARE * len(head))
