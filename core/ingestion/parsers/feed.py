"""Parses RSS and Atom feeds: title and entries."""

import calendar
import re
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

_REFERENCE = re.compile(rb"(&(?:amp;)?)#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?")
_LAST_CHARACTER = 0x10FFFF


def read_feed(url: str, data: bytes) -> ParsedFeed:
    """Parses a feed and resolves relative links against its URL. Raises UnreadableFile if it is not a feed."""
    import feedparser

    if b"<!ENTITY" in data:
        raise UnreadableFile(f"What {url} sends declares XML entities, which no feed needs.", "Ask who runs it.")
    try:
        # As a stream, because feedparser interprets a string as a URL or file name.
        read = feedparser.parse(BytesIO(_REFERENCE.sub(_character, data)), response_headers={"content-location": url})
    except (ValueError, OverflowError) as error:  # what it raises for a reference to no character in UTF-16
        raise UnreadableFile(f"What {url} sends is damaged: {error}.", "Ask who runs it.") from error
    if not read.get("version") and not read.get("entries"):
        raise UnreadableFile(
            f"{url} is not a feed: there is no RSS or Atom in it.",
            "Look for the address behind the feed's own link, or fetch this one as a page.",
        )
    entries = [_entry(each) for each in read.get("entries", [])[:MOST_ENTRIES]]
    return ParsedFeed(_line(read.get("feed", {}).get("title", "")) or url, tuple(each for each in entries if each.key))


def _character(reference: re.Match[bytes]) -> bytes:
    """A numeric character reference; one to no character becomes U+FFFD, as in a browser (HTML Standard, 13.2.5.80)."""
    base, digits = (16, reference[2]) if reference[2] else (10, reference[3])
    digits = digits.lstrip(b"0")
    number = int(digits or b"0", base) if len(digits) < 10 else _LAST_CHARACTER + 1
    real = 0 < number <= _LAST_CHARACTER and not 0xD800 <= number <= 0xDFFF
    return reference[0] if real else reference[1] + b"#xFFFD;"


def _entry(read: Any) -> FeedEntry:
    url = clean(str(read.get("link") or ""))
    title = _line(read.get("title", ""))
    bodies = [str(part.get("value") or "") for part in read.get("content", [])]
    body = max([str(read.get("summary") or ""), *bodies], key=len)
    return FeedEntry(
        key=_key(clean(str(read.get("id") or url or title))),
        title=title,
        url=url if url.lower().startswith(("http://", "https://")) else "",
        published=_date(read),
        author=_line(read.get("author", "")),
        html=clean(body[:_MOST_LETTERS]),
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
