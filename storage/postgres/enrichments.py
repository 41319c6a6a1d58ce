"""Results of enrichment operations, and analysts' edits of them, in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

from sqlalchemy import ColumnElement, Integer, Table, delete, select
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.errors import NotFound
from core.domain.sanitize import storable_text
from core.library.enrichment.values import RESULTS, EnrichmentEdit, Operation, OperationOutcome
from storage.postgres.database import Database
from storage.postgres.documents import DOCUMENTS
from storage.postgres.json_records import any_of, from_json, to_json, upsert
from storage.postgres.tables import BY_DOCUMENT, Base, JsonValue, allow, of_document, table_of

__all__ = ["ENRICHMENTS", "ENRICHMENT_EDITS", "EnrichmentEditRow", "EnrichmentRow", "SqlEnrichmentStore"]

_Result = Annotated[dict[str, Any] | None, mapped_column(JSON(none_as_null=True))]


class EnrichmentRow(Base):
    """The outcome of one operation on one document; `data` is empty after a failure, and `problem` says why."""

    __tablename__ = "enrichments"
    __table_args__ = (
        of_document(),
        allow("SELECT, INSERT, UPDATE (version, reading, at, problem, hint, data), DELETE", seen=BY_DOCUMENT),
    )

    document_id: Mapped[int] = mapped_column(primary_key=True)
    operation: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(Integer())
    reading: Mapped[int]
    at: Mapped[datetime]
    problem: Mapped[str]
    hint: Mapped[str]
    data: Mapped[_Result]


class EnrichmentEditRow(Base):
    """An analyst's edit of the result of one operation."""

    __tablename__ = "enrichment_edits"
    __table_args__ = (of_document(), allow("SELECT, INSERT, UPDATE (data), DELETE", seen=BY_DOCUMENT))

    document_id: Mapped[int] = mapped_column(primary_key=True)
    operation: Mapped[str] = mapped_column(primary_key=True)
    data: Mapped[JsonValue]


ENRICHMENTS = table_of(EnrichmentRow)
ENRICHMENT_EDITS = table_of(EnrichmentEditRow)

Item = TypeVar("Item", OperationOutcome, EnrichmentEdit)
_PLACES = {operation: index for index, operation in enumerate(Operation)}


class SqlEnrichmentStore:
    """Implements core.library.enrichment.store.EnrichmentStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def save(self, outcomes: Sequence[OperationOutcome]) -> None:
        """Store outcomes of documents that still exist. Raises StoreFailed."""
        with self._database.transaction("keeping what was drawn from documents") as connection:
            of_outcomes = DOCUMENTS.c.id == any_of([each.document_id for each in outcomes])
            own = (DOCUMENTS.c.tenant_id == self._tenant, of_outcomes)
            living = set(
                connection.scalars(select(DOCUMENTS.c.id).where(*own).with_for_update(key_share=True, read=True))
            )
            rows = [self._row(each) for each in outcomes if each.document_id in living]
            upsert(connection, ENRICHMENTS, rows)

    def _row(self, outcome: OperationOutcome) -> dict[str, Any]:
        return {
            "tenant_id": self._tenant,
            "document_id": outcome.document_id,
            "operation": str(outcome.operation),
            "version": outcome.version,
            "reading": outcome.reading,
            "at": outcome.at,
            "problem": storable_text(outcome.problem),
            "hint": storable_text(outcome.hint),
            "data": None if outcome.result is None else to_json(outcome.result),
        }

    def outcomes(
        self, document_ids: Sequence[int], operations: Collection[Operation] = tuple(Operation)
    ) -> Mapping[int, Sequence[OperationOutcome]]:
        """Document → its outcomes of these operations, in the order of Operation. Raises StoreFailed."""
        chosen = ENRICHMENTS.c.operation.in_([str(each) for each in operations])
        own = (*self._own(ENRICHMENTS, document_ids), chosen)
        with self._database.transaction("reading what was drawn from documents") as connection:
            rows = connection.execute(select(ENRICHMENTS).where(*own)).all()
        return _grouped([_outcome(row, row.data) for row in rows])

    def all_outcomes(self) -> Sequence[OperationOutcome]:
        """The outcome of every operation on every document, without results. Raises StoreFailed."""
        columns = [each for each in ENRICHMENTS.c if each.name not in ("tenant_id", "data")]
        query = select(*columns).where(ENRICHMENTS.c.tenant_id == self._tenant)
        with self._database.transaction("counting what was drawn from documents") as connection:
            items = [_outcome(row, None) for row in connection.execute(query)]
        return sorted(items, key=lambda each: (each.document_id, _PLACES[each.operation]))

    def forget(self, document_ids: Sequence[int]) -> None:
        """Delete the outcomes of documents; edits stay. Raises StoreFailed."""
        with self._database.transaction("dropping what was drawn from documents") as connection:
            connection.execute(delete(ENRICHMENTS).where(*self._own(ENRICHMENTS, document_ids)))

    def delete(self, document_ids: Sequence[int]) -> None:
        """Delete the outcomes and edits of documents. Raises StoreFailed."""
        with self._database.transaction("dropping what was drawn from documents") as connection:
            for table in (ENRICHMENTS, ENRICHMENT_EDITS):
                connection.execute(delete(table).where(*self._own(table, document_ids)))

    def save_edit(self, edit: EnrichmentEdit) -> None:
        """Store an edit, replacing the earlier one. Raises NotFound, StoreFailed."""
        key = {"tenant_id": self._tenant, "document_id": edit.document_id, "operation": str(edit.operation)}
        with self._database.transaction("keeping a change by hand") as connection:
            try:
                upsert(connection, ENRICHMENT_EDITS, [{**key, "data": to_json(edit)}])
            except IntegrityError as error:
                raise NotFound(
                    f"Document {edit.document_id} is not in the library.", "It was deleted; go back to the library."
                ) from error

    def reset(self, document_id: int, operation: Operation) -> None:
        """Delete an edit. Raises StoreFailed."""
        own = (*self._own(ENRICHMENT_EDITS, [document_id]), ENRICHMENT_EDITS.c.operation == str(operation))
        with self._database.transaction("taking back a change by hand") as connection:
            connection.execute(delete(ENRICHMENT_EDITS).where(*own))

    def edits(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[EnrichmentEdit]]:
        """Document → its edits, in the order of Operation. Raises StoreFailed."""
        query = select(ENRICHMENT_EDITS.c.data).where(*self._own(ENRICHMENT_EDITS, document_ids))
        with self._database.transaction("reading changes by hand") as connection:
            items = [from_json(EnrichmentEdit, data) for data in connection.scalars(query)]
        return _grouped(items)

    def _own(self, table: Table, document_ids: Sequence[int]) -> tuple[ColumnElement[bool], ...]:
        return table.c.tenant_id == self._tenant, table.c.document_id == any_of(document_ids)


def _outcome(row: Any, data: Any) -> OperationOutcome:
    operation = Operation(row.operation)
    result = None if data is None else from_json(RESULTS[operation], data)
    state = (row.version, row.reading, row.at)
    return OperationOutcome(row.document_id, operation, *state, result, row.problem, row.hint)


def _grouped(items: Sequence[Item]) -> Mapping[int, Sequence[Item]]:
    grouped: dict[int, list[Item]] = {}
    for each in sorted(items, key=lambda one: (one.document_id, _PLACES[one.operation])):
        grouped.setdefault(each.document_id, []).append(each)
    return grouped
