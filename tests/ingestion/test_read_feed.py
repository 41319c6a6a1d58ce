"""Feeds with references to characters that do not exist."""

import pytest

from core.domain.errors import UnreadableFile
from core.ingestion.parsers.feed import read_feed

_RSS = (
    '<?xml version="1.0"?><rss version="2.0"><channel><title>Rules {0}</title><item><title>One {0}</title>'
    "<link>http://x.example/{0}</link><guid>1{0}</guid><description>It is {0} paid.</description>"
    '<enclosure url="http://x.example/{0}.mp3"/></item></channel></rss>'
)
_ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>Rules {0}</title><entry><id>urn:1{0}</id>'
    '<title>One {0}</title><link href="http://x.example/{0}"/><content type="html">It is {0} paid.</content></entry>'
    "</feed>"
)
_NONE = ("&#xFFFFFFF;", "&#0;", "&#x0;", "&#xD800;", "&#x110000;", "&#1114112;", f"&#{'9' * 5000};", "&#xfffffff")


@pytest.mark.parametrize("reference", _NONE)
@pytest.mark.parametrize("feed", [_RSS, _ATOM], ids=["rss", "atom"])
def test_a_reference_to_no_character_is_read_as_a_replacement(feed: str, reference: str) -> None:
    read = read_feed("http://x.example/feed", feed.format(reference).encode())
    (entry,) = read.entries
    assert read.title.startswith("Rules") and entry.title.startswith("One")
    assert entry.html.startswith("It is") and entry.html.endswith("paid.")
    for text in (read.title, *(str(getattr(entry, name)) for name in ("key", "title", "url", "author", "html"))):
        assert "\x00" not in text
        text.encode("utf-8")


@pytest.mark.parametrize("reference", _NONE)
def test_in_another_encoding_such_a_feed_is_read_or_refused_by_name(reference: str) -> None:
    try:
        read = read_feed("http://x.example/feed", _RSS.format(reference).encode("utf-16"))
    except UnreadableFile as refused:
        assert "http://x.example/feed" in refused.message and refused.hint
    else:
        for entry in read.entries:
            assert "\x00" not in entry.key + entry.html
            (entry.key + entry.title + entry.url + entry.html).encode("utf-8")


@pytest.mark.parametrize("reference", _NONE)
def test_nor_does_one_in_the_html_of_an_entry_matter(reference: str) -> None:
    html = f"&lt;p title='{reference}'&gt;It is {reference} paid.&lt;/p&gt;".replace("&#", "&amp;#")
    (entry,) = read_feed("http://x.example/feed", _RSS.replace("It is {0} paid.", html).format("").encode()).entries
    assert "paid." in entry.html and "\x00" not in entry.html


def test_a_real_reference_stays_what_it_is() -> None:
    read = read_feed("http://x.example/feed", _RSS.format("&#xFC;&#0000000000252;&#x1F600;").encode())
    assert read.title == "Rules üü😀"
