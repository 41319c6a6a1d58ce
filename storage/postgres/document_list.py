"""Lists of documents in PostgreSQL: filtered, counted, sorted and cut to one page by the database."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Float,
    Select,
    and_,
    case,
    cast,
    column,
    func,
    literal,
    null,
    or_,
    select,
    true,
    union_all,
)
from sqlalchemy.dialects.postgresql import ARRAY, distinct_on

from core.domain.document_list import (
    ARCHIVED,
    UNKNOWN_TRUTH,
    DocumentOrder,
    DocumentPage,
    DocumentQuery,
    ListedDocument,
)
from core.domain.documents import DocumentState, Origin, Truth
from core.domain.sanitize import storable_text
from storage.postgres.database import Database
from storage.postgres.documents import DOCUMENTS, read_documents
from storage.postgres.passages import CHUNKS

__all__ = ["list_documents"]

_TRUTHS = {str(truth): number for number, truth in enumerate(Truth)}


def list_documents(database: Database, query: DocumentQuery) -> DocumentPage:
    """One page of the list. Raises StoreFailed."""
    base = _base(database.tenant, query).cte("base")
    filters = _filters(base.c, query)
    page = (
        select(base.c.id, base.c.passage).where(*filters.values()).order_by(*_order(base.c, query)).offset(query.offset)
    )
    counts: dict[str, dict[str, int]] = {"state": {}, "project": {}, "truth": {}, "tag": {}, "all": {}}
    with database.transaction("listing documents") as connection:
        for field, value, number in connection.execute(_counts(base, filters)):
            counts[field][value] = number
        rows = connection.execute(page.limit(query.limit)).all()
    known = {each.id: each for each in read_documents(database, [row.id for row in rows])}
    entries = tuple(ListedDocument(known[row.id], row.passage) for row in rows if row.id in known)
    return DocumentPage(entries, counts.pop("all").get("", 0), counts)


def _base(tenant: str, query: DocumentQuery) -> Select[Any]:
    """What the filters and orders read of the documents that have the words in their name or inside."""
    table = DOCUMENTS.c
    labelled = and_(table.state == str(DocumentState.READY), or_(table.pages > 0, table.passages > 0))
    truth = table.labels["truth"]
    certainty: ColumnElement[Any] = null()
    if query.order is DocumentOrder.CERTAINTY:  # reading labels is most of the time a list takes
        certainty = case((labelled, cast(truth["probability"].astext, Float(53))))
    named: ColumnElement[bool] = true()
    if folded := storable_text(query.words.lower().strip()):
        named = func.strpos(func.lower(table.name + " " + table.title), folded) > 0
    best = _best_hits(tenant, query)
    columns = (
        table.id,
        table.uploaded_at,
        func.lower(table.name).collate("C").label("name"),
        table.date,
        table.pages,
        table.tags,
        case((table.archived, ARCHIVED), else_=table.state).label("state"),
        func.coalesce(table.project, "").label("project"),
        case((labelled, func.coalesce(truth["value"].astext, UNKNOWN_TRUTH)), else_="").label("truth"),
        certainty.label("certainty"),
        named.label("named"),
    )
    own = (table.tenant_id == tenant, table.origin == str(Origin.DOCUMENT))
    if best is None:
        return select(*columns, null().cast(BigInteger).label("passage"), literal(0.0).label("score")).where(
            *own, named
        )
    return (
        select(*columns, best.c.passage, func.coalesce(best.c.score, 0.0).label("score"))
        .select_from(DOCUMENTS.outerjoin(best, best.c.document_id == table.id))
        .where(*own, or_(named, best.c.passage.is_not(None)))
    )


def _best_hits(tenant: str, query: DocumentQuery) -> Any:
    """The best hit of each document; None without hits."""
    if not query.hits:
        return None
    hits = (
        func.unnest(
            cast([passage for passage, _ in query.hits], ARRAY(BigInteger)),
            cast([score for _, score in query.hits], ARRAY(Float(53))),
        )
        .table_valued(column("passage", BigInteger), column("score", Float(53)), joins_implicitly=True)
        .render_derived("hits")
    )
    return (
        select(CHUNKS.c.document_id, hits.c.passage, hits.c.score)
        .ext(distinct_on(CHUNKS.c.document_id))
        .where(CHUNKS.c.tenant_id == tenant, CHUNKS.c.id == hits.c.passage)
        .order_by(CHUNKS.c.document_id, hits.c.score.desc(), hits.c.passage)
        .subquery("best")
    )


def _filters(base: Any, query: DocumentQuery) -> Mapping[str, ColumnElement[bool]]:
    """Field → its condition."""
    chosen = {"state": base.state == query.state if query.state else base.state != ARCHIVED}
    if query.project is not None:
        chosen["project"] = base.project == storable_text(query.project)
    if query.truths:
        chosen["truth"] = base.truth.in_(query.truths)
    if query.tags:
        chosen["tag"] = base.tags.overlap(cast(list(map(storable_text, query.tags)), DOCUMENTS.c.tags.type))
    return chosen


def _counts(base: Any, filters: Mapping[str, ColumnElement[bool]]) -> Any:
    """(field, value, documents): each field under the filters of the others, and the number of all."""
    values = {"state": base.c.state, "project": base.c.project, "truth": base.c.truth, "all": literal("")}
    each = [
        select(literal(field), value.label("value"), func.count()).where(*_others(filters, field)).group_by(value)
        for field, value in values.items()
        if field != "all"
    ]
    tags = select(func.unnest(base.c.tags).label("value")).where(*_others(filters, "tag")).subquery()
    each.append(select(literal("tag"), tags.c.value, func.count()).group_by(tags.c.value))
    each.append(select(literal("all"), literal(""), func.count()).select_from(base).where(*filters.values()))
    return union_all(*each)


def _others(filters: Mapping[str, ColumnElement[bool]], field: str) -> list[ColumnElement[bool]]:
    return [condition for name, condition in filters.items() if name != field]


def _order(base: Any, query: DocumentQuery) -> list[Any]:
    """The order asked for, what has no value last; then the latest upload."""
    ways: Mapping[DocumentOrder, tuple[tuple[Any, bool], ...]] = {
        DocumentOrder.MATCH: ((base.named, True), (base.score, True)),
        DocumentOrder.UPLOADED: ((base.uploaded_at, True),),
        DocumentOrder.NAME: ((base.name, False),),
        DocumentOrder.TRUTH: ((case(_TRUTHS, value=base.truth), False),),
        DocumentOrder.CERTAINTY: ((base.certainty, False),),
        DocumentOrder.DATE: ((base.date, True),),
        DocumentOrder.PAGES: ((func.nullif(base.pages, 0), True),),
        DocumentOrder.TAGS: ((func.nullif(func.array_to_string(base.tags, "; "), "").collate("C"), False),),
        DocumentOrder.STATE: ((base.state.collate("C"), False),),
    }
    first = [
        (value.desc() if descending != query.reverse else value.asc()).nulls_last()
        for value, descending in ways[query.order]
    ]
    return [*first, base.uploaded_at.desc(), base.id.desc()]
