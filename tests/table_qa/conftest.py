"""The database of the store tests, and tables loaded into it once per session."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine

from bootstrap.scratch_library import files_of
from bootstrap.scratch_tables import table_service_of
from core.table_qa.service import TableService
from tests.stores.conftest import engine, new_tenant

__all__ = ["desk_for", "engine"]

Loaded = Callable[[Path], TableService]


@pytest.fixture(scope="session")
def desk_for(engine: Engine) -> Loaded:
    """Gives the desk of a folder of tables."""
    desks: dict[Path, TableService] = {}

    def load(folder: Path) -> TableService:
        if folder not in desks:
            desks[folder] = table_service_of(new_tenant(engine), files_of([folder]))
        return desks[folder]

    return load
