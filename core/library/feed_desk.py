"""Feeds and pasted links become documents: feeds are fetched again and again, each of their entries is taken once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from core.documents import SourceType
from core.errors import BadFile, BadRequest, EmptyFile, NotFound
from core.ingest.extract.feed import FeedEntry
from core.ingest.isolate import IsolatedReader
from core.jobs import JobKind, JobQueue
from core.library.feeds import Feed, FeedStore
from core.library.members import Upload
from core.library.web import Fetched, FetchFailed, Web, checked_url
from core.results import UploadReceipt

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["FeedDesk", "document_name", "entry_page"]

_LONGEST_NAME = 120
_ENDINGS = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/csv": ".csv",
    "application/json": ".json",
    "application/zip": ".zip",
}


class FeedDesk:
    """The feeds of one tenant. A feed is fetched by a job; whoever adds or changes one does not wait for its server."""

    def __init__(
        self,
        *,
        store: FeedStore,
        web: Web,
        reader: IsolatedReader,
        upload: Upload,
        jobs: JobQueue,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._web, self._reader = store, web, reader
        self._upload, self._jobs, self._now = upload, jobs, now

    def feeds(self) -> Sequence[Feed]:
        """Every feed, in order of age."""
        return self._store.feeds()

    def add(self, url: str, *, project: str | None = None, tags: Sequence[str] = ()) -> Feed:
        """Follow a feed from now on. Raises BadRequest for what is no web address, or is followed already."""
        feed = self._store.add_feed(Feed(checked_url(url), self._now(), project, tuple(tags)))
        self.fetch_soon(feed.id)
        return feed

    def pause(self, feed_id: int, *, paused: bool) -> None:
        """Fetch a feed no more, or go on. Raises NotFound."""
        self._store.save_feed(replace(self._store.feed(feed_id), paused=paused))

    def delete(self, feed_id: int) -> None:
        """Follow a feed no more; the documents it brought stay."""
        self._store.delete_feed(feed_id)

    def fetch_soon(self, feed_id: int) -> None:
        """Queue a feed to be fetched, also a paused one."""
        self._jobs.defer(JobKind.FEED, [feed_id])

    def fetch_due(self) -> Sequence[int]:
        """Queue every feed whose time has come; their ids."""
        due = [feed.id for feed in self._store.feeds() if feed.due(self._now())]
        self._jobs.defer(JobKind.FEED, due)
        return due

    def fetch(self, feed_id: int) -> None:
        """Fetch a feed and take in what is new in it; called by jobs, safe to repeat.

        What its server or its entries get wrong is noted with the feed; only a failing store raises.
        """
        try:
            feed = self._store.feed(feed_id)
        except NotFound:
            return  # deleted while it waited
        try:
            told = self._fetched(feed)
        except (FetchFailed, BadFile, BadRequest) as error:
            told = replace(feed, problem=error.message, remedy=error.hint)
        self._keep(replace(told, fetched_at=self._now()))

    def _keep(self, told: Feed) -> None:
        """Store what a fetch found out, and keep what somebody set meanwhile."""
        try:
            self._store.save_feed(replace(told, paused=self._store.feed(told.id).paused))
        except NotFound:
            return  # deleted while it was fetched

    def _fetched(self, feed: Feed) -> Feed:
        answer = self._web.fetch(feed.url, etag=feed.etag, modified=feed.modified)
        if answer.unchanged:
            return replace(feed, problem="", remedy="")
        read = self._reader.feed(answer.url, answer.body)
        seen = dict(self._store.seen(feed.id))
        taken = 0
        for entry in read.entries:
            data = entry_page(entry)
            digest = sha256(data).hexdigest()
            if seen.get(entry.key) != digest:
                taken += self._taken(feed, entry, data)
                self._store.note_seen(feed.id, entry.key, digest)
        return replace(
            feed,
            title=read.title,
            etag=answer.etag,
            modified=answer.modified,
            entries=len(read.entries),
            taken=feed.taken + taken,
            problem="",
            remedy="",
        )

    def _taken(self, feed: Feed, entry: FeedEntry, data: bytes) -> bool:
        """Make an entry a document; whether it was none before."""
        name = document_name(entry.title or entry.url or entry.key, ".html")
        receipt = self._upload(
            name, data, project=feed.project, tags=feed.tags, source_type=SourceType.FEED, url=entry.url
        )
        return not receipt.duplicate_of

    def take_page(self, url: str, *, project: str | None = None, tags: Sequence[str] = ()) -> UploadReceipt:
        """Fetch what stands at an address, once, and upload it: a web page, a PDF or any other file.

        Raises BadRequest, FetchFailed, EmptyFile or StoreFailed.
        """
        answer = self._web.fetch(url)
        if not answer.body:
            raise EmptyFile(f"{answer.url} sends nothing (0 bytes).", "Look whether the address is right.")
        asked = checked_url(url)
        return self._upload(
            _page_name(answer), answer.body, project=project, tags=tags, source_type=SourceType.WEB, url=asked
        )


@cache
def _template() -> "Template":
    from jinja2 import Environment

    text = files("core.library").joinpath("feed_entry.html").read_text("utf-8")
    return Environment(autoescape=True, keep_trailing_newline=True).from_string(text)


def entry_page(entry: FeedEntry) -> bytes:
    """An entry as a web page of its own; the same entry always gives the same bytes."""
    return _template().render(entry=entry).encode("utf-8", "replace")


def _page_name(answer: Fetched) -> str:
    """What a fetched file is called: as its server says, else as its address ends."""
    parts = urlsplit(answer.url)
    said = answer.file_name or unquote(PurePosixPath(parts.path).name) or parts.hostname or "page"
    ending = _ENDINGS.get(answer.media_type, "")
    known = PurePosixPath(said).suffix.lower()
    has_one = known in {*_ENDINGS.values(), ".htm", ".docx", ".xlsx", ".pptx", ".xml"} or not ending
    return document_name(said, "" if has_one else ending)


def document_name(title: str, ending: str) -> str:
    """A name for a document that comes without one: one line, without slashes, not too long.

    >>> document_name("Rates 2024/25: what changes", ".html")
    'Rates 2024-25: what changes.html'
    """
    from core.ingest.file_names import clean_name

    said = clean_name(" ".join(title.split()).replace("/", "-").replace("\\\\", "-"))
    if len(said) > _LONGEST_NAME:
        said = f"{said[: _LONGEST_NAME - 1].rstrip()}…"
    return f"{said}{ending}"
