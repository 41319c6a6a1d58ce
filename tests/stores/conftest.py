"""The database of the store tests; each test that asks gets a tenant of its own."""

from collections.abc import Iterator

import httpx
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


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    """The URL of an empty bucket on an S3 server. Its address is in the environment, its keys are not."""
    from moto.server import ThreadedMotoServer  # half a second for the two modules that need it

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    address = "http://{}:{}".format(*server.get_host_and_port())
    with pytest.MonkeyPatch.context() as environment:
        for name, value in {"AWS_ENDPOINT_URL": address, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}.items():
            environment.setenv(name, value)
        httpx.put(f"{address}/bucket").raise_for_status()
        yield "s3://bucket"
    server.stop()
