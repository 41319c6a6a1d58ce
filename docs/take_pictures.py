"""Takes the pictures of the documentation from the running app: `make pictures`.

The app runs on a throw-away data folder with the sample library; every page is taken at 1280 and 800 pixels. Only what
the documentation shows stays; `make pictures ARGS=FOLDER` keeps them all in a folder of one's own, to be looked at.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import sample
from tests.browser.driving import Window, open_browser
from tests.running import RunningApp, running_app

__all__ = ["VIEWS", "View", "shown", "take"]

FOLDER = Path(__file__).parent / "pictures"
WIDTHS = (1280, 800)
LEAST, TALLEST = 560, 1500
QUESTION = "When must overtime be paid at one and one-half times the regular rate?"
STATEMENT = """SELECT department, count(*) AS people, round(avg(pay_rate), 2) AS average_rate
FROM employees
WHERE status = 'active' AND pay_type = 'hourly'
GROUP BY department
ORDER BY average_rate DESC"""


@dataclass(frozen=True, slots=True)
class View:
    """One picture: an address of the app, a word that stands there once it is drawn, and a button to press before."""

    name: str
    path: str
    sign: str
    params: Callable[[], dict[str, str | list[str]]] = dict
    press: str = ""


VIEWS = (
    View("home", "", "Last searches"),
    View("upload", "upload", "passages"),
    View("library", "library", "documents"),
    View("search", "search", "results in", lambda: {"q": QUESTION}),
    View("search-nothing", "search", "Nearest misses", lambda: {"q": sample.questions()[-1]}),
    View("search-five", "search", "For a complete answer", lambda: {"q": QUESTION, "view": "five"}),
    View("inspect", "inspect", "Rank journey", lambda: {"q": QUESTION}),
    View("inspect-page", "inspect", "Picture of the page", lambda: {"q": QUESTION, "view": "Page"}),
    View("coverage", "coverage", "What to obtain", lambda: {"view": "Board"}),
    View("coverage-review", "coverage", "cells decided", lambda: {"view": "Review"}),
    View("data-ask", "data", "Read as", lambda: {"q": "employees by department"}),
    View("data-tables", "data", "Personal data", lambda: {"view": "Tables", "table": "employees"}),
    View("data-in-use", "data", "Unused", lambda: {"view": "In use"}),
    View("data-sql", "data", "rows in", lambda: {"view": "SQL", "sql": STATEMENT}, "Run"),
)


_BOTTOM = """
    Math.max(...["stMainBlockContainer", "stSidebarContent"]
        .flatMap(name => [...document.querySelectorAll(`[data-testid=${name}] > *`)])
        .map(each => each.getBoundingClientRect().bottom))
"""
"""Where the lowest part of the page ends, in pixels from the top of the window."""


def take(folder: Path) -> list[Path]:
    """Takes every picture, the one of the empty library first; returns the files."""
    taken: list[Path] = []
    with (
        TemporaryDirectory(prefix="fivefold-") as data,
        running_app(Path(data) / "data") as app,
        open_browser() as browser,
    ):
        empty = View("home-empty", "", "Load the sample")
        taken += [_picture(Window(browser, app, width=width), empty, folder) for width in WIDTHS]
        _load_sample(app, Window(browser, app))
        _assess(Window(browser, app))
        for width in WIDTHS:
            window = Window(browser, app, width=width)
            taken += [_picture(window, view, folder) for view in VIEWS]
    return taken


def _load_sample(app: RunningApp, window: Window) -> None:
    window.go()
    window.page.get_by_role("button", name="Load the sample library").click()
    app.read_by_now(len(sample.files()))
    for question in sample.questions()[:5]:
        window.go("search", q=question)
        window.wait_for("results in")


def _assess(window: Window) -> None:
    """A board of the sample library's topics."""
    window.go("coverage")
    window.page.get_by_role("button", name="Add the sample library's topics").click()
    window.wait_for(f"{len(sample.topics())} topics")
    window.page.get_by_role("button", name="Assess").click()
    window.wait_for("What to obtain")


def _picture(window: Window, view: View, folder: Path) -> Path:
    from PIL import Image

    window.go(view.path, **view.params())
    if view.press:
        window.page.get_by_role("button", name=view.press, exact=True).click()
    window.wait_for(view.sign)
    window.page.wait_for_timeout(1500)  # charts grow for a moment after they are drawn
    # The page scrolls inside a box of its own, so the window is made as tall as what is in it.
    height = int(window.page.evaluate(_BOTTOM))
    width = window.page.viewport_size["width"] if window.page.viewport_size else WIDTHS[0]
    window.page.set_viewport_size({"width": width, "height": min(max(height + 40, LEAST), TALLEST)})
    window.page.wait_for_timeout(800)
    target = folder / f"{view.name}-{width}.png"
    window.page.screenshot(path=target)
    Image.open(target).convert("RGB").quantize(128).save(target, optimize=True)
    window.page.set_viewport_size({"width": width, "height": 900})
    return target


def shown() -> set[str]:
    """The names of the pictures that the README or a page of the documentation shows."""
    docs = FOLDER.parent
    texts = [page.read_text("utf-8") for page in (docs.parent / "README.md", *docs.glob("*.md"))]
    return {name for text in texts for name in re.findall(r"pictures/([\w-]+\.png)", text)}


def main(folder: Path) -> None:
    """Take every picture; in the documentation's own folder only those that are shown stay."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in take(folder):
        sys.stdout.write(f"{path.name}: {path.stat().st_size // 1024} kB\n")
    for path in folder.glob("*.png") if folder == FOLDER else ():
        if path.name not in shown():
            path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
