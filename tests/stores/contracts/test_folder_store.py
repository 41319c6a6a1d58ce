"""What every core.library.sources.store.FolderStore does."""

from dataclasses import replace

import pytest

from core.domain.errors import BadRequest, NotFound
from core.library.sources.store import FolderStore, FolderTally, WatchedFile, WatchedFolder
from storage.postgres.sources import SqlFolderStore
from tests.database import new_tenant
from tests.fakes import FakeFolderStore
from tests.stores.libraries import MOMENT

FOLDER = WatchedFolder("/share/Überstunden", project="north", tags=("a", "b"))


@pytest.fixture(params=["memory", "postgres"])
def store(request: pytest.FixtureRequest) -> FolderStore:
    """An empty store of each kind."""
    if request.param == "memory":
        return FakeFolderStore()
    return SqlFolderStore(new_tenant(request.getfixturevalue("engine")))


def test_a_folder_is_read_back_as_it_was_stored_and_a_path_is_watched_once(store: FolderStore) -> None:
    first, second = store.add(FOLDER), store.add(WatchedFolder("/other"))
    assert first == replace(FOLDER, id=first.id) and list(store.folders()) == [first, second]
    with pytest.raises(BadRequest, match="'/share/Überstunden' is watched already"):
        store.add(FOLDER)


def test_what_may_change_of_a_folder_changes_and_a_removed_one_is_left(store: FolderStore) -> None:
    folder = store.add(FOLDER)
    changed = replace(folder, project=None, tags=(), looked=MOMENT, failure="It is not there.", remedy="Mount it.")
    store.change(changed)
    assert store.folder(folder.id) == changed
    store.remove(folder.id)
    store.change(folder)
    with pytest.raises(NotFound, match=f"Folder {folder.id} is watched no more"):
        store.folder(folder.id)


def test_files_are_kept_by_their_paths_and_go_with_their_folder(store: FolderStore) -> None:
    folder = store.add(FOLDER)
    taken = WatchedFile("a/größe.md", 3, 1_700_000_000_000_000_001, sha256="ab", document_id=7)
    moving, bad = WatchedFile("b.md", 1, 1, moving=True), WatchedFile("c.md", 0, 1, failure="It is empty.")
    store.save_files(folder.id, [taken, moving, bad])
    assert store.files(folder.id) == {each.path: each for each in (taken, moving, bad)}
    assert store.tallies() == {folder.id: FolderTally(taken=1, left=1, failed=1)}
    assert list(store.failures(folder.id, 5)) == [bad] and list(store.failures(folder.id, 0)) == []
    store.save_files(folder.id, [replace(moving, moving=False, sha256="cd")])
    assert store.tallies() == {folder.id: FolderTally(taken=2, failed=1)}
    store.remove(folder.id)
    store.save_files(folder.id, [taken])
    assert store.files(folder.id) == {} and store.tallies() == {}
