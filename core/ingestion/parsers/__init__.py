"""File parsers, from bytes to text: one per kind of file, imported when first needed."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.errors import EmptyFile
from core.domain.extraction import ExtractedDocument
from core.ingestion.parsers.file_kinds import ARCHIVES, MAILS, SourceFile, detect, read_file
from core.ports.reader import TextRecognizer

if TYPE_CHECKING:
    from core.ingestion.parsers.table_text import ParsedTable

__all__ = ["extract", "extract_container"]


def extract(
    name: str,
    data: bytes,
    folder: Path | None = None,
    seconds: float = 300,  # the default of Settings.file_seconds
    ocr: TextRecognizer | None = None,
) -> ExtractedDocument:
    """Extracts text, pages, blocks, title, metadata and warnings from one file. Tables are typed and written below
    `folder`; so are contained files (archive members, mail attachments).

    seconds: time limit; OCR stops before it and reports the pages left. ocr: None if OCR is not installed. folder:
    required for archives.

    The bytes determine the kind of file; the name only distinguishes textual formats.
    Raises EmptyFile, EncryptedFile, FileTooCostly, UnreadableFile or UnsupportedFile, naming the file.
    """
    name = name.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    detected = detect(name, data)
    document, tables, odd_encoding = _read(SourceFile(name, data, detected.kind, folder, seconds, ocr))
    if detected.kind in ARCHIVES:
        return document
    if not document.members and not any(page.text.strip() for page in document.pages):
        raise EmptyFile(f"'{name}' contains no text.", "Check that it is the right file.")
    warnings = (*filter(None, [detected.warning]), *document.warnings, *odd_encoding, *_wrong_encoding(document))
    if folder is None or not tables:
        return replace(document, warnings=warnings)
    from core.ingestion.table_typing.typed_tables import typed_tables

    return replace(document, warnings=warnings, tables=typed_tables(tables, folder))


def _read(file: SourceFile) -> "tuple[ExtractedDocument, Sequence[ParsedTable], list[str]]":
    """A file's text; its tables, if it consists of tables; and a warning if its encoding was guessed."""
    parsed, warning = read_file(file)
    warnings = [warning] if warning else []
    if isinstance(parsed, ExtractedDocument):
        return parsed, (), warnings
    from core.ingestion.parsers.table_files import tables_as_text

    return tables_as_text(file.name, parsed, file.kind), parsed.tables, warnings


def extract_container(
    name: str, data: bytes, folder: Path, seconds: float = 300, ocr: TextRecognizer | None = None
) -> ExtractedDocument | None:
    """Like `extract`, for an archive or mail, with its files written below `folder`; None for other kinds.

    Raises what `extract` raises.
    """
    kind = detect(name, data).kind
    return extract(name, data, folder, seconds, ocr) if kind in ARCHIVES or kind in MAILS else None


def _wrong_encoding(document: ExtractedDocument) -> list[str]:
    """A warning if the text looks decoded with the wrong encoding."""
    from core.ingestion.parsers.page_notices import which
    from core.ingestion.parsers.text_cleaning import mojibake

    odd = [page.number for page in document.pages if mojibake(page.text)]
    problem = "its letters were saved in a wrong encoding (“Ã¼” for “ü”)."
    if odd and document.paged:
        return [f"{which(odd, len(document.pages), 'page')} garbled text: {problem}"]
    return [f"The text is garbled: {problem}"] if odd else []
