"""Folders of tables, each loaded once per test process."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from bootstrap.scratch_library import files_of, table_service_of
from core.table_qa.service import TableService
from tests.database import new_tenant, shared_engine

__all__ = ["desk_for"]

Loaded = Callable[[Path], TableService]


@pytest.fixture(scope="session")
def desk_for() -> Loaded:
    """Gives the desk of a folder of tables."""
    return cache(lambda folder: table_service_of(new_tenant(shared_engine()), files_of([folder])))
