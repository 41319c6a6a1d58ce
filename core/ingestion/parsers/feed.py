"""Parses RSS and Atom feeds: title and entries."""

import calendar
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from typing import Any

from core.domain.errors import UnreadableFile
from core.domain.extraction import FeedEntry, ParsedFeed
from core.ingestion.parsers.text_cleaning import clean

__all__ = ["MOST_ENTRIES", "read_feed"]

MOST_ENTRIES = 500
"""Most entries read of one feed, from the top. Chosen by hand, not fitted."""

_MOST_LETTERS = 2_000_000  # Chosen by hand, not fitted.

_LONGEST_KEY = 500  # Chosen by hand, not fitted.


def read_feed(url: str, data: bytes) -> ParsedFeed:
    """Parses a feed and resolves relative links against its URL. Raises UnreadableFile if it is not a feed."""
    import feedparser

    if b"<!ENTITY" in data:
        raise UnreadableFile(f"What {url} sends declares XML entities, which no feed needs.", "Ask who runs it.")
    # As a stream, because feedparser interprets a string as a URL or file name.
    read = feedparser.parse(BytesIO(data), response_headers={"content-location": url})
    if not read.get("version") and not read.get("entries"):
        raise UnreadableFile(
            f"{url} is not a feed: there is no RSS or Atom in it.",
            "Look for the address behind the feed's own link, or fetch this one as a page.",
        )
    entries = [_entry(each) for each in read.get("entries", [])[:MOST_ENTRIES]]
    return ParsedFeed(_line(read.get("feed", {}).get("title", "")) or url, tuple(each for each in entries if each.key))


def _entry(read: Any) -> FeedEntry:
    url = str(read.get("link") or "")
    title = _line(read.get("title", ""))
    bodies = [str(part.get("value") or "") for part in read.get("content", [])]
    body = max([str(read.get("summary") or ""), *bodies], key=len)
    return FeedEntry(
        key=_key(str(read.get("id") or url or title)),
        title=title,
        url=url if url.lower().startswith(("http://", "https://")) else "",
        published=_date(read),
        author=_line(read.get("author", "")),
        html=body[:_MOST_LETTERS],
    )


def _key(identifier: str) -> str:
    """The identifier of an entry; a long one is replaced by its digest."""
    return (
        identifier
        if len(identifier.encode("utf-8", "replace")) <= _LONGEST_KEY
        else sha256(identifier.encode("utf-8", "replace")).hexdigest()
    )


def _line(text: Any) -> str:
    """A text on one line, without markup."""
    from bs4 import BeautifulSoup

    plain = str(text or "")
    if "<" in plain or "&" in plain:
        plain = BeautifulSoup(plain, "lxml").get_text(" ")
    return " ".join(clean(plain).split())[:500]


def _date(read: Any) -> str:
    moment = read.get("published_parsed") or read.get("updated_parsed")
    if moment is None:
        return ""
    try:
        return datetime.fromtimestamp(calendar.timegm(moment), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
