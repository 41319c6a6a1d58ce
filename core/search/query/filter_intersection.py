"""Intersection of two filters, as one filter."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from core.domain.errors import BadFilters
from core.domain.filters import FIELDS, FilterField, SearchFilters

__all__ = ["narrowed"]


def narrowed(outer: SearchFilters, inner: SearchFilters) -> SearchFilters:
    """The intersection of two filters: `admits(p) == outer.admits(p) and inner.admits(p)` for passages without possible
    labels; labels are strict if they are in either filter.

    Raises BadFilters, with every problem in field order, where the two have nothing in common ("intent" inside
    "truth is regulatory"), and where no single filter can express both: any of some tags *and* any of others.

    >>> narrowed(SearchFilters(truths=("intent", "reality")), SearchFilters(truths=("reality",))).truths
    ('reality',)
    """
    problems: list[str] = []
    both: dict[str, Any] = {}
    for field in FIELDS:
        both |= _many(field, outer, inner, problems) if field.many else _one(field, outer, inner, problems)
        both[f"exclude_{field.name}"] = _union(field.name, outer, inner, "exclude_")
    both |= _dates(outer, inner, problems)
    both["archived"] = _archived(outer, inner, problems)
    both["strict_labels"] = outer.strict_labels or inner.strict_labels
    if problems:
        raise BadFilters(problems)
    return SearchFilters(**both)


def _union(name: str, outer: SearchFilters, inner: SearchFilters, prefix: str = "") -> tuple[Any, ...]:
    return tuple(dict.fromkeys((*getattr(outer, prefix + name), *getattr(inner, prefix + name))))


def _one(field: FilterField, outer: SearchFilters, inner: SearchFilters, problems: list[str]) -> dict[str, Any]:
    """Single-valued fields: both admit the common values."""
    wide, own = getattr(outer, field.name), getattr(inner, field.name)
    common = tuple(value for value in wide if value in own) if wide and own else wide or own
    if wide and own and not common:
        problems.append(f"{field.name}: {_listed(own)} is outside {_listed(wide)}, to which all is narrowed")
    return {field.name: common}


def _many(field: FilterField, outer: SearchFilters, inner: SearchFilters, problems: list[str]) -> dict[str, Any]:
    """Multi-valued fields: "any of these" and "all of those" combine only where one implies the other."""
    mode = f"{field.name}_mode"
    sides = [_FilterSide(getattr(each, field.name), getattr(each, mode)) for each in (outer, inner)]
    wide, own = sides
    if not wide.values or not own.values:
        chosen = wide if wide.values else own
        return {field.name: chosen.values, mode: chosen.mode}
    if wide.all and own.all:
        return {field.name: _union(field.name, outer, inner), mode: "all"}
    for strict, loose in (sides, sides[::-1]):
        if strict.implies(loose):
            return {field.name: strict.values, mode: strict.mode}
    problems.append(
        f"{field.name}: {_listed(own.values)} cannot be joined with {_listed(wide.values)}, to which all is narrowed"
    )
    return {}


class _FilterSide:
    """One filter's values for a multi-valued field; a single value means the same under "any" and "all"."""

    def __init__(self, values: tuple[Any, ...], mode: str) -> None:
        self.values, self.mode = values, "all" if len(values) == 1 else mode

    @property
    def all(self) -> bool:
        return self.mode == "all"

    def implies(self, other: "_FilterSide") -> bool:
        """Whether everything this side admits is admitted by the other."""
        if other.all:
            return self.all and set(other.values) <= set(self.values)
        mine = set(self.values)
        return bool(mine & set(other.values)) if self.all else mine <= set(other.values)


def _dates(outer: SearchFilters, inner: SearchFilters, problems: list[str]) -> dict[str, Any]:
    start = _tighter(outer.date_from, inner.date_from, latest=True)
    end = _tighter(outer.date_to, inner.date_to, latest=False)
    if start is not None and end is not None and start > end:
        problems.append("date_from: no day lies inside both date filters")
    months = [each.recency_months for each in (outer, inner) if each.recency_months is not None]
    undated = all(each.include_undated or not each.dated for each in (outer, inner))
    return {
        "date_from": start,
        "date_to": end,
        "recency_months": min(months, default=None),
        "include_undated": undated and (outer.include_undated or inner.include_undated),
    }


def _tighter(one: datetime | None, other: datetime | None, *, latest: bool) -> datetime | None:
    if one is None or other is None:
        return one or other
    return max(one, other) if latest else min(one, other)


def _archived(outer: SearchFilters, inner: SearchFilters, problems: list[str]) -> bool | None:
    if outer.archived is None or inner.archived is None:
        return inner.archived if outer.archived is None else outer.archived
    if outer.archived != inner.archived:
        kinds = {True: "archived documents", False: "documents in the library"}
        problems.append(f"archived: only {kinds[inner.archived]} is outside {kinds[outer.archived]} only")
    return inner.archived


def _listed(values: Sequence[Any]) -> str:
    return " or ".join(f"'{value}'" for value in values)
