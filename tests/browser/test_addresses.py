"""Deep links: every page opens from its address, and its browser asks for nothing that is missing."""

from collections.abc import Callable

import pytest

from app import page_names
from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser


def test_a_deep_link_asks_for_nothing_that_is_missing_and_its_console_is_quiet(
    start: Callable[[], RunningApp], window: Callable[..., Window]
) -> None:
    app = start()
    tab = window(app)
    reports: list[str] = []
    tab.page.on("response", lambda answer: reports.append(answer.url) if answer.status >= 400 else None)
    tab.page.on("console", lambda line: reports.append(line.text) if line.type in ("error", "warning") else None)
    for page in page_names():
        tab.go(page)
        assert tab.page.url == f"{app.url}/{page}"
        assert not tab.complains()
    assert not reports
    assert not tab.problems
    tab.page.get_by_role("link", name="Library").first.click()
    tab.page.wait_for_url(f"{app.url}/library")
    tab.settle()
    assert not tab.complains()
    assert not tab.problems
