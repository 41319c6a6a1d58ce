"""The default embedding model, converted once in a test run and loaded once in each of its processes.

A conversion imports torch and takes some ten seconds of a core, so the processes of a run wait for the first one's.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from core.ports.stores import Embedder

__all__ = ["embedder", "models"]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The embedding model as it stands in a data folder after the first start."""
    from adapters.inference.embedder import load_embedder

    base = tmp_path_factory.getbasetemp()
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # each process of a run has a folder in its
    folder = run / "models"
    with FileLock(run / "models.lock"):
        load_embedder("default", folder, 1)
    return folder


@pytest.fixture(scope="session")
def embedder(models: Path) -> "Embedder":
    """The converted model."""
    from adapters.inference.embedder import load_embedder

    return load_embedder("default", models, 1)


@pytest.fixture(scope="module")
def command_folder(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of all commands of a module; its model is converted."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "models").symlink_to(models, target_is_directory=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIVEFOLD_DATA_FOLDER", str(folder))
        patch.delenv("DATABASE_URL", raising=False)
        yield folder
