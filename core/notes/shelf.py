"""Where memories are found: their pseudo-documents in the catalogue and both indexes, kept in step with their rows."""

from dataclasses import dataclass, replace

from core.documents import Document, Passage
from core.ingest.parts import embedded
from core.memories import M, Memory, MemoryStore
from core.notes.side import Side, described, document_of, side_of
from core.ports import Catalogue, Embedder, SparseIndex, VectorIndex, Vectors

__all__ = ["NoteShelf", "Readied"]


@dataclass(frozen=True, slots=True)
class Readied:
    """A searchable side with its vectors: float32, shape (passages, dim), L2-normalised."""

    side: Side
    vectors: Vectors


class NoteShelf:
    """Makes what is searchable say what the rows say.

    The row decides, always: it is written first, then `settled` follows it, and looks again whether it has changed in
    the meantime. So two people at once, or a program killed in between, leave nothing searchable that was deleted.
    """

    def __init__(
        self, store: MemoryStore, catalogue: Catalogue, vectors: VectorIndex, sparse: SparseIndex, embedder: Embedder
    ) -> None:
        self._store, self._catalogue = store, catalogue
        self._index, self._sparse, self._embedder = vectors, sparse, embedder

    def readied(self, memory: Memory) -> Readied:
        """What is to be indexed of a memory. Raises ModelUnavailable, BadRequest for a text without a word."""
        side = side_of(memory)
        vectors, meanings = embedded(self._embedder, side.passages)
        told = zip(side.passages, meanings, strict=True)
        return Readied(replace(side, passages=tuple(replace(each, meanings=known) for each, known in told)), vectors)

    def settled(self, memory: M, readied: Readied | None = None, *, anew: bool = False) -> M:
        """The memory as its row is by now, its searchable side in step with it.

        readied: when it is embedded already. anew: read it again also where nothing has changed.
        """
        while True:
            if memory.deleted_at is not None:
                self._forget(memory)
            else:
                self._show(memory, readied, anew=anew)
            now = self._store.find(type(memory), memory.id)
            if now.version == memory.version:
                return now
            memory, readied = now, None

    def reads_anew(self, memory: Memory) -> bool:
        """Whether its words have changed, so that its passages must be made anew."""
        document = self._document(memory)
        return document is None or self._changed(document, side_of(memory))

    def _document(self, memory: Memory) -> Document | None:
        """Its searchable document, also when a killed program left it before the row could name it."""
        found = self._catalogue.documents_by_id([memory.document_id]) if memory.document_id else {}
        if memory.document_id in found:
            return found[memory.document_id]
        return self._catalogue.document_by_hash(document_of(memory).sha256, memory.project)

    def _changed(self, document: Document, side: Side) -> bool:
        """Whether the stored passages say something else."""
        held = [(each.start, each.end, each.context, each.text) for each in self._catalogue.passages_of(document.id)]
        return held != [(each.start, each.end, each.context, each.text) for each in side.passages]

    def _show(self, memory: Memory, readied: Readied | None, *, anew: bool) -> None:
        known = self._document(memory)
        if known is not None and not anew and not self._changed(known, side_of(memory)):
            self._relabel(document_of(memory, known), memory)
            document_id = known.id
        else:
            document_id = self._store_side(memory, readied or self.readied(memory), known)
        if document_id != memory.document_id:
            self._store.place(memory, document_id)

    def _store_side(self, memory: Memory, readied: Readied, known: Document | None) -> int:
        """Put the passages where every leg finds them; the old ones leave first."""
        side, vectors = readied.side, readied.vectors
        document = document_of(memory, known or self._catalogue.add_document(document_of(memory)))
        sized = replace(document, size_bytes=len(side.page.text.encode()))
        self._sparse.delete([document.id])
        self._index.delete([document.id])
        passages = [replace(each, archived=document.archived) for each in side.passages]
        stored = self._catalogue.save_ingested(sized, [side.page], passages, vectors)
        self._index.add(stored, vectors)
        self._sparse.add(stored)
        return document.id

    def _relabel(self, document: Document, memory: Memory) -> None:
        """Tags, sector, project changed; the words and their vectors did not."""
        before = self._catalogue.passages_of(document.id)
        after: list[Passage] = [described(each, memory) for each in before]
        if list(before) != after or self._catalogue.document(document.id) != document:
            self._catalogue.save_labels(document, after)
            self._index.update(after)

    def _forget(self, memory: Memory) -> None:
        """Gone from every leg: first from the catalogue, which every search asks last."""
        document = self._document(memory)
        if document is not None:
            self._catalogue.delete(document.id)
        for gone in {memory.document_id, document.id if document else 0} - {0}:
            self._sparse.delete([gone])
            self._index.delete([gone])
        if memory.document_id:
            self._store.place(memory, 0)
