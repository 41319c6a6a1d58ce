"""What a stranger's page can do in the browser of somebody who uses the app: nothing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.driving import Window
from tests.browser.finding import find_browser
from tests.running import RunningApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

REBOUND = "rebound.example"

ATTEMPTS = """async (app) => {
  const tried = async (work) => { try { return await work(); } catch { return "refused"; } };
  const loads = (tag, address) => new Promise((done) => {
    const element = document.createElement(tag);
    element.onload = () => done("loaded");
    element.onerror = () => done("refused");
    element.src = address;
    document.body.append(element);
  });
  const socket = () => new Promise((done) => {
    const opened = new WebSocket(app.replace("http", "ws") + "/_stcore/stream", ["streamlit"]);
    opened.onopen = () => done("opened");
    opened.onerror = () => done("refused");
  });
  const ask = (path, options) => tried(async () => {
    const answer = await fetch(app + path, { credentials: "include", ...options });
    return answer.type === "opaque" || answer.ok ? "answered" : `status ${answer.status}`;
  });
  return {
    read: await ask("/healthz", {}),
    blind: await ask("/healthz", { mode: "no-cors" }),
    write: await ask("/_stcore/upload_file/a/b", { method: "PUT", body: "x" }),
    post: await ask("/_stcore/agent/interact", { method: "POST", mode: "no-cors", body: "{}" }),
    documents: await ask("/api/documents", {}),
    insight: await ask("/api/insights", { method: "POST", mode: "no-cors", body: '{"text": "x"}' }),
    search: await ask("/api/search?q=overtime", { mode: "no-cors" }),
    remove: await ask("/_stcore/upload_file/a/b", { method: "DELETE" }),
    image: await loads("img", app + "/favicon.png"),
    script: await loads("script", app + "/start.js"),
    socket: await tried(socket),
  };
}"""


class _Page(BaseHTTPRequestHandler):
    """A stranger's page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Stranger</title><body></body>")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing of it belongs into the log of the tests."""


@contextmanager
def strangers_server() -> Iterator[int]:
    """A stranger's web server; gives its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


@pytest.fixture
def elsewhere(browser: "Browser") -> "Iterator[Page]":
    """A page of a browser for which a stranger's name leads to this machine."""
    rule = f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"
    other = browser.browser_type.launch(
        executable_path=find_browser(), args=["--no-sandbox", "--disable-dev-shm-usage", rule]
    )
    try:
        yield other.new_page()
    finally:
        other.close()


def test_a_stranger_s_page_can_neither_read_nor_write_nor_connect(
    shared_app: RunningApp, window: Callable[..., Window], elsewhere: "Page"
) -> None:
    app = shared_app
    tab = window(app)
    tab.go("library")
    own = tab.page.evaluate(ATTEMPTS, app.url)
    assert own["read"] == own["documents"] == "answered" and own["insight"] == "status 403"
    assert own["socket"] == "opened" and own["image"] == own["script"] == "loaded"
    with strangers_server() as port:
        for host in ("127.0.0.1", "localhost", REBOUND):
            elsewhere.goto(f"http://{host}:{port}/")
            assert set(elsewhere.evaluate(ATTEMPTS, app.url).values()) == {"refused"}, host
            assert _framed(elsewhere, app.url) == "", host
            assert _posted(elsewhere, app.url) == 403, host


def test_a_name_that_a_stranger_rebinds_to_this_machine_opens_nothing(
    shared_app: RunningApp, elsewhere: "Page"
) -> None:
    app = shared_app
    rebound = f"http://{REBOUND}:{app.port}"
    for path in ("", "/library", "/healthz", "/_stcore/health", "/_stcore/metrics"):
        answer = elsewhere.goto(rebound + path)
        assert answer is not None and answer.status == 400, path
    found = elsewhere.evaluate(ATTEMPTS, rebound)
    assert found["read"] == found["write"] == found["post"] == "status 400"
    assert found["socket"] == found["image"] == found["script"] == "refused"


def test_a_link_from_another_page_opens_the_app(shared_app: RunningApp, elsewhere: "Page") -> None:
    app = shared_app
    with strangers_server() as port:
        elsewhere.goto(f"http://{REBOUND}:{port}/")
        elsewhere.evaluate("address => { location.href = address }", f"{app.url}/library")
        elsewhere.wait_for_url(f"{app.url}/library")
        elsewhere.get_by_role("link", name="Search").first.wait_for()


def _framed(page: "Page", address: str) -> str:
    """What can be read in a frame with the app."""
    page.evaluate(
        """address => new Promise((done) => {
          const frame = document.createElement("iframe");
          frame.onload = done;
          frame.src = address;
          document.body.append(frame);
        })""",
        address,
    )
    shown = [frame.locator("#root") for frame in page.frames if frame.parent_frame]
    return "".join(root.inner_html() for root in shown if root.count())


def _posted(page: "Page", address: str) -> int:
    """The status of a form that the page sends to the app."""
    with page.expect_navigation() as sent:
        page.evaluate(
            """address => {
              const form = document.createElement("form");
              form.method = "post";
              form.action = address;
              document.body.append(form);
              form.submit();
            }""",
            f"{address}/library",
        )
    return sent.value.status if sent.value else 0
