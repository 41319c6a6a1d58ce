"""Reading many rows at once: facets, statistics, page texts, last searches."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Integer, String, case, cast, column, func, literal, select, tuple_
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by, distinct_on

from core.documents import DocumentState, Origin, TableRole, Truth
from core.filters import FIELDS, FilterField, SearchFilters
from core.results import Statistics
from storage.database import Database
from storage.models import CHUNKS, DOCUMENTS, PAGES, SEARCHES
from storage.sql_filters import conditions

__all__ = ["facets", "fingerprints", "last_searches", "page_texts", "setup_documents", "statistics", "undated"]

_READ = (
    *("truth", "domain", "authority", "jurisdiction", "date", "temporal_class", "source_type", "sector"),
    *("table_role", "project", "tags", "entities", "archived"),
)
_REMEMBERED = 2000  # newest searches among which each question is looked for once


def _ours(filters: SearchFilters, tenant: str) -> list[Any]:
    return [CHUNKS.c.tenant_id == tenant, *conditions(filters)]


def facets(database: Database, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
    """Filter field → value → passages, each field counted under the other fields' filters.

    All single-valued fields without a filter of their own share one condition, and are counted in one pass.
    """
    free = [f for f in FIELDS if not f.many and not _restricted(f, filters)]
    counted: dict[str, Mapping[str, int]] = {}
    with database.transaction("counting values") as connection:
        for chosen, query in (
            (free, _single_valued(free, filters, database.tenant)) if free else ((), None),
            *(([f], _query_of(f, filters, database.tenant)) for f in FIELDS if f not in free),
        ):
            if query is not None:
                counts: dict[str, dict[str, int]] = {field.name: {} for field in chosen}
                for name, value, number in connection.execute(query):
                    counts[name][value] = number
                counted |= counts
    return {field.name: counted[field.name] for field in FIELDS}


def _restricted(field: FilterField, filters: SearchFilters) -> bool:
    return bool(getattr(filters, field.name) or getattr(filters, f"exclude_{field.name}"))


def _query_of(field: FilterField, filters: SearchFilters, tenant: str) -> Any:
    others = filters.replace(**{field.name: (), f"exclude_{field.name}": ()})
    return _many_valued(field, others, tenant) if field.many else _single_valued([field], others, tenant)


def _single_valued(fields: Sequence[FilterField], filters: SearchFilters, tenant: str) -> Any:
    """(filter field, value, passages) of several fields in one pass: one grouping set per field."""
    columns = [CHUNKS.c[field.attribute] for field in fields]
    marks = [(func.grouping(col) == 0, literal(field.name)) for field, col in zip(fields, columns, strict=True)]
    name = case(*marks)
    value = func.coalesce(*(cast(col, String) for col in columns))
    query = (
        select(name, value, func.count())
        .where(*_ours(filters, tenant))
        .group_by(func.grouping_sets(*(tuple_(col) for col in columns)))
    )
    return query.having(value.is_not(None))


def _many_valued(field: FilterField, filters: SearchFilters, tenant: str) -> Any:
    value = func.unnest(CHUNKS.c[field.attribute]).label("value")
    each = select(value).where(*_ours(filters, tenant)).subquery()
    return select(literal(field.name), each.c.value, func.count()).group_by(each.c.value)


def fingerprints(database: Database, filters: SearchFilters) -> Mapping[int, str]:
    """Document id → digest of all that search reads of its admissible passages; texts are told apart by passage ids,
    because a document that is read again gets new ones."""
    read = func.concat_ws("|", CHUNKS.c.id, *(func.coalesce(cast(CHUNKS.c[name], String), "") for name in _READ))
    together = func.string_agg(read, aggregate_order_by(literal("\n"), CHUNKS.c.id))
    query = (
        select(CHUNKS.c.document_id, func.md5(together))
        .where(*_ours(filters, database.tenant))
        .group_by(CHUNKS.c.document_id)
    )
    with database.transaction("comparing the library with an earlier one") as connection:
        return {int(document): digest for document, digest in connection.execute(query)}


def setup_documents(database: Database, filters: SearchFilters) -> Sequence[int]:
    """Ids, ascending, of the documents with admissible rows of a set-up table."""
    holding = (CHUNKS.c.table_role == TableRole.SETUP.value, *_ours(filters, database.tenant))
    query = select(CHUNKS.c.document_id).distinct().where(*holding).order_by(CHUNKS.c.document_id)
    with database.transaction("looking for set-up tables") as connection:
        return [int(document) for document in connection.scalars(query)]


def undated(database: Database, filters: SearchFilters) -> int:
    """Documents left out by the date filter only because they are undated."""
    if not filters.dated or filters.include_undated:
        return 0
    wider = filters.replace(include_undated=True)
    query = select(func.count(CHUNKS.c.document_id.distinct())).where(
        *_ours(wider, database.tenant), CHUNKS.c.date.is_(None)
    )
    with database.transaction("counting undated documents") as connection:
        return int(connection.scalar(query) or 0)


def statistics(database: Database) -> Statistics:
    """What is in the library; documents are the living ones, passages and truths those of ready documents. An archive,
    which only holds other documents, states no truth and leaves nobody unsure."""
    truth, states = DOCUMENTS.c.labels["truth"]["value"].astext, DOCUMENTS.c.pages > 0
    query = (
        select(DOCUMENTS.c.state, truth, states, func.count(), func.sum(DOCUMENTS.c.passages))
        .where(
            DOCUMENTS.c.tenant_id == database.tenant,
            ~DOCUMENTS.c.archived,
            DOCUMENTS.c.origin == Origin.DOCUMENT.value,
        )
        .group_by(DOCUMENTS.c.state, truth, states)
    )
    by_state: dict[str, int] = {}
    by_truth: dict[Truth | None, int] = {}
    passages = 0
    with database.transaction("counting the library") as connection:
        for state, value, told, documents, held in connection.execute(query):
            by_state[state] = by_state.get(state, 0) + documents
            if state == DocumentState.READY and told:
                by_truth[Truth(value) if value else None] = documents
                passages += int(held)
    return Statistics(sum(by_state.values()), passages, by_truth, by_state, by_truth.get(None, 0), waiting_jobs=0)


def page_texts(database: Database, keys: Sequence[tuple[int, int]]) -> Mapping[tuple[int, int], str]:
    """Text of many pages by (document id, page number); missing ones are absent."""
    if not keys:
        return {}
    wanted = (
        func.unnest(
            cast([int(document) for document, _ in keys], ARRAY(BigInteger)),
            cast([int(number) for _, number in keys], ARRAY(Integer)),
        )
        .table_valued(column("document_id", BigInteger), column("number", Integer), joins_implicitly=True)
        .render_derived("wanted")
    )
    query = select(PAGES.c.document_id, PAGES.c.number, PAGES.c.text).where(
        PAGES.c.tenant_id == database.tenant,
        PAGES.c.document_id == wanted.c.document_id,
        PAGES.c.number == wanted.c.number,
    )
    with database.transaction("reading pages") as connection:
        return {(row.document_id, row.number): row.text for row in connection.execute(query)}


def last_searches(database: Database, limit: int) -> Sequence[tuple[str, int, datetime]]:
    """(question, hits, when), newest first, each question once."""
    newest = (
        select(SEARCHES)
        .where(SEARCHES.c.tenant_id == database.tenant)
        .order_by(SEARCHES.c.id.desc())
        .limit(_REMEMBERED)
        .subquery()
    )
    once = select(newest).ext(distinct_on(newest.c.question)).order_by(newest.c.question, newest.c.id.desc()).subquery()
    query = select(once.c.question, once.c.hits, once.c.at).order_by(once.c.id.desc()).limit(limit)
    with database.transaction("reading the last searches") as connection:
        return [(row.question, row.hits, row.at) for row in connection.execute(query)]
