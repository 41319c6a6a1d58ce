"""The kinds of file that can be read: their media types, what their names end with, and how they are spoken of."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath

__all__ = ["ARCHIVES", "PICTURES", "READABLE", "TEXTUAL", "FileKind", "named_kind", "spoken"]


class FileKind(StrEnum):
    """The kinds of file that can be read; values are media types."""

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
class _Row:
    """One kind. endings: of names, without the dot. textual: whether only the name tells it from plain text."""

    kind: FileKind
    endings: str
    spoken: str
    textual: bool = False


_ROWS = (
    _Row(FileKind.PDF, "pdf", "a PDF"),
    _Row(FileKind.DOCX, "docx docm dotx dotm", "a Word document"),
    _Row(FileKind.PPTX, "pptx pptm ppsx ppsm potx", "a PowerPoint presentation"),
    _Row(FileKind.XLSX, "xlsx xlsm xltx xltm", "an Excel workbook"),
    _Row(FileKind.XLS, "xls", "an Excel workbook of the old kind (.xls)"),
    _Row(FileKind.ODT, "odt ott", "an OpenDocument text"),
    _Row(FileKind.ODS, "ods ots", "an OpenDocument spreadsheet"),
    _Row(FileKind.ODP, "odp otp", "an OpenDocument presentation"),
    _Row(FileKind.RTF, "rtf", "a rich text file (RTF)"),
    _Row(FileKind.EML, "eml", "a mail"),
    _Row(FileKind.MSG, "msg", "an Outlook message"),
    _Row(FileKind.HTML, "html htm xhtml", "a web page", textual=True),
    _Row(FileKind.XML, "xml", "an XML file", textual=True),
    _Row(FileKind.MARKDOWN, "md markdown", "Markdown", textual=True),
    _Row(FileKind.CSV, "csv", "a CSV table", textual=True),
    _Row(FileKind.TSV, "tsv tab", "a TSV table", textual=True),
    _Row(FileKind.JSON, "json jsonl ndjson", "JSON", textual=True),
    _Row(FileKind.PARQUET, "parquet", "a Parquet table"),
    _Row(FileKind.TEXT, "txt text log", "plain text", textual=True),
    _Row(FileKind.PNG, "png", "a picture (PNG)"),
    _Row(FileKind.JPEG, "jpg jpeg", "a picture (JPEG)"),
    _Row(FileKind.TIFF, "tif tiff", "a picture (TIFF)"),
    _Row(FileKind.ZIP, "zip", "a ZIP archive"),
    _Row(FileKind.TAR, "tar", "a TAR archive"),
    _Row(FileKind.GZIP, "gz tgz", "a compressed file (gzip)"),
)
_BY_ENDING = {f".{ending}": row.kind for row in _ROWS for ending in row.endings.split()}
_SPOKEN = {row.kind: row.spoken for row in _ROWS}
TEXTUAL = frozenset(row.kind for row in _ROWS if row.textual)
PICTURES = frozenset({FileKind.PNG, FileKind.JPEG, FileKind.TIFF})
ARCHIVES = frozenset({FileKind.ZIP, FileKind.TAR, FileKind.GZIP})
READABLE = (
    "Readable are PDF, Word (.docx), PowerPoint (.pptx), Excel (.xlsx, .xls), OpenDocument (.odt, .ods, .odp), RTF, "
    "mail (.eml, .msg), CSV, TSV, Parquet, JSON, XML, HTML, Markdown, plain text, scans (.png, .jpg, .tiff), and "
    "archives of these (.zip, .tar, .gz)."
)


def named_kind(name: str) -> FileKind | None:
    """What the ending of a name says, None when it says nothing.

    >>> named_kind("Plan.PPTX").name, named_kind("notes")
    ('PPTX', None)
    """
    return _BY_ENDING.get(PurePath(name).suffix.lower())


def spoken(kind: FileKind) -> str:
    """A kind as it is named in a sentence, with its article."""
    return _SPOKEN[kind]
