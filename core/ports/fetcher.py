"""Fetching pages from the web."""

from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from core.domain.errors import BadRequest

__all__ = ["FetchedPage", "PageFetcher", "checked_url"]

_LONGEST_URL = 2_000  # characters; the length browsers and servers safely accept


@dataclass(frozen=True, slots=True)
class FetchedPage:
    """A server's response. url: the final address, after redirects. unchanged: the page has not changed (HTTP 304); the
    body is empty then. media_type: lower case, without parameters, "" when missing. etag, modified: validators for the
    next request.
    """

    url: str
    body: bytes = field(default=b"", repr=False)
    media_type: str = ""
    file_name: str = ""
    etag: str = ""
    modified: str = ""
    unchanged: bool = False


def checked_url(url: str) -> str:
    """The address without surrounding whitespace and fragment. Raises BadRequest for an invalid web address.

    >>> checked_url(" https://example.org/feed.xml#top ")
    'https://example.org/feed.xml'
    """
    asked = url.strip()
    try:
        parts = urlsplit(asked)
        usable = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        usable = False
    if (
        not usable
        or len(asked.encode("utf-8", "replace")) > _LONGEST_URL
        or any(letter <= " " or letter == "\x7f" for letter in asked)
    ):
        raise BadRequest("That is not a web address.", "It begins with https:// or http://.")
    if parts.username is not None or parts.password is not None:
        raise BadRequest("The address holds a name or password.", "Give an address that needs none.")
    return parts._replace(fragment="").geturl()


class PageFetcher(Protocol):
    """Fetches web pages within limits of time and size. Thread-safe."""

    def fetch(self, url: str, *, etag: str = "", modified: str = "") -> FetchedPage:
        """Fetch an address; `unchanged` when the server recognises etag or modified.

        Raises BadRequest for an address that is not allowed, FetchFailed when the server does not respond properly.
        """
        ...
