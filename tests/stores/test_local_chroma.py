"""Chroma in the data folder, used by several programs at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.domain.errors import StoreFailed, StoreUnavailable
from core.domain.filters import SearchFilters
from storage.vectors import local_chroma
from storage.vectors.chroma import ChromaIndex
from storage.vectors.local_chroma import LocalChroma, _Request
from tests.running import until
from tests.stores.libraries import passage

SECONDS = 30.0
DIMENSIONS = 8

CHANGE = f"""
import sys
from contextlib import closing
from pathlib import Path
import numpy as np
from storage.vectors.chroma import ChromaIndex
from storage.vectors.local_chroma import LocalChroma, _Request
from tests.stores.libraries import passage

number = int(sys.argv[2])
with closing(LocalChroma(Path(sys.argv[1]))) as local:
    index = ChromaIndex(lambda: local, "tenant", lambda: "model")
    if number < 0:
        index.discard(np.array([-number]))
    else:
        index.add([passage("text", id=number)], np.full((1, {DIMENSIONS}), number, dtype=np.float32))
"""


def change_elsewhere(folder: Path, number: int) -> None:
    """Another program stores a passage with this number; a negative one: deletes it."""
    subprocess.run([sys.executable, "-c", CHANGE, str(folder), str(number)], check=True, timeout=120)


def serving(folder: Path) -> list[int]:
    """The processes that have a Chroma folder open."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if str(folder) in command and any("local_chroma import main" in each for each in command):
            found.append(process.pid)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "chroma"


@pytest.fixture
def local(folder: Path) -> Iterator[LocalChroma]:
    with closing(LocalChroma(folder)) as local:
        yield local


@pytest.fixture
def index(local: LocalChroma) -> ChromaIndex:
    return ChromaIndex(lambda: local, "tenant", lambda: "model")


def found(index: ChromaIndex) -> list[int]:
    hits = index.search(np.ones(DIMENSIONS, dtype=np.float32), SearchFilters(), 10).hits
    return sorted(hit.passage_id for hit in hits)


def test_what_another_program_stores_is_found_and_what_it_deletes_is_not(index: ChromaIndex, folder: Path) -> None:
    index.add([passage("text", id=1)], np.ones((1, DIMENSIONS), dtype=np.float32))
    assert found(index) == [1]
    for number in (2, 3):
        change_elsewhere(folder, number)
        assert found(index) == list(range(1, number + 1))
    assert index.vectors([2])[2] == pytest.approx([2] * DIMENSIONS)
    change_elsewhere(folder, -2)
    assert found(index) == [1, 3]
    assert len(serving(folder)) == 1


def test_programs_that_start_at_once_share_one_process(folder: Path) -> None:
    with ThreadPoolExecutor(4) as programs:
        list(programs.map(lambda number: change_elsewhere(folder, number), range(1, 5)))
    with closing(LocalChroma(folder)) as local:
        assert found(ChromaIndex(lambda: local, "tenant", lambda: "model")) == [1, 2, 3, 4]
        assert len(serving(folder)) == 1


def test_a_killed_process_is_started_again_and_nothing_is_lost(index: ChromaIndex, folder: Path) -> None:
    index.add([passage("text", id=1)], np.ones((1, DIMENSIONS), dtype=np.float32))
    (first,) = serving(folder)
    os.kill(first, signal.SIGKILL)
    assert found(index) == [1]
    index.add([passage("text", id=2)], np.ones((1, DIMENSIONS), dtype=np.float32))
    assert found(index) == [1, 2]
    assert first not in serving(folder)


def test_the_process_ends_when_the_last_program_has_left(index: ChromaIndex, local: LocalChroma, folder: Path) -> None:
    assert index.count() == 0
    with closing(LocalChroma(folder)) as other:
        assert other.list_collections()[0].metadata == {"tenant": "tenant", "model": "model"}
    assert serving(folder)
    local.close()
    until(lambda: not serving(folder), SECONDS, "its end")


def test_nobody_else_can_open_the_folder(index: ChromaIndex, folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    assert index.count() == 0
    assert folder.stat().st_mode & 0o077 == 0


def test_the_path_of_the_folder_may_be_long(tmp_path: Path) -> None:
    long = tmp_path / ("long name " * 8) / ("another " * 10)
    with closing(LocalChroma(long)) as local:
        index = ChromaIndex(lambda: local, "tenant", lambda: "model")
        index.add([passage("text", id=1)], np.ones((1, DIMENSIONS), dtype=np.float32))
        assert found(index) == [1]
        shortcut = local._shortcut
        assert shortcut is not None and shortcut.exists()
    assert not shortcut.parent.exists()


def test_an_error_of_chroma_is_told_and_the_next_request_is_answered(index: ChromaIndex) -> None:
    index.add([passage("text", id=1)], np.ones((1, DIMENSIONS), dtype=np.float32))
    with pytest.raises(StoreFailed, match="dimension"):
        index.add([passage("text", id=2)], np.ones((1, DIMENSIONS + 1), dtype=np.float32))
    assert found(index) == [1]


def test_a_folder_that_chroma_cannot_open_is_told_with_its_reason(folder: Path) -> None:
    folder.mkdir()
    (folder / "chroma.sqlite3").mkdir()
    with closing(LocalChroma(folder)) as local, pytest.raises(StoreFailed, match="does not start: Chroma failed while"):
        local.get_max_batch_size()


def test_a_program_that_waits_for_anothers_process_starts_few_of_its_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = 0

    def leave_it_to_another(self: LocalChroma) -> "subprocess.Popen[bytes]":
        nonlocal started
        started += 1
        process = subprocess.Popen(["true"])
        process.wait()
        return process

    monkeypatch.setattr(LocalChroma, "_started", leave_it_to_another)
    monkeypatch.setattr(local_chroma, "_START_SECONDS", 3.0)
    with closing(LocalChroma(folder)) as local, pytest.raises(StoreUnavailable, match="does not start"):
        local.get_max_batch_size()
    assert 1 < started <= 6


def test_a_folder_that_cannot_be_made_is_told_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with (
        closing(LocalChroma(tmp_path / "file" / "chroma")) as local,
        pytest.raises(StoreFailed, match="cannot be used"),
    ):
        local.get_max_batch_size()


def test_a_closed_one_starts_nothing(index: ChromaIndex, local: LocalChroma, folder: Path) -> None:
    local.close()
    for ask in (index.count, index.ping):
        with pytest.raises(StoreUnavailable, match="closed"):
            ask()
    assert not folder.exists()


def test_a_request_that_ends_after_closing_keeps_no_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connected = LocalChroma._connected

    def close_meanwhile(self: LocalChroma) -> Connection:
        connection = connected(self)
        self.close()
        return connection

    monkeypatch.setattr(LocalChroma, "_connected", close_meanwhile)
    local = LocalChroma(folder)  # a name, so that it is not collected, which would close its connections
    assert local.get_max_batch_size() > 0
    until(lambda: not serving(folder), SECONDS, "its end")


def test_an_answer_that_cannot_be_sent_keeps_no_process(index: ChromaIndex, local: LocalChroma, folder: Path) -> None:
    assert index.count() == 0
    name = local.list_collections()[0].name
    with pytest.raises(StoreUnavailable, match="keeps ending"):
        local.call(_Request("", "get_collection", {"name": name}))  # it holds a database connection
    local.close()
    until(lambda: not serving(folder), SECONDS, "its end")


def test_deleting_twice_is_no_error(index: ChromaIndex, local: LocalChroma) -> None:
    assert index.count() == 0
    (collection,) = local.list_collections()
    for _ in range(2):
        local.delete_collection(collection.name)
    assert local.list_collections() == []
