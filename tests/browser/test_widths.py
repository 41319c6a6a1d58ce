"""What is drawn holds what it says, at the two widths the pages are made for: seen only in a real browser."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
BROKEN = "Statement_of_work_for_the_implementation_of_payroll_in_the_northern_region_2026_final_version_2.pdf"
WIDTHS = (1280, 800)
_CUT = """() => [...document.querySelectorAll('[data-testid=stPageLink-NavLink] p')]
    .filter(words => words.parentElement.parentElement.clientWidth < words.scrollWidth - 1)
    .map(words => words.innerText)"""
_SIDEWAYS = """() => { const page = document.querySelector('[data-testid=stMain]');
    return page.scrollWidth - page.clientWidth }"""


@pytest.mark.slow
def test_no_link_of_home_is_cut_and_no_page_scrolls_sideways(
    start: Callable[[], RunningApp], window: Callable[..., Window], tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    tab.go()
    tab.page.get_by_role("button", name="Load the sample library").click()
    app.read_by_now(14)
    broken = tmp_path / BROKEN
    broken.write_bytes(b"%PDF-1.4 broken")
    tab.upload(broken)
    app.read_by_now(15)
    tab.go("search", q=QUESTION)
    tab.wait_for("results in")
    for width in WIDTHS:
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.go()
        assert QUESTION in tab.wait_for("Last searches", "final_version_2")
        assert not tab.page.evaluate(_CUT)
        for page in ("", "upload", "library", "coverage", "data", "tuning", "settings"):
            tab.go(page)
            assert tab.page.evaluate(_SIDEWAYS) <= 1, (page, width)
            assert not tab.complains()
    assert not tab.problems
