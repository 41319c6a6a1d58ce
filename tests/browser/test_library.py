"""An analyst's documents: read whole from a result, found by what they say, looked at beside the list, followed by a
name, deleted by mistake and on purpose, brought back, and deleted for good."""

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
LAW = "# Act\n\nThe Department of Labor enforces the act. A torn windsock is replaced by the tower.\n"
NOTE = "# Note\n\nAsk the Department of Labor how long the ballast log is kept.\n"
MISTAKE = "# Harbour rules\n\nEvery keeper must write each berth into the green book.\n"
PURPOSE = "# Old draft\n\nThe copper lantern is kept in the shed behind the weir.\n"


@pytest.fixture(scope="module")
def app(shared_app: RunningApp, tmp_path_factory: pytest.TempPathFactory) -> RunningApp:
    """An app that has read the rules, document 1."""
    shared_app.add(make_pdf(tmp_path_factory.mktemp("files") / "bottle_rules.pdf", "Bottle Rules", RULES))
    return shared_app


@pytest.mark.slow
def test_a_document_is_opened_from_a_result_searched_and_paged_through(
    app: RunningApp, window: Callable[[RunningApp], Window]
) -> None:
    tab = window(app)
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
def test_the_reading_room_says_that_a_page_is_loading(app: RunningApp, window: Callable[[RunningApp], Window]) -> None:
    tab = window(app)
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


@pytest.mark.slow
def test_a_document_is_found_by_its_text_read_and_looked_at(
    app: RunningApp, window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    tab = window(app)
    for name, text in (("act.md", LAW), ("annex.md", NOTE)):
        (tmp_path / name).write_text(text, "utf-8")
    app.add(tmp_path / "act.md", tmp_path / "annex.md")
    rows = tab.page.locator("tr.row")
    is_found_by_its_text_and_read(tab)
    assert rows.count() == 1 and "words=torn" in tab.page.url, "Back shows the list as it was"
    is_looked_at_beside_the_list(tab)
    is_followed_by_a_name(tab)
    assert not tab.complains() and not tab.problems


def is_found_by_its_text_and_read(tab: Window) -> None:
    """Words of the text find the document; its name opens it there, and Back returns to the list."""
    tab.go("library")
    field = tab.page.get_by_role("searchbox", name="Find documents")
    field.fill("torn windsock")
    field.press("Enter")
    tab.wait_for("1 document ·", "A torn windsock is replaced")
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
    pane.get_by_text("annex.md").first.wait_for()
    tab.settle()
    tab.page.keyboard.press("x")
    tab.wait_for("1 selected", "Edit 1 document")


def is_followed_by_a_name(tab: Window) -> None:
    """An entity found by part of its name lists both documents, and one opens where it is named."""
    tab.go("library", view="entities", part="ment of lab")
    tab.page.locator("tr.row").first.click()
    tab.wait_for("named by 2 documents")
    tab.page.get_by_role("link", name="annex.md").click()
    tab.page.wait_for_url("**/document?id=*&find=*")
    tab.wait_for("1 hit")


@pytest.mark.slow
def test_a_document_is_restored_and_another_one_deleted_for_good(
    app: RunningApp, window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    tab = window(app)
    for name, written in (("rules.md", MISTAKE), ("draft.md", PURPOSE)):
        (tmp_path / name).write_text(written, "utf-8")
    app.add(tmp_path / "rules.md", tmp_path / "draft.md")
    for name in ("rules.md", "draft.md"):
        moves_to_the_trash(tab, name)
    restores(tab, "rules.md")
    deletes_for_good(tab, "draft.md")
    tab.go("search", q="copper lantern")
    assert "kept in the shed" not in tab.read()
    assert not tab.complains() and not tab.problems


def moves_to_the_trash(tab: Window, name: str) -> None:
    """Its details offer to delete it, and say where it goes."""
    tab.go("library", words=name)
    tab.page.locator("tr.row", has_text=name).get_by_role("gridcell").nth(2).click()
    pane = tab.page.locator(".st-key-library_pane")
    pane.get_by_role("button", name="Delete").click()
    tab.page.get_by_role("dialog").get_by_role("button", name="Move to the trash").click()
    tab.page.get_by_role("dialog").wait_for(state="hidden")
    tab.settle()


def restores(tab: Window, name: str) -> None:
    """A tick in the trash and one button; the document is in the list again."""
    tab.go("library", view="trash")
    tab.wait_for("2 documents", "30 days", "rules.md", "draft.md")
    assert not tab.barriers()
    tab.page.locator("tr.row", has_text=name).get_by_role("gridcell").nth(3).click()
    tab.wait_for("1 selected")
    tab.page.get_by_role("button", name="Restore", exact=True).click()
    tab.wait_for("1 document · Deleted documents stay here")
    tab.go("library")
    tab.wait_for(name)


def deletes_for_good(tab: Window, name: str) -> None:
    """Only after a question that says what goes with it."""
    tab.go("library", view="trash")
    tab.page.locator("tr.row", has_text=name).get_by_role("gridcell").nth(3).click()
    tab.page.get_by_role("button", name="Delete for good").click()
    dialog = tab.page.get_by_role("dialog")
    dialog.get_by_text("cannot be restored afterwards").wait_for()
    assert "1 passage" in dialog.inner_text()
    dialog.get_by_role("button", name="Delete for good").click()
    tab.wait_for("The trash is empty")
    tab.go("library", view="history")
    tab.wait_for("draft.md was deleted for good")
