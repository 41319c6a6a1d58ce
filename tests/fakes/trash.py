"""The trash in a dict, beside the catalogue in memory."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime

from core.domain.documents import Document, DocumentState, Page, Passage
from core.domain.errors import BadRequest, NotFound
from core.library.trash import TrashedDocument
from tests.fakes.catalogue import FakeCatalogue

__all__ = ["FakeTrash"]


@dataclass(frozen=True, slots=True)
class _Kept:
    entry: TrashedDocument
    document: Document
    pages: tuple[Page, ...]
    passages: tuple[Passage, ...]


class FakeTrash:
    """Implements core.library.trash.TrashStore: documents, pages and passages come back; other stores of a workbench
    over fakes read the document again."""

    def __init__(self, catalogue: FakeCatalogue) -> None:
        self._catalogue = catalogue
        self._stored: dict[int, _Kept] = {}

    def put(
        self, document_id: int, who: str, at: datetime, earlier: int | None = None, later: int | None = None
    ) -> TrashedDocument:
        """Move a document out of the catalogue. Raises NotFound."""
        document, passages = self._catalogue.document(document_id), self._catalogue.passages_of(document_id)
        pages = tuple(self._catalogue.page(document_id, number + 1) for number in range(document.pages))
        entry = TrashedDocument(
            document_id,
            document.name,
            document.sha256,
            document.size_bytes,
            who,
            at,
            document.project,
            document.readable,
            {"passage": len(passages)} if passages else {},
            earlier,
            later,
        )
        self._stored[document_id] = _Kept(entry, document, pages, tuple(passages))
        self._catalogue.delete(document_id)
        return entry

    def listed(self) -> Sequence[TrashedDocument]:
        """What is in the trash, the last deleted first."""
        entries = [each.entry for each in self._stored.values()]
        return sorted(entries, key=lambda entry: (entry.at, entry.document_id), reverse=True)

    def find(self, document_id: int) -> TrashedDocument:
        """Raises NotFound."""
        return self._record(document_id).entry

    def take_back(self, document_id: int) -> TrashedDocument:
        """Move a document back. Raises NotFound, BadRequest."""
        stored = self._record(document_id)
        if stored.entry.purging:
            raise NotFound(f"Document {document_id} is not in the trash.", "It is being deleted for good.")
        document = stored.document
        if not document.archived and self._catalogue.document_by_hash(document.sha256, document.project):
            raise BadRequest(
                f"'{document.name}' cannot be restored: the same file is in the library again.", "Keep it."
            )
        self._catalogue.put_back(document, stored.pages, stored.passages)
        del self._stored[document_id]
        return stored.entry

    def begin_purge(self, document_id: int) -> TrashedDocument:
        """Raises NotFound."""
        stored = self._record(document_id)
        self._stored[document_id] = replace(stored, entry=replace(stored.entry, purging=True))
        return self._stored[document_id].entry

    def texts(self, document_id: int) -> Sequence[str]:
        """The texts of its passages."""
        return [each.text for each in self._record(document_id).passages]

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop their pages and passages."""
        for document_id in document_ids:
            stored = self._record(document_id)
            pending = replace(stored.document, state=DocumentState.PENDING)
            self._stored[document_id] = replace(stored, document=pending, pages=(), passages=())

    @contextmanager
    def unreferenced(self, sha256: str) -> Iterator[bool]:
        """Whether nothing else uses these bytes."""
        living = self._catalogue.documents(archived=None)
        trashed = [each.document for each in self._stored.values() if not each.entry.purging]
        yield not any(sha256 in (each.sha256, each.readable) for each in (*living, *trashed))

    def finish(self, document_id: int) -> None:
        """Drop its entry."""
        self._stored.pop(document_id, None)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Always: there is one program."""
        yield True

    def unused_originals(self, names: Sequence[str]) -> Sequence[str]:
        """Those that nothing uses."""
        living = self._catalogue.documents(archived=None)
        used = {name for each in living for name in (each.sha256, each.readable)}
        used |= {name for each in self._stored.values() for name in (each.document.sha256, each.document.readable)}
        return [each for each in names if each not in used]

    def leftover_tables(self) -> Sequence[str]:
        """None: tables are not parked."""
        return ()

    def drop_leftover_tables(self) -> None:
        """There are none."""

    def _record(self, document_id: int) -> _Kept:
        if document_id not in self._stored:
            raise NotFound(f"Document {document_id} is not in the trash.", "Look at the trash again.")
        return self._stored[document_id]
