"""The database of the store tests, and tables loaded into it once per session."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from core.reality.desk import RealityDesk
from storage.scratch import files_of
from storage.scratch_tables import desk_of
from tests.stores.conftest import engine, new_tenant

__all__ = ["desk_for", "engine"]

Loaded = Callable[[Path], RealityDesk]


@pytest.fixture(scope="session")
def desk_for(engine: Engine) -> Loaded:
    """Gives the desk of a folder of tables."""
    desks: dict[Path, RealityDesk] = {}

    def load(folder: Path) -> RealityDesk:
        if folder not in desks:
            desks[folder] = desk_of(new_tenant(engine), files_of([folder]))
        return desks[folder]

    return load
