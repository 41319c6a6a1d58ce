"""A web server on this machine that behaves well, badly, or not at all. A real server, a real socket."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

__all__ = ["Answer", "Site", "served"]


@dataclass
class Answer:
    """What stands at one path. drips: a byte at a time, from the status line or from the body on; without end."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    drips: str = ""
    etag: str = ""


@dataclass
class Site:
    """What a server has, and who asked for what."""

    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    port: int = 0
    released: Event = field(default_factory=Event)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of a path."""
        return f"http://{host}:{self.port}{path}"


@contextmanager
def served(site: Site) -> Iterator[Site]:
    """Run it on a free port of the loopback interface."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            answer = site.answers.get(self.path, Answer(status=404))
            try:
                self._send(answer)
            except OSError:  # the client has had enough
                return

        def _send(self, answer: Answer) -> None:
            if answer.drips == "head":
                self.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
                self._drip()
            if answer.etag and self.headers.get("If-None-Match") == answer.etag:
                self.send_response(304)
                self.end_headers()
                return
            self.send_response(answer.status)
            for name, value in (answer.headers | ({"ETag": answer.etag} if answer.etag else {})).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)
            if answer.drips == "body":
                self._drip()

        def _drip(self) -> None:
            while not site.released.wait(0.05):
                self.wfile.write(b"x")

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
