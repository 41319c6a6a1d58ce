"""What every test may ask for."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from adapters.garbage_collector import collect_less_often
from tests.models import command_folder, embedder, models, prepared, run_folder
from tests.stories import browser, data_folder, new_folder, shared_app, shared_folder, start, window

__all__ = [
    "browser",
    "command_folder",
    "data_folder",
    "embedder",
    "models",
    "new_folder",
    "prepared",
    "root",
    "run_folder",
    "shared",
    "shared_app",
    "shared_folder",
    "start",
    "window",
]

ROOT = Path(__file__).resolve().parents[1]

# No test downloads a model, and two cores are shared by PostgreSQL, the models and a browser. Libraries read these when
# they are first imported, so they are set before any test module is.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Threads of one product of matrices wait for each other busily, while other tests want the cores they wait on.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# As in a server: hundreds of tests in one process keep so many objects that going through all of them takes long.
collect_less_often()

# Machines are noisy: how long one example takes says nothing about whether a law holds.
settings.register_profile("without deadlines", deadline=None)
settings.load_profile("without deadlines")


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder `shared` beside the repository: cases and a real corpus. Without it these tests are left out."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder 'shared' does not stand beside the repository")
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with browser stories come first, then those with slow tests: begun last, they would leave the other
    processes idle."""
    first, then = ({each.path for each in items if each.get_closest_marker(name)} for name in ("browser", "slow"))
    items.sort(key=lambda item: 0 if item.path in first else 1 if item.path in then else 2)


def pytest_unconfigure() -> None:
    """Stop the database that tests of this process shared."""
    if database := sys.modules.get("tests.database"):  # importing it takes a second, so no test pays for another's
        database.close()
