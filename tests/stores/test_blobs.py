"""Originals on disk and by URL."""

from hashlib import sha256
from pathlib import Path

import pytest

from core.domain.errors import BadRequest, NotFound, StoreFailed, StoreUnavailable
from core.ports.stores import BlobStore
from storage import files
from storage.files import OriginalFiles
from tests.fakes import FakeBlobs
from tests.running import free_port

DATA = b"\x00PDF\xff" * 1000
NAME = sha256(DATA).hexdigest()
KEY = "key:secret"


@pytest.fixture(params=["folder", "s3", "memory"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """An empty blob store of each kind."""
    if request.param == "memory":
        return FakeBlobs()
    if request.param == "folder":
        return OriginalFiles(str(tmp_path))
    return OriginalFiles(f"{request.getfixturevalue('s3')}/{tmp_path.name}", KEY)


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


def test_two_programs_see_what_the_other_stores_and_deletes(s3: str, tmp_path: Path) -> None:
    place = f"{s3}/{tmp_path.name}"
    one, other = OriginalFiles(place, KEY), OriginalFiles(place, KEY)
    assert list(other.names()) == []
    one.put(DATA)
    assert list(other.names()) == [NAME] and other.exists(NAME)
    one.delete(NAME)
    assert list(other.names()) == [] and not other.exists(NAME)


def test_a_service_that_does_not_answer_may_answer_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setattr(files, "_RETRIES", {"max_retries": 1})
    absent = OriginalFiles("s3://nowhere/originals", KEY)
    for act in (lambda: absent.put(DATA), lambda: absent.get(NAME), lambda: absent.exists(NAME)):
        with pytest.raises(StoreUnavailable, match="The original"):
            act()
    for act in (lambda: absent.delete(NAME), lambda: list(absent.names())):
        with pytest.raises(StoreUnavailable):
            act()


def test_a_place_of_an_unknown_kind_is_said_in_words() -> None:
    with pytest.raises(BadRequest, match=r"cannot be stored at nowhere://bucket"):
        OriginalFiles("nowhere://bucket/originals")


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
