"""Extracts the members of archives and mails; each becomes a document whose parent is the file it came from."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Protocol

from core.domain.documents import Document, DocumentState, Label, Labels, SourceType
from core.domain.errors import Cure, EmptyFile, FileTooCostly
from core.domain.extraction import ContainedFile, ExtractedDocument
from core.domain.results import UploadReceipt
from core.ingestion.parsers.file_kinds import MAILS, may_hold_files
from core.ports.catalogue import Catalogue
from core.ports.reader import FileReader

__all__ = ["MOST_NESTED", "ArchiveMembers", "UploadFunction", "arrived", "is_container"]

MOST_NESTED = 6
"""Greatest nesting depth: an archive in a mail in an archive … An archive directly inside an archive adds no level.
Chosen by hand, not fitted."""
_MOST_NOTES = 20  # warnings listed per archive; the rest are counted. Chosen by hand.


class UploadFunction(Protocol):
    """`DocumentService.upload`, with the origin of the file."""

    def __call__(
        self,
        name: str,
        data: bytes,
        *,
        project: str | None = None,
        tags: Sequence[str] = (),
        source_type: SourceType = SourceType.UPLOAD,
        parent: int | None = None,
        url: str = "",
    ) -> UploadReceipt: ...


def arrived(name: str, source_type: SourceType) -> SourceType:
    """The source type of a file: an uploaded mail file counts as mail, whoever saved it.

    >>> arrived("Re plan.EML", SourceType.UPLOAD).value, arrived("plan.md", SourceType.WEB).value
    ('email', 'web')
    """
    mail = source_type is SourceType.UPLOAD and name.lower().endswith((".eml", ".msg"))
    return SourceType.EMAIL if mail else source_type


def is_container(document: Document) -> bool:
    """Whether a document was read and holds only other documents: it has no pages and no passages of its own."""
    return document.state is DocumentState.READY and not document.pages and not document.passages


class ArchiveMembers:
    """Extracts and uploads the members of container files. Idempotent: members extracted before are recognised."""

    def __init__(self, catalogue: Catalogue, reader: FileReader, upload: UploadFunction) -> None:
        self._catalogue, self._reader, self._upload = catalogue, reader, upload

    def take_out(self, document: Document, data: bytes, on_step: Callable[[str], None]) -> Document | None:
        """Upload every member of a document. Returns the updated document when it has no other content; None when it
        has text of its own that is still to be read. `on_step` receives "read" when it may have members.

        Raises a BadFile for an archive that cannot be used.
        """
        if not may_hold_files(document.name, data):
            return None
        on_step("read")
        with self._reader.scratch_folder() as folder:
            extracted = self._reader.take_out(document.name, data, folder)
            if extracted is None:
                return None
            if extracted.members and self._depth(document) >= MOST_NESTED:
                raise FileTooCostly(
                    f"'{document.name}' lies more than {MOST_NESTED} files deep within others; it was not unpacked.",
                    "Unpack it yourself, and upload what you need.",
                    Cure.OTHER_FILE,
                )
            notes = self._uploaded(document, extracted)
        if any(page.text.strip() for page in extracted.pages):
            return None
        return _container(document, extracted, notes)

    def _depth(self, document: Document) -> int:
        """How many documents this one lies in."""
        depth, parent = 0, document.parent
        while parent is not None and depth < MOST_NESTED:
            above = self._catalogue.documents_by_id([parent]).get(parent)
            depth, parent = depth + 1, above.parent if above else None
        return depth

    def _uploaded(self, document: Document, extracted: ExtractedDocument) -> list[str]:
        """Upload the files; what the user should know of single ones."""
        old = self._catalogue.archived_members(document.id)
        mail = extracted.media_type in MAILS
        notes: list[str] = []
        for member in extracted.members:
            if member.note:
                notes.append(f"'{member.name}': {member.note}")
            receipt = self._add_member(document, member, SourceType.EMAIL if mail else document.source_type, old)
            if receipt is not None and receipt.duplicate_of and not self._own(document, receipt):
                notes.append(f"'{member.name}' is in the library already, as '{receipt.duplicate_of}'.")
        return notes

    def _add_member(
        self, document: Document, member: ContainedFile, source_type: SourceType, old: Collection[str]
    ) -> UploadReceipt | None:
        """Upload one file, unless it is empty, or was taken out before and has been archived since."""
        from hashlib import sha256

        data = Path(member.path).read_bytes()
        if sha256(data).hexdigest() in old:
            return None
        try:
            return self._upload(
                member.name,
                data,
                project=document.project,
                tags=document.tags,
                source_type=source_type,
                parent=document.id,
            )
        except EmptyFile:
            return None

    def _own(self, document: Document, receipt: UploadReceipt) -> bool:
        """Whether a file was recognised because this very document brought it, under the same name."""
        known = self._catalogue.documents_by_id([receipt.document_id]).get(receipt.document_id)
        return known is not None and known.parent == document.id and known.name == receipt.name


def _container(document: Document, extracted: ExtractedDocument, notes: Sequence[str]) -> Document:
    """An archive once its files are documents: ready, without a text or a label of its own."""
    more = [f"{len(notes) - _MOST_NOTES} more files are in the library already."] if len(notes) > _MOST_NOTES else []
    reason = "An archive has no text of its own; each file in it is a document."
    return replace(
        document,
        state=DocumentState.READY,
        media_type=extracted.media_type,
        title=PurePath(document.name).stem.replace("_", " ").strip() or document.name,
        labels=Labels(truth=Label(reason=reason)),
        pages=0,
        passages=0,
        warnings=(*extracted.warnings, *notes[:_MOST_NOTES], *more),
        step="",
        failure="",
        remedy="",
    )
