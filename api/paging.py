"""Pages of lists, by offset or by cursor.

A cursor names the last entry that was given. The next page begins after that entry also when entries were added or
removed meanwhile, so nothing is given twice or skipped.
"""

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, Field
from starlette.requests import Request

from core.domain.errors import BadRequest

__all__ = [
    "MOST_PER_PAGE",
    "Listed",
    "PageOf",
    "Paging",
    "WantedPage",
    "cursor_of_offset",
    "offset_of_cursor",
    "paged",
    "paged_list",
]

T = TypeVar("T")
S = TypeVar("S")

MOST_PER_PAGE = 100
_MOST_OFFSET = 1_000_000
_AROUND = 100  # places before and after its old place where a cursor's entry is looked for


class PageOf(BaseModel, Generic[T]):
    """One page of a list."""

    items: list[T] = Field(description="The entries of this page, in the order of the list.")
    total: int = Field(description="Entries on all pages.", ge=0)
    limit: int = Field(description="At most so many entries per page.", ge=1, le=MOST_PER_PAGE)
    offset: int = Field(description="Entries before this page.", ge=0)
    next_cursor: str | None = Field(description="Give it as `cursor` for the next page; null on the last one.")


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """Some entries, and how many there are in all."""

    entries: Sequence[T]
    total: int


@dataclass(frozen=True, slots=True)
class WantedPage:
    """Which page is asked for. cursor: "" for a page by offset. scope: digest of the list and its filters, so that a
    cursor of another list is refused."""

    limit: int
    offset: int
    cursor: str
    scope: str


async def _page_of_request(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=MOST_PER_PAGE, description="Entries per page.")] = 20,
    offset: Annotated[int, Query(ge=0, le=_MOST_OFFSET, description="Entries to skip. Not with a cursor.")] = 0,
    cursor: Annotated[
        str, Query(max_length=500, description="`next_cursor` of the page before; instead of offset.")
    ] = "",
) -> WantedPage:
    named = [(key, value) for key, value in request.query_params.multi_items() if key not in _OF_PAGES]
    return WantedPage(limit, offset, cursor, _digest(repr((request.scope["path"], sorted(named)))))


_OF_PAGES = ("limit", "offset", "cursor")

Paging = Annotated[WantedPage, Depends(_page_of_request)]
"""limit, offset and cursor of a list."""


def paged(
    paging: WantedPage,
    fetch: Callable[[int, int], Listed[T]],
    key: Callable[[T], object],
    shape: Callable[[T], Any],
) -> dict[str, Any]:
    """A page as data. fetch: entries for (limit, offset). key: what an entry is known by, also after changes.

    Raises BadRequest for a cursor of another list.
    """
    offset = _start_after(paging, fetch, key) if paging.cursor else paging.offset
    found = fetch(paging.limit, offset)
    end = offset + len(found.entries)
    more = bool(found.entries) and end < found.total
    return {
        "items": [shape(each) for each in found.entries],
        "total": found.total,
        "limit": paging.limit,
        "offset": offset,
        "next_cursor": _cursor(paging.scope, end, str(key(found.entries[-1]))) if more else None,
    }


def paged_list(
    paging: WantedPage, entries: Sequence[T], key: Callable[[T], object], shape: Callable[[T], Any]
) -> dict[str, Any]:
    """A page of a list that is known as a whole."""
    return paged(paging, lambda limit, offset: Listed(entries[offset : offset + limit], len(entries)), key, shape)


def _start_after(paging: WantedPage, fetch: Callable[[int, int], Listed[T]], key: Callable[[T], object]) -> int:
    """The offset after the cursor's entry; its old place when the entry is no longer there."""
    end, last = _read(paging)
    start = max(0, end - 1 - _AROUND)
    near = fetch(2 * _AROUND, start).entries
    return next((start + index + 1 for index, each in enumerate(near) if str(key(each)) == last), end)


def cursor_of_offset(offset: int, scope: str) -> str:
    """A cursor of a ranked list, whose order is stable. scope: what the list is, as text."""
    return _cursor(_digest(scope), offset, "")


def offset_of_cursor(cursor: str, scope: str) -> int:
    """Raises BadRequest for a cursor of another list."""
    return _read(WantedPage(1, 0, cursor, _digest(scope)))[0]


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()


def _cursor(scope: str, end: int, last: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([scope, end, last]).encode()).decode().rstrip("=")


def _read(paging: WantedPage) -> tuple[int, str]:
    """Place after the last entry given, and its key. Raises BadRequest."""
    wrong = BadRequest("The cursor does not belong to this list.", "Give 'next_cursor' of the page before, unchanged.")
    try:
        data = base64.urlsafe_b64decode(paging.cursor + "=" * (-len(paging.cursor) % 4))
        scope, end, last = json.loads(data)
    except (ValueError, TypeError) as error:
        raise wrong from error
    if scope != paging.scope or not isinstance(end, int) or not 0 <= end <= _MOST_OFFSET or not isinstance(last, str):
        raise wrong
    return end, last
