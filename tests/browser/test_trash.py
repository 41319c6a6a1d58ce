"""An analyst deletes two documents by mistake and on purpose, brings the one back, and deletes the other for good."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

MISTAKE = "# Harbour rules\n\nEvery keeper must write each berth into the green book.\n"
PURPOSE = "# Old draft\n\nThe copper lantern is kept in the shed behind the weir.\n"


@pytest.mark.slow
def test_a_document_is_restored_and_another_one_deleted_for_good(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    app = start()
    tab = window(app)
    for name, written in (("rules.md", MISTAKE), ("draft.md", PURPOSE)):
        (tmp_path / name).write_text(written, "utf-8")
    tab.upload(tmp_path / "rules.md", tmp_path / "draft.md")
    app.read_by_now(2)
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
