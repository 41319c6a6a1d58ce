"""An analyst checks uncertain labels beside the text, with the keyboard, and undoes a change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

NOTES = {
    "harbor one.md": "# Harbor\n\nThe gulls sat on the pier. A boat came by at noon.\n",
    "harbor two.md": "# Harbor\n\nThe gulls flew over the pier. A boat left at night.\n",
}


@pytest.mark.slow
def test_uncertain_labels_are_checked_with_the_keyboard_and_undone(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text, "utf-8")
    app = start()
    tab = window(app)
    tab.upload(*(tmp_path / name for name in NOTES))
    app.read_by_now(2)
    tab.go("upload")
    tab.wait_for("2 read", "2 uncertain labels")
    tab.page.get_by_role("button", name="Check 2 uncertain labels").click()
    first = tab.wait_for("1 of 2 uncertain", "Save correction")
    first, second = sorted(NOTES, key=lambda name: name not in first)
    tab.page.keyboard.press("3")
    tab.settle()
    tab.page.keyboard.press("s")
    read = tab.wait_for("2 of 2 uncertain", f"Saved {first}: truth Intent.")
    assert NOTES[second].split("\n")[2][:20] in read, "the text of the next document"
    assert "1 uncertain label" in read
    assert not tab.barriers()
    tab.page.keyboard.press("u")
    assert NOTES[first].split("\n")[2][:20] in tab.wait_for("1 of 2 uncertain", "2 uncertain labels")
    tab.page.keyboard.press("j")
    tab.wait_for("2 of 2 uncertain")
    tab.page.get_by_role("button", name="All files").click()
    tab.wait_for("Passages")
    tab.page.keyboard.press("j")
    tab.page.keyboard.press("Enter")
    tab.wait_for("1 of 2 uncertain")
    assert not tab.complains()
    assert not tab.problems
