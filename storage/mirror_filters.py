"""SearchFilters over the columns of a mirror: the same rows of core.filters.FIELDS, the same meaning as
SearchFilters.admits."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.filters import FIELDS, FilterField, SearchFilters
from storage.mirror_columns import LISTED, SINGLE, UNDATED, Columns, Words

__all__ = ["admitted_rows"]

_FEW = 8  # up to so many words are compared one by one, which takes a tenth of looking each row up in a table
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Mask = NDArray[np.bool_]


def admitted_rows(columns: Columns, words: Words, filters: SearchFilters) -> Mask:
    """Which rows the filters admit: bool, shape (n,). `recency_months` must have been resolved."""
    mask = np.ones(len(columns), dtype=np.bool_)
    if filters.archived is not None:
        mask &= columns.archived == filters.archived
    if filters.dated:
        mask &= _dated(columns.moments, filters)
    for field in FIELDS:
        wanted, unwanted = getattr(filters, field.name), getattr(filters, f"exclude_{field.name}")
        if wanted or unwanted:
            mask &= _of_field(field, columns, words, filters)
    return mask


def _dated(moments: NDArray[np.int64], filters: SearchFilters) -> Mask:
    within: Mask = moments != UNDATED
    if filters.date_from is not None:
        within &= moments >= (filters.date_from - _EPOCH) // _MICROSECOND
    if filters.date_to is not None:
        within &= moments <= (filters.date_to - _EPOCH) // _MICROSECOND
    return within | (moments == UNDATED) if filters.include_undated else within


def _of_field(field: FilterField, columns: Columns, words: Words, filters: SearchFilters) -> Mask:
    wanted, unwanted = getattr(filters, field.name), getattr(filters, f"exclude_{field.name}")
    if field.many:
        return _of_lists(field, columns, words, filters)
    if field.name == "documents":
        held, numbers, nothing = columns.documents, (list(wanted), list(unwanted)), np.False_
    else:
        held = columns.words[SINGLE.index(field.attribute)]
        numbers, nothing = (words.known(wanted), words.known(unwanted)), held == -1
    mask = _among(held, numbers[0]) if wanted else np.ones(len(columns), dtype=np.bool_)
    if unwanted:
        mask &= ~_among(held, numbers[1])
    # A passage without a project belongs to every project.
    return mask | nothing if field.name == "projects" else mask


def _among(held: NDArray[Any], numbers: Sequence[int]) -> Mask:
    """Which of the numbers held are among these."""
    if len(numbers) > _FEW:
        return np.isin(held, np.array(numbers, dtype=held.dtype))
    found = np.zeros(len(held), dtype=np.bool_)
    for number in numbers:
        found |= held == number
    return found


def _of_lists(field: FilterField, columns: Columns, words: Words, filters: SearchFilters) -> Mask:
    postings = columns.listed[LISTED.index(field.attribute)]
    wanted, unwanted = getattr(filters, field.name), getattr(filters, f"exclude_{field.name}")
    mask = np.ones(len(columns), dtype=np.bool_)
    if wanted and getattr(filters, f"{field.name}_mode") == "all":
        for word in wanted:
            mask &= _holding(columns, [postings.holding(number) for number in words.known([word])])
    elif wanted:
        mask &= _holding(columns, [postings.holding(number) for number in words.known(wanted)])
    for number in words.known(unwanted):
        mask[postings.holding(number)] = False
    return mask


def _holding(columns: Columns, rows: Sequence[NDArray[np.int32]]) -> Mask:
    mask = np.zeros(len(columns), dtype=np.bool_)
    for each in rows:
        mask[each] = True
    return mask
