"""Takes the pictures of the documentation from the running app: `make pictures`.

The app runs on a throw-away data folder with the sample library; every page is taken at 1280 and 800 pixels. Only what
the documentation shows stays; `make pictures ARGS=FOLDER` keeps them all in a folder of one's own, to be looked at, and
`make pictures ARGS="FOLDER tuning"` takes those alone whose names begin so.
"""

import re
import shutil
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import sample
from docs.picture_views import NOTES, QUESTION, TUNING, VIEWS, View
from tests.browser.driving import Window, open_browser
from tests.running import RunningApp, running_app

if TYPE_CHECKING:
    from PIL.Image import Image

    from core.workbench import Workbench

__all__ = ["shown", "take"]

FOLDER = Path(__file__).parent / "pictures"
JUDGED = FOLDER / "judged.csv"
"""Grades of two invented judges for the questions of the sample library."""
WIDTHS = (1280, 800)
LEAST, TALLEST = 560, 1500
NOTED = (
    (
        QUESTION,
        "Ana Petrov",
        ("overtime", "conflict"),
        "The policy pays overtime after 40 hours a week only. For employees in California the law asks for it after"
        " eight hours a day, so HR-210 has to change before the configuration workbook is signed.",
    ),
    (
        "How do I set up a shift differential in Ledgerloom?",
        "Ben Okafor",
        ("shift differentials",),
        "First create the earning code, then the shift rule, and check that the code enters the regular rate.",
    ),
    (
        "What did the customer say about overtime in the kickoff meeting?",
        "Ana Petrov",
        ("overtime", "customer"),
        "In the kickoff meeting Tomas was worried that daily overtime makes the first pay run late.",
    ),
)
"""Question → who noted what on its best sentence, with which tags."""
REFLECTION = "The federal digest and the Californian one differ: ask first in which state the people work."


_BOTTOM = """
    Math.max(...["stMainBlockContainer", "stSidebarContent"]
        .flatMap(name => [...document.querySelectorAll(`[data-testid=${name}] > *`)])
        .map(each => each.getBoundingClientRect().bottom))
"""
"""Where the lowest part of the page ends, in pixels from the top of the window."""


def take(folder: Path, beginning: str = "") -> list[Path]:
    """Takes every picture whose name begins so, the one of the empty library first; returns the files."""
    taken: list[Path] = []
    with (
        TemporaryDirectory(prefix="fivefold-") as data,
        running_app(Path(data) / "data") as app,
        open_browser() as browser,
    ):

        def pictures(views: Sequence[View]) -> None:
            for width in WIDTHS if views else ():
                window = Window(browser, app, width=width)
                taken.extend(_picture(window, view, folder) for view in views)

        pictures(_selected((View("home-empty", "", "Load the sample"),), beginning))
        _load_sample(app, Window(browser, app))
        _assess(Window(browser, app))
        pictures(_selected(VIEWS, beginning))
        for made, views in ((_tune, TUNING), (_note, NOTES)):
            if selected := _selected(views, beginning):
                with _beside(app) as workbench:
                    made(workbench)
                pictures(selected)
    return taken


def _selected(views: Sequence[View], beginning: str) -> list[View]:
    return [view for view in views if view.name.startswith(beginning)]


def _load_sample(app: RunningApp, window: Window) -> None:
    window.go()
    window.page.get_by_role("button", name="Load the sample library").click()
    app.read_by_now(len(sample.files()))
    for question in sample.questions()[:5]:
        window.go("search", q=question)
        window.wait_for("results in")


def _assess(window: Window) -> None:
    """A board of the sample library's topics, each with the truths it needs."""
    window.go("coverage")
    window.page.get_by_role("button", name="Add the sample library's topics").click()
    window.wait_for(f"{len(sample.topics())} topics")
    window.page.get_by_role("button", name=re.compile(r"^Use \d+ proposals")).click()
    window.wait_for("topics changed")
    window.page.get_by_role("button", name="Assess").click()
    window.wait_for("What to obtain")


def _beside(app: RunningApp) -> "AbstractContextManager[Workbench]":
    """The library of the running app, opened beside it."""
    from bootstrap.environment import Settings
    from bootstrap.workbench import open_workbench

    return open_workbench(Settings(app.data_folder, worker=False))


def _tune(workbench: "Workbench") -> None:
    """Judged questions, a profile in two versions, experiments, and confirmed labels."""
    for document in workbench.documents.list():
        workbench.documents.correct(document.id, "truth", str(document.labels.truth.value))
    _save_profile(workbench)
    _experiment(workbench)


def _save_profile(workbench: "Workbench") -> None:
    from core.evaluation.tuning.sliders import tried
    from core.knowledge.profiles import profiles

    book, balanced = workbench.evaluation.profiles, profiles()["balanced"]
    first = replace(tried(balanced, {"w.authority": 0.15}), name="who says it")
    saved = book.save(first, "Ana Petrov", note="The law before the minutes", origin=balanced.ref).profile
    second = tried(saved, {"w.keyword": 0.1, "threshold": 0.3})
    book.save(second, "Ben Okafor", note="Fewer near misses", origin=saved.ref, after=saved.version)


def _experiment(workbench: "Workbench") -> None:
    """What `cli evaluate run` and `cli evaluate optimise` find on the judged questions."""
    from core.domain.evaluation import Level, OptimiserSettings
    from core.knowledge.factors import factor_table
    from core.knowledge.profiles import profiles

    runner, judging = workbench.evaluation.experiments, workbench.evaluation.judging
    questions = judging.add_set("Payroll questions", None, Level.PASSAGE, "Ana Petrov")
    judging.accept(judging.preview(questions.id, JUDGED.read_bytes(), JUDGED.name, "Ana Petrov"))
    for ref in ("relevance", "who says it@1", "who says it@2", "balanced"):
        runner.carry_out(runner.begin(questions.id, ref, "Ana Petrov").id)
    settings = OptimiserSettings(tuple(name for name in factor_table().rows if name in profiles()["balanced"].weights))
    runner.carry_out(runner.begin(questions.id, "balanced", "Ana Petrov", optimising=settings).id)


def _note(workbench: "Workbench") -> None:
    """Notes on what three questions found, and what came of one of them."""
    from core.domain.queries import SearchRequest
    from core.insights.service import link_of

    for question, who, tags, text in NOTED:
        best = workbench.search.run(SearchRequest(question), remember=False).hits[0]
        links = [link_of(citation) for citation in best.citations[:1]]
        workbench.insights.save(text, tags=tags, links=links, question=question, who=who)
    opened = [
        hit.candidate.passage.id for hit in workbench.search.run(SearchRequest(QUESTION), remember=False).hits[:2]
    ]
    workbench.insights.finish_episode(
        QUESTION, opened=opened, reward=1.0, reflection=REFLECTION, tags=("overtime",), who="Ben Okafor"
    )


def _picture(window: Window, view: View, folder: Path) -> Path:
    from PIL import Image

    window.go(view.path, **view.params())
    if view.who:
        window.page.get_by_label("Your name").fill(view.who)
        window.page.get_by_label("Your name").press("Enter")
        window.page.wait_for_timeout(1000)
        window.settle()
    if view.file:
        window.page.locator("[data-testid=stFileUploaderDropzoneInput]").first.set_input_files(view.file)
    if view.press:
        window.page.get_by_role("button", name=view.press, exact=True).click()
    if view.open:
        window.page.get_by_text(view.open).first.click()
    window.wait_for(view.sign)
    window.page.locator("[data-testid=stSkeleton]").first.wait_for(state="detached")
    window.page.wait_for_timeout(1500)  # charts grow for a moment after they are drawn
    # The page scrolls inside a box of its own, so the window is made as tall as what is in it.
    height = int(window.page.evaluate(_BOTTOM))
    width = window.page.viewport_size["width"] if window.page.viewport_size else WIDTHS[0]
    window.page.set_viewport_size({"width": width, "height": min(max(height + 40, LEAST), TALLEST)})
    window.page.mouse.move(width - 3, 450)  # what is pointed at shows more than the page does
    window.page.wait_for_timeout(800)
    target = folder / f"{view.name}-{width}.png"
    window.page.screenshot(path=target)
    _of_few_colours(Image.open(target).convert("RGB")).save(target, optimize=True)
    window.page.set_viewport_size({"width": width, "height": 900})
    return target


def _of_few_colours(picture: "Image") -> "Image":
    """The picture in 256 colours, a third of its size. They are spread over all there are, so that small marks keep
    theirs; each is the commonest of those it stands for, so that large areas keep theirs exactly."""
    from PIL.Image import Quantize

    few = picture.quantize(256, Quantize.MAXCOVERAGE)
    pixels = zip(few.tobytes(), zip(*[iter(picture.tobytes())] * 3, strict=True), strict=True)
    colours: dict[int, tuple[int, ...]] = {}
    for (index, colour), _ in Counter(pixels).most_common():
        colours.setdefault(index, colour)
    few.putpalette([part for index in range(256) for part in colours.get(index, (0, 0, 0))])
    return few


def shown() -> set[str]:
    """The names of the pictures that the README or a page of the documentation shows."""
    docs = FOLDER.parent
    texts = [page.read_text("utf-8") for page in (docs.parent / "README.md", *docs.glob("*.md"))]
    return {name for text in texts for name in re.findall(r"pictures/([\w-]+\.png)", text)}


def main(folder: Path, beginning: str = "") -> None:
    """Take every picture whose name begins so; the documentation's own folder gets, and keeps, only those that are
    shown."""
    folder.mkdir(parents=True, exist_ok=True)
    before = shown() if folder.resolve() == FOLDER.resolve() else None
    with TemporaryDirectory(prefix="fivefold-") as beside:
        for path in take(Path(beside), beginning):
            if before is None or path.name in before:
                sys.stdout.write(f"{path.name}: {path.stat().st_size // 1024} kB\n")
                shutil.copyfile(path, folder / path.name)
    for path in folder.glob("*.png") if before is not None else ():
        if path.name not in before:
            path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER, *sys.argv[2:3])
