"""Turns feed entries and pasted links into documents. Feeds are fetched regularly; each entry is uploaded once."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from core.domain.documents import SourceType
from core.domain.errors import BadFile, BadRequest, EmptyFile, FetchFailed, NotFound
from core.domain.extraction import FeedEntry
from core.domain.results import UploadReceipt
from core.ingestion.parsers.file_kinds import named_kind, usual_ending
from core.library.archive_members import UploadFunction
from core.library.sources.store import Feed, FeedStore, FetchedPage, PageFetcher, checked_url
from core.ports.job_queue import JobKind, JobQueue
from core.ports.reader import FileReader

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["FeedService", "document_name", "entry_page"]

_LONGEST_NAME = 120  # characters; chosen by hand


class FeedService:
    """The feeds of one tenant. Jobs fetch them, so adding or changing a feed does not wait for its server."""

    def __init__(
        self,
        *,
        store: FeedStore,
        web: PageFetcher,
        reader: FileReader,
        upload: UploadFunction,
        jobs: JobQueue,
        now: Callable[[], datetime],
    ) -> None:
        self._store, self._web, self._reader = store, web, reader
        self._upload, self._jobs, self._now = upload, jobs, now

    def feeds(self) -> Sequence[Feed]:
        """Every feed, oldest first."""
        return self._store.feeds()

    def add(self, url: str, *, project: str | None = None, tags: Sequence[str] = ()) -> Feed:
        """Add a feed. Raises BadRequest for an invalid web address, or one that was added already."""
        feed = self._store.add_feed(Feed(checked_url(url), self._now(), project, tuple(tags)))
        self.fetch_soon(feed.id)
        return feed

    def pause(self, feed_id: int, *, paused: bool) -> None:
        """Pause or resume fetching a feed. Raises NotFound."""
        self._store.save_feed(replace(self._store.feed(feed_id), paused=paused))

    def delete(self, feed_id: int) -> None:
        """Delete a feed; its documents stay."""
        self._store.delete_feed(feed_id)

    def fetch_soon(self, feed_id: int) -> None:
        """Queue a fetch of a feed, also of a paused one."""
        self._jobs.defer(JobKind.FEED, [feed_id])

    def fetch_due(self) -> Sequence[int]:
        """Queue a fetch of every feed that is due; returns their ids."""
        due = [feed.id for feed in self._store.feeds() if feed.due(self._now())]
        self._jobs.defer(JobKind.FEED, due)
        return due

    def fetch(self, feed_id: int) -> None:
        """Fetch a feed and upload its new entries; called by jobs, idempotent.

        Errors of its server or its entries are recorded on the feed; only a failing store raises.
        """
        try:
            feed = self._store.feed(feed_id)
        except NotFound:
            return  # deleted while it waited
        try:
            updated = self._fetch_entries(feed)
        except (FetchFailed, BadFile, BadRequest) as error:
            updated = replace(feed, problem=error.message, remedy=error.hint)
        self._save(replace(updated, fetched_at=self._now()))

    def _save(self, updated: Feed) -> None:
        """Store what a fetch found out, and keep what somebody set meanwhile."""
        try:
            self._store.save_feed(replace(updated, paused=self._store.feed(updated.id).paused))
        except NotFound:
            return  # deleted while it was fetched

    def _fetch_entries(self, feed: Feed) -> Feed:
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
                taken += self._upload_entry(feed, entry, data)
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

    def _upload_entry(self, feed: Feed, entry: FeedEntry, data: bytes) -> bool:
        """Make an entry a document; whether it was none before."""
        name = document_name(entry.title or entry.url or entry.key, ".html")
        receipt = self._upload(
            name, data, project=feed.project, tags=feed.tags, source_type=SourceType.FEED, url=entry.url
        )
        return not receipt.duplicate_of

    def take_page(self, url: str, *, project: str | None = None, tags: Sequence[str] = ()) -> UploadReceipt:
        """Fetch a web page, a PDF or any other file once, and upload it.

        Raises BadRequest, FetchFailed, EmptyFile or StoreFailed.
        """
        answer = self._web.fetch(url)
        if not answer.body:
            raise EmptyFile(f"{answer.url} sends nothing (0 bytes).", "Look whether the address is right.")
        address = checked_url(url)
        return self._upload(
            _page_name(answer), answer.body, project=project, tags=tags, source_type=SourceType.WEB, url=address
        )


@cache
def _template() -> "Template":
    from jinja2 import Environment

    text = files("core.library.sources").joinpath("feed_entry.html").read_text("utf-8")
    return Environment(autoescape=True, keep_trailing_newline=True).from_string(text)


def entry_page(entry: FeedEntry) -> bytes:
    """An entry as a web page of its own; the same entry always gives the same bytes."""
    return _template().render(entry=entry).encode("utf-8", "replace")


def _page_name(answer: FetchedPage) -> str:
    """What a fetched file is called: as its server says, else as its address ends."""
    parts = urlsplit(answer.url)
    name = answer.file_name or unquote(PurePosixPath(parts.path).name) or parts.hostname or "page"
    return document_name(name, "" if named_kind(name) else usual_ending(answer.media_type))


def document_name(title: str, ending: str) -> str:
    """A file name made of a title: one line, without slashes, of limited length.

    >>> document_name("Rates 2024/25: what changes", ".html")
    'Rates 2024-25: what changes.html'
    """
    from core.ingestion.file_names import clean_name

    name = clean_name(" ".join(title.split()).replace("/", "-").replace("\\\\", "-"))
    if len(name) > _LONGEST_NAME:
        name = f"{name[: _LONGEST_NAME - 1].rstrip()}…"
    return f"{name}{ending}"
