"""An analyst finds a document by what it says, reads it, comes back, looks at its details, and follows a name."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

LAW = "# Act\n\nThe Department of Labor enforces the act. A leaking helium bottle is carried to the north meadow.\n"
NOTE = "# Note\n\nAsk the Department of Labor how long the ballast log is kept.\n"


@pytest.mark.slow
def test_a_document_is_found_by_its_text_read_and_looked_at(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    for name, text in (("act.md", LAW), ("note.md", NOTE)):
        (tmp_path / name).write_text(text, "utf-8")
    tab.upload(tmp_path / "act.md", tmp_path / "note.md")
    app.read_by_now(2)
    rows = tab.page.locator("tr.row")
    is_found_by_its_text_and_read(tab)
    assert rows.count() == 1 and "words=leaking" in tab.page.url, "Back shows the list as it was"
    is_looked_at_beside_the_list(tab)
    is_followed_by_a_name(tab)
    assert not tab.complains() and not tab.problems


def is_found_by_its_text_and_read(tab: Window) -> None:
    """Words of the text find the document; its name opens it there, and Back returns to the list."""
    tab.go("library")
    field = tab.page.get_by_role("searchbox", name="Find documents")
    field.fill("leaking bottle")
    field.press("Enter")
    tab.wait_for("1 document ·", "A leaking helium bottle is carried")
    tab.page.get_by_role("link", name="act.md").click()
    tab.page.wait_for_url("**/document?id=*&mark=*")
    tab.settle()
    tab.page.go_back()
    tab.page.locator("tr.row").first.wait_for()
    tab.settle()


def is_looked_at_beside_the_list(tab: Window) -> None:
    """A row shows its details beside the list; keys choose the next, and tick it."""
    tab.go("library", sort="name")
    rows = tab.page.locator("tr.row")
    rows.nth(0).get_by_role("gridcell").nth(2).click()
    pane = tab.page.locator(".st-key-library_pane")
    pane.get_by_text("Open document").wait_for()
    listed, shown = rows.nth(0).bounding_box(), pane.bounding_box()
    assert listed is not None and shown is not None and shown["x"] > listed["x"] + listed["width"]
    tab.page.keyboard.press("j")
    pane.get_by_text("note.md").first.wait_for()
    tab.settle()
    tab.page.keyboard.press("x")
    tab.wait_for("1 selected", "Edit 1 document")


def is_followed_by_a_name(tab: Window) -> None:
    """An entity found by part of its name lists both documents, and one opens where it is named."""
    tab.go("library", view="entities", part="ment of lab")
    tab.page.locator("tr.row").first.click()
    tab.wait_for("named by 2 documents")
    tab.page.get_by_role("link", name="note.md").click()
    tab.page.wait_for_url("**/document?id=*&find=*")
    tab.wait_for("1 hit")
