"""Fetches web addresses for feeds and pasted links, and posts events to a webhook, within limits of size and time and
not from or to private networks.

The host name is resolved here, every address is checked, and the connection goes to the checked address itself, so that
a DNS change between check and connection has no effect (DNS rebinding). Each redirect is checked the same way. Proxies
and other settings of the environment are ignored.
"""

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from threading import Event, Timer
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from core.domain.errors import BadRequest, FetchFailed
from core.library.sources.store import FetchedPage, checked_url

if TYPE_CHECKING:
    import httpx

__all__ = ["MOST_BYTES", "MOST_REDIRECTS", "MOST_SECONDS", "HttpFetcher", "is_public"]

MOST_BYTES = 100_000_000  # per response. Chosen by hand.

MOST_SECONDS = 60.0
"""For the whole response, redirects included. Chosen by hand."""

MOST_REDIRECTS = 5  # Chosen by hand.

_WAIT_SECONDS = 15.0  # for each network operation. Chosen by hand.

_REDIRECTS = (301, 302, 303, 307, 308)  # the redirects of RFC 9110 that name another address

_UNCHANGED = 304  # Not Modified, RFC 9110

_ENCODINGS = ("", "identity", "gzip", "deflate")

_NAT64 = IPv6Network("64:ff9b::/96")
# IPv4-compatible, IPv4-mapped and IPv4-translated addresses, and NAT64 of local use: no public host has one.
_NEVER_PUBLIC = tuple(map(IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b:1::/48")))

_AGENT, _POSTING_AGENT = "Fivefold (feed reader)", "Fivefold (webhook)"

_PRIVATE_HINT = "Use an address of the public web, or set FIVEFOLD_WEB_PRIVATE=true to allow those of your own network."


def is_public(address: str) -> bool:
    """Whether an IP address is public; for an address that wraps another (NAT64, 6to4 …), the inner one too.

    >>> is_public("93.184.216.34"), is_public("127.0.0.1"), is_public("::ffff:10.0.0.1"), is_public("169.254.169.254")
    (True, False, False, False)
    """
    known = ip_address(address.partition("%")[0])
    inner: IPv4Address | None = None
    if isinstance(known, IPv6Address):
        if any(known in each for each in _NEVER_PUBLIC):
            return False
        inner = known.sixtofour or (known.teredo[1] if known.teredo else None)
        if known in _NAT64:
            inner = IPv4Address(int(known) & 0xFFFFFFFF)
    if inner is not None:
        return is_public(str(inner))
    return known.is_global and not known.is_multicast


def _resolved(host: str, port: int) -> Sequence[str]:
    """Every address of a host, in the system's order."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class HttpFetcher:
    """core.library.sources.store.PageFetcher over httpx. private: allow local and private addresses. seconds,
    most_bytes: limits of a whole response. resolve: host and port to IP addresses. Thread-safe."""

    def __init__(
        self,
        *,
        private: bool = False,
        seconds: float = MOST_SECONDS,
        most_bytes: int = MOST_BYTES,
        resolve: Callable[[str, int], Sequence[str]] = _resolved,
    ) -> None:
        self._private, self._seconds, self._most_bytes, self._resolve = private, seconds, most_bytes, resolve

    def fetch(self, url: str, *, etag: str = "", modified: str = "") -> FetchedPage:
        """Fetch an address; `unchanged` when the server recognises etag or modified.

        Raises BadRequest for an address that is not allowed, FetchFailed when the server does not respond properly.
        """
        import httpx

        headers = {"User-Agent": _AGENT, "Accept": "*/*", "Accept-Encoding": "gzip"}
        headers |= {"If-None-Match": etag} if etag else {}
        headers |= {"If-Modified-Since": modified} if modified else {}
        location = checked_url(url)
        wait = min(_WAIT_SECONDS, self._seconds)
        late = Event()
        with httpx.Client(timeout=wait, trust_env=False) as client, _closed_after(self._seconds, client, late):
            for _ in range(MOST_REDIRECTS + 1):
                with _fetch_failures(location, late):
                    found = self._request(client, location, headers)
                if isinstance(found, FetchedPage):
                    return found
                location = checked_url(urljoin(location, found))
        raise FetchFailed(f"{url.strip()} leads from one address to the next without end.", "Ask who runs it.")

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Post a body to an address; it must answer with 2xx, and may not redirect.

        Raises BadRequest for an address that is not allowed, FetchFailed when the server does not take it.
        """
        import httpx

        location = checked_url(url)
        wait = min(_WAIT_SECONDS, self._seconds)
        late = Event()
        with (
            _fetch_failures(location, late),
            httpx.Client(timeout=wait, trust_env=False) as client,
            _closed_after(self._seconds, client, late),
        ):
            address, own, extensions = self._target(location)
            sent = {**headers, **own, "User-Agent": _POSTING_AGENT}
            with client.stream("POST", address, content=body, headers=sent, extensions=extensions) as reply:
                if not reply.is_success:
                    raise FetchFailed(f"{location} answered with {reply.status_code}.", "Look whether it takes events.")

    def _request(self, client: "httpx.Client", url: str, headers: Mapping[str, str]) -> FetchedPage | str:
        """The response of one address, or the address it redirects to."""
        import httpx

        address, own, extensions = self._target(url)
        with client.stream("GET", address, headers={**headers, **own}, extensions=extensions) as reply:
            if reply.status_code in _REDIRECTS and reply.headers.get("location"):
                return str(reply.headers["location"])
            if reply.status_code == _UNCHANGED:
                return FetchedPage(url, unchanged=True)
            if reply.status_code != httpx.codes.OK:
                raise FetchFailed(f"{url} answered with {reply.status_code}.", "Look whether the address is right.")
            return FetchedPage(
                url,
                body=_body(reply, url, self._most_bytes),
                media_type=reply.headers.get("content-type", "").partition(";")[0].strip().lower(),
                file_name=_file_name(reply.headers.get("content-disposition", "")),
                etag=reply.headers.get("etag", "")[:1000],
                modified=reply.headers.get("last-modified", "")[:1000],
            )

    def _target(self, url: str) -> "tuple[httpx.URL, Mapping[str, str], dict[str, str]]":
        """The URL with the checked IP address, and the headers and extensions that name the host. Raises BadRequest."""
        import httpx

        known = httpx.URL(url)
        own = {"Host": known.netloc.decode("ascii")}
        return known.copy_with(host=self._address(known)), own, {"sni_hostname": known.raw_host.decode("ascii")}

    def _address(self, url: "httpx.URL") -> str:
        """The IP address to connect to. Raises BadRequest when any address of the host is not public."""
        host = url.raw_host.decode("ascii")
        port = url.port or (443 if url.scheme == "https" else 80)
        addresses = self._resolve(host, port)
        if not addresses:
            raise FetchFailed(f"{host} has no address.", "Look whether the address is right.")
        if not self._private and not all(is_public(each) for each in addresses):
            raise BadRequest(f"{host} belongs to this machine or to a private network.", _PRIVATE_HINT)
        return addresses[0].partition("%")[0]


@contextmanager
def _fetch_failures(location: str, late: Event) -> Iterator[None]:
    """Maps every failure of the network inside to FetchFailed. late: set when the deadline has passed."""
    import httpx

    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, RuntimeError, ValueError) as failure:
        if late.is_set() or isinstance(failure, httpx.TimeoutException):
            raise FetchFailed(f"{location} did not answer in time.", "Try again later.") from failure
        raise FetchFailed(
            f"{location} could not be reached ({type(failure).__name__}).",
            "Look whether the address opens elsewhere.",
        ) from failure


@contextmanager
def _closed_after(seconds: float, client: "httpx.Client", late: Event) -> Iterator[None]:
    """Close the client at the deadline: a server that sends a byte now and then never hits a read timeout."""

    def close() -> None:
        late.set()
        client.close()

    timer = Timer(seconds, close)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _body(reply: "httpx.Response", url: str, most_bytes: int) -> bytes:
    """The whole body, up to the size limit."""
    if reply.headers.get("content-encoding", "").strip().lower() not in _ENCODINGS:
        raise FetchFailed(f"{url} sends a packed answer nobody asked for.", "Download it and upload the file.")
    parts, length = [], 0
    for part in reply.iter_bytes():
        length += len(part)
        if length > most_bytes:
            raise FetchFailed(f"{url} sends more than {most_bytes:,} bytes.", "Download it and upload the file.")
        parts.append(part)
    return b"".join(parts)


def _file_name(disposition: str) -> str:
    """The file name of a Content-Disposition header, "" when it has none.

    >>> _file_name('attachment; filename="plan 2024.pdf"')
    'plan 2024.pdf'
    """
    from email.message import EmailMessage

    message = EmailMessage()
    message["Content-Disposition"] = disposition.replace("\r", " ").replace("\n", " ") or "inline"
    return message.get_filename() or ""
