"""Labels that analysts gave to files."""

from collections.abc import Collection, Mapping
from datetime import datetime

from sqlalchemy import Index, insert, text
from sqlalchemy.orm import Mapped

from core.domain.documents import Label
from core.domain.sanitize import storable_text
from storage.postgres.database import Database
from storage.postgres.tables import Base, allow, id_column, of_tenant, table_of

__all__ = ["CORRECTIONS", "CorrectionRow", "add_correction", "read_corrections"]


class CorrectionRow(Base):
    """An analyst's label for a file with these bytes. Rows are only added; the latest per field is valid."""

    __tablename__ = "corrections"
    __table_args__ = (
        of_tenant(),
        Index("corrections_of_bytes", "tenant_id", "sha256", "field", text("id DESC")),
        allow("SELECT, INSERT", seen="sha256 IN (SELECT sha256 FROM documents)"),
    )

    id: Mapped[int] = id_column("corrections_id_seq")
    sha256: Mapped[str]
    field: Mapped[str]
    value: Mapped[str]
    who: Mapped[str]
    at: Mapped[datetime]


CORRECTIONS = table_of(CorrectionRow)


def add_correction(database: Database, sha256: str, field: str, value: str, who: str, at: datetime) -> None:
    """Store a label for a file with these bytes; "" returns the field to the classifier. Raises StoreFailed."""
    row = {"sha256": sha256, "field": field, "value": storable_text(value), "who": storable_text(who), "at": at}
    with database.transaction("storing a correction") as connection:
        connection.execute(insert(CORRECTIONS).values(tenant_id=database.tenant, **row))


def read_corrections(database: Database, hashes: Collection[str]) -> Mapping[str, Mapping[str, Label]]:
    """Each of these SHA-256 → the latest correction per label field, as confirmed labels. Raises StoreFailed."""
    query = (
        "SELECT sha256, field, value FROM corrections"
        " WHERE tenant_id = %(tenant)s AND sha256 = ANY(%(hashes)s::text[]) ORDER BY id"
    )
    latest: dict[str, dict[str, str]] = {each: {} for each in hashes}
    for sha256, field, value in database.read("reading corrections", query, {"hashes": sorted(hashes)}):
        latest[sha256][field] = value
    return {
        sha256: {field: Label(value, 1.0, confirmed=True) for field, value in fields.items() if value}
        for sha256, fields in latest.items()
    }
