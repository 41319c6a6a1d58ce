"""The registry of file kinds – media type, extensions, display name and parser – and how a file's kind is detected.

To support a new kind: add a member to FileKind, a row to `_ROWS`, and a function that imports its parser; if its bytes
identify it, extend `detect`, which goes by a file's bytes first and its name second.
"""
# Over 300 lines: one row and one importing function per kind, and the signatures that tell the kinds apart.

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from io import BytesIO
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from core.domain.errors import EmptyFile, UnreadableFile, UnsupportedFile
from core.domain.extraction import ExtractedDocument
from core.ingestion.parsers.damage import damage
from core.ingestion.parsers.decrypt import needs_password
from core.ingestion.parsers.text_cleaning import wide_encoding
from core.ports.reader import TextRecognizer

if TYPE_CHECKING:
    from core.ingestion.parsers.table_text import ParsedTables

__all__ = [
    "ARCHIVES",
    "MAILS",
    "READABLE",
    "TEXTUAL",
    "DetectedKind",
    "FileKind",
    "SourceFile",
    "detect",
    "kind_name",
    "may_hold_files",
    "named_kind",
    "read_file",
    "usual_ending",
]


class FileKind(StrEnum):
    """The supported kinds of files; values are media types."""

    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    XLS = "application/vnd.ms-excel"
    ODT = "application/vnd.oasis.opendocument.text"
    ODS = "application/vnd.oasis.opendocument.spreadsheet"
    ODP = "application/vnd.oasis.opendocument.presentation"
    RTF = "application/rtf"
    EML = "message/rfc822"
    MSG = "application/vnd.ms-outlook"
    HTML = "text/html"
    XML = "application/xml"
    MARKDOWN = "text/markdown"
    CSV = "text/csv"
    TSV = "text/tab-separated-values"
    JSON = "application/json"
    PARQUET = "application/vnd.apache.parquet"
    TEXT = "text/plain"
    PNG = "image/png"
    JPEG = "image/jpeg"
    TIFF = "image/tiff"
    ZIP = "application/zip"
    TAR = "application/x-tar"
    GZIP = "application/gzip"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to parse. folder: where contained files are written; None: they are skipped. seconds: time limit.
    ocr: None if OCR is not installed. text: the decoded text of a textual kind, else ""."""

    name: str
    data: bytes
    kind: FileKind
    folder: Path | None
    seconds: float
    ocr: TextRecognizer | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class _FileKindRow:
    """One kind. endings: file extensions, without the dot. name: display name with article. textual: only the file name
    distinguishes it from plain text. decoded: its parser takes text."""

    kind: FileKind
    endings: str
    name: str
    read: Callable[[SourceFile], "ExtractedDocument | ParsedTables"]
    textual: bool = False
    decoded: bool = False


def _pdf(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.pdf import read_pdf

    return read_pdf(file.name, file.data, file.seconds, file.ocr)


def _picture(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.picture import read_picture

    return read_picture(file.name, file.data, file.kind, file.seconds, file.ocr)


def _docx(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.docx import read_docx

    return read_docx(file.name, file.data)


def _pptx(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.pptx import read_pptx

    return read_pptx(file.name, file.data)


def _opendocument(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.opendocument import read_opendocument

    return read_opendocument(file.name, file.data, file.kind)


def _rtf(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.rtf import read_rtf

    return read_rtf(file.name, file.data)


def _eml(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.mail import read_eml

    return read_eml(file.name, file.data, file.folder)


def _msg(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.mail import read_msg

    return read_msg(file.name, file.data, file.folder)


def _archive(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.archive import read_archive

    return read_archive(file.name, file.data, file.folder)


def _xml(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.xml import read_xml

    return read_xml(file.name, file.text)


def _html(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.html import read_html

    return read_html(file.name, file.text)


def _markdown(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.markdown import read_markdown

    return read_markdown(file.name, file.text)


def _text(file: SourceFile) -> ExtractedDocument:
    from core.ingestion.parsers.plain_text import read_text

    return read_text(file.name, file.text)


def _xlsx(file: SourceFile) -> "ParsedTables":
    from core.ingestion.parsers.workbooks import workbook_tables

    return workbook_tables(file.name, file.data)


def _calamine(file: SourceFile) -> "ParsedTables":
    from core.ingestion.parsers.workbooks import old_workbook_tables

    return old_workbook_tables(file.name, file.data, file.kind)


def _parquet(file: SourceFile) -> "ParsedTables":
    from core.ingestion.parsers.table_files import parquet_tables

    return parquet_tables(file.name, file.data)


def _delimited(file: SourceFile) -> "ParsedTables":
    from core.ingestion.parsers.table_files import delimited_tables

    return delimited_tables(file.name, file.text, file.kind)


def _json(file: SourceFile) -> "ExtractedDocument | ParsedTables":
    from core.ingestion.parsers.table_files import json_tables

    return json_tables(file.text) or _text(file)


_ROWS = (
    _FileKindRow(FileKind.PDF, "pdf", "a PDF", _pdf),
    _FileKindRow(FileKind.DOCX, "docx docm dotx dotm", "a Word document", _docx),
    _FileKindRow(FileKind.PPTX, "pptx pptm ppsx ppsm potx", "a PowerPoint presentation", _pptx),
    _FileKindRow(FileKind.XLSX, "xlsx xlsm xltx xltm", "an Excel workbook", _xlsx),
    _FileKindRow(FileKind.XLS, "xls", "an Excel workbook of the old kind (.xls)", _calamine),
    _FileKindRow(FileKind.ODT, "odt ott", "an OpenDocument text", _opendocument),
    _FileKindRow(FileKind.ODS, "ods ots", "an OpenDocument spreadsheet", _calamine),
    _FileKindRow(FileKind.ODP, "odp otp", "an OpenDocument presentation", _opendocument),
    _FileKindRow(FileKind.RTF, "rtf", "a rich text file (RTF)", _rtf),
    _FileKindRow(FileKind.EML, "eml", "a mail", _eml),
    _FileKindRow(FileKind.MSG, "msg", "an Outlook message", _msg),
    _FileKindRow(FileKind.HTML, "html htm xhtml", "a web page", _html, textual=True, decoded=True),
    _FileKindRow(FileKind.XML, "xml", "an XML file", _xml, textual=True, decoded=True),
    _FileKindRow(FileKind.MARKDOWN, "md markdown", "Markdown", _markdown, textual=True, decoded=True),
    _FileKindRow(FileKind.CSV, "csv", "a CSV table", _delimited, textual=True, decoded=True),
    _FileKindRow(FileKind.TSV, "tsv tab", "a TSV table", _delimited, textual=True, decoded=True),
    _FileKindRow(FileKind.JSON, "json jsonl ndjson", "JSON", _json, textual=True, decoded=True),
    _FileKindRow(FileKind.PARQUET, "parquet", "a Parquet table", _parquet),
    _FileKindRow(FileKind.TEXT, "txt text log", "plain text", _text, textual=True, decoded=True),
    _FileKindRow(FileKind.PNG, "png", "a picture (PNG)", _picture),
    _FileKindRow(FileKind.JPEG, "jpg jpeg", "a picture (JPEG)", _picture),
    _FileKindRow(FileKind.TIFF, "tif tiff", "a picture (TIFF)", _picture),
    _FileKindRow(FileKind.ZIP, "zip", "a ZIP archive", _archive),
    _FileKindRow(FileKind.TAR, "tar", "a TAR archive", _archive),
    _FileKindRow(FileKind.GZIP, "gz tgz", "a compressed file (gzip)", _archive),
)
_BY_ENDING = {f".{ending}": row.kind for row in _ROWS for ending in row.endings.split()}
_BY_KIND = {row.kind: row for row in _ROWS}
_BY_MEDIA_TYPE = {row.kind.value: row for row in _ROWS} | {"application/xhtml+xml": _BY_KIND[FileKind.HTML]}
TEXTUAL = frozenset(row.kind for row in _ROWS if row.textual)
ARCHIVES = frozenset(row.kind for row in _ROWS if row.read is _archive)
MAILS = frozenset({FileKind.EML, FileKind.MSG})
READABLE = (
    "Fivefold reads PDF, Word (.docx), PowerPoint (.pptx), Excel (.xlsx, .xls), OpenDocument (.odt, .ods, .odp), RTF, "
    "mail (.eml, .msg), CSV, TSV, Parquet, JSON, XML, HTML, Markdown, plain text, scans (.png, .jpg, .tiff), and "
    "archives of these (.zip, .tar, .gz)."
)


def named_kind(name: str) -> FileKind | None:
    """The kind that a file extension stands for, or None.

    >>> named_kind("Plan.PPTX").name, named_kind("notes")
    ('PPTX', None)
    """
    return _BY_ENDING.get(PurePath(name).suffix.lower())


def usual_ending(media_type: str) -> str:
    """The usual file extension of a media type, with its dot, or "" for one that no parser reads.

    >>> usual_ending("text/markdown"), usual_ending("application/xhtml+xml"), usual_ending("video/mp4")
    ('.md', '.html', '')
    """
    row = _BY_MEDIA_TYPE.get(media_type)
    return "" if row is None else f".{row.endings.split()[0]}"


def kind_name(kind: FileKind) -> str:
    """A kind's display name with article, for use in a sentence."""
    return _BY_KIND[kind].name


def read_file(file: SourceFile) -> "tuple[ExtractedDocument | ParsedTables, str]":
    """The parser's result, and a warning if the text's encoding was guessed, else ""."""
    from dataclasses import replace

    from core.ingestion.parsers.text_cleaning import decoded

    row = _BY_KIND[file.kind]
    if not row.decoded:
        return row.read(file), ""
    text, warning = decoded(file.name, file.data)
    return row.read(replace(file, text=text)), warning


@dataclass(frozen=True, slots=True)
class DetectedKind:
    """The kind of a file, and a warning if its name suggests another."""

    kind: FileKind
    warning: str = ""


_ZIP_PARTS = {
    "word/document.xml": FileKind.DOCX,
    "ppt/presentation.xml": FileKind.PPTX,
    "xl/workbook.xml": FileKind.XLSX,
}
_OPEN_DOCUMENTS = {kind.value: kind for kind in (FileKind.ODT, FileKind.ODS, FileKind.ODP)}
_OTHER_PACKAGES = {
    "[Content_Types].xml": "an Office file of another kind",
    "mimetype": "an OpenDocument or e-book file of another kind",
    "META-INF/MANIFEST.MF": "a program (Java)",
}
_PDF_HEAD_BYTES = 1024  # Acrobat accepts a PDF header within the first 1,024 bytes.
_HTML_HEAD = re.compile(
    rb"^\s*(?:<\?xml[^>]*>\s*)?(?><!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_HTML_TABLE_HEAD = re.compile(rb"^\s*<(?:table|meta|style|div)\b", re.I)
_XML_HEAD = re.compile(rb"^\s*<\?xml[\s?]", re.I)
_FIELD = re.compile(rb"([!-9;-~]{1,80}):")
_MAIL_FIELDS = frozenset(b"from to subject date".split())
_TRANSPORT_FIELDS = frozenset(b"received message-id mime-version return-path".split())
_MAIL_HEAD_BYTES = 16_384  # Chosen by hand, not fitted.
_READ_SIGNATURES = (
    (b"PAR1", FileKind.PARQUET),
    (b"{\\rtf", FileKind.RTF),
    (b"\x89PNG", FileKind.PNG),
    (b"\xff\xd8\xff", FileKind.JPEG),
    (b"II*\x00", FileKind.TIFF),
    (b"MM\x00*", FileKind.TIFF),
)
_OTHER_SIGNATURES = (
    (b"GIF8", "a picture (GIF)"),
    (b"7z\xbc\xaf", "an archive (7z)"),
    (b"Rar!", "an archive (RAR)"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3", "an SQLite database"),
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_STREAMS = {"__properties_version1.0": FileKind.MSG, "Workbook": FileKind.XLS, "Book": FileKind.XLS}
_ENCRYPTED_PACKAGE = "EncryptedPackage"
_BINARY_HEAD_BYTES = 65536  # Chosen by hand, not fitted.
_BINARY_SHARE = 0.02  # Chosen by hand, not fitted.
_BINARY_LEAST = 8  # Chosen by hand, not fitted.
_ARCHIVE_HEADS = (b"PK\x03\x04", b"PK\x05\x06", b"\x1f\x8b")
_MAIL_ENDINGS = (".eml", ".msg", ".mht", ".mhtml", ".mbox")
_MAIL_HEADS = (b"mime-version:", b"received:", b"message-id:", b"return-path:")
_HEAD_BYTES = 4096  # Chosen by hand, not fitted.
_UNICODE_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")


def detect(name: str, data: bytes) -> DetectedKind:
    """The kind of a file. Raises EmptyFile, EncryptedFile, UnreadableFile or UnsupportedFile.

    >>> detect("report.docx", b"%PDF-1.7 ...").kind.name
    'PDF'
    """
    if not data.strip(b"\x00 \t\r\n"):
        size = "0 bytes" if not data else "nothing but blanks"
        raise EmptyFile(f"'{name}' is empty ({size}).", "Export or download the file again, then upload it.")
    named = named_kind(name)
    found = _by_content(name, data, named)
    if found is None:
        return DetectedKind(named if named in TEXTUAL else FileKind.TEXT, _mismatch(named, FileKind.TEXT))
    return DetectedKind(found, _mismatch(named, found))


def may_hold_files(name: str, data: bytes) -> bool:
    """Whether a file may be an archive or a mail: a cheap check with false positives.

    >>> may_hold_files("plan.zip", b"PK\\x03\\x04 ..."), may_hold_files("plan.txt", b"We plan.")
    (True, False)
    """
    head = data[:_HEAD_BYTES]
    if head.startswith(_ARCHIVE_HEADS) or head[257:262] == b"ustar" or name.lower().endswith(_MAIL_ENDINGS):
        return True
    lines = [line.lower() for line in head.splitlines()]
    return any(line.startswith(_MAIL_HEADS) for line in lines)


def _mismatch(named: FileKind | None, found: FileKind) -> str:
    if named is None or named is found or (named in TEXTUAL and found is FileKind.TEXT):
        return ""
    return f"The name says {named.name}, but the file is {kind_name(found)} and was read as such."


def _by_content(name: str, data: bytes, named: FileKind | None) -> FileKind | None:
    """The kind that the bytes show; None for text."""
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _in_zip(name, data)
    if data.startswith(b"\x1f\x8b"):
        return FileKind.GZIP
    if data[257:262] == b"ustar":
        return FileKind.TAR
    if b"%PDF-" in data[:_PDF_HEAD_BYTES]:
        return FileKind.PDF
    for signature, kind in _READ_SIGNATURES:
        if data.startswith(signature):
            return kind
    if data.startswith(_OLE):
        return _in_ole(name, data, named)
    for signature, kind_words in _OTHER_SIGNATURES:
        if data.startswith(signature):
            raise UnsupportedFile(f"'{name}' is {kind_words}, which cannot be read.", READABLE)
    if _HTML_HEAD.match(data[:4096].removeprefix(b"\xef\xbb\xbf")) and named is not FileKind.MARKDOWN:
        return FileKind.HTML
    if _is_mail(data, named):
        return FileKind.EML
    if named is FileKind.XML or (named is None and _XML_HEAD.match(data)):
        return FileKind.XML
    if named in {FileKind.XLS, FileKind.XLSX} and (data.startswith(_UNICODE_MARKS) or not _is_binary(data)):
        return _exported(data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf"))
    if named is not None and named not in {*TEXTUAL, FileKind.EML}:
        raise UnreadableFile(
            f"'{name}' is not {kind_name(named)}: its beginning is missing or damaged.", "Export or download it again."
        )
    if not data.startswith(_UNICODE_MARKS) and _is_binary(data):
        if named is None:
            raise UnsupportedFile(f"'{name}' is neither text nor of a kind that can be read.", READABLE)
        raise UnreadableFile(
            f"'{name}' holds binary data, not text.", "It is damaged or not what its name says; export it again."
        )
    return None


def _exported(head: bytes) -> FileKind | None:
    """The kind of a text that a program exported under the name of a workbook; None for text without cells."""
    if _HTML_TABLE_HEAD.match(head):
        return FileKind.HTML
    if _XML_HEAD.match(head):
        return FileKind.XML
    if b"\t" in head:
        return FileKind.TSV
    return FileKind.CSV if b";" in head or b"," in head else None


def _in_zip(name: str, data: bytes) -> FileKind:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = set(archive.namelist())
            stated = archive.open("mimetype").read(100) if "mimetype" in parts else b""
            open_document = _OPEN_DOCUMENTS.get(stated.decode("ascii", "replace").strip().removesuffix("-template"))
    except damage() as error:
        raise UnreadableFile(f"'{name}' is cut short or damaged ({error}).", "Download or export it again.") from error
    for part, kind in _ZIP_PARTS.items():
        if part in parts:
            return kind
    if open_document:
        return open_document
    for part, kind_words in _OTHER_PACKAGES.items():
        if part in parts:
            raise UnsupportedFile(f"'{name}' is {kind_words}, which cannot be read.", READABLE)
    return FileKind.ZIP


def _in_ole(name: str, data: bytes, named: FileKind | None) -> FileKind:
    """The kind of an OLE container: old Office files, Outlook messages, encrypted packages."""
    import olefile

    try:
        with olefile.OleFileIO(BytesIO(data)) as package:
            streams = {entry[0] for entry in package.listdir()}
    except damage():
        streams = {_ENCRYPTED_PACKAGE} if _ENCRYPTED_PACKAGE.encode("utf-16-le") in data else set()
    if _ENCRYPTED_PACKAGE in streams:
        raise needs_password(name)
    for stream, kind in _OLE_STREAMS.items():
        if stream in streams:
            return kind
    if not streams and named in _OLE_STREAMS.values():
        raise UnreadableFile(f"'{name}' is cut short or damaged.", "Download or export it again.")
    raise UnsupportedFile(
        f"'{name}' is in the old Office format (.doc, .ppt).", "Save it as .docx or .pptx and upload that."
    )


def _is_mail(data: bytes, named: FileKind | None) -> bool:
    """Whether the bytes start with mail headers; without a mail's file name, a transport header is required."""
    if named not in {None, FileKind.EML}:
        return False
    found: set[bytes] = set()
    for line in data[:_MAIL_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n"):
        field = _FIELD.match(line)
        if not field and line[:1] not in {b" ", b"\t"} and not (line.startswith(b"From ") and not found):
            break
        found |= {field[1].lower()} if field else set()
    if named is FileKind.EML:
        return bool(found & (_MAIL_FIELDS | _TRANSPORT_FIELDS))
    return bool(found & _MAIL_FIELDS and found & _TRANSPORT_FIELDS)


def _is_binary(data: bytes) -> bool:
    """Whether there are too many control bytes for UTF-8 or a one-byte encoding; others are detected by zero bytes."""
    head = data[:_BINARY_HEAD_BYTES]
    if wide_encoding(head):
        return False
    controls = sum(head.count(bytes([byte])) for byte in (*range(9), *range(14, 27), *range(28, 32)))
    return controls > max(_BINARY_LEAST, _BINARY_SHARE * len(head))
