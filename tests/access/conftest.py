"""The database of the access tests."""

import pytest
from sqlalchemy import Engine

from tests.database import shared_engine


@pytest.fixture(scope="session")
def engine() -> Engine:
    """A migrated database."""
    return shared_engine()
