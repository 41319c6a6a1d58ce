"""The port of the catalogue."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from core.domain.document_list import DocumentPage, DocumentQuery
from core.domain.documents import Document, DocumentState, Label, Page, Passage
from core.domain.errors import BadRequest, Cure
from core.domain.filters import SearchFilters
from core.domain.results import FoundPassage, Statistics
from core.ports.stores import PassageIds, Vectors

__all__ = [
    "NOT_READ_AGAIN",
    "Catalogue",
    "DocumentContent",
    "LabelEditing",
    "same_file_there",
    "set_archived",
    "warn_not_read_again",
]

LabelEditing = Callable[[Document, Sequence[Passage]], tuple[Document, Sequence[Passage]]]
"""Makes a document and its passages, in order, what they shall be. It reads no store: both are locked meanwhile."""


def set_archived(archived: bool) -> LabelEditing:
    """The edit that archives a document with its passages, or brings it back."""
    return lambda document, passages: (
        replace(document, archived=archived),
        [replace(each, archived=archived) for each in passages],
    )


NOT_READ_AGAIN = "Reading this file again failed, so the text read before stays:"
"""How the warning begins of a document whose file cannot be read any more; its reason follows."""


def warn_not_read_again(warnings: Sequence[str], reason: str, remedy: str) -> tuple[str, ...]:
    """The warnings of a document after reading it again failed: why comes first, in place of an earlier reason.

    >>> once = warn_not_read_again(["2 pages have no text."], "The disk is full.", "Make room.")
    >>> warn_not_read_again(once, "It is damaged.", "")  # doctest: +NORMALIZE_WHITESPACE
    ('Reading this file again failed, so the text read before stays: It is damaged.', '2 pages have no text.')
    """
    others = (each for each in warnings if not each.startswith(NOT_READ_AGAIN))
    return f"{NOT_READ_AGAIN} {reason} {remedy}".strip(), *others


def same_file_there(document: Document) -> BadRequest:
    """The error every Catalogue raises for a document beside a living one of its project with the same bytes."""
    place = document.project or "no project"
    return BadRequest(
        f"'{document.name}': the same file is in {place} already.", "Delete or archive one of them, then try again."
    )


@dataclass(frozen=True, slots=True)
class DocumentContent:
    """What was read of one document. vectors: of its passages, float32, shape (len(passages), dim), L2-normalised."""

    document: Document
    pages: Sequence[Page]
    passages: Sequence[Passage]
    vectors: Vectors


class Catalogue(Protocol):
    """The system of record: documents, pages, passages, labels, corrections."""

    def add_document(self, document: Document) -> Document:
        """Store a pending document (id 0) and return it with its id."""
        ...

    def document(self, document_id: int) -> Document:
        """Raises NotFound."""
        ...

    def documents_by_id(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Many documents at once; missing ones are absent."""
        ...

    def document_by_hash(self, sha256: str, project: str | None) -> Document | None:
        """The living document with these bytes in this project; None when there is none."""
        ...

    def documents(self, *, archived: bool | None = False) -> Sequence[Document]:
        """All documents of the tenant, newest first."""
        ...

    def names(self, *, archived: bool | None = False) -> Mapping[int, str]:
        """The names of all documents by id, newest first."""
        ...

    def projects(self) -> Collection[str]:
        """Every project that has a document, archived ones too."""
        ...

    def documents_of(self, hashes: Collection[str], names: Collection[str]) -> Sequence[Document]:
        """The living documents that have one of these SHA-256 or one of these names, newest first."""
        ...

    def added_documents(
        self, since: datetime, *, archived: bool | None, among: Collection[int], limit: int
    ) -> Sequence[Document]:
        """The ready documents uploaded after a moment, newest first, at most `limit`. among: only these; empty: any."""
        ...

    def archived_members(self, parent: int) -> Collection[str]:
        """SHA-256 of the archived documents that were extracted from this one."""
        ...

    def list_documents(self, query: DocumentQuery) -> DocumentPage:
        """One page of a filtered and sorted list, with counts; sentences are empty."""
        ...

    def mark(self, document_id: int, *, step: str, unread: bool | None = None) -> None:
        """Make a document pending, at this step. unread: its contents are deleted, as if it had never been read; None:
        where an index may lack them, as it is at the step INDEXING. Raises NotFound."""
        ...

    def progress(self, document_id: int, *, step: str) -> bool:
        """Record which pipeline step runs now, unless a person stopped the document; False then. Raises NotFound."""
        ...

    def fail(self, document_id: int, *, step: str, reason: str, remedy: str, cure: Cure = Cure.AGAIN) -> None:
        """Mark a document as failed at a step: what happened, what to do and what can help. One that was read before is
        ready again with its former contents, and warns of it (`warn_not_read_again`). Raises NotFound."""
        ...

    def save_ingested(
        self,
        document: Document,
        pages: Sequence[Page],
        passages: Sequence[Passage],
        vectors: Vectors,
        *,
        embedded_by: str = "",
        step: str = "",
    ) -> Sequence[Passage]:
        """Replace everything stored for the document in one transaction; returns the passages with ids. Raises
        NotFound.

        With the pgvector index the vectors are stored in the same rows; otherwise the index stores them. embedded_by:
        their model; "" for the one in use. step: the document's; it is ready.
        """
        ...

    def save_all_ingested(
        self, contents: Sequence[DocumentContent], *, embedded_by: str = "", step: str = ""
    ) -> Mapping[int, Sequence[Passage]]:
        """The same for several documents in one transaction: document id → its passages with ids. One that was deleted
        is absent."""
        ...

    def edit_labels(self, document_id: int, edit: LabelEditing) -> Sequence[Passage]:
        """Store what `edit` changes of a document and its passages as they are now, such as labels, tags, dates or
        project; texts, spans, vectors and keywords stay, and so does what others change at the same time.

        Returns the passages. Raises NotFound, what `edit` raises, and BadRequest when the document would live beside
        another one of its project with the same bytes."""
        ...

    def save_keywords(self, document_id: int, keywords: Sequence[str]) -> None:
        """Store the keywords of a document with each of its passages; harmless when the document was deleted."""
        ...

    def delete(self, document_id: int) -> None: ...

    def page(self, document_id: int, number: int) -> Page:
        """Raises NotFound."""
        ...

    def page_texts(self, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """Text of many pages by (document_id, page number); missing ones are absent."""
        ...

    def passages(self, ids: Sequence[int]) -> Mapping[int, Passage]:
        """Stored passages by id, with labels and sentence spans; missing ones are absent."""
        ...

    def found_passages(self, ids: Sequence[int]) -> Mapping[int, FoundPassage]:
        """Passages that a search has just found, as they were when it looked at the library; missing ones absent."""
        ...

    def passages_of(self, document_id: int) -> Sequence[Passage]:
        """A document's passages in reading order."""
        ...

    def passages_of_each(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[Passage]]:
        """Each of these documents → its passages in reading order; empty for one without any."""
        ...

    def admissible(self, filters: SearchFilters) -> PassageIds:
        """Ids of the passages of ready documents that the filters admit."""
        ...

    def with_phrases(self, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
        """Those of the passages whose text contains each phrase: exact matching on word boundaries that ignores case,
        whitespace and punctuation."""
        ...

    def fingerprints(self, filters: SearchFilters) -> Mapping[int, str]:
        """Document id → digest of everything that makes its admissible passages evidence (ids, labels, project …), for
        every document with such passages. Equal digests mean equal evidence; keywords only order it."""
        ...

    def setup_documents(self, filters: SearchFilters) -> Sequence[int]:
        """Ids, ascending, of the documents with admissible rows of a configuration table."""
        ...

    def undated(self, filters: SearchFilters) -> int:
        """Number of documents a date filter excludes only because they are undated."""
        ...

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → passages that a filter on the value admits, under the filters of the other fields:
        also those whose label only may be the value, unless the filters are strict, and those that all projects
        share."""
        ...

    def months(self, filters: SearchFilters) -> Mapping[str, int]:
        """Month of the document's date ("2024-05") → passages, under all filters but those of the date."""
        ...

    def correct(self, document_id: int, field: str, value: str, who: str, at: datetime) -> None:
        """Store an analyst's label for the file of this document, permanently; "" returns the field to the classifier.

        It counts in the document's project, also for the same file uploaded there again; a document that moves to
        another project takes it along. Raises NotFound."""
        ...

    def corrections_of_each(self, document_ids: Collection[int]) -> Mapping[int, Mapping[str, Label]]:
        """Each of these documents → its `corrections`."""
        ...

    def corrections(self, document_id: int) -> Mapping[str, Label]:
        """The latest correction per label field of this file in the document's project, as confirmed labels."""
        ...

    def save_searched(self, question: str, hits: int, at: datetime, login: str) -> None:
        """Add to a person's searches; only the newest 2,000 or so of them are kept."""
        ...

    def last_searches(self, limit: int, login: str) -> Sequence[tuple[str, int, datetime]]:
        """(question, hits, when) of a person's searches, newest first, each question once."""
        ...

    def delete_searches(self, login: str) -> None:
        """Delete a person's searches."""
        ...

    def count_documents(self, state: DocumentState | None = None, project: str | None = None) -> int:
        """Number of living documents. state: only those in it; project: only those of it and those shared by all."""
        ...

    def count_unknown_truths(self) -> int:
        """Number of ready documents with text whose truth is unknown: `by_truth[None]` of the statistics."""
        ...

    def count_passages(self) -> int:
        """Number of passages, as in the statistics."""
        ...

    def has_passages(self) -> bool:
        """Whether a living document has passages, also one that is read again."""
        ...

    def last_change(self) -> str:
        """A name for the state of all passages: another one after passages were stored, changed or deleted."""
        ...

    def statistics(self) -> Statistics:
        """Counts of the living documents. Reads the labels of all of them, a second for 100,000: the counts above are
        for what asks often."""
        ...
