"""The theme: chosen under Settings, kept by the browser for its person, in use on every page."""

from collections.abc import Callable

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

DARK, LIGHT = "rgb(20, 24, 31)", "rgb(255, 255, 255)"
"""backgroundColor of the two themes in .streamlit/config.toml."""


def background(tab: Window) -> str:
    app = tab.page.locator("[data-testid=stApp]")
    return str(app.evaluate("each => getComputedStyle(each).backgroundColor"))


def choose(tab: Window, theme: str) -> None:
    """Choose a theme; the page is then loaded again."""
    with tab.page.expect_navigation():
        tab.page.get_by_role("radio", name=theme).click()
    tab.settle()


def test_a_theme_chosen_once_holds_on_every_page_until_the_system_decides_again(
    start: Callable[[], RunningApp], window: Callable[..., Window]
) -> None:
    tab = window(start())
    tab.go("settings")
    assert background(tab) == LIGHT
    choose(tab, "Dark")
    for page in ("settings", "", "library", "search"):
        tab.go(page)
        assert background(tab) == DARK, page
    tab.go("settings")
    assert tab.page.get_by_role("radio", name="Dark").is_checked()
    assert not tab.barriers()
    choose(tab, "As the system")
    tab.go("library")
    assert background(tab) == LIGHT
    tab.page.emulate_media(color_scheme="dark")
    tab.go("library")
    assert background(tab) == DARK
    assert not tab.problems


def test_somebody_else_at_the_same_browser_has_their_own_theme(
    start: Callable[[], RunningApp], window: Callable[..., Window]
) -> None:
    tab = window(start())
    tab.go("settings")
    choose(tab, "Dark")
    # At once: a script of this page may still run, and put the person of this session back.
    tab.page.evaluate(
        "localStorage.setItem('fivefold_theme', '\"Light\"'); localStorage.setItem('fivefold_person', 'somebody else')"
    )
    tab.go("library")  # the person of this session again, who prefers dark
    app = "document.querySelector('[data-testid=stApp]')"
    tab.wait_until(f"{app} && getComputedStyle({app}).backgroundColor === '{DARK}'")
