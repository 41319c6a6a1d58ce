"""Addresses are fetched from the public web only, briefly and in small measure; a real server answers."""

import gzip
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.http_fetch import HttpFetcher, is_public
from core.domain.errors import BadRequest, FetchFailed
from core.library.sources.store import checked_url
from tests.library.serving import Answer, Site, served


@pytest.fixture
def site() -> Iterator[Site]:
    with served(Site()) as site:
        yield site


@pytest.fixture
def web() -> HttpFetcher:
    """One that may ask this machine."""
    return HttpFetcher(private=True, seconds=2.0, most_bytes=1_000_000)


@pytest.mark.parametrize(
    "url",
    [
        *("", "example.org/feed", "ftp://example.org/a", "file:///etc/passwd", "javascript:alert(1)", "http://"),
        *("data:text/html,<p>x", "gopher://example.org", "http://[::1", "http://a:99999/", "http://a:0/"),
        *(
            "http://ann:secret@example.org/",
            "http://example.org/a b",
            "http://exa\nmple.org/",
            "http://a/" + "x" * 3000,
        ),
    ],
)
def test_what_is_no_plain_web_address_is_refused_before_anything_is_asked(url: str) -> None:
    requests: list[str] = []
    web = HttpFetcher(resolve=lambda host, port: requests.append(host) or ["93.184.216.34"])  # type: ignore[func-returns-value]
    with pytest.raises(BadRequest) as refused:
        web.fetch(url)
    assert refused.value.hint and requests == []


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.9.10", "0.0.0.0", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1"),
        *("169.254.169.254", "100.64.0.1", "192.0.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "ff02::1", "2001:db8::1"),
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::a00:1"),
        *("::127.0.0.1", "::93.184.216.34", "::ffff:93.184.216.34", "::ffff:0:93.184.216.34", "64:ff9b:1::5db8:d822"),
    ],
)
def test_private_addresses_in_any_spelling_are_refused(address: str) -> None:
    assert not is_public(address)
    with pytest.raises(BadRequest, match="private network"):
        HttpFetcher(resolve=lambda host, port: [address]).fetch("https://example.org/feed.xml")


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1:248:1893:25c8:1946"])
def test_public_addresses_are_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_that_is_not_public_is_not_public_inside_ipv6_either(address: object) -> None:
    assert is_public(str(address)) == is_public(f"64:ff9b::{address}")
    assert not is_public(f"::ffff:{address}")


def test_a_host_with_one_private_address_among_public_ones_is_refused() -> None:
    with pytest.raises(BadRequest, match="private network"):
        HttpFetcher(resolve=lambda host, port: ["93.184.216.34", "10.0.0.1"]).fetch("https://example.org/")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]"])
def test_this_machine_is_refused_however_it_is_written(site: Site, host: str) -> None:
    site.answers["/"] = Answer(b"secret")
    with pytest.raises((BadRequest, FetchFailed)):
        HttpFetcher(seconds=2.0).fetch(site.url("/", host))
    assert site.requests == []


def test_the_connection_goes_to_the_address_that_was_checked_and_the_server_hears_the_name(site: Site) -> None:
    """A name that answers otherwise the second time is asked once only."""
    answers = iter([["127.0.0.1"], ["192.0.2.1"]])
    site.answers["/feed"] = Answer(b"news")
    found = HttpFetcher(private=True, seconds=2.0, resolve=lambda host, port: next(answers)).fetch(
        site.url("/feed", "feeds.example")
    )
    assert found.body == b"news"
    assert site.requests[0][1]["host"] == f"feeds.example:{site.port}"
    assert next(answers) == ["192.0.2.1"]


def test_a_redirect_is_followed_and_checked_like_the_first_address(site: Site) -> None:
    site.answers["/old"] = Answer(status=302, headers={"Location": "/new"})
    site.answers["/new"] = Answer(b"here", headers={"Content-Type": "text/html; charset=utf-8"})
    found = HttpFetcher(private=True, seconds=2.0).fetch(site.url("/old"))
    assert (found.body, found.url, found.media_type) == (b"here", site.url("/new"), "text/html")


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://example.org/", "//ann:pw@example.org/"])
def test_a_redirect_out_of_the_web_is_refused(site: Site, web: HttpFetcher, place: str) -> None:
    site.answers["/"] = Answer(status=301, headers={"Location": place})
    with pytest.raises(BadRequest):
        web.fetch(site.url("/"))


def test_a_redirect_into_the_private_network_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first host is taken for a public one, so that it answers at all; where it leads is checked as any other."""
    from adapters import http_fetch as module

    site.answers["/"] = Answer(status=302, headers={"Location": "http://10.0.0.1/secret"})
    seen: list[str] = []
    monkeypatch.setattr(module, "is_public", lambda address: seen.append(address) or address == "127.0.0.1")
    with pytest.raises(BadRequest, match=r"10\.0\.0\.1 belongs to this machine or to a private network"):
        HttpFetcher(seconds=2.0).fetch(site.url("/"))
    assert seen == ["127.0.0.1", "10.0.0.1"]


def test_a_circle_of_redirects_ends(site: Site, web: HttpFetcher) -> None:
    site.answers["/"] = Answer(status=302, headers={"Location": "/"})
    with pytest.raises(FetchFailed, match="without end"):
        web.fetch(site.url("/"))


@pytest.mark.parametrize("place", ["head", "body"])
def test_a_server_that_drips_is_left_at_the_limit(site: Site, place: str) -> None:
    site.answers["/"] = Answer(drips=place)
    with pytest.raises(FetchFailed, match="in time"):
        HttpFetcher(private=True, seconds=0.4).fetch(site.url("/"))


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_that_is_too_long_is_not_taken(site: Site, web: HttpFetcher, packed: bool) -> None:
    body = bytes(3_000_000)
    site.answers["/"] = Answer(gzip.compress(body), headers={"Content-Encoding": "gzip"}) if packed else Answer(body)
    with pytest.raises(FetchFailed, match=r"more than 1,000,000 bytes"):
        web.fetch(site.url("/"))


def test_an_answer_packed_in_a_way_nobody_asked_for_is_not_unpacked(site: Site, web: HttpFetcher) -> None:
    site.answers["/"] = Answer(b"x", headers={"Content-Encoding": "br"})
    with pytest.raises(FetchFailed, match="packed"):
        web.fetch(site.url("/"))


@pytest.mark.parametrize(("status", "expected"), [(404, "404"), (500, "500"), (403, "403")])
def test_what_a_server_refuses_is_said(site: Site, web: HttpFetcher, status: int, expected: str) -> None:
    site.answers["/"] = Answer(status=status)
    with pytest.raises(FetchFailed, match=expected):
        web.fetch(site.url("/"))


def test_a_server_that_is_not_there_is_said(web: HttpFetcher) -> None:
    with pytest.raises(FetchFailed, match="could not be reached"):
        web.fetch("http://127.0.0.1:9/")


def test_what_a_server_says_of_a_file_is_kept(site: Site, web: HttpFetcher) -> None:
    values = {"Content-Type": "application/pdf", "Content-Disposition": 'attachment; filename="plan 1.pdf"'}
    site.answers["/d?id=1"] = Answer(b"%PDF", headers={**values, "Last-Modified": "Tue, 05 Mar 2024 10:00:00 GMT"})
    found = web.fetch(site.url("/d?id=1"))
    assert (found.file_name, found.media_type) == ("plan 1.pdf", "application/pdf")
    assert found.modified == "Tue, 05 Mar 2024 10:00:00 GMT"


def test_an_address_keeps_its_question_and_loses_its_fragment() -> None:
    assert checked_url("HTTPS://Example.org:8443/a?b=c#d") == "https://Example.org:8443/a?b=c"
