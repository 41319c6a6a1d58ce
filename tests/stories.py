"""One browser for all stories, and apps whose model and database need not be made again for each of them.

Fixtures of tests/browser and tests/scenarios, made known once in tests/conftest.py: two browsers driven at the same
time by the same thread lock each other out.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.driving import Window, open_browser
from tests.running import RunningApp, running_app

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["browser", "data_folder", "new_folder", "shared_app", "shared_folder", "start", "window"]


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """A real headless browser."""
    with open_browser() as opened:
        yield opened


def _with_models(folder: Path, models: Path) -> Path:
    """A data folder before the first start. Nobody writes into a converted model, so its files are not copied."""
    shutil.copytree(models, folder / "models", copy_function=os.link)
    return folder


@pytest.fixture
def new_folder(tmp_path: Path, models: Path) -> Path:
    """A data folder before the first start."""
    return _with_models(tmp_path / "my data", models)  # a space: people have them in the paths they work in


@pytest.fixture
def data_folder(new_folder: Path, prepared: Path) -> Path:
    """An empty library's data folder."""
    shutil.copytree(prepared, new_folder / "postgres")
    return new_folder


@pytest.fixture
def start(data_folder: Path) -> Iterator[Callable[[], RunningApp]]:
    """Starts the app on the data folder, as often as called; every one is stopped in the end."""
    with ExitStack() as running:
        yield lambda: running.enter_context(running_app(data_folder))


@pytest.fixture(scope="module")
def shared_folder(prepared: Path, models: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty library's data folder, for the stories of a module."""
    folder = _with_models(tmp_path_factory.mktemp("shared") / "my data", models)
    shutil.copytree(prepared, folder / "postgres")
    return folder


@pytest.fixture(scope="module")
def shared_app(shared_folder: Path) -> Iterator[RunningApp]:
    """One app for the stories of a module that do not get into each other's way: its start, its models and its end
    take fifteen seconds of a core."""
    with running_app(shared_folder) as app:
        yield app


@pytest.fixture
def window(browser: "Browser") -> Iterator[Callable[..., Window]]:
    """Opens a window on an app; it must not have complained by the end."""
    opened: list[Window] = []

    def make(app: RunningApp, **look: Any) -> Window:
        opened.append(Window(browser, app, **look))
        return opened[-1]

    yield make
    for each in opened:
        each.context.close()
        assert not each.problems, each.problems
