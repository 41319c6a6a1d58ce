"""Originals on disk and by URL."""

from hashlib import sha256
from pathlib import Path

import pytest

from core.domain.errors import NotFound, StoreFailed
from core.ports.stores import BlobStore
from storage.files import OriginalFiles
from tests.fakes import FakeBlobs

DATA = b"\x00PDF\xff" * 1000
NAME = sha256(DATA).hexdigest()


@pytest.fixture(params=["folder", "url", "memory"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """An empty blob store of each kind."""
    if request.param == "memory":
        return FakeBlobs()
    return OriginalFiles(str(tmp_path) if request.param == "folder" else f"memory://{tmp_path.name}")


def test_bytes_come_back_by_their_hash_and_may_be_stored_twice(blobs: BlobStore) -> None:
    assert not blobs.exists(NAME)
    assert blobs.put(DATA) == blobs.put(DATA) == NAME
    assert blobs.exists(NAME)
    assert blobs.get(NAME) == DATA


@pytest.mark.parametrize("name", [NAME, "", "../../etc/passwd", "ab/" + "c" * 61, NAME.upper()])
def test_what_was_never_stored_is_not_found(blobs: BlobStore, name: str) -> None:
    with pytest.raises(NotFound):
        blobs.get(name)
    assert not blobs.exists(name)


def test_a_damaged_original_is_reported_and_an_upload_repairs_it(tmp_path: Path) -> None:
    blobs = OriginalFiles(str(tmp_path))
    blobs.put(DATA)
    path = tmp_path / NAME[:2] / NAME[2:]
    path.write_bytes(DATA[:-1])
    with pytest.raises(StoreFailed, match="damaged"):
        blobs.get(NAME)
    blobs.put(DATA)
    assert blobs.get(NAME) == DATA
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_place_that_cannot_be_written_is_said_in_words(tmp_path: Path) -> None:
    (tmp_path / "originals").write_text("a file where the folder should be")
    with pytest.raises(StoreFailed, match="could not be stored"):
        OriginalFiles(str(tmp_path / "originals")).put(DATA)
