"""The trash: deleted documents can be restored for some days; what was deleted before enters it, too."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from alembic import op
from sqlalchemy import Connection, insert, select

from core.domain.documents import Document, DocumentState
from core.library.bulk_edit.plan import METADATA, with_edits
from core.library.bulk_edit.store import LabelEdit
from core.library.trash import DELETED
from storage.migrations.schema import all_tenants, create_missing
from storage.postgres.changes import CHANGE_SETS, CHANGES
from storage.postgres.documents import DOCUMENTS, document_values
from storage.postgres.json_records import from_json
from storage.postgres.tables import TenantRow, table_of
from storage.postgres.trash import CONTENTS, TRASH

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables, and an entry for each document that the history could bring back."""
    connection = op.get_bind()
    create_missing(connection, earlier=True)
    with all_tenants(connection, CHANGE_SETS, CHANGES, DOCUMENTS, TRASH, CONTENTS, table_of(TenantRow)):
        living = {(row.tenant_id, row.sha256, row.project) for row in connection.execute(_LIVING)}
        for (tenant, _), rows in _deletions(connection).items():
            edits = [from_json(LabelEdit, row.data) for row in rows]
            document = _document(edits, rows[0].at)
            if document is None or (tenant, document.sha256, document.project) in living:
                continue
            living.add((tenant, document.sha256, document.project))
            _keep(connection, tenant, document, rows[0].who)


_LIVING = select(DOCUMENTS.c.tenant_id, DOCUMENTS.c.sha256, DOCUMENTS.c.project).where(~DOCUMENTS.c.archived)


def _deletions(connection: Connection) -> dict[tuple[str, int], list[Any]]:
    """(tenant, change set) → its changes, for those that are not undone, the newest first."""
    same = (CHANGES.c.tenant_id == CHANGE_SETS.c.tenant_id) & (CHANGES.c.set_id == CHANGE_SETS.c.id)
    query = (
        select(CHANGE_SETS.c.tenant_id, CHANGE_SETS.c.id, CHANGE_SETS.c.at, CHANGE_SETS.c.who, CHANGES.c.data)
        .join(CHANGES, same)
        .where(CHANGE_SETS.c.undone_at.is_(None), CHANGE_SETS.c.what == "Deleted")
        .order_by(CHANGE_SETS.c.id.desc(), CHANGES.c.position)
    )
    found: dict[tuple[str, int], list[Any]] = {}
    for row in connection.execute(query):
        found.setdefault((row.tenant_id, row.id), []).append(row)
    return found


def _document(edits: Sequence[LabelEdit], at: datetime) -> Document | None:
    """The document as far as its deletion recorded it; restoring reads it again from the original."""
    deletion = next((each for each in edits if each.field == DELETED), None)
    if deletion is None:
        return None
    bare = Document(deletion.document_id, deletion.name, deletion.after, 0, DocumentState.PENDING, at)
    metadata = [LabelEdit(e.document_id, e.name, e.field, e.after, e.before) for e in edits if e.field in METADATA]
    return with_edits(bare, metadata)


def _keep(connection: Connection, tenant: str, document: Document, who: str) -> None:
    own = {"tenant_id": tenant, "document_id": document.id}
    record = {"name": document.name, "sha256": document.sha256, "readable": "", "size_bytes": 0}
    state: dict[str, Any] = {
        "project": document.project,
        "contents": {},
        "earlier": None,
        "later": None,
        "purging": False,
    }
    # Its days begin now: nobody was told that they count.
    connection.execute(insert(TRASH).values(own | record | state | {"who": who, "at": datetime.now(UTC)}))
    row = document_values(document) | {"tenant_id": tenant, "id": document.id}
    data = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
    connection.execute(insert(CONTENTS).values(own | {"position": 1, "origin": DOCUMENTS.name, "data": data}))
