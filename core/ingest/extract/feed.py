"""RSS and Atom: what a feed is called, and its entries."""

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from typing import Any

from core.errors import UnreadableFile
from core.ingest.extract.clean import clean

__all__ = ["MOST_ENTRIES", "FeedEntry", "ReadFeed", "read_feed"]

MOST_ENTRIES = 500
"""Of one feed at a time, the first ones."""
_MOST_LETTERS = 2_000_000
_LONGEST_KEY = 500


@dataclass(frozen=True, slots=True)
class FeedEntry:
    """One entry. key: tells it from the feed's others, and stays when it is edited. html: its body, without scripts.
    published: ISO date, or "". url: where it stands in full, or "".
    """

    key: str
    title: str
    url: str
    published: str
    author: str
    html: str


@dataclass(frozen=True, slots=True)
class ReadFeed:
    """A feed as fetched."""

    title: str
    entries: tuple[FeedEntry, ...]


def read_feed(url: str, data: bytes) -> ReadFeed:
    """The feed at a URL; relative addresses in it are completed by that. Raises UnreadableFile for what is no feed."""
    import feedparser

    if b"<!ENTITY" in data:
        raise UnreadableFile(f"What {url} sends declares XML entities, which no feed needs.", "Ask who runs it.")
    # A stream, because feedparser opens text as an address or a file.
    read = feedparser.parse(BytesIO(data), response_headers={"content-location": url})
    if not read.get("version") and not read.get("entries"):
        raise UnreadableFile(
            f"{url} is not a feed: there is no RSS or Atom in it.",
            "Look for the address behind the feed's own link, or fetch this one as a page.",
        )
    entries = [_entry(each) for each in read.get("entries", [])[:MOST_ENTRIES]]
    return ReadFeed(_line(read.get("feed", {}).get("title", "")) or url, tuple(each for each in entries if each.key))


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


def _key(told: str) -> str:
    """What an entry is told by; a long one by its digest."""
    return (
        told
        if len(told.encode("utf-8", "replace")) <= _LONGEST_KEY
        else sha256(told.encode("utf-8", "replace")).hexdigest()
    )


def _line(text: Any) -> str:
    """A text without markup on one line."""
    from bs4 import BeautifulSoup

    said = str(text or "")
    if "<" in said or "&" in said:
        said = BeautifulSoup(said, "lxml").get_text(" ")
    return " ".join(clean(said).split())[:500]


def _date(read: Any) -> str:
    moment = read.get("published_parsed") or read.get("updated_parsed")
    if moment is None:
        return ""
    try:
        return datetime.fromtimestamp(calendar.timegm(moment), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        return ""
