"""How many clicks and keys ten everyday tasks take, and how many seconds the app adds: `python -m bench.clicks`.

Drives the running app in a headless browser over the sample library. Every click and every key is counted where it is
made; typed text counts as one key, its Enter. The seconds are the app's own, from the first click or key until what
the task is for is drawn: nobody reads, thinks or moves a hand meanwhile. The first try of a task is not counted.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

import sample
from tests.browser.driving import Window, open_browser
from tests.running import RunningApp, running_app

if TYPE_CHECKING:
    from playwright.sync_api import Locator

__all__ = ["TASKS", "Hand", "Task", "measure"]

QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
_STABLE = "[data-testid=stApp][data-test-script-state=notRunning]"
_TRIES = 5


@dataclass(slots=True)
class Hand:
    """What a person does in a window, counted."""

    window: Window
    clicks: int = 0
    keys: int = 0
    begun: float = field(default=0.0)

    def _begin(self) -> None:
        self.begun = self.begun or perf_counter()

    def click(self, what: "Locator") -> None:
        what.wait_for()
        self._begin()
        self.clicks += 1
        what.click()

    def press(self, key: str) -> None:
        self._begin()
        self.keys += 1
        self.window.page.keyboard.press(key)

    def enter(self, what: "Locator", text: str) -> None:
        """Type a text and press Enter."""
        what.fill(text)
        self.press("Enter")


@dataclass(frozen=True, slots=True)
class Task:
    """One task. start: opens where it begins, uncounted. act: does it, until its end is drawn. before: the clicks
    it took while one result filled the screen, as counted then; "" where nobody counted."""

    name: str
    start: Callable[[Window], object]
    act: Callable[[Hand], object]
    before: str = ""


def _results(window: Window) -> None:
    window.go("search", q=QUESTION)
    window.page.locator("[role=option]").nth(1).wait_for()
    window.page.locator(".cell").nth(4).wait_for()
    window.settle()


def _ask(hand: Hand) -> None:
    page = hand.window.page
    hand.enter(page.get_by_label("Ask a question", exact=True), QUESTION)
    page.locator("[role=option]").first.wait_for()
    page.locator(".cell").nth(4).wait_for()


def _open_marked(hand: Hand) -> None:
    page = hand.window.page
    hand.click(page.get_by_role("link", name="Open document"))
    page.locator("mark.current, .box.current").first.wait_for()


def _narrow(hand: Hand) -> None:
    page = hand.window.page
    hand.click(page.get_by_role("checkbox", name="Truth: § Regulatory"))
    page.get_by_role("button", name="Truth: § Regulatory").wait_for()
    page.locator(_STABLE).wait_for()


def _copy_citation(hand: Hand) -> None:
    page = hand.window.page
    hand.press("c")
    block = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").first
    block.hover()
    hand.click(block.get_by_role("button", name="Copy to clipboard"))


def _compare(hand: Hand) -> None:
    page = hand.window.page
    hand.click(page.locator("[role=option]").nth(2))
    hand.click(page.get_by_role("link", name="Compare", exact=True))
    page.get_by_text("is ahead by").first.wait_for()


def _files(window: Window) -> None:
    window.go("upload")
    window.page.get_by_text("Check", exact=True).first.wait_for()


def _correct_first(hand: Hand) -> None:
    hand.click(hand.window.page.get_by_text("Check", exact=True).first)
    hand.window.page.get_by_role("button", name="Save correction").wait_for()
    hand.window.settle()
    _correct(hand)


def _checking(window: Window) -> None:
    _files(window)
    window.page.get_by_text("Check", exact=True).first.click()
    window.page.get_by_role("button", name="Save correction").wait_for()
    window.settle()


def _correct(hand: Hand) -> None:
    """Choose a truth the document has not, and save: the next document comes."""
    page = hand.window.page
    wrong = "4" if page.get_by_role("button", name="Confirm Reality").count() else "5"
    hand.press(wrong)
    hand.window.settle()  # a person looks whether the right one is chosen
    hand.press("s")
    page.get_by_text("Saved").first.wait_for()
    page.locator(_STABLE).wait_for()


def _review(window: Window) -> None:
    window.go("coverage", view="Review")
    window.wait_for("cells decided")


def _decide(hand: Hand) -> None:
    hand.press("g")
    hand.window.page.get_by_text("Decided: gap confirmed").first.wait_for()
    hand.window.page.locator(_STABLE).wait_for()


def _moved_slider(window: Window) -> None:
    window.go("tuning", view="tune", q=QUESTION, base="balanced", trial="w.authority:0.15")
    window.wait_for("Moved: Authority")


def _save_profile(hand: Hand) -> None:
    page = hand.window.page
    hand.click(page.get_by_role("button", name="Save", exact=False).filter(has_text="Save").last)
    page.get_by_text("Nothing is moved yet").first.wait_for()


def _shortlist(hand: Hand) -> None:
    page = hand.window.page
    hand.press("x")
    page.locator("[role=option][aria-selected=true]").wait_for()
    hand.click(page.get_by_text("Shortlists", exact=True).first)
    page.get_by_role("button", name="New shortlist").wait_for()
    page.locator(_STABLE).wait_for()


TASKS = (
    Task("ask a question on Home, see which truths answer", lambda window: window.go(), _ask),
    Task("open the marked page of an answer", _results, _open_marked, "2 + 2"),
    Task("narrow the results to one truth", _results, _narrow),
    Task("copy a citation", _results, _copy_citation),
    Task("compare two results", _results, _compare, "2"),
    Task("correct the label of a file in the list", _files, _correct_first, "3"),
    Task("correct the label of the next file", _checking, _correct),
    Task("decide a cell of the coverage review", _review, _decide, "4–5"),
    Task("save a profile whose slider was moved", _moved_slider, _save_profile, "3"),
    Task("add a result to a shortlist and open it", _results, _shortlist),
)


def measure(window: Window, tries: int) -> Iterator[tuple[Task, Hand, float]]:
    """Each task with what the hand did, and the median of the seconds it took."""
    for task in TASKS:
        seconds = []
        for _ in range(tries + 1):
            task.start(window)
            hand = Hand(window)
            task.act(hand)
            seconds.append(perf_counter() - hand.begun)
            window.settle()
        yield task, hand, median(seconds[1:])


@contextmanager
def _library() -> "Iterator[Window]":
    """A window on an app with the sample library, a board of its topics, and a name."""
    with (
        TemporaryDirectory(prefix="fivefold-") as folder,
        open_browser() as browser,
        running_app(Path(folder) / "data") as app,
    ):
        window = Window(browser, app)
        _prepare(app, window)
        yield window


def _prepare(app: RunningApp, window: Window) -> None:
    page = window.page
    window.go()
    page.get_by_role("button", name="Load the sample library").click()
    app.read_by_now(len(sample.files()))
    window.go("coverage")
    page.get_by_role("button", name="Add the sample library's topics").click()
    window.wait_for(f"{len(sample.topics())} topics")
    page.get_by_role("button", name="Assess").click()
    window.wait_for("What to obtain")
    window.go("settings")
    name = page.get_by_label("Your name")
    name.fill("Ana Petrov")
    name.press("Enter")
    window.settle()


def _in_words(hand: Hand) -> str:
    counts = ((hand.clicks, "click"), (hand.keys, "key"))
    return " + ".join(f"{number} {word}{'' if number == 1 else 's'}" for number, word in counts if number)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tries", type=int, default=_TRIES)
    tries = parser.parse_args().tries
    with _library() as window:
        print(f"{len(sample.files())} files, {tries} tries each, load {os.getloadavg()[0]:.1f}")
        print("| task | clicks before | now | seconds |\n|---|---|---|---|")
        for task, hand, seconds in measure(window, tries):
            print(f"| {task.name} | {task.before or '–'} | {_in_words(hand)} | {seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
