"""An analyst tunes: a slider moves, the lines move with it, what is tried is kept, taken back, judged and measured."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

QUESTION = "When is overtime paid?"
TEXTS = {
    "Overtime policy.md": """# Overtime policy
        All overtime must be approved in writing by a manager before it is worked. Overtime is paid with the payroll of
        the month after. This policy is reviewed every year by internal audit.""",
    "Labor code section 207.md": """# Labor code, section 207
        An employer shall pay overtime at one and one-half times the regular rate for hours beyond forty in a workweek.
        Whoever violates this section is liable to a civil penalty under 29 U.S.C. 216.""",
    "Vendor guide.md": """# Setting up overtime
        We recommend one earning code for overtime. To configure when overtime is paid, open Payroll, then Earnings, and
        choose the rule that multiplies the base rate.""",
    "Statement of work.md": """# Statement of work
        The contractor shall deliver a payroll system in which overtime is calculated and paid without manual work. The
        customer requires a report of overtime by department.""",
}
"""Four truths on one topic, so that a weight decides their order."""


def moved(tab: Window, slider: str, *, steps: int, key: str = "ArrowRight") -> None:
    """Move a slider with the keyboard, as its label begins, until it stands so many steps further.

    On a busy machine the answer to an earlier step can set it back; a person then makes one step more, too.
    """
    handle = tab.page.get_by_role("slider", name=slider)

    def value() -> float:
        return float(handle.input_value())

    start = value()
    handle.focus()
    handle.press(key)
    step = value() - start
    for _ in range(steps - 1):
        handle.press(key)
    tab.settle()
    for _ in range(steps):
        if abs(value() - start - steps * step) > abs(step) / 2:
            handle.press(key)
            tab.settle()
    assert step and abs(value() - start - steps * step) < abs(step) / 2, (start, step, value())


def saved_as(tab: Window, name: str, note: str) -> None:
    """Keep what is tried: name and note, then Enter."""
    tab.page.get_by_label("Save as", exact=True).fill(name)
    why = tab.page.get_by_label("Note", exact=True)
    why.fill(note)
    why.press("Enter")
    tab.settle()


@pytest.mark.slow
def test_a_slider_is_moved_seen_saved_and_rolled_back(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).write_text(text, "utf-8")
    app = start()
    app.add(*(tmp_path / name for name in TEXTS))
    tab = window(app)

    tab.go("tuning", q=QUESTION)
    tab.wait_for("Nothing changed yet")
    name = tab.page.get_by_label("Your name")
    name.fill("Ada")
    name.press("Enter")
    tab.settle()
    tab.page.get_by_text("More factors (weight 0)").click()
    moved(tab, "Authority", steps=12)
    tab.wait_for("RBO", "Jaccard", "re-scored in", "Moved: Authority")
    tab.page.locator(".js-plotly-plot").first.wait_for()
    tab.page.wait_for_url(lambda url: "trial=" in url)
    again = window(app)
    again.page.goto(tab.page.url)
    again.settle()
    again.wait_for("Moved: Authority")  # a colleague opens the same trial

    saved_as(tab, "Audit", "who speaks counts more")
    tab.wait_for("Nothing changed yet", "Audit v1", "Authority · 11% 0.11")  # the slider follows its new base
    moved(tab, "Threshold", steps=6)
    tab.wait_for("Moved: Threshold")
    saved_as(tab, "Audit", "fewer results")
    tab.wait_for("Nothing changed yet", "Audit v2")

    tab.go("search", q=QUESTION, profile="Audit")
    tab.wait_for("profile Audit@2")
    tab.go("tuning", view="profiles", profile="Audit@2")
    tab.wait_for("fewer results")
    tab.page.get_by_role("tab", name="History").click()
    tab.wait_for("who speaks counts more")
    name = tab.page.get_by_label("Your name")
    if not name.input_value():
        name.fill("Ada")
        name.press("Enter")
        tab.settle()
    tab.page.get_by_role("button", name="Roll back to this").first.click()
    tab.wait_for("Audit@3")
    tab.go("search", q=QUESTION, profile="Audit")
    tab.wait_for("profile Audit@3")
    assert not tab.complains()
    assert not tab.problems and not again.problems
