"""The API on a real server: each answer arrives, and says that it is the last one of its connection."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
import uvicorn
from starlette.applications import Starlette

from api.app import ApiMount, create_app
from tests.api.conftest import OpenedLibrary
from tests.running import free_port, until


@pytest.fixture
def port(library: OpenedLibrary) -> Iterator[int]:
    """Where the API listens; it closes an idle connection after a second."""
    number = free_port()
    app = Starlette(routes=[ApiMount(create_app(lambda: library, local=lambda: True))])
    server = uvicorn.Server(uvicorn.Config(app, port=number, timeout_keep_alive=1, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started, 60, "the start of the server")
    yield number
    server.should_exit = True
    thread.join(60)


def _answer(port: int, request: bytes, body: bytes = b"") -> tuple[int, bytes]:
    """Status and the whole answer until the server closes the connection. Raises ConnectionResetError."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        connection.sendall(request.replace(b"\n", b"\r\n") + body)
        parts = []
        while part := connection.recv(65_536):
            parts.append(part)
    answer = b"".join(parts)
    return int(answer.split(b" ", 2)[1]), answer


def test_every_answer_ends_its_connection_so_that_none_is_reset_while_idle(port: int) -> None:
    for path in (b"/api/health", b"/api/search?q=overtime", b"/api/nowhere", b"/api/documents?limit=x"):
        _, answer = _answer(port, b"GET %s HTTP/1.1\nHost: localhost\n\n" % path)
        assert b"connection: close" in answer.lower().split(b"\r\n\r\n", 1)[0], path


@pytest.mark.parametrize("megabytes", [1, 8, 32])
def test_the_answer_to_a_body_that_is_too_large_arrives(port: int, megabytes: int) -> None:
    size = megabytes * 2**20
    head = "POST /api/answers HTTP/1.1\nHost: localhost\nX-Requested-With: tests\nContent-Type: application/json\n"
    status, answer = _answer(port, f"{head}Content-Length: {size}\n\n".encode(), b" " * size)
    assert status == (413 if megabytes > 4 else 400)
    assert answer.endswith(b"}")


def test_a_client_that_waits_to_be_asked_is_not_asked_for_what_is_refused(port: int) -> None:
    head = "POST /api/answers HTTP/1.1\nHost: localhost\nX-Requested-With: tests\nContent-Type: application/json\n"
    request = f"{head}Expect: 100-continue\nContent-Length: {50 * 2**20}\n\n".encode()
    status, answer = _answer(port, request)
    assert status == 413
    assert b"100 Continue" not in answer
