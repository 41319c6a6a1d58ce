"""Edits of a document's labels that lose nothing of what others store at the same time."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, text, update

from core.domain.documents import Document, Passage
from core.domain.errors import StoreFailed
from core.ports.catalogue import LabelEditing, same_file_there
from storage.postgres.database import Database
from storage.postgres.documents import DOCUMENT_ROW, DOCUMENTS, document_from, document_values, lock_original
from storage.postgres.passages import read_passages, storable_passage, update_passages

__all__ = ["edit_labels"]

_LOCKED = text(f"SELECT {DOCUMENT_ROW} FROM documents WHERE tenant_id = :tenant AND id = :document FOR NO KEY UPDATE")


def edit_labels(database: Database, document_id: int, edit: LabelEditing) -> Sequence[Passage] | None:
    """Store what `edit` changes of a document, which stays locked meanwhile. Returns its passages; None for an unknown
    document. Raises BadRequest where it would live beside one with the same bytes."""
    tenant = database.tenant
    edited: Document | None = None
    try:
        with database.transaction("storing labels") as connection:
            row = connection.execute(_LOCKED, {"tenant": tenant, "document": document_id}).mappings().first()
            if row is None:
                return None
            document, passages = document_from(row), read_passages(connection, tenant, document_ids=[document_id])
            edited, edited_passages = edit(document, passages)
            _update_document(connection, tenant, document, edited)
            changed = [now for was, now in zip(passages, edited_passages, strict=True) if now != was]
            update_passages(connection, tenant, [storable_passage(each) for each in changed])
    except StoreFailed as error:
        if edited is not None and "documents_living_bytes" in error.message:  # the unique index
            raise same_file_there(edited) from error
        raise
    return edited_passages


def _update_document(connection: Connection, tenant: str, before: Document, after: Document) -> None:
    known = document_values(before)
    changes: dict[str, Any] = {name: new for name, new in document_values(after).items() if new != known[name]}
    if not changes:
        return
    if after.readable != before.readable:
        lock_original(connection, after.readable)
    own = (DOCUMENTS.c.tenant_id == tenant, DOCUMENTS.c.id == before.id)
    connection.execute(update(DOCUMENTS).where(*own).values(**changes))
