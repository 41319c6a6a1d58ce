"""Documents and their pages in PostgreSQL: tables, and conversion between values and rows."""
# Over 300 lines: the rows of documents and pages, and the few ways in which they are read and locked.

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Computed,
    Connection,
    Float,
    Index,
    Integer,
    select,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.documents import (
    LABEL_FIELDS,
    Document,
    DocumentState,
    Evidence,
    EvidenceSource,
    Label,
    Labels,
    Origin,
    Page,
    SourceType,
)
from core.domain.errors import Cure
from core.domain.sanitize import storable_text
from storage.postgres.database import Database, array_literal
from storage.postgres.json_records import any_of, storable
from storage.postgres.tables import BY_DOCUMENT, BY_PROJECT, Base, allow, id_column, of_document, of_tenant, table_of

__all__ = [
    "DOCUMENTS",
    "DOCUMENT_ROW",
    "LIVING",
    "PAGES",
    "DocumentRow",
    "KnownDocuments",
    "PageRow",
    "document_from",
    "document_values",
    "driver_of",
    "evidence_from_text",
    "labels_data",
    "labels_from",
    "lock_original",
    "read_added_documents",
    "read_all_documents",
    "read_archived_members",
    "read_documents",
    "read_documents_of",
    "read_names",
    "read_page",
    "read_page_texts",
    "read_projects",
    "storable_page",
]


_SURENESS = (
    "CASE WHEN (labels -> 'truth' ->> 'confirmed')::boolean OR pages = 0 AND passages = 0 THEN 2.0"
    " WHEN labels -> 'truth' ->> 'value' IS NULL THEN 0.0"
    " ELSE (labels -> 'truth' ->> 'probability')::float END"
)
"""How sure the truth of a document is: its probability, 0 without a truth; 2 where nobody needs to check it, because a
person confirmed it or there is no text to check it by. A column, because to read the labels of every document for a
count takes long."""


class DocumentRow(Base):
    """One stored document; `core.domain.documents.Document` describes the columns."""

    __tablename__ = "documents"
    __table_args__ = (
        of_tenant(),
        CheckConstraint("state IN ('pending', 'ready', 'failed')", name="documents_state_check"),
        # The same bytes are one document per project (archived ones aside), also when two sessions upload them at once.
        Index(
            "documents_living_bytes",
            "tenant_id",
            "sha256",
            "project",
            unique=True,
            postgresql_where=text("NOT archived"),
            postgresql_nulls_not_distinct=True,
        ),
        Index("documents_newest", "tenant_id", text("uploaded_at DESC"), text("id DESC")),
        Index("documents_replaced", "tenant_id", "version_of", postgresql_where=text("version_of IS NOT NULL")),
        # Counts of files by state read this index alone. It lacks the step, which changes often: then a row's new
        # version needs no entry in any index.
        Index(
            "documents_by_state",
            "tenant_id",
            "state",
            "sureness",
            postgresql_include=["project"],
            postgresql_where=text("NOT archived AND origin = 'document'"),
        ),
        allow("SELECT, INSERT, UPDATE, DELETE", seen=BY_PROJECT),
    )

    id: Mapped[int] = id_column("documents_id_seq")
    name: Mapped[str]
    sha256: Mapped[str]
    size_bytes: Mapped[int]
    state: Mapped[str]
    uploaded_at: Mapped[datetime]
    media_type: Mapped[str]
    paged: Mapped[bool]
    title: Mapped[str]
    project: Mapped[str | None]
    source_type: Mapped[str]
    labels: Mapped[dict[str, Any]]
    date: Mapped[datetime | None]
    tags: Mapped[list[str]]
    pages: Mapped[int] = mapped_column(Integer())
    passages: Mapped[int] = mapped_column(Integer())
    warnings: Mapped[list[str]]
    step: Mapped[str]
    failure: Mapped[str]
    remedy: Mapped[str]
    cure: Mapped[str] = mapped_column(server_default=text("'again'"))
    archived: Mapped[bool]
    origin: Mapped[str] = mapped_column(server_default=text("'document'"))
    owner: Mapped[str] = mapped_column(server_default=text("''"))
    url: Mapped[str] = mapped_column(server_default=text("''"))
    parent: Mapped[int | None]
    version_of: Mapped[int | None]
    readable: Mapped[str] = mapped_column(server_default=text("''"))
    sureness: Mapped[float] = mapped_column(Float(), Computed(_SURENESS, persisted=True))


class PageRow(Base):
    """One page of extracted text."""

    __tablename__ = "pages"
    __table_args__ = (of_document(), allow("SELECT, INSERT, UPDATE, DELETE", seen=BY_DOCUMENT))

    document_id: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(Integer(), primary_key=True)
    text: Mapped[str]
    label: Mapped[str]


DOCUMENTS = table_of(DocumentRow)
PAGES = table_of(PageRow)

LIVING = "tenant_id = %(tenant)s AND NOT archived AND origin = 'document'"
"""Documents that are not archived, no insights: as the index `documents_by_state` has them."""


_ORIGINAL_LOCK = 5_007
"""Arbitrary; differs from every other advisory lock of the program."""


def lock_original(connection: Connection, sha256: str, *, alone: bool = False) -> None:
    """Until the transaction ends, nobody deletes these bytes; alone: nor begins to use them."""
    lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
    query = text(f"SELECT {lock}(hashtextextended(:name, {_ORIGINAL_LOCK}))")
    connection.execute(query, {"name": sha256})


def lock_documents(connection: Connection, tenant: str, ids: Sequence[int], *, change: bool = False) -> set[int]:
    """Until the transaction ends, nobody deletes these documents; change: nor changes them. Returns those that are
    there. They are locked in the order of their ids, so that no two transactions wait for each other."""
    of_ids = select(DOCUMENTS.c.id).where(DOCUMENTS.c.tenant_id == tenant, DOCUMENTS.c.id == any_of(ids))
    locked = of_ids.order_by(DOCUMENTS.c.id).with_for_update(read=not change, key_share=True)
    return set(connection.scalars(locked))


def storable_page(page: Page) -> Page:
    """The page with texts that PostgreSQL can store."""
    return replace(page, text=storable_text(page.text), label=storable_text(page.label))


def labels_data(labels: Labels) -> dict[str, Any]:
    """Labels as JSON data; `labels_from` restores them exactly."""
    return {field: storable(asdict(label)) for field, label in labels.items()}


def labels_from(data: Mapping[str, Any]) -> Labels:
    """Labels from JSON data; fields that did not exist when they were stored are empty."""
    return Labels(**{field: _label_from(data[field]) for field in LABEL_FIELDS if field in data})


def _label_from(data: Mapping[str, Any]) -> Label:
    return Label(**{**data, "evidence": _evidence_from(data["evidence"])})


def _evidence_from(data: Sequence[Mapping[str, Any]]) -> tuple[Evidence, ...]:
    return tuple(
        Evidence(item["quote"], _SOURCES[item["source"]], item["value"], item["weight"], item["rule"]) for item in data
    )


_SOURCES = {str(member): member for member in EvidenceSource}


# Cached: every search reads the same documents, and parsing labels takes ten times as long as finding the rows.
@lru_cache(maxsize=256)  # some 3 MB
def _labels_of(sent: str) -> Labels:
    return labels_from(json.loads(sent))


@lru_cache(maxsize=1024)
def evidence_from_text(sent: str) -> tuple[Evidence, ...]:
    return _evidence_from(json.loads(sent))


def document_values(document: Document) -> dict[str, Any]:
    """The columns of a document, without tenant and id."""
    plain: dict[str, Any] = {
        name: storable(getattr(document, name))
        for name in (
            "name",
            "sha256",
            "media_type",
            "title",
            "project",
            "step",
            "failure",
            "remedy",
            "tags",
            "warnings",
            "owner",
            "url",
            "readable",
        )
    }
    return plain | {
        "size_bytes": document.size_bytes,
        "state": str(document.state),
        "uploaded_at": document.uploaded_at,
        "paged": document.paged,
        "source_type": str(document.source_type),
        "labels": labels_data(document.labels),
        "date": document.date,
        "pages": document.pages,
        "passages": document.passages,
        "archived": document.archived,
        "cure": str(document.cure),
        "origin": str(document.origin),
        "parent": document.parent,
        "version_of": document.version_of,
    }


def document_from(row: Mapping[Any, Any]) -> Document:
    """A document from its row; the labels column is JSON text."""
    plain: dict[str, Any] = {name: row[name] for name in _DOCUMENT_COLUMNS}
    return Document(
        **plain,
        state=DocumentState(row["state"]),
        source_type=SourceType(row["source_type"]),
        labels=_labels_of(row["labels"]),
        tags=tuple(row["tags"]),
        warnings=tuple(row["warnings"]),
        cure=Cure(row["cure"]),
        origin=Origin(row["origin"]),
    )


_DOCUMENT_COLUMNS = (
    *("id", "name", "sha256", "size_bytes", "uploaded_at", "media_type", "paged", "title", "project", "date", "pages"),
    *("passages", "step", "failure", "remedy", "archived", "owner", "url", "parent", "version_of", "readable"),
)
_ROW_NAMES = (*_DOCUMENT_COLUMNS, "state", "source_type", "labels", "tags", "warnings", "cure", "origin")
DOCUMENT_ROW = ", ".join("labels::text" if name == "labels" else name for name in _ROW_NAMES)
"""What is read of a document, with its labels as text."""


def read_documents(database: Database, ids: Sequence[int]) -> Sequence[Document]:
    """Documents in any order. Raises StoreFailed."""
    return [document for _, document in _read_versions(database, ids)]


def read_all_documents(database: Database, archived: bool | None, origin: Origin | None) -> Sequence[Document]:
    """All documents, newest first. archived: None for both; origin: None for any. Raises StoreFailed."""
    condition = "tenant_id = %(tenant)s" + ("" if origin is None else " AND origin = %(origin)s")
    return _newest(database, _archived(condition, archived), {"archived": archived, "origin": str(origin)})


def document_of_hash(database: Database, sha256: str, project: str | None) -> Document | None:
    """The document in this project with these bytes, unless archived; None without one. Raises StoreFailed."""
    condition = "tenant_id = %(tenant)s AND sha256 = %(sha256)s AND project IS NOT DISTINCT FROM %(project)s"
    found = _newest(database, f"{condition} AND NOT archived", {"sha256": sha256, "project": project})
    return found[0] if found else None


def read_documents_of(database: Database, hashes: Collection[str], names: Collection[str]) -> Sequence[Document]:
    """The living documents with one of these SHA-256 or names, newest first. Raises StoreFailed."""
    condition = f"{LIVING} AND (sha256 = ANY(%(hashes)s::text[]) OR name = ANY(%(names)s::text[]))"
    return _newest(database, condition, {"hashes": list(hashes), "names": list(names)})


def read_added_documents(
    database: Database, since: datetime, archived: bool | None, among: Collection[int], limit: int
) -> Sequence[Document]:
    """The ready documents uploaded after a moment, newest first, at most so many. archived: None for both; among: only
    these; empty: any. Raises StoreFailed."""
    condition = f"{_OF_FILES} AND state = 'ready' AND uploaded_at > %(since)s"
    if among:
        condition += " AND id = ANY(%(ids)s::bigint[])"
    values = {"archived": archived, "since": since, "ids": array_literal(among), "limit": limit}
    return _newest(database, _archived(condition, archived), values, " LIMIT %(limit)s")


def read_names(database: Database, archived: bool | None) -> Mapping[int, str]:
    """The names of all documents by id, newest first. archived: None for both. Raises StoreFailed."""
    query = f"SELECT id, name FROM documents WHERE {_archived(_OF_FILES, archived)} {_NEWEST_FIRST}"
    return dict(database.read("reading the names of documents", query, {"archived": archived}))


def read_projects(database: Database) -> Collection[str]:
    """Every project that has a document, archived ones too. Raises StoreFailed."""
    query = f"SELECT DISTINCT project FROM documents WHERE {_OF_FILES} AND project IS NOT NULL"
    return {project for (project,) in database.read("reading projects", query, {})}


def read_archived_members(database: Database, parent: int) -> Collection[str]:
    """SHA-256 of the archived documents that were extracted from this one. Raises StoreFailed."""
    query = f"SELECT sha256 FROM documents WHERE {_OF_FILES} AND archived AND parent = %(parent)s"
    return {sha256 for (sha256,) in database.read("looking for archived files", query, {"parent": parent})}


_OF_FILES = "tenant_id = %(tenant)s AND origin = 'document'"
_NEWEST_FIRST = "ORDER BY uploaded_at DESC, id DESC"


def _archived(condition: str, archived: bool | None) -> str:
    return condition if archived is None else f"{condition} AND archived = %(archived)s"


def _newest(database: Database, condition: str, values: Mapping[str, Any], limit: str = "") -> list[Document]:
    query = f"SELECT {DOCUMENT_ROW} FROM documents WHERE {condition} {_NEWEST_FIRST}{limit}"
    return [_document(row) for row in database.read("reading documents", query, values)]


def read_page(database: Database, document_id: int, number: int) -> Page | None:
    """One page; None where the document has no page of this number. Raises StoreFailed."""
    query = (
        "SELECT number, text, label FROM pages"
        " WHERE tenant_id = %(tenant)s AND document_id = %(document)s AND number = %(number)s"
    )
    for row in database.read("reading a page", query, {"document": document_id, "number": number}):
        return Page(*row)
    return None


def read_page_texts(database: Database, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
    """Text of many pages by (document id, page number); missing ones are absent. Raises StoreFailed."""
    query = (
        "SELECT document_id, number, text FROM pages JOIN unnest(%(documents)s::bigint[], %(numbers)s::int[])"
        " AS keys (document_id, number) USING (document_id, number) WHERE tenant_id = %(tenant)s"
    )
    documents, numbers = zip(*keys, strict=True)
    values = {"documents": array_literal(documents), "numbers": array_literal(numbers)}
    rows = database.read("reading pages", query, values)
    return {(document, number): page_text for document, number, page_text in rows}


def _read_versions(database: Database, ids: Sequence[int]) -> list[tuple[str, Document]]:
    query = f"SELECT {_VERSION}, {DOCUMENT_ROW} {_OF_IDS}"
    values = {"ids": array_literal(ids)}
    return [(row[0], _document(row[1:])) for row in database.read("reading documents", query, values)]


def _document(row: Sequence[Any]) -> Document:
    """A document from its values, in the order of DOCUMENT_ROW."""
    return document_from(dict(zip(_ROW_NAMES, row, strict=True)))


_VERSION = "xmin || ' ' || ctid || ' ' || extract(epoch FROM pg_postmaster_start_time())"
"""What a change of a row changes, and a restart, after which the numbers of transactions may begin anew."""
_OF_IDS = f"FROM {DOCUMENTS.name} WHERE tenant_id = %(tenant)s AND id = ANY(%(ids)s::bigint[])"
_MOST_KNOWN = 4096  # documents, some 10 MB. Chosen by hand.


class KnownDocuments:
    """The documents that recent searches found, each as of a version of its row: a search asks for the versions of its
    documents and reads those that changed. What a person may not see, the database does not name. Thread-safe."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[str, Document]] = {}

    def forget(self, documents: Collection[int]) -> None:
        """Leave out documents that have changed or are gone."""
        changed = set(documents)
        self._known = {number: each for number, each in self._known.items() if number not in changed}

    def read(self, database: Database, ids: Sequence[int]) -> Mapping[int, Document]:
        """These documents as they are now; missing ones are absent. Raises StoreFailed."""
        query = f"SELECT id, {_VERSION} {_OF_IDS}"
        versions = database.read("reading documents", query, {"ids": array_literal(ids)})
        found: dict[int, Document] = {}
        changed = []
        for number, version in versions:
            known = self._known.get(number)
            if known is not None and known[0] == version:
                found[number] = known[1]
            else:
                changed.append(number)
        if changed:
            read = {document.id: (version, document) for version, document in _read_versions(database, changed)}
            others = self._known if len(self._known) + len(read) <= _MOST_KNOWN else {}
            self._known = {**others, **read}
            found |= {number: document for number, (_, document) in read.items()}
        return found


def driver_of(connection: Connection) -> Any:
    return connection.connection.driver_connection
