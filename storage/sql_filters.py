"""SearchFilters as SQL conditions: the same rows of core.filters.FIELDS, the same meaning as SearchFilters.admits."""

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, all_, and_, any_, literal, not_, or_
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import InstrumentedAttribute

from core.filters import FIELDS, FilterField, SearchFilters
from storage.models import KnowledgeChunk

__all__ = ["conditions"]


def conditions(filters: SearchFilters) -> list[ColumnElement[bool]]:
    """What a row of knowledge_chunks must fulfil, all of it; empty for no restriction.

    `recency_months` must have been resolved. The tenant is the caller's business.
    """
    found: list[ColumnElement[bool]] = []
    if filters.archived is not None:
        found.append(KnowledgeChunk.archived.is_(filters.archived))
    if filters.dated:
        found.append(_dated(filters))
    for field in FIELDS:
        found += _of_field(field, filters)
    return found


def _dated(filters: SearchFilters) -> ColumnElement[bool]:
    column = KnowledgeChunk.date
    within: list[ColumnElement[bool]] = [column.is_not(None)]
    if filters.date_from is not None:
        within.append(column >= filters.date_from)
    if filters.date_to is not None:
        within.append(column <= filters.date_to)
    return or_(and_(*within), column.is_(None)) if filters.include_undated else and_(*within)


def _of_field(field: FilterField, filters: SearchFilters) -> Iterator[ColumnElement[bool]]:
    column: InstrumentedAttribute[Any] = getattr(KnowledgeChunk, field.attribute)
    wanted, unwanted = getattr(filters, field.name), getattr(filters, f"exclude_{field.name}")
    if field.many:
        every = getattr(filters, f"{field.name}_mode") == "all"
        if wanted:
            yield column.contains(_bound(column, wanted)) if every else column.overlap(_bound(column, wanted))
        if unwanted:
            yield not_(column.overlap(_bound(column, unwanted)))
        return
    if wanted:
        among = column == any_(_bound(column, wanted))
        # A passage without a project belongs to every project.
        yield or_(among, column.is_(None)) if field.name == "projects" else among
    if unwanted:
        yield or_(column != all_(_bound(column, unwanted)), column.is_(None))


def _bound(column: InstrumentedAttribute[Any], values: Sequence[Any]) -> ColumnElement[Any]:
    """One array parameter, however many values: the statement stays the same, and ten thousand documents fit."""
    plain = [str(value) if isinstance(value, str) else int(value) for value in values]  # an enum member is its value
    return literal(plain, column.type if isinstance(column.type, ARRAY) else ARRAY(column.type))
