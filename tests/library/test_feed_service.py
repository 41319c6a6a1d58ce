"""Feeds are fetched again and again and every entry becomes a document once; pasted links become documents."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.domain.documents import Document, DocumentState, SourceType
from core.domain.errors import BadRequest, FetchFailed
from core.domain.extraction import FeedEntry
from core.library.sources.feed_service import entry_page
from core.ports.job_queue import JobKind
from core.workbench import Workbench
from tests.ingestion.making import pdf_of
from tests.library.serving import Answer, Site, served
from tests.search.library import WordEmbedder
from tests.workbench import Stores, built

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Clock:
    """Time that passes when it is told to."""

    time = NOW

    def __call__(self) -> datetime:
        return self.time


def item(key: str, text: str, date: str = "Tue, 05 Mar 2024 10:00:00 GMT") -> str:
    """One entry of an RSS feed."""
    return (
        f"<item><guid>{key}</guid><title>Notice {key}</title><link>/notices/{key}</link><pubDate>{date}</pubDate>"
        f"<description>&lt;p&gt;{text}&lt;/p&gt;&lt;script&gt;alert(1)&lt;/script&gt;</description></item>"
    )


def rss(*items: str) -> bytes:
    """An RSS feed."""
    head = '<?xml version="1.0"?><rss version="2.0"><channel><title>Wage &amp; hour</title>'
    return f"{head}{''.join(items)}</channel></rss>".encode()


ATOM = b"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Notices</title>
<entry><id>tag:a</id><title>First</title><link href="https://example.org/a"/><updated>2025-02-03T04:05:06Z</updated>
<content type="html">&lt;p&gt;Employers must post the notice.&lt;/p&gt;</content></entry></feed>"""


@pytest.fixture
def site() -> Iterator[Site]:
    with served(Site()) as site:
        yield site


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def bench(tmp_path: Path, clock: Clock) -> Workbench:
    """An empty library that may ask this machine, and whose jobs run at once."""
    return built(Stores(WordEmbedder()), tmp_path, clock)


def from_feed(bench: Workbench) -> dict[str, Document]:
    return {each.name: each for each in bench.documents.list() if each.source_type is SourceType.FEED}


def test_every_entry_becomes_a_document_that_says_where_it_is_from_and_when_it_was_published(
    bench: Workbench, site: Site
) -> None:
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid."), item("2", "Breaks are unpaid.")))
    bench.feeds.add(site.url("/f.xml"), project="North", tags=("news",))
    found = from_feed(bench)
    assert set(found) == {"Notice 1.html", "Notice 2.html"}
    first = found["Notice 1.html"]
    assert first.state is DocumentState.READY and first.title == "Notice 1"
    assert first.url == site.url("/notices/1")
    assert first.date == datetime(2024, 3, 5, tzinfo=UTC)
    assert (first.project, first.tags) == ("North", ("news",))
    text = bench.documents.page(first.id, 1).text
    assert "Overtime must be paid." in text and "alert" not in text
    (feed,) = bench.feeds.feeds()
    assert (feed.title, feed.entries, feed.taken, feed.problem) == ("Wage & hour", 2, 2, "")
    assert feed.fetched_at == NOW


def test_atom_is_read_alike(bench: Workbench, site: Site) -> None:
    site.answers["/a.xml"] = Answer(ATOM)
    bench.feeds.add(site.url("/a.xml"))
    (document,) = from_feed(bench).values()
    assert document.url == "https://example.org/a" and document.date == datetime(2025, 2, 3, tzinfo=UTC)


def test_fetched_again_a_feed_brings_only_what_is_new(bench: Workbench, site: Site) -> None:
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid.")))
    feed = bench.feeds.add(site.url("/f.xml"))
    bench.feeds.fetch_soon(feed.id)
    assert len(from_feed(bench)) == 1
    site.answers["/f.xml"] = Answer(rss(item("2", "Breaks are unpaid."), item("1", "Overtime must be paid.")))
    bench.feeds.fetch_soon(feed.id)
    assert len(from_feed(bench)) == 2
    assert bench.feeds.feeds()[0].taken == 2


def test_an_entry_that_was_edited_comes_as_another_document_of_the_same_address(bench: Workbench, site: Site) -> None:
    site.answers["/f.xml"] = Answer(rss(item("1", "The rate is 10.")))
    feed = bench.feeds.add(site.url("/f.xml"))
    site.answers["/f.xml"] = Answer(rss(item("1", "The rate is 12.")))
    bench.feeds.fetch_soon(feed.id)
    documents = [each for each in bench.documents.list() if each.source_type is SourceType.FEED]
    assert len(documents) == 2 and {each.url for each in documents} == {site.url("/notices/1")}


def test_an_entry_whose_document_was_deleted_does_not_come_back(bench: Workbench, site: Site) -> None:
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid.")))
    feed = bench.feeds.add(site.url("/f.xml"))
    bench.documents.delete(from_feed(bench)["Notice 1.html"].id)
    bench.feeds.fetch_soon(feed.id)
    assert from_feed(bench) == {}


def test_a_fetch_that_was_cut_short_adds_nothing_twice(bench: Workbench, site: Site) -> None:
    """What was uploaded, but not noted before the process died, is recognised by its bytes."""
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid.")))
    entry = FeedEntry("1", "Notice 1", site.url("/notices/1"), "2024-03-05", "", "<p>Overtime must be paid.</p>")
    bench.documents.upload("Notice 1.html", entry_page(entry), source_type=SourceType.FEED, url=entry.url)
    bench.feeds.add(site.url("/f.xml"))
    assert len(from_feed(bench)) == 1


def test_a_server_that_knows_what_we_have_sends_nothing(bench: Workbench, site: Site) -> None:
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid.")), etag='"v1"')
    feed = bench.feeds.add(site.url("/f.xml"))
    bench.feeds.fetch_soon(feed.id)
    requests = [headers.get("if-none-match") for path, headers in site.requests]
    assert requests == [None, '"v1"']
    (stored,) = bench.feeds.feeds()
    assert (stored.entries, stored.taken, stored.problem) == (1, 1, "")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(status=500), "answered with 500"),
        (Answer(b"<html><body>No feed</body></html>"), "is not a feed"),
        (Answer(b""), "is not a feed"),
        (Answer(b'<!DOCTYPE l [<!ENTITY a "b">]><rss version="2.0"><channel/></rss>'), "entities"),
    ],
)
def test_what_goes_wrong_is_noted_with_the_feed_and_goes_when_it_is_well_again(
    bench: Workbench, site: Site, answer: Answer, expected: str
) -> None:
    site.answers["/f.xml"] = answer
    feed = bench.feeds.add(site.url("/f.xml"))
    (reported,) = bench.feeds.feeds()
    assert expected in reported.problem and reported.remedy and reported.fetched_at == NOW
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid.")))
    bench.feeds.fetch_soon(feed.id)
    assert bench.feeds.feeds()[0].problem == ""


def test_feeds_are_due_every_hour_unless_they_are_paused(bench: Workbench, site: Site, clock: Clock) -> None:
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid.")))
    first, second = bench.feeds.add(site.url("/f.xml")), bench.feeds.add(site.url("/f.xml"), project="North")
    bench.feeds.pause(second.id, paused=True)
    assert list(bench.feeds.fetch_due()) == []
    clock.time = NOW + timedelta(minutes=61)
    assert list(bench.feeds.fetch_due()) == [first.id]
    assert list(bench.feeds.fetch_due()) == []
    bench.feeds.pause(second.id, paused=False)
    assert list(bench.feeds.fetch_due()) == [second.id]


def test_a_deleted_feed_is_fetched_no_more_and_its_documents_stay(bench: Workbench, site: Site) -> None:
    site.answers["/f.xml"] = Answer(rss(item("1", "Overtime must be paid.")))
    feed = bench.feeds.add(site.url("/f.xml"))
    bench.feeds.delete(feed.id)
    bench.jobs.handlers[JobKind.FEED].run(feed.id)
    assert len(site.requests) == 1 and len(from_feed(bench)) == 1 and list(bench.feeds.feeds()) == []


def test_an_address_that_cannot_be_one_is_refused_at_once(bench: Workbench) -> None:
    with pytest.raises(BadRequest):
        bench.feeds.add("file:///etc/passwd")
    assert list(bench.feeds.feeds()) == []


def test_hostile_titles_make_harmless_names(bench: Workbench, site: Site) -> None:
    reported = item("1", "It is paid.").replace("Notice 1", "../../etc/passwd &lt;b&gt;x&lt;/b&gt;\u202e" + "y" * 500)
    site.answers["/f.xml"] = Answer(rss(reported))
    bench.feeds.add(site.url("/f.xml"))
    (name,) = from_feed(bench)
    assert "/" not in name and "\u202e" not in name and "<" not in name and len(name) < 140


PDF = pdf_of("Employers must keep records for three years.")


@pytest.mark.parametrize(
    ("path", "answer", "name"),
    [
        (
            "/rules",
            Answer(b"<p>Leave is paid.</p>", headers={"Content-Type": "text/html; charset=utf-8"}),
            "rules.html",
        ),
        ("/a/plan%202.pdf", Answer(PDF, headers={"Content-Type": "application/pdf"}), "plan 2.pdf"),
        ("/get?id=1", Answer(PDF, headers={"Content-Type": "application/pdf"}), "get.pdf"),
        ("/", Answer(b"<p>Home of leave.</p>", headers={"Content-Type": "text/html"}), "127.0.0.1.html"),
        (
            "/d",
            Answer(PDF, headers={"Content-Disposition": "attachment; filename*=UTF-8''Ma%C3%9Fnahmen.pdf"}),
            "Maßnahmen.pdf",
        ),
    ],
)
def test_what_stands_at_a_pasted_address_becomes_a_document(
    bench: Workbench, site: Site, path: str, answer: Answer, name: str
) -> None:
    site.answers[path] = answer
    receipt = bench.feeds.take_page(site.url(path), project="North", tags=("law",))
    document = bench.documents.get(receipt.document_id)
    assert (document.name, document.source_type, document.url) == (name, SourceType.WEB, site.url(path))
    assert (document.project, document.tags, document.state) == ("North", ("law",), DocumentState.READY)
    assert bench.feeds.take_page(site.url(path), project="North").duplicate_of == name


def test_an_address_that_does_not_answer_leaves_no_document(bench: Workbench, site: Site) -> None:
    with pytest.raises(FetchFailed):
        bench.feeds.take_page(site.url("/nothing"))
    assert list(bench.documents.list()) == []
