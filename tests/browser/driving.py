"""A browser window on the app, and the few gestures the stories need."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from tests.browser.finding import MISSING, find_browser
from tests.running import RunningApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, WebSocket

__all__ = ["DARK", "LIGHT", "Window", "open_browser"]

DARK, LIGHT = "rgb(20, 24, 31)", "rgb(255, 255, 255)"
"""backgroundColor of the two themes in .streamlit/config.toml."""

WAIT_MILLISECONDS = 60_000
LONGEST_START_SECONDS = 10.0
"""The server answers a request with a run, unless the fragment it is for has left the page."""

_ACCESSIBILITY_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
"""The rules of WCAG 2.1 AA, by axe-core's names."""

_COMPONENTS = """[...document.querySelectorAll("*")].filter(each => each.shadowRoot).flatMap(
    each => [...each.shadowRoot.children].map(child => child.innerText ?? "")
)"""

_ARGUMENTS = [
    # Without its sandbox, because root may not use it and containers often cannot; it only opens our own pages.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    # No page lives long enough for optimised code to earn what compiling it costs.
    "--js-flags=--no-opt,--no-maglev",
]


@contextmanager
def open_browser() -> "Iterator[Browser]":
    """A headless browser. Raises AssertionError saying how to get one when there is none."""
    from playwright.sync_api import sync_playwright

    program = find_browser()
    assert program is not None, MISSING
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Window:
    """One tab. `problems` collects what the page's own scripts complained about."""

    def __init__(
        self,
        browser: "Browser",
        app: RunningApp,
        *,
        width: int = 1280,
        height: int = 900,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.app = app
        self.context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme="light", extra_http_headers=headers
        )
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(WAIT_MILLISECONDS)
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", lambda line: self._note(line.text))
        self._requested_at: float | None = None
        self.page.on("websocket", self._watch)

    def _watch(self, socket: "WebSocket") -> None:
        """Remember when the browser asked for a run of the script that has not begun yet."""
        from streamlit.proto.BackMsg_pb2 import BackMsg
        from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

        def sent(frame: str | bytes) -> None:
            if isinstance(frame, bytes) and BackMsg.FromString(frame).HasField("rerun_script"):
                self._requested_at = monotonic()

        def received(frame: str | bytes) -> None:
            if isinstance(frame, bytes) and ForwardMsg.FromString(frame).HasField("new_session"):
                self._requested_at = None

        socket.on("framesent", sent)
        socket.on("framereceived", received)

    def _note(self, expected: str) -> None:
        """Whatever the app's own content policy blocks is a fault of the app."""
        if "Content Security Policy" in expected:
            self.problems.append(expected)

    def go(self, path: str = "", **params: str | list[str]) -> None:
        """Open an address of the app and wait until it has drawn."""
        query = f"?{urlencode(params, doseq=True)}" if params else ""
        self.page.goto(f"{self.app.url}/{path}{query}")
        self.settle()

    def settle(self) -> None:
        """Wait until a page stands there, and every run of its script that was asked for has begun and ended."""
        self.page.wait_for_timeout(150)
        while self._requested_at is not None and monotonic() < self._requested_at + LONGEST_START_SECONDS:
            self.page.wait_for_timeout(20)
        self.page.locator("[data-testid=stMainBlockContainer]").wait_for()
        self.page.locator("[data-testid=stApp][data-test-connection-state=CONNECTED]").wait_for()
        self.page.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()

    def upload(self, *files: Path) -> None:
        """Drop files on the Upload page, and wait until it says what became of them."""
        self.go("upload")
        self.page.locator("[data-testid=stFileUploaderDropzoneInput]").first.set_input_files(files)
        self.wait_for("Processing continues if you close this tab")

    def read(self) -> str:
        """What a person can read on the page, with single blanks between words; components of our own come last."""
        texts = [self.page.locator("[data-testid=stAppViewContainer]").inner_text(), *self.page.evaluate(_COMPONENTS)]
        return " ".join(" ".join(texts).split())

    def wait_for(self, *words: str) -> str:
        """What stands on the page once all these words do. Raises AssertionError with what stood there instead."""
        deadline = monotonic() + WAIT_MILLISECONDS / 1000
        while not all(each in self.read() for each in words):
            assert monotonic() < deadline, f"{words} did not appear; the page reads: {self.read()}"
            self.page.wait_for_timeout(200)
        self.settle()
        return self.read()

    def wait_until(self, condition: str) -> None:
        """Wait until an expression of JavaScript is true. The page's policy forbids playwright's own way, which
        evaluates the expression inside the page whenever it is not true at once. Raises AssertionError."""
        deadline = monotonic() + WAIT_MILLISECONDS / 1000
        while not self._holds(condition):
            assert monotonic() < deadline, f"{condition} did not become true; the page reads: {self.read()}"
            self.page.wait_for_timeout(100)

    def _holds(self, condition: str) -> bool:
        from playwright.sync_api import Error

        try:
            return bool(self.page.evaluate(condition))
        except Error as error:
            if "context was destroyed" not in error.message:
                raise
            return False  # the page is being loaded again

    def complains(self) -> bool:
        """Whether the page shows an error of the program."""
        return self.page.locator("[data-testid=stException], .st-key-unexpected").count() > 0

    def barriers(self) -> list[str]:
        """What axe-core finds on the page that keeps people out: the rule, the element and the reason."""
        from axe_playwright_python.sync_playwright import Axe

        if not self.page.evaluate("'axe' in window"):  # compiling it costs half as much as what it does
            self.page.evaluate(Axe().axe_script)
        options = {"runOnly": _ACCESSIBILITY_RULES, "resultTypes": ["violations"]}
        found = self.page.evaluate("options => axe.run(options)", options)
        return [
            f"{rule['id']}: {node['html'][:200]} – {node['failureSummary']}"
            for rule in found["violations"]
            for node in rule["nodes"]
        ]
