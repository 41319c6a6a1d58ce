"""The catalogue, the source of truth in PostgreSQL: documents, pages, passages, label corrections, past searches."""
# More than 300 lines: the catalogue is one port; splitting its queries by kind only hid them behind one-line methods.

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    cast,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert as upsert

from core.domain.document_list import DocumentPage, DocumentQuery
from core.domain.documents import Document, DocumentState, Label, Origin, Page, Passage, TableRole
from core.domain.errors import Cure, NotFound
from core.domain.filters import SearchFilters
from core.domain.results import FoundPassage, Statistics
from core.domain.sanitize import storable_text
from core.ports.catalogue import DocumentContent, LabelEditing, warn_not_read_again
from core.ports.job_queue import INDEXING, STOPPED
from core.ports.stores import PassageIds, Vectors
from storage.postgres.corrections import add_correction, read_corrections
from storage.postgres.database import Database
from storage.postgres.document_counts import (
    count_documents,
    count_passages,
    count_unknown_truths,
    has_passages,
    library_statistics,
)
from storage.postgres.document_list import list_documents
from storage.postgres.documents import (
    DOCUMENTS,
    PAGES,
    document_of_hash,
    document_values,
    lock_documents,
    lock_original,
    read_added_documents,
    read_all_documents,
    read_archived_members,
    read_documents,
    read_documents_of,
    read_names,
    read_page,
    read_page_texts,
    read_projects,
    storable_page,
)
from storage.postgres.filters import conditions, facets, fingerprints, months, with_phrases
from storage.postgres.json_records import any_of, next_ids
from storage.postgres.label_edits import edit_labels
from storage.postgres.passages import (
    CHUNKS,
    find_passages,
    insert_passages,
    latest_changes,
    read_passages,
    stored_passage,
)
from storage.postgres.recent_searches import delete_searches, last_searches, save_search
from storage.postgres.tables import TenantRow
from storage.vectors.cache.cache import WITHIN_SECONDS, VectorCache

__all__ = ["SqlCatalogue"]


_FEW = 512  # documents of one page or search. Chosen by hand.
_IDENTITY = ("sha256", "size_bytes", "uploaded_at")

_ADD = upsert(DOCUMENTS).on_conflict_do_nothing().returning(DOCUMENTS.c.id)


class SqlCatalogue:
    """Implements core.ports.catalogue.Catalogue for one tenant.

    embedded_by: the model whose vectors `save_ingested` stores with the passages; None: another index stores them.
    vector_cache: answers filters from memory while it is up to date; None: the database always filters.
    """

    def __init__(
        self, database: Database, embedded_by: Callable[[], str] | None = None, vector_cache: VectorCache | None = None
    ) -> None:
        self._database, self._tenant, self._embedded_by = database, database.tenant, embedded_by
        self._mirror = vector_cache
        self._projects = database.scope.projects

    def register(self) -> None:
        """Create the tenant unless it exists."""
        with self._database.transaction("opening the library") as connection:
            row = upsert(TenantRow).values(tenant_id=self._tenant).on_conflict_do_nothing()
            connection.execute(row)

    # Documents

    def add_document(self, document: Document) -> Document:
        """Store a pending document under a new id; if another session stored the same file first, return that one."""
        values = document_values(document) | {"tenant_id": self._tenant}
        with self._database.transaction("storing a document") as connection:
            lock_original(connection, document.sha256)
            document_id = connection.scalar(_ADD, values)
        if document_id is not None:
            return replace(document, id=document_id)
        known = self.document_by_hash(document.sha256, document.project)
        if known is None:
            raise NotFound(f"'{document.name}' was deleted while it was being stored.", "Upload it again.")
        return known

    def document(self, document_id: int) -> Document:
        """One document. Raises NotFound."""
        for document in read_documents(self._database, [document_id]):
            return document
        raise _no_document(document_id)

    def documents_by_id(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Documents by id; missing ones are absent."""
        if self._mirror is not None and len(document_ids) <= _FEW:
            return self._mirror.documents.read(self._database, document_ids)
        return {each.id: each for each in read_documents(self._database, document_ids)}

    def document_by_hash(self, sha256: str, project: str | None) -> Document | None:
        """The document in this project with these bytes, unless archived; None without one."""
        return document_of_hash(self._database, sha256, project)

    def documents(
        self, *, archived: bool | None = False, origin: Origin | None = Origin.DOCUMENT
    ) -> Sequence[Document]:
        """All documents, newest first; insights and episodes only when asked for (origin None: everything)."""
        return read_all_documents(self._database, archived, origin)

    def names(self, *, archived: bool | None = False) -> Mapping[int, str]:
        """The names of all documents by id, newest first."""
        return read_names(self._database, archived)

    def projects(self) -> Collection[str]:
        """Every project that has a document, also an archived one."""
        return read_projects(self._database)

    def documents_of(self, hashes: Collection[str], names: Collection[str]) -> Sequence[Document]:
        """The documents that have one of these SHA-256 or names and are not archived, newest first."""
        return read_documents_of(self._database, hashes, names)

    def added_documents(
        self, since: datetime, *, archived: bool | None, among: Collection[int], limit: int
    ) -> Sequence[Document]:
        """The ready documents uploaded after a moment, newest first, at most so many. among: only these; empty: any."""
        return read_added_documents(self._database, since, archived, among, limit)

    def archived_members(self, parent: int) -> Collection[str]:
        """SHA-256 of the archived documents that were extracted from this one."""
        return read_archived_members(self._database, parent)

    def list_documents(self, query: DocumentQuery) -> DocumentPage:
        """One page of a filtered and sorted list, with counts."""
        return list_documents(self._database, query)

    def mark(self, document_id: int, *, step: str, unread: bool | None = None) -> None:
        """Make a document pending, at this step. One being read again stays searchable until its new passages replace
        the old. unread: its contents are deleted; None: where an index may lack them."""
        own = (DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == document_id)
        with self._database.transaction("noting a document's progress") as connection:
            lock_documents(connection, self._tenant, [document_id], change=True)
            if unread is None:
                unread = connection.scalar(select(DOCUMENTS.c.step).where(*own)) == INDEXING
            changes: dict[str, Any] = {"pages": 0, "passages": 0} if unread else {}
            self._change(connection, document_id, _pending(step) | changes)
            if unread:
                self._forget_contents(connection, [document_id])

    def progress(self, document_id: int, *, step: str) -> bool:
        """Record which pipeline step runs now, unless a person stopped the document; False then. Raises NotFound."""
        goes_on = (
            "UPDATE documents SET state = %(state)s, step = %(step)s, failure = '', remedy = ''"
            " WHERE tenant_id = %(tenant)s AND id = %(document)s AND step <> %(stopped)s RETURNING id"
        )
        values = {"state": str(DocumentState.PENDING), "step": step, "document": document_id, "stopped": STOPPED}
        if self._database.read("noting a document's progress", goes_on, values):
            return True
        self.document(document_id)  # raises NotFound
        return False

    def fail(self, document_id: int, *, step: str, reason: str, remedy: str, cure: Cure = Cure.AGAIN) -> None:
        """Mark a document as failed at a step, with the reason and a remedy. One that was read before is ready again
        with its former contents, and a warning."""
        reason, remedy = storable_text(reason), storable_text(remedy)
        own = (DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == document_id)
        with self._database.transaction("noting a document's failure") as connection:
            lock_documents(connection, self._tenant, [document_id], change=True)
            warnings = connection.scalar(select(DOCUMENTS.c.warnings).where(*own, DOCUMENTS.c.passages > 0))
            if warnings is not None:
                warned = {
                    "state": str(DocumentState.READY),
                    "warnings": [*warn_not_read_again(warnings, reason, remedy)],
                }
                self._change(connection, document_id, _pending("") | warned)
                return
            failed = {"state": str(DocumentState.FAILED), "step": step, "pages": 0, "passages": 0}
            message = {"failure": reason, "remedy": remedy, "cure": str(cure)}
            self._change(connection, document_id, failed | message)
            self._forget_contents(connection, [document_id])

    def _change(self, connection: Connection, document_id: int, changes: Mapping[str, Any]) -> None:
        own = (DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == document_id)
        if connection.execute(update(DOCUMENTS).where(*own).values(**changes)).rowcount == 0:
            raise _no_document(document_id)

    def _forget_contents(self, connection: Connection, document_ids: Sequence[int]) -> None:
        for table in (CHUNKS, PAGES):
            own = (table.c.tenant_id == self._tenant, table.c.document_id == any_of(document_ids))
            connection.execute(delete(table).where(*own))

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
        """Replace everything stored about the document in one transaction; assigns passage ids. Raises NotFound."""
        content = DocumentContent(document, pages, passages, vectors)
        stored = self.save_all_ingested([content], embedded_by=embedded_by, step=step)
        if document.id not in stored:
            raise _no_document(document.id)
        return stored[document.id]

    def save_all_ingested(
        self, contents: Sequence[DocumentContent], *, embedded_by: str = "", step: str = ""
    ) -> Mapping[int, Sequence[Passage]]:
        """Replace everything stored about several documents in one transaction: document id → its passages with ids.
        One that was deleted is absent."""
        with self._database.transaction("storing a document's passages") as connection:
            # The rows are locked until the end: a job that runs twice waits here, and the later one replaces all.
            here = lock_documents(connection, self._tenant, [each.document.id for each in contents], change=True)
            living = [each for each in contents if each.document.id in here]
            if not living:
                return {}
            own = DOCUMENTS.c.tenant_id == self._tenant
            changed = update(DOCUMENTS).where(own, DOCUMENTS.c.id == bindparam("key"))
            connection.execute(changed, [_ready_values(each, step) | {"key": each.document.id} for each in living])
            self._forget_contents(connection, sorted(here))
            pages = [self._page_values(c.document.id, storable_page(page)) for c in living for page in c.pages]
            if pages:
                connection.execute(insert(PAGES), pages)
            ids = iter(next_ids(connection, CHUNKS, sum(len(each.passages) for each in living)))
            stored = {each.document.id: _stored_passages(each, ids) for each in living}
            passages = [passage for each in stored.values() for passage in each]
            if self._embedded_by is None or not passages:
                insert_passages(connection, self._tenant, passages, [None] * len(passages), None)
            else:
                vectors = [np.asarray(vector, dtype=np.float32) for each in living for vector in each.vectors]
                insert_passages(connection, self._tenant, passages, vectors, embedded_by or self._embedded_by())
        self._note_change()
        return stored

    def _note_change(self) -> None:
        """What searches remember of the library is too old, in this process and those that search for it."""
        if self._mirror is not None:
            self._mirror.invalidate()

    def _page_values(self, document_id: int, page: Page) -> dict[str, Any]:
        own = {"tenant_id": self._tenant, "document_id": document_id}
        return own | {"number": page.number, "text": page.text, "label": page.label}

    def edit_labels(self, document_id: int, edit: LabelEditing) -> Sequence[Passage]:
        """Store what `edit` changes of a document and its passages as they are now. Raises NotFound, and BadRequest
        beside a living document with the same bytes."""
        passages = edit_labels(self._database, document_id, edit)
        if passages is None:
            raise _no_document(document_id)
        self._note_change()
        return passages

    def save_keywords(self, document_id: int, keywords: Sequence[str]) -> None:
        """Store the keywords of a document with each of its passages; those that have them are not written again."""
        words = cast([storable_text(each) for each in keywords], CHUNKS.c.keywords.type)
        own = (CHUNKS.c.tenant_id == self._tenant, CHUNKS.c.document_id == document_id)
        with self._database.transaction("storing a document's keywords") as connection:
            connection.execute(update(CHUNKS).where(*own, CHUNKS.c.keywords != words).values(keywords=words))
        self._note_change()

    def delete(self, document_id: int) -> None:
        """Delete a document with its pages and passages."""
        own = (DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == document_id)
        with self._database.transaction("deleting a document") as connection:
            connection.execute(delete(DOCUMENTS).where(*own))
        self._note_change()

    # Pages and passages

    def page(self, document_id: int, number: int) -> Page:
        """One page. Raises NotFound."""
        page = read_page(self._database, document_id, number)
        if page is None:
            raise NotFound(f"Document {document_id} has no page {number}.", "Open the document from the library.")
        return page

    def page_texts(self, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """Text of many pages by (document id, page number); missing ones are absent."""
        return read_page_texts(self._database, keys) if keys else {}

    def passages(self, ids: Sequence[int]) -> Mapping[int, Passage]:
        """Stored passages by id; missing ones are absent."""
        return {each.id: each for each in find_passages(self._database, ids)}

    def found_passages(self, ids: Sequence[int]) -> Mapping[int, FoundPassage]:
        """Passages that a search has just found, as they were when it looked at the library; missing ones are absent.

        Those that an earlier search found too are not read again while their document has the same version."""
        snapshot = None if self._mirror is None else self._mirror.current(WITHIN_SECONDS)
        if snapshot is None or self._mirror is None:
            return {i: FoundPassage.of(passage) for i, passage in self.passages(ids).items()}
        versions = snapshot.versions_of(ids, self._narrowed(SearchFilters(archived=None)))
        return self._mirror.passages.read(ids, versions, self.passages)

    def passages_of(self, document_id: int) -> Sequence[Passage]:
        """A document's passages in reading order."""
        return self.passages_of_each([document_id])[document_id]

    def passages_of_each(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[Passage]]:
        """Each of these documents → its passages in reading order; empty for one without any."""
        found: dict[int, list[Passage]] = {each: [] for each in document_ids}
        with self._database.transaction("reading passages") as connection:
            for passage in read_passages(connection, self._tenant, document_ids=document_ids):
                found[passage.document_id].append(passage)
        return found

    # Filters and counts

    def admissible(self, filters: SearchFilters) -> PassageIds:
        """Ids of the passages the filters admit, ascending. (Only ready documents have passages.)"""
        seen = self._narrowed(filters)
        cached = None if self._mirror is None else self._mirror.admissible(seen)
        if cached is not None:
            return cached
        # One binary value, eight bytes per id: the driver takes ten times as long for 100,000 rows of one number.
        packed = func.string_agg(func.int8send(CHUNKS.c.id), b"")
        query = select(packed).where(CHUNKS.c.tenant_id == self._tenant, *conditions(filters))
        with self._database.transaction("filtering the library") as connection:
            ids = connection.scalar(query)
        return np.sort(np.frombuffer(ids or b"", dtype=">i8").astype(np.int64))

    def _narrowed(self, filters: SearchFilters) -> SearchFilters:
        """What the person sees: the cache holds every passage, while PostgreSQL hides rows by itself."""
        return filters if self._projects is None else filters.within(self._projects)

    def with_phrases(self, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
        """Those of the passages whose text contains every phrase, ids ascending."""
        return with_phrases(self._database, passage_ids, phrases)

    def _admitted(self, filters: SearchFilters) -> list[ColumnElement[bool]]:
        return [CHUNKS.c.tenant_id == self._tenant, *conditions(filters)]

    def fingerprints(self, filters: SearchFilters) -> Mapping[int, str]:
        """Document id → digest of everything that makes its admissible passages evidence.

        Passage ids stand for their texts: a document that is read again gets new ids.
        """
        return fingerprints(self._database, filters)

    def setup_documents(self, filters: SearchFilters) -> Sequence[int]:
        """Ids, ascending, of the documents with admissible rows of a set-up table."""
        holding = (CHUNKS.c.table_role == TableRole.SETUP.value, *self._admitted(filters))
        query = select(CHUNKS.c.document_id).distinct().where(*holding).order_by(CHUNKS.c.document_id)
        with self._database.transaction("looking for set-up tables") as connection:
            return [int(document) for document in connection.scalars(query)]

    def undated(self, filters: SearchFilters) -> int:
        """The number of documents that the date filter excludes only because they have no date."""
        seen = self._narrowed(filters)
        cached = None if self._mirror is None or not filters.dated else self._mirror.undated(seen)
        if cached is not None:
            return cached
        if not filters.dated or filters.include_undated:
            return 0
        wider = filters.replace(include_undated=True)
        query = select(func.count(CHUNKS.c.document_id.distinct())).where(
            *self._admitted(wider), CHUNKS.c.date.is_(None)
        )
        with self._database.transaction("counting undated documents") as connection:
            return int(connection.scalar(query) or 0)

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → number of passages; each field is counted under the filters of the other fields."""
        return facets(self._database, filters)

    def months(self, filters: SearchFilters) -> Mapping[str, int]:
        """Month of the document's date ("2024-05") → passages, under all filters but those of the date."""
        return months(self._database, filters)

    def count_documents(self, state: DocumentState | None = None, project: str | None = None) -> int:
        """Documents not archived. project: only those of it, and those shared by all projects."""
        return count_documents(self._database, state, project)

    def count_unknown_truths(self) -> int:
        """Ready documents with text and without a truth."""
        return count_unknown_truths(self._database)

    def count_passages(self) -> int:
        """Passages of the ready documents not archived."""
        return count_passages(self._database)

    def has_passages(self) -> bool:
        """Whether a document not archived has passages, also one that is read again."""
        return has_passages(self._database)

    def last_change(self) -> str:
        """A name for what the passages are like now."""
        return latest_changes(self._database)

    def statistics(self) -> Statistics:
        """Counts of the documents not archived; passages and truths are those of ready ones.

        An archive, which only contains other documents, has no truth and does not count as uncertain.
        """
        return library_statistics(self._database)

    # What analysts did

    def correct(self, document_id: int, field: str, value: str, who: str, at: datetime) -> None:
        """Store an analyst's label for the file of this document, in its project. Raises NotFound."""
        if not add_correction(self._database, document_id, field, value, who, at):
            raise _no_document(document_id)

    def corrections(self, document_id: int) -> Mapping[str, Label]:
        """The latest correction per label field, as confirmed labels."""
        return self.corrections_of_each([document_id])[document_id]

    def corrections_of_each(self, document_ids: Collection[int]) -> Mapping[int, Mapping[str, Label]]:
        """Each of these documents → the latest correction per label field."""
        return read_corrections(self._database, document_ids)

    def save_searched(self, question: str, hits: int, at: datetime, login: str) -> None:
        """Add to a person's searches."""
        save_search(self._database, question, hits, at, login)

    def last_searches(self, limit: int, login: str) -> Sequence[tuple[str, int, datetime]]:
        """(question, hits, when) of a person's searches, newest first, each question once."""
        return last_searches(self._database, limit, login)

    def delete_searches(self, login: str) -> None:
        """Delete a person's searches."""
        delete_searches(self._database, login)


def _ready_values(content: DocumentContent, step: str) -> dict[str, Any]:
    """The columns of a document that was read."""
    ready = replace(
        content.document,
        state=DocumentState.READY,
        step=step,
        failure="",
        remedy="",
        pages=len(content.pages),
        passages=len(content.passages),
    )
    return {name: value for name, value in document_values(ready).items() if name not in _IDENTITY}


def _stored_passages(content: DocumentContent, ids: Iterator[int]) -> Sequence[Passage]:
    """The passages with ids and what they take from their document."""
    return [stored_passage(content.document, next(ids), at, each) for at, each in enumerate(content.passages)]


def _pending(step: str) -> dict[str, str]:
    return {"state": str(DocumentState.PENDING), "step": step, "failure": "", "remedy": ""}


def _no_document(document_id: int) -> NotFound:
    return NotFound(f"Document {document_id} is not in the library.", "It was deleted; go back to the library.")
