"""The sample library in a real browser: it makes every page meaningful, nothing is cut, and nobody is kept out."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sample
from app import page_names
from core.domain.documents import Truth
from tests.browser.driving import DARK, LIGHT, Window
from tests.running import RunningApp

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
ASKED_WIDELY = "overtime"
BROKEN = "Statement_of_work_for_the_implementation_of_payroll_in_the_northern_region_2026_final_version_2.pdf"
WIDTHS = (1280, 800)
_APP = "document.querySelector('[data-testid=stApp]')"
_CUT = """() => [...document.querySelectorAll('[data-testid=stPageLink-NavLink] p')]
    .filter(words => words.parentElement.parentElement.clientWidth < words.scrollWidth - 1)
    .map(words => words.innerText)"""
_WITHIN = """all => all.map(each => {
    const [own, place] = [each, each.parentElement].map(one => one.getBoundingClientRect());
    return own.width > 0 && own.right <= place.right + 1; })"""
"""Whether each page number of a list of results is seen whole."""
_SIDEWAYS = """() => { const page = document.querySelector('[data-testid=stMain]');
    return page.scrollWidth - page.clientWidth }"""


@pytest.fixture(scope="module")
def app(shared_app: RunningApp, browser: "Browser") -> RunningApp:
    """An app that has read the sample library, loaded with one click."""
    tab = Window(browser, shared_app)
    tab.go()
    tab.page.get_by_role("button", name="Load the sample library").click()
    shared_app.read_by_now(len(sample.files()))
    tab.context.close()
    return shared_app


@pytest.mark.slow
def test_the_sample_library_makes_every_page_meaningful_in_one_click(
    app: RunningApp, window: Callable[[RunningApp], Window]
) -> None:
    tab = window(app)
    tab.go()
    home = tab.wait_for(f"{len(sample.files())} documents · ")
    assert all(truth.value.capitalize() in home for truth in Truth)
    tab.go("library")
    tab.wait_for(f"{len(sample.files())} documents")

    tab.go("search", q="What does the customer want for shift differentials?")
    tab.wait_for("Tallgrass_SOW_Pay")
    tab.go("search", q=sample.questions()[-1])
    tab.wait_for("Probably not answered in this library (p", "“nitrogen”")

    tab.go("coverage")
    tab.page.get_by_role("button", name="Add the sample library's topics").click()
    tab.wait_for(f"{len(sample.topics())} topics")
    tab.page.get_by_role("button", name="Assess").click()
    tab.wait_for("What to obtain", "% covered")
    tab.go("coverage", view="Board", **{"as": "Table"})
    tab.wait_for("break time for nursing mothers")
    assert not tab.complains()


@pytest.mark.slow
def test_nothing_is_cut_and_nobody_is_kept_out(
    app: RunningApp, window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    tab = window(app)
    broken = tmp_path / BROKEN
    broken.write_bytes(b"%PDF-1.4 broken")
    tab.upload(broken)
    app.read_by_now(len(sample.files()) + 1)
    tab.go("search", q=QUESTION)
    tab.wait_for("results in")
    _results_are_in_sight(tab)
    _home_is_not_cut(tab)
    for page in page_names():
        tab.page.set_viewport_size({"width": 1280, "height": 900})
        tab.go(page)
        _fits_at_every_width(tab)
        _keeps_nobody_out(tab)
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    tab.go("search", q=QUESTION)
    tab.wait_for("results in")
    _keeps_nobody_out(tab)
    tab.page.get_by_role("link", name="Open document").click()
    tab.wait_for("1 of", "Cited")
    _keeps_nobody_out(tab)
    assert not tab.problems


def _results_are_in_sight(tab: Window) -> None:
    """Six results at 1280 × 800 beside the filters, five at 800 × 800, where a switch shows the filters."""
    rows, truths = tab.page.locator("[role=option]"), tab.page.get_by_role("group", name="Truth", exact=True)
    switch = tab.page.get_by_text("Filters", exact=True).locator("visible=true").last
    for width, least in ((1280, 6), (800, 5)):
        tab.page.set_viewport_size({"width": width, "height": 800})
        tab.go("search", q=ASKED_WIDELY)
        tab.wait_for("results in")
        rows.nth(least - 1).wait_for()
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


def _home_is_not_cut(tab: Window) -> None:
    """Home says where one was, and the names of its links are whole."""
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    tab.go()
    assert QUESTION in tab.wait_for("Your last searches", "final_version_2")
    for width in WIDTHS:
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.settle()
        assert not tab.page.evaluate(_CUT), width
    _fits_at_every_width(tab)


def _fits_at_every_width(tab: Window) -> None:
    """The page is not wider than the window, at which it is left narrow last."""
    assert not tab.complains()
    for width in WIDTHS:
        tab.page.set_viewport_size({"width": width, "height": 900})
        tab.settle()
        assert tab.page.evaluate(_SIDEWAYS) <= 1, (tab.page.url, width)


def _keeps_nobody_out(tab: Window) -> None:
    """What axe-core finds, in light and in dark; the page follows the system without being loaded again."""
    tab.page.set_viewport_size({"width": 1280, "height": 900})
    _every_button_has_words(tab)
    for scheme, colour in (("dark", DARK), ("light", LIGHT)):
        tab.page.emulate_media(color_scheme=scheme)
        tab.wait_until(f"getComputedStyle({_APP}).backgroundColor === '{colour}'")
        tab.settle()
        assert not tab.barriers(), (tab.page.url, scheme)


def _every_button_has_words(tab: Window) -> None:
    """Streamlit calls a button without words by the name of its icon, as in "close icon"."""
    assert tab.page.get_by_role("button").count()
    assert not tab.page.get_by_role("button", name=re.compile(" icon$")).count(), tab.page.url
