"""An analyst reads a document whole: opened from a result, searched, and paged through."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route

from tests.browser.driving import Window
from tests.browser.paper import make_pdf
from tests.running import RunningApp

pytestmark = pytest.mark.browser

RULES = {
    "Storage": "Every helium bottle must be stored upright behind the yellow gate. A lantern hangs above the gate.",
    "Transport": "A leaking helium bottle must be carried to the north meadow within nine minutes.",
    "Review": "Internal audit counts each helium bottle every year and writes its number on the gate.",
}


@pytest.mark.slow
def test_a_document_is_opened_from_a_result_searched_and_paged_through(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    tab.upload(make_pdf(tmp_path / "Bottle_Rules.pdf", "Bottle Rules", RULES))
    app.read_by_now(1)
    tab.go("search", q='"north meadow"')
    tab.page.locator(".st-key-pane_document a").click()
    tab.wait_for("of 3", "Cited")
    tab.page.locator(".sheet .box.cited").first.wait_for()
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("helium bottle")
    tab.page.keyboard.press("Enter")
    tab.wait_for("2 of 3 hits")
    tab.page.keyboard.press("Escape")
    steps = tab.page.evaluate("history.length")
    tab.page.keyboard.press("n")
    tab.wait_for("3 of 3 hits")
    tab.page.keyboard.press("n")
    tab.wait_for("1 of 3 hits")
    assert page_in_sight(tab) == "1"
    tab.page.keyboard.press("ArrowRight")
    tab.page.locator('[role=document][aria-label$="page 2"]').wait_for()
    tab.settle()
    assert page_in_sight(tab) == "2"
    assert tab.page.evaluate("history.length") == steps, "Back leaves the document, however far one has read"
    assert not tab.complains()
    assert not tab.problems


@pytest.mark.slow
def test_the_reading_room_says_that_a_page_is_loading(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    tab.upload(make_pdf(tmp_path / "Bottle_Rules.pdf", "Bottle Rules", RULES))
    app.read_by_now(1)
    waiting: list[Route] = []
    may_load = threading.Event()
    tab.page.route(
        f"{app.url}/media/*", lambda route: route.continue_() if may_load.is_set() else waiting.append(route)
    )
    tab.go("document", id="1", page="2")
    sign = tab.page.get_by_role("status").filter(has_text="Loading page 2 …")
    sign.wait_for()
    assert not tab.page.locator(".sheet").count()
    may_load.set()
    for each in waiting:
        each.continue_()
    tab.page.locator(".sheet canvas").wait_for()
    assert not sign.count()
    assert not tab.problems


def page_in_sight(tab: Window) -> str:
    """The number in the page field."""
    return tab.page.get_by_label("Page", exact=True).input_value()
