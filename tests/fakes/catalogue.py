"""The catalogue in dicts."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from itertools import count
from threading import RLock

import numpy as np

from core.domain.documents import Document, DocumentState, Label, Origin, Page, Passage, TableRole, Truth
from core.domain.errors import Cure, NotFound
from core.domain.filters import FIELDS, SearchFilters
from core.domain.results import Statistics
from core.ports.stores import PassageIds, Vectors
from core.text.phrase_match import says

__all__ = ["FakeCatalogue"]


class FakeCatalogue:
    """Implements core.ports.catalogue.Catalogue for one tenant; filters mean exactly what SearchFilters.admits says."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._document_ids, self._passage_ids = count(1), count(1)
        self._documents: dict[int, Document] = {}
        self._pages: dict[tuple[int, int], Page] = {}
        self._passages: dict[int, Passage] = {}
        self._corrections: dict[str, dict[str, Label]] = {}
        self._searches: dict[str, tuple[int, datetime]] = {}

    def add_document(self, document: Document) -> Document:
        """Store a document under a new id, or give back the living one with the same bytes in its project."""
        with self._lock:
            known = self.document_by_hash(document.sha256, document.project)
            if known is not None:
                return known
            stored = replace(document, id=next(self._document_ids))
            self._documents[stored.id] = stored
        return stored

    def document(self, document_id: int) -> Document:
        """One document. Raises NotFound."""
        if document_id not in self._documents:
            raise NotFound(f"Document {document_id} is not in the library.", "It was deleted; go back to the library.")
        return self._documents[document_id]

    def documents_by_id(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Documents by id; missing ones are absent."""
        return {i: self._documents[i] for i in document_ids if i in self._documents}

    def document_by_hash(self, sha256: str, project: str | None) -> Document | None:
        """The document in this project with these bytes, unless archived; None without one."""
        for document in self.documents(origin=None):
            if document.sha256 == sha256 and document.project == project:
                return document
        return None

    def documents(
        self, *, archived: bool | None = False, origin: Origin | None = Origin.DOCUMENT
    ) -> Sequence[Document]:
        """All documents, newest first; insights and episodes only when asked for (origin None: everything)."""
        with self._lock:
            kept = [d for d in self._documents.values() if archived is None or d.archived == archived]
        kept = [d for d in kept if origin is None or d.origin is origin]
        return sorted(kept, key=lambda d: (d.uploaded_at, d.id), reverse=True)

    def mark(self, document_id: int, *, step: str) -> None:
        """Say which step runs now; a document read again stays searchable as it was until its passages are replaced."""
        with self._lock:
            self._documents[document_id] = replace(
                self.document(document_id), state=DocumentState.PENDING, step=step, failure="", remedy=""
            )

    def fail(self, document_id: int, *, step: str, reason: str, remedy: str, cure: Cure = Cure.AGAIN) -> None:
        """Mark a document as failed at a step, with the reason and a remedy; none of it is searchable."""
        with self._lock:
            failed = replace(self.document(document_id), state=DocumentState.FAILED, step=step, pages=0, passages=0)
            self._documents[document_id] = replace(failed, failure=reason, remedy=remedy, cure=cure)
            self._forget_contents(document_id)

    def save_ingested(
        self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: Vectors
    ) -> Sequence[Passage]:
        """Replace the document, its pages and passages; the vectors are the vector index's business."""
        with self._lock:
            self.document(document.id)
            self._forget_contents(document.id)
            stored = [self._stored(document, position, p) for position, p in enumerate(passages)]
            self._documents[document.id] = replace(
                document,
                state=DocumentState.READY,
                step="",
                failure="",
                remedy="",
                pages=len(pages),
                passages=len(stored),
            )
            self._pages |= {(document.id, page.number): page for page in pages}
            self._passages |= {p.id: p for p in stored}
        return stored

    def _stored(self, document: Document, position: int, passage: Passage) -> Passage:
        """What only the catalogue knows: ids, and what a passage takes from its document."""
        return replace(
            passage,
            id=next(self._passage_ids),
            document_id=document.id,
            document_name=document.name,
            position=position,
            project=document.project,
            source_type=document.source_type,
            tags=passage.tags or document.tags,
            archived=document.archived,
        )

    def _forget_contents(self, document_id: int) -> None:
        self._pages = {key: page for key, page in self._pages.items() if key[0] != document_id}
        self._passages = {i: p for i, p in self._passages.items() if p.document_id != document_id}

    def save_labels(self, document: Document, passages: Sequence[Passage]) -> None:
        """Labels, tags, dates, project or archived flag changed."""
        with self._lock:
            self.document(document.id)
            self._documents[document.id] = document
            self._passages |= {p.id: p for p in passages if p.id in self._passages}

    def delete(self, document_id: int) -> None:
        """Forget a document and its contents."""
        with self._lock:
            self._documents.pop(document_id, None)
            self._forget_contents(document_id)

    def page(self, document_id: int, number: int) -> Page:
        """One page. Raises NotFound."""
        if (document_id, number) not in self._pages:
            raise NotFound(f"Document {document_id} has no page {number}.", "Open the document from the library.")
        return self._pages[document_id, number]

    def page_texts(self, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """Text of many pages; missing ones are absent."""
        return {key: self._pages[key].text for key in keys if key in self._pages}

    def passages(self, ids: Sequence[int]) -> Mapping[int, Passage]:
        """Stored passages by id; missing ones are absent."""
        return {int(i): self._passages[int(i)] for i in ids if int(i) in self._passages}

    def passages_of(self, document_id: int) -> Sequence[Passage]:
        """A document's passages in reading order."""
        with self._lock:
            found = [p for p in self._passages.values() if p.document_id == document_id]
        return sorted(found, key=lambda p: p.position)

    def _admitted(self, filters: SearchFilters) -> Iterator[Passage]:
        with self._lock:
            return iter([p for p in self._passages.values() if filters.admits(p)])

    def admissible(self, filters: SearchFilters) -> PassageIds:
        """Ids of the passages the filters admit, ascending. Only documents that have been ingested have passages."""
        return np.array(sorted(p.id for p in self._admitted(filters)), dtype=np.int64)

    def with_phrases(self, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
        """Those of the passages whose text contains every phrase, ids ascending."""
        known = self.passages(passage_ids.tolist())
        return np.array([i for i, passage in sorted(known.items()) if says(passage.text, phrases)], dtype=np.int64)

    def fingerprints(self, filters: SearchFilters) -> Mapping[int, str]:
        """Document id → digest of its admissible passages."""
        read: dict[int, list[str]] = {}
        for passage in sorted(self._admitted(filters), key=lambda p: p.id):
            read.setdefault(passage.document_id, []).append(repr(passage))
        return {i: sha256("\n".join(texts).encode()).hexdigest() for i, texts in read.items()}

    def setup_documents(self, filters: SearchFilters) -> Sequence[int]:
        """Ids, ascending, of the documents with admissible rows of a set-up table."""
        return sorted({p.document_id for p in self._admitted(filters) if p.table_role is TableRole.SETUP})

    def undated(self, filters: SearchFilters) -> int:
        """The number of documents that the date filter excludes only because they have no date."""
        if not filters.dated or filters.include_undated:
            return 0
        wider = filters.replace(include_undated=True)
        return len({p.document_id for p in self._admitted(wider) if p.date is None})

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → number of passages; each field is counted under the filters of the other fields."""
        counted: dict[str, Mapping[str, int]] = {}
        for field in FIELDS:
            others = filters.replace(**{field.name: (), f"exclude_{field.name}": ()})
            counts: Counter[str] = Counter()
            for passage in self._admitted(others):
                value = getattr(passage, field.attribute)
                counts.update(str(v) for v in (value if field.many else (value,)) if v is not None)
            counted[field.name] = dict(counts)
        return counted

    def correct(self, sha256: str, field: str, value: str, who: str, at: datetime) -> None:
        """Keep an analyst's label for these bytes."""
        self._corrections.setdefault(sha256, {})[field] = Label(value, 1.0, confirmed=True)

    def corrections(self, sha256: str) -> Mapping[str, Label]:
        """The latest correction per label field."""
        return {field: label for field, label in self._corrections.get(sha256, {}).items() if label.value}

    def save_searched(self, question: str, hits: int, at: datetime) -> None:
        """Remember a question; asked again, it moves to the front."""
        with self._lock:
            self._searches.pop(question, None)
            self._searches[question] = (hits, at)

    def last_searches(self, limit: int) -> Sequence[tuple[str, int, datetime]]:
        """(question, hits, when), newest first, each question once."""
        with self._lock:
            newest = sorted(self._searches.items(), key=lambda item: item[1][1], reverse=True)
        return [(question, hits, at) for question, (hits, at) in newest[:limit]]

    def statistics(self) -> Statistics:
        """What is in the library."""
        documents = self.documents()
        ready = [d for d in documents if d.state is DocumentState.READY]
        truths = Counter(Truth(v) if (v := d.labels.truth.value) else None for d in ready if d.pages)
        return Statistics(
            documents=len(documents),
            passages=sum(d.passages for d in ready),
            by_truth=dict(truths),
            by_state=dict(Counter(str(d.state) for d in documents)),
            unsure=truths[None],
            waiting_jobs=0,
        )
