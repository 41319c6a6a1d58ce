"""What Chroma keeps beside a vector, and SearchFilters in its `where` language.

Driven by core.filters.FIELDS like the SQL translator. Chroma compares numbers only, so a date is whole microseconds
since 1970, exact where seconds as floats are not; `$nin` and `$not_contains` also match records without the key.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from core.documents import Passage
from core.filters import FIELDS, FilterField, SearchFilters

__all__ = ["metadata_of", "where"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def _microseconds(moment: datetime) -> int:
    """
    >>> _microseconds(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (moment - _EPOCH) // _MICROSECOND


def metadata_of(passage: Passage) -> dict[str, Any]:
    """What filters read of a passage. Chroma merges and does not replace, so None takes out a key the record had."""
    kept: dict[str, Any] = {
        "archived": passage.archived,
        "date": None if passage.date is None else _microseconds(passage.date),
        "undated": passage.date is None,
        "shared": passage.project is None,
    }
    for field in FIELDS:
        value = getattr(passage, field.attribute)
        if field.many:
            kept[field.attribute] = sorted({str(one) for one in value}) or None
        else:
            kept[field.attribute] = _plain(value)
    return kept


def _plain(value: Any) -> Any:
    """An enum member as its value; Chroma takes plain strings and numbers."""
    return str(value) if isinstance(value, str) else value


def where(filters: SearchFilters) -> dict[str, Any] | None:
    """The filter as a Chroma `where`; None for no restriction. `recency_months` must have been resolved."""
    parts: list[dict[str, Any]] = []
    if filters.archived is not None:
        parts.append({"archived": filters.archived})
    if filters.dated:
        parts.append(_dated(filters))
    for field in FIELDS:
        parts += _of_field(field, filters)
    return _joined("$and", parts) if parts else None


def _joined(operator: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Chroma refuses $and and $or of one part."""
    return parts[0] if len(parts) == 1 else {operator: parts}


def _dated(filters: SearchFilters) -> dict[str, Any]:
    within: list[dict[str, Any]] = [{"undated": False}]
    if filters.date_from is not None:
        within.append({"date": {"$gte": _microseconds(filters.date_from)}})
    if filters.date_to is not None:
        within.append({"date": {"$lte": _microseconds(filters.date_to)}})
    dated = _joined("$and", within)
    return _joined("$or", [dated, {"undated": True}]) if filters.include_undated else dated


def _of_field(field: FilterField, filters: SearchFilters) -> Iterator[dict[str, Any]]:
    key = field.attribute
    wanted = [_plain(value) for value in getattr(filters, field.name)]
    unwanted = [_plain(value) for value in getattr(filters, f"exclude_{field.name}")]
    if field.many:
        every = getattr(filters, f"{field.name}_mode") == "all"
        if wanted:
            yield _joined("$and" if every else "$or", [{key: {"$contains": value}} for value in wanted])
        if unwanted:
            yield _joined("$and", [{key: {"$not_contains": value}} for value in unwanted])
        return
    if wanted:
        among = {key: {"$in": wanted}}
        # A passage without a project belongs to every project.
        yield _joined("$or", [among, {"shared": True}]) if field.name == "projects" else among
    if unwanted:
        yield {key: {"$nin": unwanted}}
