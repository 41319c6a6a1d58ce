"""One browser for all stories, and apps whose model need not be converted again for each of them.

Fixtures of tests/browser and tests/scenarios, made known once in tests/conftest.py: two browsers driven at the same
time by the same thread lock each other out.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.driving import Window, open_browser
from tests.running import RunningApp, running_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser", "data_folder", "start", "window"]


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """A real headless browser."""
    with open_browser() as opened:
        yield opened


@pytest.fixture
def data_folder(tmp_path: Path, models: Path) -> Path:
    """An empty library's data folder."""
    folder = tmp_path / "my data"  # a space: people have them in the paths they work in
    shutil.copytree(models, folder / "models", copy_function=os.link)  # nobody writes into a converted model
    return folder


@pytest.fixture
def start(data_folder: Path) -> Iterator[Callable[[], RunningApp]]:
    """Starts the app on the data folder, as often as called; every one is stopped in the end."""
    with ExitStack() as running:
        yield lambda: running.enter_context(running_app(data_folder))


@pytest.fixture
def window(browser: "Browser") -> Iterator[Callable[[RunningApp], Window]]:
    """Opens a window on an app; it must not have complained by the end."""
    opened: list[Window] = []

    def make(app: RunningApp) -> Window:
        opened.append(Window(browser, app))
        return opened[-1]

    yield make
    for each in opened:
        each.context.close()
        assert not each.problems
