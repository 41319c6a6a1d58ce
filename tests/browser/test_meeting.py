"""A review meeting in five browsers: following, drafts, proposals, late joiners, a lost presenter, and the minutes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.domain.coverage import ReviewVerdict
from tests.browser.driving import Window
from tests.running import RunningApp

pytestmark = pytest.mark.browser

POLICY = """# Hangar policy

Helium bottles must be stored upright in the north meadow. This policy is reviewed every year by internal audit.
"""
TOPICS = "pilot training before the first flight\nmooring masts inspected monthly"


def test_a_meeting_in_two_and_then_five_browsers(
    start: Callable[[], RunningApp], window: Callable[[RunningApp], Window], tmp_path: Path
) -> None:
    app = start()
    ann, bob = window(app), window(app)
    prepared(ann, app, tmp_path)

    ann.page.get_by_role("button", name="Start a meeting").click()
    form = ann.page.get_by_role("dialog")
    form.get_by_label("Your name").fill("Ann")
    form.get_by_label("Title").fill("Hangar review")
    form.get_by_label("Title").press("Tab")
    form.get_by_role("button", name="Start").last.click()
    ann.wait_for("Hangar review", "you present")
    link = ann.page.url.partition("/coverage")[2]
    assert "meeting=" in link
    joined(bob, link, "Bob")
    ann.wait_for("Bob")

    # Whoever follows sees what the presenter shows.
    first = shown(ann)
    ann.page.locator(".st-key-review_list").click(position={"x": 60, "y": 8})  # no field has the keyboard
    ann.page.keyboard.press("n")
    second = moved(ann, first)
    assert moved(bob, first) == second

    # What Bob types belongs to the cell he began it on, also when Ann moves on before he sends it.
    words = bob.page.get_by_label("Your words")
    words.fill("@Cid promised the training plan")
    bob.page.get_by_label("Kind").select_option(label="Propose: Confirm gap")
    assert picked(ann, 0, second) == first == moved(bob, second)
    bob.wait_for("The cell on screen is now")
    assert words.input_value() == "@Cid promised the training plan"
    bob.page.get_by_role("button", name="Send").click()
    ann.wait_for("1 said")
    bob.wait_until("!document.body.innerText.includes('Sending')")

    # Bob looks around, and comes back.
    assert picked(bob, 1, first) == second
    bob.wait_for("Follow again", "Bob proposes Confirm gap: “@Cid promised the training plan”")
    bob.page.get_by_role("button", name="Follow again").click()
    bob.wait_for("Following")
    assert shown(bob) == first

    # What Ann types is not lost when somebody else speaks; Bob's proposal goes into her form with one click.
    picked(ann, 1, first)
    ann.page.get_by_label("Comment or reason").press_sequentially("Agreed:")
    moved(bob, first)
    bob.page.get_by_label("Your words").fill("And nobody owns it")
    bob.page.get_by_role("button", name="Send").click()
    ann.wait_for("And nobody owns it")
    assert ann.page.get_by_label("Comment or reason").input_value() == "Agreed:"
    ann.page.get_by_role("button", name="Use").click()
    ann.wait_for("in the form")
    written = ann.page.get_by_label("Comment or reason").input_value()
    assert written == "Agreed: @Cid promised the training plan (proposed by Bob)"
    ann.page.get_by_role("button", name="Confirm gap").click()
    ann.wait_for("1 of", "Decided: gap confirmed")
    bob.wait_for("1 of", "gap confirmed by Ann", "Agreed:")

    # Three come late and find the meeting where it is.
    late = [window(app) for _ in range(3)]
    for tab, name in zip(late, ("Cid", "Dan", "Eve"), strict=True):
        joined(tab, link, name)
    ann.wait_for("Cid", "Dan", "Eve")
    at = shown(ann)
    assert [shown(tab) for tab in (bob, *late)] == [at] * 4

    # Eve decides the same cell on her own at the same time: Ann's decision is refused, and she is told Eve's.
    eve = late[2]
    key = str(ann.page.locator("[aria-selected=true]").get_attribute("data-id"))
    eve.go("coverage", view="Review", at=key)
    eve.page.get_by_role("button", name="Needs work").click()
    eve.wait_for("Decided: needs work")
    ann.page.get_by_role("button", name="Confirm gap").click()
    text = ann.wait_for("Yours was not stored")
    assert "Eve has decided on" in text and ReviewVerdict.NEEDS_WORK.value in text

    # Ann's browser is gone: Bob presents instead, and ends the meeting.
    ann.context.close()
    bob.wait_for("Ann is away")
    bob.page.get_by_role("button", name="Present instead").click()
    bob.wait_for("you present")
    late[0].wait_for("Bob presents")
    bob.page.get_by_role("button", name="End", exact=True).click()
    bob.page.get_by_role("button", name="End meeting").click()
    for tab in (bob, late[0], late[1]):
        minutes = tab.wait_for("Minutes ·", "1 decision", "presented by Ann and Bob")
        assert "Present: Ann and Bob" in minutes, "who was there when it was decided"
        assert all(name in minutes for name in ("Cid", "Dan", "Eve")) and "And nobody owns it" in minutes
    bob.go()
    bob.wait_for("mentioned Cid in Hangar review")
    assert not any(tab.complains() for tab in (bob, *late))


def prepared(tab: Window, app: RunningApp, folder: Path) -> None:
    """A board of two topics, of which nothing is known, opened on its review."""
    (folder / "hangar_policy.md").write_text(POLICY, "utf-8")
    app.add(folder / "hangar_policy.md")
    tab.go("coverage")
    tab.page.get_by_label("Topics, one per line").fill(TOPICS)
    tab.page.get_by_role("button", name="Add topics").click()
    tab.wait_for("2 topics")
    tab.page.get_by_role("button", name="Assess").click()
    tab.wait_for("% covered", "What to obtain")
    tab.go("coverage", view="Review")
    tab.wait_for("0 of")


def joined(tab: Window, link: str, name: str) -> None:
    """Open the link of a meeting, and give a name."""
    tab.go(f"coverage{link}")
    field = tab.page.get_by_label("Your name")
    field.fill(name)
    field.press("Enter")
    tab.wait_for("Following", name)


def shown(tab: Window) -> str:
    """The cell a browser shows: its topic and truth."""
    tab.settle()
    head = tab.page.locator(".st-key-review_pane > div:has(h3)").first
    return head.inner_text().partition("\nEv")[0]


def picked(tab: Window, row: int, before: str) -> str:
    """The cell a browser shows after a click on another row. News of others can move the list between aiming and
    clicking: then the click hits nothing, and is made again."""
    for _ in range(5):
        tab.page.locator(".row").nth(row).click()
        for _ in range(20):
            if (now := shown(tab)) != before:
                return now
    raise AssertionError(f"still at {before}")


def moved(tab: Window, before: str) -> str:
    """The cell a browser shows, once it is another one."""
    for _ in range(100):
        if (now := shown(tab)) != before:
            return now
        tab.page.wait_for_timeout(100)
    raise AssertionError(f"still at {before}")
