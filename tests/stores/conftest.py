"""The database of the store tests; each test that asks gets a tenant of its own."""

import pytest
from sqlalchemy import Engine

from storage.postgres.database import Database
from tests.database import new_tenant, shared_engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    """A migrated database."""
    return shared_engine()


@pytest.fixture
def database(engine: Engine) -> Database:
    """An empty library."""
    return new_tenant(engine)
