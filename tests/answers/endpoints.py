"""A language model's address on this machine that behaves well, badly, or not at all. A real server, a real socket."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

from adapters.inference.language_model import LanguageModelClient

KEY = "sk-very-secret-0123456789"


def completion(text: Any) -> bytes:
    """A chat completion that says this."""
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


@dataclass
class Behaviour:
    """What the address does. silent: takes the request and says nothing until released; drips: a byte at a time."""

    body: bytes = b""
    status: int = 200
    silent: bool = False
    drips: bool = False
    headers: dict[str, str] = field(default_factory=dict)
    port: int = 0
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    released: Event = field(default_factory=Event)

    def endpoint(self, **values: Any) -> LanguageModelClient:
        """A client of it."""
        fields = {"url": f"http://127.0.0.1:{self.port}/v1", "model": "tiny", "key": KEY, "timeout_seconds": 5.0}
        return LanguageModelClient(**(fields | values))


@contextmanager
def served(behaviour: Behaviour) -> Iterator[Behaviour]:
    """Run it on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            sent = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            behaviour.requests.append((self.path, dict(self.headers.items()), sent))
            if behaviour.silent:
                behaviour.released.wait(20)
                return
            self.send_response(behaviour.status)
            for name, value in behaviour.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self._send()
            except OSError:  # the client has had enough
                return

        def _send(self) -> None:
            if not behaviour.drips:
                self.wfile.write(behaviour.body)
            while behaviour.drips and not behaviour.released.wait(0.05):
                self.wfile.write(b" ")

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    behaviour.port = server.server_address[1]
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield behaviour
    finally:
        behaviour.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
