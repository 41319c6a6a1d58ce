"""Bytes to text: one reader per kind of file, each imported when the first such file comes."""

from core.errors import EmptyFile
from core.ingest.extract.detect import FileKind, detect
from core.ingest.extract.values import Block, BlockKind, Extracted

__all__ = ["Block", "BlockKind", "Extracted", "extract"]


def extract(name: str, data: bytes) -> Extracted:
    """The text of one file with its pages, blocks, title, metadata and warnings.

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
    return replace(extracted, warnings=warnings)


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
        from core.ingest.extract.delimited import read_delimited

        return read_delimited(name, text, kind)
    from core.ingest.extract.text import read_text

    return read_text(name, text)
