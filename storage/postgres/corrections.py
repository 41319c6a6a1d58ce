"""Labels that analysts gave to files, each in the project where they gave it."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Index, text
from sqlalchemy.orm import Mapped

from core.domain.documents import Label
from core.domain.sanitize import storable_text
from storage.postgres.database import Database
from storage.postgres.tables import BY_PROJECT, Base, allow, id_column, of_tenant, table_of

__all__ = ["CORRECTIONS", "CORRECTION_TRIGGERS", "CorrectionRow", "add_correction", "read_corrections"]


class CorrectionRow(Base):
    """An analyst's label for a file with these bytes in this project. Rows are only added; the latest per project and
    field is valid, also after the document was deleted: the same file may come back."""

    __tablename__ = "corrections"
    __table_args__ = (
        of_tenant(),
        Index("corrections_of_bytes", "tenant_id", "sha256", "field", text("id DESC")),
        allow("SELECT, INSERT", seen=BY_PROJECT),
    )

    id: Mapped[int] = id_column("corrections_id_seq")
    project: Mapped[str | None]
    sha256: Mapped[str]
    field: Mapped[str]
    value: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]


CORRECTIONS = table_of(CorrectionRow)

CORRECTION_TRIGGERS = """
CREATE OR REPLACE FUNCTION copy_corrections() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO corrections (tenant_id, project, sha256, field, value, who, at)
    SELECT NEW.tenant_id, NEW.project, latest.sha256, latest.field, latest.value, latest.who, latest.at FROM (
        SELECT DISTINCT ON (made.field) made.* FROM corrections AS made
        WHERE made.tenant_id = NEW.tenant_id AND made.sha256 = NEW.sha256
            AND made.project IS NOT DISTINCT FROM OLD.project
        ORDER BY made.field, made.id DESC
    ) AS latest
    WHERE latest.value = '' OR NEW.pages = 0 OR (NEW.labels -> latest.field ->> 'confirmed')::boolean;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER copy_corrections AFTER UPDATE OF project ON documents
    FOR EACH ROW WHEN (NEW.project IS DISTINCT FROM OLD.project) EXECUTE FUNCTION copy_corrections();
"""
"""A document that moves to another project takes its corrections along. Where it has pages, those count that its labels
show: others were given to another document with the same bytes."""

# The lock lets a move to another project, which copies the corrections, come before or after this one as a whole.
_ADD = text("""
    INSERT INTO corrections (tenant_id, project, sha256, field, value, who, at)
    SELECT tenant_id, project, sha256, :field, :value, :who, :at FROM documents
    WHERE tenant_id = :tenant AND id = :document FOR SHARE
""")
_READ = """
    SELECT documents.id, made.field, made.value FROM documents
    JOIN corrections AS made ON made.tenant_id = documents.tenant_id AND made.sha256 = documents.sha256
        AND made.project IS NOT DISTINCT FROM documents.project
    WHERE documents.tenant_id = %(tenant)s AND documents.id = ANY(%(ids)s::bigint[]) ORDER BY made.id
"""


def add_correction(database: Database, document_id: int, field: str, value: str, who: str, at: datetime) -> bool:
    """Store a label for the file of this document, in its project; "" returns the field to the classifier. False for an
    unknown document. Raises StoreFailed."""
    row = {"field": field, "value": storable_text(value), "who": storable_text(who), "at": at}
    with database.transaction("storing a correction") as connection:
        added = connection.execute(_ADD, row | {"tenant": database.tenant, "document": document_id})
    return added.rowcount == 1


def read_corrections(database: Database, document_ids: Collection[int]) -> Mapping[int, Mapping[str, Label]]:
    """Each of these documents → the latest correction per label field, as confirmed labels. Raises StoreFailed."""
    latest: dict[int, dict[str, str]] = {each: {} for each in document_ids}
    for document_id, field, value in database.read("reading corrections", _READ, {"ids": sorted(document_ids)}):
        latest[document_id][field] = value
    return {
        document_id: {field: Label(value, 1.0, confirmed=True) for field, value in fields.items() if value}
        for document_id, fields in latest.items()
    }
