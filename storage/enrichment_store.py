"""What is drawn from documents, in PostgreSQL. Values travel as JSON, written and read by their own types."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import BigInteger, ColumnElement, Table, any_, delete, literal, select
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.exc import IntegrityError

from core.enrich.values import RESULTS, Edit, Operation, Outcome
from core.errors import NotFound
from storage.database import Database
from storage.enrichment_models import ENRICHMENT_EDITS, ENRICHMENTS
from storage.json_values import read, written
from storage.models import DOCUMENTS
from storage.rows import storable_text

__all__ = ["SqlEnrichmentStore"]

Each = TypeVar("Each", Outcome, Edit)
_PLACES = {operation: place for place, operation in enumerate(Operation)}


class SqlEnrichmentStore:
    """core.library.enrichment_store.EnrichmentStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def save(self, outcomes: Sequence[Outcome]) -> None:
        """Keep outcomes of documents that are still there. Raises StoreFailed."""
        with self._database.transaction("keeping what was drawn from documents") as connection:
            wanted = self._of(DOCUMENTS.c.id, [each.document_id for each in outcomes])
            own = (DOCUMENTS.c.tenant_id == self._tenant, wanted)
            living = set(
                connection.scalars(select(DOCUMENTS.c.id).where(*own).with_for_update(key_share=True, read=True))
            )
            rows = [self._row(each) for each in outcomes if each.document_id in living]
            if not rows:
                return
            add = insert(ENRICHMENTS)
            changed = {name: add.excluded[name] for name in ("version", "reading", "at", "problem", "hint", "data")}
            key = ["tenant_id", "document_id", "operation"]
            connection.execute(add.on_conflict_do_update(index_elements=key, set_=changed), rows)

    def _row(self, outcome: Outcome) -> dict[str, Any]:
        return {
            "tenant_id": self._tenant,
            "document_id": outcome.document_id,
            "operation": str(outcome.operation),
            "version": outcome.version,
            "reading": outcome.reading,
            "at": outcome.at,
            "problem": storable_text(outcome.problem),
            "hint": storable_text(outcome.hint),
            "data": None if outcome.result is None else written(outcome.result),
        }

    def outcomes(
        self, document_ids: Sequence[int], operations: Collection[Operation] = tuple(Operation)
    ) -> Mapping[int, Sequence[Outcome]]:
        """Document → its outcomes of these operations, in the order of Operation. Raises StoreFailed."""
        chosen = ENRICHMENTS.c.operation.in_([str(each) for each in operations])
        own = (*self._own(ENRICHMENTS, document_ids), chosen)
        with self._database.transaction("reading what was drawn from documents") as connection:
            rows = connection.execute(select(ENRICHMENTS).where(*own)).all()
        return _grouped([_outcome(row, row.data) for row in rows])

    def all_outcomes(self) -> Sequence[Outcome]:
        """How every operation on every document ended, without results. Raises StoreFailed."""
        columns = [each for each in ENRICHMENTS.c if each.name not in ("tenant_id", "data")]
        query = select(*columns).where(ENRICHMENTS.c.tenant_id == self._tenant)
        with self._database.transaction("counting what was drawn from documents") as connection:
            found = [_outcome(row, None) for row in connection.execute(query)]
        return sorted(found, key=lambda each: (each.document_id, _PLACES[each.operation]))

    def forget(self, document_ids: Sequence[int]) -> None:
        """Drop the outcomes of documents; edits stay. Raises StoreFailed."""
        with self._database.transaction("dropping what was drawn from documents") as connection:
            connection.execute(delete(ENRICHMENTS).where(*self._own(ENRICHMENTS, document_ids)))

    def delete(self, document_ids: Sequence[int]) -> None:
        """Drop the outcomes and edits of documents. Raises StoreFailed."""
        with self._database.transaction("dropping what was drawn from documents") as connection:
            for table in (ENRICHMENTS, ENRICHMENT_EDITS):
                connection.execute(delete(table).where(*self._own(table, document_ids)))

    def save_edit(self, edit: Edit) -> None:
        """Keep an edit in place of the one before. Raises NotFound, StoreFailed."""
        key = {"tenant_id": self._tenant, "document_id": edit.document_id, "operation": str(edit.operation)}
        add = insert(ENRICHMENT_EDITS).values(**key, data=written(edit))
        kept = add.on_conflict_do_update(index_elements=list(key), set_={"data": add.excluded.data})
        with self._database.transaction("keeping a change by hand") as connection:
            try:
                connection.execute(kept)
            except IntegrityError as error:
                raise NotFound(
                    f"Document {edit.document_id} is not in the library.", "It was deleted; go back to the library."
                ) from error

    def reset(self, document_id: int, operation: Operation) -> None:
        """Drop an edit. Raises StoreFailed."""
        own = (*self._own(ENRICHMENT_EDITS, [document_id]), ENRICHMENT_EDITS.c.operation == str(operation))
        with self._database.transaction("taking back a change by hand") as connection:
            connection.execute(delete(ENRICHMENT_EDITS).where(*own))

    def edits(self, document_ids: Sequence[int]) -> Mapping[int, Sequence[Edit]]:
        """Document → its edits, in the order of Operation. Raises StoreFailed."""
        query = select(ENRICHMENT_EDITS.c.data).where(*self._own(ENRICHMENT_EDITS, document_ids))
        with self._database.transaction("reading changes by hand") as connection:
            found = [read(Edit, data) for data in connection.scalars(query)]
        return _grouped(found)

    def _own(self, table: Table, document_ids: Sequence[int]) -> tuple[ColumnElement[bool], ...]:
        return table.c.tenant_id == self._tenant, self._of(table.c.document_id, document_ids)

    @staticmethod
    def _of(column: ColumnElement[int], document_ids: Sequence[int]) -> ColumnElement[bool]:
        return column == any_(literal([int(each) for each in document_ids], ARRAY(BigInteger)))


def _outcome(row: Any, data: Any) -> Outcome:
    operation = Operation(row.operation)
    result = None if data is None else read(RESULTS[operation], data)
    known = (row.version, row.reading, row.at)
    return Outcome(row.document_id, operation, *known, result, row.problem, row.hint)


def _grouped(found: Sequence[Each]) -> Mapping[int, Sequence[Each]]:
    grouped: dict[int, list[Each]] = {}
    for each in sorted(found, key=lambda one: (one.document_id, _PLACES[one.operation])):
        grouped.setdefault(each.document_id, []).append(each)
    return grouped
