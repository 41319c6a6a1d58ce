"""Edits of a document's labels that lose nothing of what others store at the same time."""

from collections.abc import Sequence

from sqlalchemy import Connection, text, update

from core.domain.documents import Passage
from core.ports.catalogue import LabelEditing
from storage.postgres.documents import DOCUMENT_ROW, DOCUMENTS, document_from, document_values
from storage.postgres.passages import read_passages, storable_passage, update_passages

__all__ = ["edit_labels"]

_LOCKED = text(f"SELECT {DOCUMENT_ROW} FROM documents WHERE tenant_id = :tenant AND id = :document FOR NO KEY UPDATE")


def edit_labels(connection: Connection, tenant: str, document_id: int, edit: LabelEditing) -> Sequence[Passage] | None:
    """Store what `edit` changes of a document, which stays locked until the transaction ends. Returns its passages;
    None for an unknown document."""
    row = connection.execute(_LOCKED, {"tenant": tenant, "document": document_id}).mappings().first()
    if row is None:
        return None
    document, passages = document_from(row), read_passages(connection, tenant, document_ids=[document_id])
    edited, edited_passages = edit(document, passages)
    before = document_values(document)
    changes = {name: value for name, value in document_values(edited).items() if value != before[name]}
    if changes:
        own = (DOCUMENTS.c.tenant_id == tenant, DOCUMENTS.c.id == document_id)
        connection.execute(update(DOCUMENTS).where(*own).values(**changes))
    changed = [now for was, now in zip(passages, edited_passages, strict=True) if now != was]
    update_passages(connection, tenant, [storable_passage(each) for each in changed])
    return edited_passages
