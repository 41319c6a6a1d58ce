"""Bytes to text: one reader per kind of file, each imported when the first such file comes."""

from typing import TYPE_CHECKING

from core.errors import EmptyFile
from core.ingest.extract.detect import FileKind, detect
from core.ingest.extract.values import Block, BlockKind, Extracted

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Block", "BlockKind", "Extracted", "extract"]


def extract(name: str, data: bytes, folder: "Path | None" = None, seconds: float = 300) -> Extracted:
    """The text of one file with its pages, blocks, title, metadata and warnings; and its tables, typed and written
    below `folder`, when it is made of tables; and the files that came with it, below `folder` too.

    seconds: what the file may take; text recognition of its pictures stops in time and says which pages are left.

    What the file is, its bytes say; the name only tells textual formats apart.
    Raises EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile or UnsupportedFile, naming the file.
    """
    from dataclasses import replace

    name = name.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    found = detect(name, data)
    if found.kind in (FileKind.ZIP, FileKind.TAR, FileKind.GZIP):
        from core.ingest.extract.archive import read_archive

        return read_archive(name, data, folder)
    extracted = _read(name, data, found.kind, folder, seconds)
    if not extracted.members and not any(page.text.strip() for page in extracted.pages):
        raise EmptyFile(f"'{name}' holds no text.", "Check that it is the right file.")
    warnings = (*filter(None, [found.warning]), *extracted.warnings, *_wrong_encoding(extracted))
    if folder is None or not extracted.sheets:
        return replace(extracted, warnings=warnings)
    from core.ingest.tabular.typed import typed_tables

    return replace(extracted, warnings=warnings, sheets=(), tables=typed_tables(extracted.sheets, folder))


def _wrong_encoding(extracted: Extracted) -> list[str]:
    """A sentence when letters stand as they do in text that was saved in a wrong encoding."""
    from core.ingest.extract.clean import mojibake
    from core.ingest.extract.counted import which

    odd = [page.number for page in extracted.pages if mojibake(page.text)]
    told = "its letters were saved in a wrong encoding (“Ã¼” for “ü”)."
    if odd and extracted.paged:
        return [f"{which(odd, len(extracted.pages), 'page')} garbled text: {told}"]
    return [f"The text is garbled: {told}"] if odd else []


def _read(name: str, data: bytes, kind: FileKind, folder: "Path | None", seconds: float) -> Extracted:
    from dataclasses import replace

    if kind is FileKind.PDF:
        from core.ingest.extract.pdf import read_pdf

        return read_pdf(name, data, seconds)
    if kind in {FileKind.PNG, FileKind.JPEG, FileKind.TIFF}:
        from core.ingest.extract.picture import read_picture

        return read_picture(name, data, kind, seconds)
    if kind in {FileKind.XLSX, FileKind.XLS, FileKind.ODS, FileKind.PARQUET}:
        return _read_tables(name, data, kind)
    if (extracted := _read_package(name, data, kind, folder)) is not None:
        return extracted
    from core.ingest.extract.encodings import decoded

    text, warning = decoded(name, data)
    extracted = _read_text(name, text, kind)
    return replace(extracted, warnings=(*extracted.warnings, warning)) if warning else extracted


def _read_tables(name: str, data: bytes, kind: FileKind) -> Extracted:
    if kind is FileKind.XLSX:
        from core.ingest.extract.workbook import read_workbook

        return read_workbook(name, data)
    if kind is FileKind.PARQUET:
        from core.ingest.extract.delimited import tables_as_text
        from core.ingest.extract.parquet import parquet_tables

        return tables_as_text(name, parquet_tables(name, data), kind, [])
    from core.ingest.extract.old_workbook import read_old_workbook

    return read_old_workbook(name, data, kind)


def _read_package(name: str, data: bytes, kind: FileKind, folder: "Path | None") -> Extracted | None:
    """Documents and mails whose bytes are not their text; None for any other kind."""
    if kind is FileKind.DOCX:
        from core.ingest.extract.docx import read_docx

        return read_docx(name, data)
    if kind is FileKind.PPTX:
        from core.ingest.extract.pptx import read_pptx

        return read_pptx(name, data)
    if kind in {FileKind.ODT, FileKind.ODP}:
        from core.ingest.extract.opendocument import read_opendocument

        return read_opendocument(name, data, kind)
    if kind is FileKind.RTF:
        from core.ingest.extract.rtf import read_rtf

        return read_rtf(name, data)
    if kind is FileKind.EML:
        from core.ingest.extract.eml import read_eml

        return read_eml(name, data, folder)
    if kind is FileKind.MSG:
        from core.ingest.extract.msg import read_msg

        return read_msg(name, data, folder)
    if kind is FileKind.XML:
        from core.ingest.extract.xml import read_xml

        return read_xml(name, data)
    return None


def _read_text(name: str, text: str, kind: FileKind) -> Extracted:
    if kind is FileKind.HTML:
        from core.ingest.extract.html import read_html

        return read_html(name, text)
    if kind is FileKind.MARKDOWN:
        from core.ingest.extract.markdown import read_markdown

        return read_markdown(name, text)
    if kind in {FileKind.CSV, FileKind.TSV}:
        from core.ingest.extract.delimited import delimited_tables, tables_as_text

        tables, warnings = delimited_tables(name, text, kind)
        return tables_as_text(name, tables, kind, warnings)
    if kind is FileKind.JSON:
        from core.ingest.extract.delimited import tables_as_text
        from core.ingest.extract.json_rows import json_tables

        if found := json_tables(text):
            return tables_as_text(name, found, kind, [])
    from core.ingest.extract.text import read_text

    return read_text(name, text)
