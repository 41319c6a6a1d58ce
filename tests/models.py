"""What is made once in a test run, for all its processes: the default embedding model and an empty database.

A conversion imports torch and takes some ten seconds of a core, a database three; so the processes of a run wait for
the first one's.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from core.ports.stores import Embedder

__all__ = ["command_folder", "embedder", "models", "prepared", "run_folder"]


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the test run; each of its processes has a folder in it."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def models(run_folder: Path) -> Path:
    """The embedding model as it stands in a data folder after the first start. The test process keeps it in memory,
    which every library that it opens shares."""
    from adapters.inference.embedder import load_embedder

    folder = run_folder / "models"
    _IN_MEMORY.append(load_embedder("default", folder, 1))
    return folder


_IN_MEMORY: list["Embedder"] = []


@pytest.fixture(scope="session")
def prepared(run_folder: Path) -> Path:
    """A database as a first start and a stop leave it, to be copied into a data folder."""
    from storage.embedded_postgres.server import start_embedded
    from storage.migrations import migrate
    from storage.postgres.database import engine_for

    folder, made = run_folder / "prepared", run_folder / "prepared.made"
    with FileLock(run_folder / "prepared.lock"):
        if not made.exists():
            folder.mkdir()
            with closing(start_embedded(folder)) as server:
                engine = engine_for(server.url())
                migrate(engine)
                engine.dispose()
            made.touch()
    return folder / "postgres"


@pytest.fixture(scope="session")
def embedder(models: Path) -> "Embedder":
    """The converted model."""
    from adapters.inference.embedder import load_embedder

    return load_embedder("default", models, 1)


@pytest.fixture(scope="module")
def command_folder(models: Path, prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of all commands of a module; its model is converted, its database empty."""
    folder = tmp_path_factory.mktemp("data")
    shutil.copytree(prepared, folder / "postgres")
    (folder / "models").symlink_to(models, target_is_directory=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIVEFOLD_DATA_FOLDER", str(folder))
        patch.delenv("DATABASE_URL", raising=False)
        yield folder
