"""Makes every implementation of every Protocol, so that one test runs against each."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from core.domain.errors import StoreFailed
from core.ports.catalogue import Catalogue
from core.ports.stores import SparseIndex, VectorIndex
from storage.keywords.index import KeywordIndex
from storage.postgres.catalogue import SqlCatalogue
from storage.vectors.chroma import ChromaIndex, server_client
from storage.vectors.local_chroma import LocalChroma
from storage.vectors.pgvector import PgvectorIndex
from tests.database import new_tenant
from tests.fakes import FakeCatalogue, FakeSparseIndex, FakeVectorIndex

_NAMES = count(1)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A catalogue and the vector index beside it, of one tenant."""

    catalogue: Catalogue
    index: VectorIndex


NewShelf = Callable[[], Shelf]
NewSparse = Callable[[Catalogue], SparseIndex]


@pytest.fixture(scope="session")
def chroma_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Chroma server on a free loopback port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = Path(sys.executable).with_name("chroma")
    folder = tmp_path_factory.mktemp("chroma-server")
    command = [str(program), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait_for(url)
        yield url
    finally:
        server.terminate()
        server.wait(30)


def _wait_for(url: str) -> None:
    deadline = time.monotonic() + 60
    while True:
        try:
            server_client(url)
        except StoreFailed:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            return


@pytest.fixture(scope="module")
def local_chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalChroma]:
    """Chroma in a folder."""
    with closing(LocalChroma(tmp_path_factory.mktemp("chroma"))) as local:
        yield local


@pytest.fixture(scope="module", params=["memory", "pgvector", "chroma in a folder", "chroma server"])
def new_shelf(request: pytest.FixtureRequest) -> NewShelf:
    """Makes an empty vector index, of a new tenant at each call."""
    if request.param == "memory":
        return lambda: Shelf(FakeCatalogue(), FakeVectorIndex())
    if request.param == "pgvector":
        engine = request.getfixturevalue("engine")

        def in_postgres() -> Shelf:
            database = new_tenant(engine)
            return Shelf(SqlCatalogue(database), PgvectorIndex(database, "random"))

        return in_postgres
    if request.param == "chroma in a folder":
        client = request.getfixturevalue("local_chroma")
    else:
        client = server_client(request.getfixturevalue("chroma_server"))
    return lambda: Shelf(FakeCatalogue(), ChromaIndex(lambda: client, f"tenant {next(_NAMES)}", lambda: "random"))


@pytest.fixture(scope="module", params=["memory", "files"])
def new_sparse(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NewSparse:
    """Makes an empty keyword index beside a catalogue."""
    if request.param == "memory":
        return FakeSparseIndex
    return lambda catalogue: KeywordIndex(tmp_path_factory.mktemp("bm25"), catalogue)
