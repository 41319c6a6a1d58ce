"""A webhook gets signed JSON; private networks are as closed to it as to feeds."""

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from adapters.http_fetch import HttpFetcher
from adapters.webhook import HttpWebhook
from core.domain.errors import BadRequest, FetchFailed

AT = datetime(2026, 11, 23, 9, tzinfo=UTC)
EVENT = {"event": "mention", "id": 7, "text": "Größe 残業"}


class Receiver(ThreadingHTTPServer):
    """A webhook on this machine. status: what it answers."""

    def __init__(self) -> None:
        self.posted: list[tuple[dict[str, str], bytes]] = []
        self.status = 204
        super().__init__(("127.0.0.1", 0), _Handler)

    @classmethod
    @contextmanager
    def started(cls) -> Iterator["Receiver"]:
        """One that runs."""
        server = cls()
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            server.server_close()
            thread.join(5)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server_address[1]}/hook?room=5"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.status)
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver.started() as server:
        yield server


def webhook(url: str, secret: str = "", *, private: bool = True) -> HttpWebhook:
    """A webhook that may reach this machine."""
    return HttpWebhook(url, secret, HttpFetcher(private=private, seconds=5.0), lambda: AT)


@pytest.mark.parametrize("secret", ["a plain secret", "whsec_" + base64.b64encode(b"\x00\xffkey").decode()])
def test_an_event_is_signed_so_that_the_receiver_can_check_it(receiver: Receiver, secret: str) -> None:
    webhook(receiver.url, secret).post(EVENT)
    [(headers, body)] = receiver.posted
    assert json.loads(body) == EVENT and headers["content-type"] == "application/json"
    assert headers["webhook-id"] == "fivefold-7" and headers["webhook-timestamp"] == str(int(AT.timestamp()))
    key = b"\x00\xffkey" if secret.startswith("whsec_") else secret.encode()
    signed = f"fivefold-7.{int(AT.timestamp())}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"


def test_without_a_secret_there_is_no_signature(receiver: Receiver) -> None:
    webhook(receiver.url).post(EVENT)
    assert "webhook-signature" not in receiver.posted[0][0]


@pytest.mark.parametrize("status", [302, 400, 404, 500])
def test_only_a_2xx_answer_counts_and_no_redirect_is_followed(receiver: Receiver, status: int) -> None:
    receiver.status = status
    with pytest.raises(FetchFailed, match=str(status)):
        webhook(receiver.url).post(EVENT)
    assert len(receiver.posted) == 1


def test_a_private_address_is_refused_unless_allowed(receiver: Receiver) -> None:
    with pytest.raises(BadRequest, match="private network"):
        webhook(receiver.url, private=False).post(EVENT)
    assert receiver.posted == []


def test_an_address_that_does_not_answer_is_said() -> None:
    with pytest.raises(FetchFailed, match="could not be reached"):
        webhook("http://127.0.0.1:1/").post(EVENT)


def test_a_secret_that_is_not_whole_is_refused() -> None:
    with pytest.raises(BadRequest, match="FIVEFOLD_WEBHOOK_SECRET"):
        webhook("http://example.org", "whsec_%%%")
