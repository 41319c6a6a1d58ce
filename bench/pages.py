"""How long a person waits for the search page: `python -m bench.pages [FOLDER]`.

Drives the running app in a headless browser over the sample library, or over the files of FOLDER, and prints the median
and the longest of several tries. A page is stable once its results are drawn and its script has ended; "first results"
is when those of the new question can be read, while the five truths are still asked. The first try of each kind is not
counted: it loads models and scripts.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from urllib.parse import urlencode

import sample
from tests.browser.driving import Window, open_browser
from tests.running import RunningApp, running_app

__all__ = ["measure"]

BARS = {"first results": 0.6, "question": 0.6, "deep link": 1.5, "filter": 0.8, "choose a result": 0.6}
"""Seconds each may take on an otherwise idle machine with two cores."""

_STABLE = "[data-testid=stApp][data-test-script-state=notRunning]"
_TRIES = 9
_POLL_MILLISECONDS, _PATIENCE_SECONDS = 10, 60


def measure(app: RunningApp, window: Window, questions: list[str], tries: int) -> dict[str, list[float]]:
    """Seconds of every counted try, by what was done."""
    page, rows = window.page, window.page.locator("[role=option]")
    found: dict[str, list[float]] = {name: [] for name in BARS}

    def timed(name: str, act: Callable[[], object], address: str, *, new_list: bool = False) -> None:
        """new_list: other results take the place of those before."""
        before = rows.all_inner_texts() if new_list else []
        begun = perf_counter()
        act()
        page.wait_for_url(lambda url: address in url)
        if new_list:
            while rows.all_inner_texts() in ([], before):
                assert perf_counter() - begun < _PATIENCE_SECONDS, f"no other results for {address}"
                page.wait_for_timeout(_POLL_MILLISECONDS)
            found["first results"].append(perf_counter() - begun)
        page.locator(_STABLE).wait_for()
        rows.first.wait_for()
        found[name].append(perf_counter() - begun)

    def ask(question: str) -> None:
        page.get_by_label("Question", exact=True).fill(question)
        page.get_by_label("Question", exact=True).press("Enter")

    for number in range(tries + 1):
        question = questions[number % len(questions)]
        link = f"{app.url}/search?{urlencode({'q': question})}"
        timed("deep link", partial(page.goto, link), "q=")
        window.settle()
        other = f"{questions[(number + 1) % len(questions)]} {number}"
        timed("question", partial(ask, other), f"+{number}", new_list=True)
        window.settle()
        timed("choose a result", lambda: rows.nth(1).click(), "passage=")
        window.settle()
        truths = page.get_by_role("checkbox", name="Compliance").first
        timed("filter", truths.click, "truth")
        window.settle()
    return {name: seconds[1:] for name, seconds in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, help="files to search instead of the sample library")
    parser.add_argument("--tries", type=int, default=_TRIES)
    chosen = parser.parse_args()
    files = sorted(each for each in chosen.folder.rglob("*") if each.is_file()) if chosen.folder else sample.files()
    with TemporaryDirectory(prefix="fivefold-") as folder, open_browser() as browser:
        data = Path(folder) / "data"
        with running_app(data) as app:
            command = [sys.executable, "-m", "cli", "ingest", *map(str, files)]
            subprocess.run(
                command, check=True, env=os.environ | {"FIVEFOLD_DATA_FOLDER": str(data)}, stdout=subprocess.DEVNULL
            )
            seconds = measure(app, Window(browser, app), list(sample.questions()), chosen.tries)
    print(f"{len(files)} files, {chosen.tries} tries each, seconds")
    print(f"{'':16} {'median':>7} {'longest':>8} {'bar':>5}")
    for name, tries in seconds.items():
        print(f"{name:16} {median(tries):7.2f} {max(tries):8.2f} {BARS[name]:5.1f}")


if __name__ == "__main__":
    main()
