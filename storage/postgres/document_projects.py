"""The project of every document, also of those that were deleted: what quotes a document is visible where the document
is, or was at last, and what is saved later does not bring back the words of one that was deleted for good.

Triggers write the table, so that no code path can omit it. A row outlives its document; it holds no words of it.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import Connection, select, text
from sqlalchemy.orm import Mapped, mapped_column

from core.library.trash import without_quotes
from storage.postgres.database import EVERYTHING, Database
from storage.postgres.json_records import any_of, from_json, to_json
from storage.postgres.tables import BY_PROJECT, Base, allow, of_tenant, table_of

__all__ = [
    "DOCUMENT_PROJECTS",
    "DOCUMENT_PROJECT_TRIGGERS",
    "KNOWN_DOCUMENTS",
    "DocumentProjectRow",
    "every_project",
    "redact_purged",
]


class DocumentProjectRow(Base):
    """One document that is or was in the library. project: the one it has, or had when it was deleted. purged: it is
    deleted for good, or is being deleted."""

    __tablename__ = "document_projects"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT, UPDATE (project, purged)", seen=BY_PROJECT))

    document_id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[str | None]
    purged: Mapped[bool]


DOCUMENT_PROJECTS = table_of(DocumentProjectRow)

KNOWN_DOCUMENTS = "(SELECT document_id FROM document_projects)"
"""For policies: the documents that the person sees, or would see if they were not deleted. Nobody with some projects
only sees what quotes a document without a row: nothing is known of its project."""

DOCUMENT_PROJECT_TRIGGERS = """
CREATE OR REPLACE FUNCTION note_document_project() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' OR NEW.project IS DISTINCT FROM OLD.project THEN
        INSERT INTO document_projects (tenant_id, document_id, project, purged)
        VALUES (NEW.tenant_id, NEW.id, NEW.project, false)
        ON CONFLICT ON CONSTRAINT document_projects_pkey DO UPDATE SET project = excluded.project;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_project AFTER INSERT OR UPDATE OF project ON documents
    FOR EACH ROW EXECUTE FUNCTION note_document_project();
CREATE OR REPLACE FUNCTION note_document_purge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE document_projects SET purged = true
    WHERE document_projects.tenant_id = NEW.tenant_id AND document_projects.document_id = NEW.document_id;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER note_purge AFTER UPDATE OF purging ON trash
    FOR EACH ROW WHEN (NEW.purging) EXECUTE FUNCTION note_document_purge();
"""

T = TypeVar("T")


def redact_purged(database: Database, connection: Connection, values: Sequence[T]) -> list[T]:
    """Values that are about to be stored, without quotes of documents that were deleted for good, as if they had been
    stored before. Until the transaction ends, the deletion of any other document that they quote waits, and then finds
    what was stored."""
    data = [to_json(each) for each in values]
    purged = _purged(database, connection, sorted(set(_document_ids(data))))
    if not purged:
        return list(values)
    return [from_json(type(value), without_quotes(each, purged)) for value, each in zip(values, data, strict=True)]


def _document_ids(data: Any) -> Iterator[int]:
    """The documents that stored JSON names."""
    if isinstance(data, Mapping):
        if isinstance(data.get("document_id"), int):
            yield data["document_id"]
        data = list(data.values())
    if isinstance(data, list):
        for each in data:
            yield from _document_ids(each)


def _purged(database: Database, connection: Connection, document_ids: Sequence[int]) -> set[int]:
    """Those that were deleted for good; the others are locked against it."""
    if not document_ids:
        return set()
    own = DOCUMENT_PROJECTS.c.tenant_id == database.tenant
    query = (
        select(DOCUMENT_PROJECTS.c.document_id, DOCUMENT_PROJECTS.c.purged)
        .where(own, DOCUMENT_PROJECTS.c.document_id == any_of(document_ids))
        .order_by(DOCUMENT_PROJECTS.c.document_id)
        .with_for_update(read=True)
    )
    with every_project(database, connection):
        return {row.document_id for row in connection.execute(query) if row.purged}


@contextmanager
def every_project(database: Database, connection: Connection) -> Iterator[None]:
    """Every row of the tenant is visible inside: what is stored for good counts also for those who do not see it."""
    narrow = text("SELECT set_config('fivefold.projects', :projects, true)")
    connection.execute(narrow, {"projects": EVERYTHING.setting})
    yield
    connection.execute(narrow, {"projects": database.scope.setting})
