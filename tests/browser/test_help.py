"""Help by keyboard and by links: "?" shows the keys of a page, "/" finds a term, links of the guide stay in the app."""

from collections.abc import Callable

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_help_is_found_from_any_page(start: Callable[[], RunningApp], window: Callable[[RunningApp], Window]) -> None:
    tab = window(start())
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
