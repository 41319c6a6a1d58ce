"""What is drawn holds what it says at the two widths, and keeps nobody out: seen only in a real browser."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from app import page_names
from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
ASKED_WIDELY = "overtime"
BROKEN = "Statement_of_work_for_the_implementation_of_payroll_in_the_northern_region_2026_final_version_2.pdf"
WIDTHS = (1280, 800)
_CUT = """() => [...document.querySelectorAll('[data-testid=stPageLink-NavLink] p')]
    .filter(words => words.parentElement.parentElement.clientWidth < words.scrollWidth - 1)
    .map(words => words.innerText)"""
_WITHIN = """all => all.map(each => {
    const [own, place] = [each, each.parentElement].map(one => one.getBoundingClientRect());
    return own.width > 0 && own.right <= place.right + 1; })"""
"""Whether each page number of a list of results is seen whole."""
_SIDEWAYS = """() => { const page = document.querySelector('[data-testid=stMain]');
    return page.scrollWidth - page.clientWidth }"""


@pytest.mark.slow
def test_nothing_is_cut_and_nobody_is_kept_out(
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
    _results_are_in_sight(tab)
    _nothing_is_cut(tab)
    _nobody_is_kept_out(tab)
    assert not tab.problems


def _results_are_in_sight(tab: Window) -> None:
    """Six results at 1280 × 800 beside the filters, five at 800 × 800, where a switch shows the filters."""
    rows, truths = tab.page.locator("[role=option]"), tab.page.get_by_role("group", name="Truth", exact=True)
    switch = tab.page.get_by_text("Filters", exact=True).locator("visible=true").last
    for width, least in ((1280, 6), (800, 5)):
        tab.page.set_viewport_size({"width": width, "height": 800})
        tab.go("search", q=ASKED_WIDELY)
        tab.wait_for("results in")
        boxes = [row.bounding_box() for row in rows.all()]
        assert sum(box is not None and box["y"] + box["height"] <= 800 for box in boxes) >= least, (width, boxes)
        assert truths.is_visible() == (width == 1280)
        whole = tab.page.locator("[role=option] .place > .pages").evaluate_all(_WITHIN)
        assert whole and all(whole), (width, whole)
    switch.click()
    truths.wait_for()
    truths.get_by_role("checkbox", name="Truth: § Regulatory").check()
    tab.wait_for("Truth: § Regulatory")
    assert truths.is_visible()
    switch.click()
    truths.wait_for(state="hidden")
    tab.go("search", view="shortlists")
    assert not truths.is_visible() and not tab.page.get_by_text("Filters", exact=True).locator("visible=true").count()


def _nothing_is_cut(tab: Window) -> None:
    for width in WIDTHS:
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.go()
        assert QUESTION in tab.wait_for("Continue where you were", "final_version_2")
        assert not tab.page.evaluate(_CUT)
        for page in ("", "upload", "library", "coverage", "data", "tuning", "settings", "help"):
            tab.go(page)
            assert tab.page.evaluate(_SIDEWAYS) <= 1, (page, width)
            assert not tab.complains()


def _nobody_is_kept_out(tab: Window) -> None:
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    for scheme in ("light", "dark"):
        tab.page.emulate_media(color_scheme=scheme)
        for page in page_names():
            tab.go(page)
            assert not tab.barriers(), (page, scheme)
            _every_button_has_words(tab)
        tab.go("search", q=QUESTION)
        tab.wait_for("results in")
        assert not tab.barriers(), scheme
        _every_button_has_words(tab)
        tab.page.get_by_role("link", name="Open document").click()
        tab.wait_for("1 of 1 mark")
        assert not tab.barriers(), scheme
        _every_button_has_words(tab)


def _every_button_has_words(tab: Window) -> None:
    """Streamlit calls a button without words by the name of its icon, as in "close icon"."""
    assert tab.page.get_by_role("button").count()
    assert not tab.page.get_by_role("button", name=re.compile(" icon$")).count(), tab.page.url
