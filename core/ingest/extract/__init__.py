"""Bytes to text: one reader per kind of file, each imported when the first such file comes."""

from typing import TYPE_CHECKING

from core.errors import EmptyFile
from core.ingest.extract.detect import FileKind, detect
from core.ingest.extract.values import Block, BlockKind, Extracted

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Block", "BlockKind", "Extracted", "extract"]


def extract(name: str, data: bytes, folder: "Path | None" = None) -> Extracted:
    """The text of one file with its pages, blocks, title, metadata and warnings; and its tables, typed and written
    below `folder`, when it is made of tables.

    What the file is, its bytes say; the name only tells textual formats apart.
    Raises EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile or UnsupportedFile, naming the file.
    """
    from dataclasses import replace

    name = name.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    found = detect(name, data)
    extracted = _read(name, data, found.kind)
    if not any(page.text.strip() for page in extracted.pages):
        raise EmptyFile(f"'{name}' holds no text.", "Check that it is the right file.")
    warnings = (found.warning, *extracted.warnings) if found.warning else extracted.warnings
    if folder is None or not extracted.sheets:
        return replace(extracted, warnings=warnings)
    from core.ingest.tabular.typed import typed_tables

    return replace(extracted, warnings=warnings, sheets=(), tables=typed_tables(extracted.sheets, folder))


def _read(name: str, data: bytes, kind: FileKind) -> Extracted:
    from dataclasses import replace

    if kind is FileKind.PDF:
        from core.ingest.extract.pdf import read_pdf

        return read_pdf(name, data)
    if kind is FileKind.DOCX:
        from core.ingest.extract.docx import read_docx

        return read_docx(name, data)
    if kind is FileKind.XLSX:
        from core.ingest.extract.workbook import read_workbook

        return read_workbook(name, data)
    if kind is FileKind.PARQUET:
        from core.ingest.extract.delimited import tables_as_text
        from core.ingest.extract.parquet import parquet_tables

        return tables_as_text(name, parquet_tables(name, data), kind, [])
    from core.ingest.extract.text import decoded

    text, warning = decoded(name, data)
    extracted = _read_text(name, text, kind)
    return replace(extracted, warnings=(*extracted.warnings, warning)) if warning else extracted


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
