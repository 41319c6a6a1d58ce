"""The registry of file kinds: media type, extensions, display name and parser.

To support a new kind: add a member to FileKind, a row to `_ROWS`, and a function that imports its parser; if its bytes
identify it, extend `detect`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from core.domain.extraction import ExtractedDocument
from core.ports.reader import TextRecognizer

if TYPE_CHECKING:
    from core.ingestion.parsers.table_text import ParsedTables

__all__ = [
    "ARCHIVES",
    "MAILS",
    "READABLE",
    "TEXTUAL",
    "FileKind",
    "SourceFile",
    "kind_name",
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

    return read_xml(file.name, file.data)


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
    _FileKindRow(FileKind.XML, "xml", "an XML file", _xml, textual=True),
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
    "Readable are PDF, Word (.docx), PowerPoint (.pptx), Excel (.xlsx, .xls), OpenDocument (.odt, .ods, .odp), RTF, "
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
