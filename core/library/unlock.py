"""Opens files under a password: an unlocked copy is kept beside the original, and read in its place."""

from collections.abc import Callable
from dataclasses import replace

from core.documents import Document, DocumentState
from core.errors import BadRequest, Cure
from core.ingest.isolate import IsolatedReader
from core.ports import BlobStore, Catalogue

__all__ = ["Unlocking", "asks_for_password"]


def asks_for_password(document: Document) -> bool:
    """Whether a document failed because it is under a password that `Unlocking.unlock` can take."""
    return document.state is DocumentState.FAILED and document.cure is Cure.PASSWORD


class Unlocking:
    """Opens one document at a time. The password is used once, and neither kept nor logged."""

    def __init__(
        self, catalogue: Catalogue, blobs: BlobStore, reader: IsolatedReader, retry: Callable[[int], None]
    ) -> None:
        self._catalogue, self._blobs, self._reader, self._retry = catalogue, blobs, reader, retry

    def unlock(self, document_id: int, password: str) -> None:
        """Keep a copy of a document that asks for no password, and queue it to be read.

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
