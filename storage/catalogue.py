"""The system of record in PostgreSQL: documents, pages, passages, corrections, searches."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, Text, cast, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from core.documents import Document, DocumentState, Label, Origin, Page, Passage
from core.errors import Cure, NotFound
from core.filters import SearchFilters
from core.ports import PassageIds, Vectors
from core.results import Statistics
from storage import counts
from storage.database import Database
from storage.mirror import Mirror
from storage.models import CHUNKS, CORRECTIONS, DOCUMENTS, PAGES, SEARCHES, Tenant
from storage.passages import insert_passages, next_ids, read_documents, read_passages, update_passages
from storage.rows import document_from, document_values, storable_page, storable_passage, storable_text
from storage.said import saying
from storage.sql_filters import conditions

__all__ = ["SqlCatalogue"]

_IDENTITY = ("sha256", "size_bytes", "uploaded_at")


class SqlCatalogue:
    """ports.Catalogue of one tenant.

    embedded_by: names the model whose vectors `save_ingested` stores with the passages; None: another index does.
    mirror: a copy that filters fast while it can; None: the database always filters.
    """

    def __init__(
        self, database: Database, embedded_by: Callable[[], str] | None = None, mirror: Mirror | None = None
    ) -> None:
        self._database, self._tenant, self._embedded_by = database, database.tenant, embedded_by
        self._mirror = mirror

    def register(self) -> None:
        """Make the tenant known; harmless when it is."""
        with self._database.transaction("opening the library") as connection:
            row = upsert(Tenant).values(tenant_id=self._tenant).on_conflict_do_nothing()
            connection.execute(row)

    # Documents

    def add_document(self, document: Document) -> Document:
        """Store a pending document under a new id; where another session was faster, its document."""
        values = document_values(document) | {"tenant_id": self._tenant}
        with self._database.transaction("storing a document") as connection:
            row = upsert(DOCUMENTS).values(values).on_conflict_do_nothing().returning(DOCUMENTS.c.id)
            document_id = connection.scalar(row)
        if document_id is not None:
            return replace(document, id=document_id)
        known = self.document_by_hash(document.sha256, document.project)
        if known is None:
            raise NotFound(f"'{document.name}' was deleted while it was being stored.", "Upload it again.")
        return known

    def document(self, document_id: int) -> Document:
        """Raises NotFound."""
        with self._database.transaction("reading a document") as connection:
            row = connection.execute(self._documents().where(DOCUMENTS.c.id == document_id)).mappings().first()
        if row is None:
            raise _no_document(document_id)
        return document_from(row)

    def documents_by_id(self, document_ids: Sequence[int]) -> Mapping[int, Document]:
        """Many documents at once; missing ones are absent."""
        with self._database.transaction("reading documents") as connection:
            return {each.id: each for each in read_documents(connection, self._tenant, document_ids)}

    def document_by_hash(self, sha256: str, project: str | None) -> Document | None:
        """The living document with these bytes in this project."""
        query = self._documents().where(
            DOCUMENTS.c.sha256 == sha256, DOCUMENTS.c.project.is_not_distinct_from(project), ~DOCUMENTS.c.archived
        )
        with self._database.transaction("reading a document") as connection:
            row = connection.execute(query).mappings().first()
        return None if row is None else document_from(row)

    def documents(
        self, *, archived: bool | None = False, origin: Origin | None = Origin.DOCUMENT
    ) -> Sequence[Document]:
        """All documents, newest first; what was noted about them only when asked for (origin None: everything)."""
        query = self._documents().order_by(DOCUMENTS.c.uploaded_at.desc(), DOCUMENTS.c.id.desc())
        if archived is not None:
            query = query.where(DOCUMENTS.c.archived == archived)
        if origin is not None:
            query = query.where(DOCUMENTS.c.origin == origin.value)
        with self._database.transaction("reading the library") as connection:
            return [document_from(row) for row in connection.execute(query).mappings()]

    def _documents(self) -> Any:
        labels = cast(DOCUMENTS.c.labels, Text).label("labels")
        columns = (labels if column.name == "labels" else column for column in DOCUMENTS.c)
        return select(*columns).where(DOCUMENTS.c.tenant_id == self._tenant)

    def mark(self, document_id: int, *, step: str) -> None:
        """Say which step runs now. A document read again stays searchable until its new passages replace the old."""
        changes = {"state": str(DocumentState.PENDING), "step": step, "failure": "", "remedy": ""}
        with self._database.transaction("noting a document's progress") as connection:
            self._change(connection, document_id, changes)

    def fail(self, document_id: int, *, step: str, reason: str, remedy: str, cure: Cure = Cure.AGAIN) -> None:
        """Leave a document failed at a step, with what happened and what to do, and nothing of it searchable."""
        changes = {"state": str(DocumentState.FAILED), "step": step, "pages": 0, "passages": 0}
        said = {"failure": storable_text(reason), "remedy": storable_text(remedy), "cure": str(cure)}
        with self._database.transaction("noting a document's failure") as connection:
            self._change(connection, document_id, changes | said)
            self._forget_contents(connection, document_id)

    def _change(self, connection: Connection, document_id: int, changes: Mapping[str, Any]) -> None:
        own = (DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == document_id)
        if connection.execute(update(DOCUMENTS).where(*own).values(**changes)).rowcount == 0:
            raise _no_document(document_id)

    def _forget_contents(self, connection: Connection, document_id: int) -> None:
        for table in (CHUNKS, PAGES):
            connection.execute(
                delete(table).where(table.c.tenant_id == self._tenant, table.c.document_id == document_id)
            )

    def save_ingested(
        self, document: Document, pages: Sequence[Page], passages: Sequence[Passage], vectors: Vectors
    ) -> Sequence[Passage]:
        """Replace all that is known of the document in one transaction; gives the passages ids. Raises NotFound."""
        ready = replace(
            document,
            state=DocumentState.READY,
            step="",
            failure="",
            remedy="",
            pages=len(pages),
            passages=len(passages),
        )
        changes = {name: value for name, value in document_values(ready).items() if name not in _IDENTITY}
        kept = [storable_page(page) for page in pages]
        with self._database.transaction("storing a document's passages") as connection:
            # The changed row is locked until the end: a job that runs twice waits here, and the later one wins whole.
            self._change(connection, document.id, changes)
            self._forget_contents(connection, document.id)
            if kept:
                connection.execute(insert(PAGES), [self._page_values(document.id, page) for page in kept])
            ids = next_ids(connection, len(passages))
            stored = [_stored(document, *numbered) for numbered in zip(ids, range(len(ids)), passages, strict=True)]
            name = None if self._embedded_by is None or not stored else self._embedded_by()
            insert_passages(connection, self._tenant, stored, vectors, name)
        return stored

    def _page_values(self, document_id: int, page: Page) -> dict[str, Any]:
        own = {"tenant_id": self._tenant, "document_id": document_id}
        return own | {"number": page.number, "text": page.text, "label": page.label}

    def save_labels(self, document: Document, passages: Sequence[Passage]) -> None:
        """Labels, tags, dates, project or archived flag changed. Raises NotFound."""
        changes = {name: value for name, value in document_values(document).items() if name not in _IDENTITY}
        with self._database.transaction("storing labels") as connection:
            self._change(connection, document.id, changes)
            update_passages(connection, self._tenant, [storable_passage(passage) for passage in passages])

    def delete(self, document_id: int) -> None:
        """Forget a document, its pages and its passages."""
        own = (DOCUMENTS.c.tenant_id == self._tenant, DOCUMENTS.c.id == document_id)
        with self._database.transaction("deleting a document") as connection:
            connection.execute(delete(DOCUMENTS).where(*own))

    # Pages and passages

    def page(self, document_id: int, number: int) -> Page:
        """Raises NotFound."""
        own = (PAGES.c.tenant_id == self._tenant, PAGES.c.document_id == document_id, PAGES.c.number == number)
        with self._database.transaction("reading a page") as connection:
            row = connection.execute(select(PAGES.c.text, PAGES.c.label).where(*own)).first()
        if row is None:
            raise NotFound(f"Document {document_id} has no page {number}.", "Open the document from the library.")
        return Page(number, row.text, row.label)

    def page_texts(self, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
        """Text of many pages; missing ones are absent."""
        return counts.page_texts(self._database, keys)

    def passages(self, ids: Sequence[int]) -> Mapping[int, Passage]:
        """Stored passages by id; missing ones are absent."""
        with self._database.transaction("reading passages") as connection:
            return {each.id: each for each in read_passages(connection, self._tenant, ids=ids)}

    def passages_of(self, document_id: int) -> Sequence[Passage]:
        """A document's passages in reading order."""
        with self._database.transaction("reading passages") as connection:
            return read_passages(connection, self._tenant, document_id=document_id)

    # Filters and counts

    def admissible(self, filters: SearchFilters) -> PassageIds:
        """Ids of the passages the filters admit, ascending. (Only ready documents have passages.)"""
        copied = None if self._mirror is None else self._mirror.admissible(filters)
        if copied is not None:
            return copied
        # One value of eight bytes per id: 100,000 rows of one number each take the driver ten times as long.
        packed = func.string_agg(func.int8send(CHUNKS.c.id), b"")
        query = select(packed).where(CHUNKS.c.tenant_id == self._tenant, *conditions(filters))
        with self._database.transaction("filtering the library") as connection:
            ids = connection.scalar(query)
        return np.sort(np.frombuffer(ids or b"", dtype=">i8").astype(np.int64))

    def saying(self, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
        """Those of the passages whose text holds each phrase, ascending."""
        return saying(self._database, passage_ids, phrases)

    def fingerprints(self, filters: SearchFilters) -> Mapping[int, str]:
        """Document id → digest of all that search reads of its admissible passages."""
        return counts.fingerprints(self._database, filters)

    def setup_documents(self, filters: SearchFilters) -> Sequence[int]:
        """Ids, ascending, of the documents with admissible rows of a set-up table."""
        return counts.setup_documents(self._database, filters)

    def undated(self, filters: SearchFilters) -> int:
        """Documents left out by the date filter only because they are undated."""
        copied = None if self._mirror is None or not filters.dated else self._mirror.undated(filters)
        return counts.undated(self._database, filters) if copied is None else copied

    def facets(self, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
        """Filter field → value → passages, each field counted under the other fields' filters."""
        return counts.facets(self._database, filters)

    def statistics(self) -> Statistics:
        """What is in the library."""
        return counts.statistics(self._database)

    # What analysts did

    def correct(self, sha256: str, field: str, value: str, who: str, at: datetime) -> None:
        """Keep an analyst's label for these bytes; "" gives the field back to the classifier."""
        row = {"sha256": sha256, "field": field, "value": storable_text(value), "who": storable_text(who), "at": at}
        with self._database.transaction("storing a correction") as connection:
            connection.execute(insert(CORRECTIONS).values(tenant_id=self._tenant, **row))

    def corrections(self, sha256: str) -> Mapping[str, Label]:
        """The latest correction per label field, as confirmed labels."""
        query = (
            select(CORRECTIONS.c.field, CORRECTIONS.c.value)
            .where(CORRECTIONS.c.tenant_id == self._tenant, CORRECTIONS.c.sha256 == sha256)
            .order_by(CORRECTIONS.c.id)
        )
        with self._database.transaction("reading corrections") as connection:
            latest = {row.field: row.value for row in connection.execute(query)}
        return {field: Label(value, 1.0, confirmed=True) for field, value in latest.items() if value}

    def save_searched(self, question: str, hits: int, at: datetime) -> None:
        """Remember a question."""
        with self._database.transaction("remembering a question") as connection:
            row = {"tenant_id": self._tenant, "question": storable_text(question), "hits": hits, "at": at}
            connection.execute(insert(SEARCHES).values(row))

    def last_searches(self, limit: int) -> Sequence[tuple[str, int, datetime]]:
        """(question, hits, when), newest first, each question once."""
        return counts.last_searches(self._database, limit)


def _no_document(document_id: int) -> NotFound:
    return NotFound(f"Document {document_id} is not in the library.", "It was deleted; go back to the library.")


def _stored(document: Document, passage_id: int, position: int, passage: Passage) -> Passage:
    """What only the catalogue knows: ids, and what a passage takes from its document."""
    return replace(
        storable_passage(replace(passage, tags=passage.tags or document.tags)),
        id=passage_id,
        document_id=document.id,
        document_name=storable_text(document.name),
        position=position,
        project=document.project,
        source_type=document.source_type,
        archived=document.archived,
    )
