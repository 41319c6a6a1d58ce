"""Decrypts password-protected files: stores a decrypted copy beside the original and reads that copy."""

from collections.abc import Callable
from dataclasses import replace

from core.domain.documents import Document, DocumentState
from core.domain.errors import BadRequest, Cure
from core.ports.catalogue import Catalogue
from core.ports.reader import FileReader
from core.ports.stores import BlobStore

__all__ = ["DecryptionService", "asks_for_password"]


def asks_for_password(document: Document) -> bool:
    """Whether reading failed because of a password that `DecryptionService.unlock` can use."""
    return document.state is DocumentState.FAILED and document.cure is Cure.PASSWORD


class DecryptionService:
    """Decrypts one document at a time. The password is used once; it is neither stored nor logged."""

    def __init__(
        self, catalogue: Catalogue, blobs: BlobStore, reader: FileReader, retry: Callable[[int], None]
    ) -> None:
        self._catalogue, self._blobs, self._reader, self._retry = catalogue, blobs, reader, retry

    def unlock(self, document_id: int, password: str) -> None:
        """Store a decrypted copy of a document, and queue the document for reading.

        Raises EncryptedFile for a wrong password, BadRequest for an empty one, UnreadableFile, UnsupportedFile,
        NotFound or StoreFailed.
        """
        if not password:
            raise BadRequest("No password was given.", "Type the password of the file.")
        document = self._catalogue.document(document_id)
        copy = self._reader.unlock(document.name, self._blobs.get(document.sha256), password)
        readable = self._blobs.put(copy)
        self._catalogue.save_labels(replace(document, readable=readable), ())
        self._retry(document_id)
