"""What holds on every page of an empty library: addresses, help by keyboard and by links, the name, and the theme.

Nothing in it changes the library, so all its stories share one app.
"""

from collections.abc import Callable
from urllib.parse import unquote

import pytest

from app import page_names
from tests.browser.driving import DARK, LIGHT, Window
from tests.running import RunningApp, until

pytestmark = pytest.mark.browser


def test_a_deep_link_asks_for_nothing_that_is_missing_and_its_console_is_quiet(
    shared_app: RunningApp, window: Callable[..., Window]
) -> None:
    app = shared_app
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


@pytest.mark.slow
def test_help_is_found_from_any_page(shared_app: RunningApp, window: Callable[..., Window]) -> None:
    tab = window(shared_app)
    tab.go("tuning", view="judge")
    tab.wait_for("No question set yet")
    project = tab.page.locator(".st-key-project [data-testid=stSelectbox]")
    project.hover()  # its label is hidden
    assert project.get_attribute("title") == "Project"
    purpose = tab.page.get_by_test_id("stTextInput").filter(has_text="What it is for")
    purpose.hover()
    assert not purpose.get_attribute("title"), "a label in sight is not told twice"
    keys = tab.page.get_by_role("dialog").get_by_text("1 Judge: grade the result")
    while not keys.is_visible():  # the script that listens is fetched after the page is drawn
        tab.page.keyboard.press("?")
        tab.settle()
    tab.page.get_by_role("link", name="All help").click()
    tab.wait_for("Every page", "leave the find field")

    tab.page.get_by_text("Glossary", exact=True).click()
    tab.wait_for("Which of five kinds of statement")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("krippendorff")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_url("**term=krippendorff**")
    tab.page.get_by_text("Shortlist").first.wait_for(state="detached")  # the whole glossary stays until the page ran
    tab.wait_for("Agreement")

    tab.go("help", view="guide", doc="guide", section="tuning")
    tab.wait_for("Sliders and see what changes")
    with tab.context.expect_page() as opened:  # links of the guide open a tab of their own, a moment later
        tab.page.get_by_role("link", name="corrections would change").click()
    shown = opened.value
    shown.get_by_text("What corrections teach").first.wait_for()
    assert "doc=tuning" in shown.url
    assert not tab.complains() and not tab.problems


def stored_name(tab: Window) -> str:
    """The name that the browser keeps."""
    found = [each["value"] for each in tab.context.cookies() if each["name"] == "fivefold_name"]
    return unquote(found[0]) if found else ""


def test_the_name_of_one_person_survives_a_reload(shared_app: RunningApp, window: Callable[..., Window]) -> None:
    tab = window(shared_app)
    tab.go("insights")
    name = tab.page.get_by_label("Your name")
    for typed in ("Zoë; Ångström", ""):
        name.fill(typed)
        name.press("Enter")
        until(lambda value=typed: stored_name(tab) == value, 60, "the keeping of the name")
        tab.page.reload()
        tab.settle()
        until(lambda value=typed: name.input_value() == value, 60, "the name in its field")


def background(tab: Window) -> str:
    app = tab.page.locator("[data-testid=stApp]")
    return str(app.evaluate("each => getComputedStyle(each).backgroundColor"))


def choose(tab: Window, theme: str) -> None:
    """Choose a theme; the page is then loaded again."""
    with tab.page.expect_navigation():
        tab.page.get_by_role("radio", name=theme).click()
    tab.settle()


def test_a_theme_chosen_once_holds_on_every_page_until_the_system_decides_again(
    shared_app: RunningApp, window: Callable[..., Window]
) -> None:
    tab = window(shared_app)
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
    shared_app: RunningApp, window: Callable[..., Window]
) -> None:
    tab = window(shared_app)
    tab.go("settings")
    choose(tab, "Dark")
    # At once: a script of this page may still run, and put the person of this session back.
    tab.page.evaluate(
        "localStorage.setItem('fivefold_theme', '\"Light\"'); localStorage.setItem('fivefold_person', 'somebody else')"
    )
    tab.go("library")  # the person of this session again, who prefers dark
    app = "document.querySelector('[data-testid=stApp]')"
    tab.wait_until(f"{app} && getComputedStyle({app}).backgroundColor === '{DARK}'")
