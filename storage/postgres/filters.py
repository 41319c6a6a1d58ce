"""SearchFilters and phrases as SQL: which stored passages match, and how many have each value."""

import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    String,
    all_,
    and_,
    any_,
    case,
    cast,
    func,
    literal,
    not_,
    null,
    or_,
    select,
    text,
    tuple_,
    union_all,
)
from sqlalchemy.dialects.postgresql import ARRAY, aggregate_order_by, array
from sqlalchemy.orm import InstrumentedAttribute

from core.domain.documents import possible_label
from core.domain.filters import FIELDS, FilterField, SearchFilters
from core.ports.stores import PassageIds
from core.text.phrase_match import contains_phrases, ends_at_border, letter_classes, phrase_words
from storage.postgres.database import Database
from storage.postgres.passages import CHUNKS, PassageRow

__all__ = ["conditions", "facets", "fingerprints", "months", "with_phrases"]


def conditions(filters: SearchFilters) -> list[ColumnElement[bool]]:
    """Conditions on rows of knowledge_chunks, all of which must be true; empty without a restriction.

    `recency_months` must have been resolved. The caller adds the condition on the tenant.
    """
    matches: list[ColumnElement[bool]] = []
    if filters.archived is not None:
        matches.append(PassageRow.archived.is_(filters.archived))
    if filters.dated:
        matches.append(_dated(filters))
    for field in FIELDS:
        matches += _of_field(field, filters)
    return matches


def _dated(filters: SearchFilters) -> ColumnElement[bool]:
    column = PassageRow.date
    within: list[ColumnElement[bool]] = [column.is_not(None)]
    if filters.date_from is not None:
        within.append(column >= filters.date_from)
    if filters.date_to is not None:
        within.append(column <= filters.date_to)
    return or_(and_(*within), column.is_(None)) if filters.include_undated else and_(*within)


def _of_field(field: FilterField, filters: SearchFilters) -> Iterator[ColumnElement[bool]]:
    column: InstrumentedAttribute[Any] = getattr(PassageRow, field.attribute)
    included, excluded = getattr(filters, field.name), getattr(filters, f"exclude_{field.name}")
    if field.many:
        every = getattr(filters, f"{field.name}_mode") == "all"
        if included:
            yield column.contains(_bound(column, included)) if every else column.overlap(_bound(column, included))
        if excluded:
            yield not_(column.overlap(_bound(column, excluded)))
        return
    if included:
        among: ColumnElement[bool] = column == any_(_bound(column, included))
        if field.name == "projects":  # a passage without a project belongs to every project
            among = or_(among, column.is_(None))
        if possible := filters.possible_values(field):
            labels = PassageRow.possible_labels
            among = or_(among, labels.overlap(_bound(labels, possible)))
        yield among
    if excluded:
        yield or_(column != all_(_bound(column, excluded)), column.is_(None))


def _bound(column: InstrumentedAttribute[Any], values: Sequence[Any]) -> ColumnElement[Any]:
    """One array parameter for any number of values: the statement stays the same, with ten thousand documents too."""
    plain = [str(value) if isinstance(value, str) else int(value) for value in values]  # an enum member is its value
    return literal(plain, column.type if isinstance(column.type, ARRAY) else ARRAY(column.type))


def _admitted(filters: SearchFilters, tenant: str) -> list[Any]:
    return [CHUNKS.c.tenant_id == tenant, *conditions(filters)]


def facets(database: Database, filters: SearchFilters) -> Mapping[str, Mapping[str, int]]:
    """Filter field → value → passages that a filter on the value admits, under the filters of the other fields: also
    those whose label only may be the value, unless the filters are strict, and those that all projects share.

    All single-valued fields without a filter of their own share one condition and are counted in one statement.
    """
    free = [f for f in FIELDS if not f.many and not _restricted(f, filters)]
    counted: dict[str, Counter[str]] = {field.name: Counter() for field in FIELDS}
    shared = 0
    with database.transaction("counting values") as connection:
        for query in (
            *([_single_valued(free, filters, database.tenant)] if free else ()),
            *(_query_of(f, filters, database.tenant) for f in FIELDS if f not in free),
        ):
            for name, value, number in connection.execute(query):
                if value is None:
                    shared = number
                else:
                    counted[name][value] += number
    counted["projects"].update(dict.fromkeys(counted["projects"], shared))
    return {field: dict(counts) for field, counts in counted.items()}


def months(database: Database, filters: SearchFilters) -> Mapping[str, int]:
    """Month of the date, in UTC ("2024-05") → passages, under all filters but those of the date."""
    undated = filters.replace(date_from=None, date_to=None, recency_months=None)
    month = func.to_char(func.timezone("UTC", CHUNKS.c.date), "YYYY-MM").label("month")
    query = select(month, func.count()).where(*_admitted(undated, database.tenant), CHUNKS.c.date.is_not(None))
    with database.transaction("counting months") as connection:
        return {row[0]: row[1] for row in connection.execute(query.group_by(text("month")))}


def fingerprints(database: Database, filters: SearchFilters) -> Mapping[int, str]:
    """Document id → digest of everything that makes its admissible passages evidence.

    Passage ids stand for their texts: a document that is read again gets new ids.
    """
    read = func.concat_ws("|", CHUNKS.c.id, *(func.coalesce(cast(CHUNKS.c[name], String), "") for name in _READ))
    together = func.string_agg(read, aggregate_order_by(literal("\n"), CHUNKS.c.id))
    admitted = _admitted(filters, database.tenant)
    query = select(CHUNKS.c.document_id, func.md5(together)).where(*admitted).group_by(CHUNKS.c.document_id)
    with database.transaction("comparing the library with an earlier one") as connection:
        return {int(document): digest for document, digest in connection.execute(query)}


_READ = (
    *("truth", "domain", "authority", "jurisdiction", "date", "temporal_class", "source_type", "sector"),
    *("table_role", "project", "tags", "entities", "possible_labels", "archived"),
)


def _restricted(field: FilterField, filters: SearchFilters) -> bool:
    return bool(getattr(filters, field.name) or getattr(filters, f"exclude_{field.name}"))


def _query_of(field: FilterField, filters: SearchFilters, tenant: str) -> Any:
    others = filters.replace(**{field.name: (), f"exclude_{field.name}": ()})
    return _many_valued(field, others, tenant) if field.many else _single_valued([field], others, tenant)


def _single_valued(fields: Sequence[FilterField], filters: SearchFilters, tenant: str) -> Any:
    """(filter field, value, passages) of several fields in one pass: one grouping set per field. The value None counts
    the passages that all projects share."""
    columns = [CHUNKS.c[field.attribute] for field in fields]
    marks = [(func.grouping(col) == 0, literal(field.name)) for field, col in zip(fields, columns, strict=True)]
    name = case(*marks)
    value = func.coalesce(*(cast(col, String) for col in columns))
    query = (
        select(name, value, func.count())
        .where(*_admitted(filters, tenant))
        .group_by(func.grouping_sets(*(tuple_(col) for col in columns)))
        .having(or_(value.is_not(None), name == "projects"))
    )
    uncertain = [field for field in fields if field.classified and not filters.strict_labels]
    return union_all(query, _possibly_valued(uncertain, filters, tenant)) if uncertain else query


def _possibly_valued(fields: Sequence[FilterField], filters: SearchFilters, tenant: str) -> Any:
    """(filter field, value, passages) of the values that a label does not give but may have. Passages with the same
    labels are counted first: there are few different ones."""
    labels = [CHUNKS.c[field.attribute] for field in fields]
    admitted = (*_admitted(filters, tenant), CHUNKS.c.possible_labels != [])
    alike = (
        select(CHUNKS.c.possible_labels, *labels, func.count().label("passages"))
        .where(*admitted)
        .group_by(CHUNKS.c.possible_labels, *labels)
        .subquery()
    )
    possible = func.unnest(alike.c.possible_labels).column_valued("possible_label", joins_implicitly=True)
    own = array([func.concat(possible_label(field.attribute, ""), alike.c[field.attribute]) for field in fields])
    name = case(*((possible.startswith(possible_label(f.attribute, "")), literal(f.name)) for f in fields))
    value = func.substr(possible, func.strpos(possible, possible_label("", "")) + 1)
    others = select(name.label("name"), value.label("value"), alike.c.passages).select_from(alike)
    each = others.where(possible != all_(own), name.is_not(None)).subquery()
    number = cast(func.sum(each.c.passages), BigInteger)
    return select(each.c.name, each.c.value, number).group_by(each.c.name, each.c.value)


def _many_valued(field: FilterField, filters: SearchFilters, tenant: str) -> Any:
    value = func.unnest(CHUNKS.c[field.attribute]).label("value")
    each = select(value).where(*_admitted(filters, tenant)).subquery()
    return select(literal(field.name), each.c.value, func.count()).group_by(each.c.value)


_BATCH = 50_000  # passages per statement. Chosen by hand, not fitted.

# Words of a phrase that PostgreSQL compares; Python compares a longer phrase whole. Chosen by hand, not fitted.
_MOST_WORDS = 24

_LETTERS = string.ascii_letters + string.digits

_BETWEEN = "]" + " \t\n\r\f\v!\"#$%&'()*+,./:;<=>?@_`{|}~–—‘’“”…•·«»\u00a0" + "\\\\^[-"

_SURELY, _MAYBE = (rf"[{_BETWEEN}", "]"), (rf"[^{_LETTERS}", "]")


def with_phrases(database: Database, passage_ids: PassageIds, phrases: Sequence[str]) -> PassageIds:
    """Those of the passages whose text contains every phrase (core.text.phrase_match.says), ids ascending."""
    with_words = [phrase for phrase in phrases if phrase_words(phrase)]
    if not with_words or not len(passage_ids):
        return passage_ids
    matches: list[int] = []
    with database.transaction("looking for phrases") as connection:
        for start in range(0, len(passage_ids), _BATCH):
            query = _query(database.tenant, passage_ids[start : start + _BATCH].tolist(), with_words)
            matches += [
                row[0] for row in connection.execute(query) if row[1] is None or contains_phrases(row[1], with_words)
            ]
    return np.array(sorted(matches), dtype=np.int64)


def _query(tenant: str, ids: list[int], phrases: Sequence[str]) -> Any:
    """(id, NULL) of passages that certainly match, (id, text) of those that may."""
    long = any(len(phrase_words(phrase)) > _MOST_WORDS for phrase in phrases)
    surely = and_(*(CHUNKS.c.text.regexp_match(_pattern(phrase, *_SURELY)) for phrase in phrases))
    maybe = and_(*(CHUNKS.c.text.regexp_match(_pattern(phrase, *_MAYBE)) for phrase in phrases))
    doubtful = CHUNKS.c.text if long else case((surely, null()), else_=CHUNKS.c.text)
    among = CHUNKS.c.id == any_(cast(ids, ARRAY(BigInteger)))
    return select(CHUNKS.c.id, doubtful).where(CHUNKS.c.tenant_id == tenant, among, maybe)


def _pattern(phrase: str, opening: str, closing: str) -> str:
    border = opening + closing
    words = phrase_words(phrase)[:_MOST_WORDS]
    before = rf"(^|{border})" if ends_at_border(words[0][0]) else ""
    after = rf"({border}|$)" if ends_at_border(words[-1][-1]) else ""
    return before + f"{border}+".join(letter_classes(word) for word in words) + after
