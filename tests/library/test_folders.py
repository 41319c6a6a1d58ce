"""Watched folders: every content is taken in once, from below the roots only, and only what stands still."""

import os
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.folder_scanner import LocalFolderScanner
from core.domain.errors import BadRequest, EmptyFile
from core.domain.results import UploadReceipt
from core.library.sources.folder_service import FolderService
from core.library.sources.store import FolderTally, WatchedFolder
from core.ports.job_queue import JobKind
from tests.fakes import FakeFolderStore, InlineJobs

START = datetime(2026, 3, 1, tzinfo=UTC)


@dataclass
class Library:
    """Keeps originals as the product does: the same bytes once."""

    kept: list[tuple[str, bytes]] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)

    def keep(self, name: str, data: bytes, *, project: str | None = None, tags: object = ()) -> UploadReceipt:
        """Note a new original; recognise a known one."""
        if not data:
            raise EmptyFile(f"'{name}' is empty (0 bytes).", "Upload it again.")
        digest = sha256(data).hexdigest()
        if digest in self.ids:
            return UploadReceipt(self.ids[digest], name, digest, duplicate_of="known")
        self.kept.append((name, data))
        self.ids[digest] = len(self.kept)
        return UploadReceipt(self.ids[digest], name, digest)


class Watch:
    """A watched folder, a clock, and the library behind it; `look` passes an hour unless told otherwise."""

    def __init__(self, root: Path) -> None:
        self.root, self.now = root, START
        self.library, self.jobs = Library(), InlineJobs()
        self.queued: list[int] = []
        self.jobs.run = self.queued.append
        self.desk = FolderService(
            FakeFolderStore(), self.library.keep, self.jobs, [root], LocalFolderScanner(), lambda: self.now
        )
        self.jobs.work = lambda kind, number: self.desk.scan(number)

    def write(self, name: str, data: bytes, *, age: float = 3600.0) -> Path:
        """Write a file that was last changed so many seconds before now."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        at = self.now.timestamp() - age
        os.utime(path, (at, at))
        return path

    def look(self, folder: WatchedFolder, seconds: float = 3600.0) -> FolderTally:
        """Look through it, some time later."""
        self.now += timedelta(seconds=seconds)
        self.desk.scan_soon(folder.id)
        return self.desk.folders()[0][1]

    @property
    def names(self) -> list[str]:
        """What was taken in, by name, in its order."""
        return [name for name, _ in self.library.kept]


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    """An empty root."""
    return Watch(tmp_path.resolve())


def test_files_are_taken_in_once_under_their_paths_and_queued(watch: Watch) -> None:
    watch.write("b.md", b"one")
    watch.write("a/c.md", b"two")
    folder = watch.desk.add(str(watch.root))
    assert watch.names == ["a/c.md", "b.md"] and watch.queued == [1, 2]
    assert watch.look(folder) == FolderTally(taken=2)
    assert len(watch.names) == 2 == len(watch.queued)


def test_a_changed_file_is_taken_in_again_a_touched_or_renamed_or_vanished_one_is_not(watch: Watch) -> None:
    first = watch.write("a.md", b"one")
    folder = watch.desk.add(str(watch.root))
    os.utime(first, (1_000_000, 1_000_000))
    watch.look(folder)
    first.rename(watch.root / "b.md")
    watch.look(folder)
    assert watch.names == ["a.md"]
    watch.write("b.md", b"two")
    watch.look(folder)
    assert watch.names == ["a.md", "b.md"]
    (watch.root / "b.md").unlink()
    assert watch.look(folder).taken == 2


def test_a_file_still_being_written_is_left_until_it_stands_still(watch: Watch) -> None:
    folder = watch.desk.add(str(watch.root))
    watch.write("a.md", b"half", age=0)
    assert watch.look(folder, 5) == FolderTally(left=1) and watch.names == []
    watch.write("a.md", b"half and the rest", age=0)
    assert watch.look(folder, 5).left == 1
    assert watch.look(folder, 5) == FolderTally(taken=1) and watch.names == ["a.md"]


def test_a_file_that_vanishes_before_it_stands_still_is_waited_for_no_more(watch: Watch) -> None:
    folder = watch.desk.add(str(watch.root))
    path = watch.write("a.md", b"half", age=0)
    assert watch.look(folder, 5).left == 1
    path.unlink()
    assert watch.look(folder) == FolderTally()
    watch.write("a.md", b"whole")
    assert watch.look(folder) == FolderTally(taken=1)


def test_a_file_of_the_future_is_taken_in_when_two_looks_see_the_same(watch: Watch) -> None:
    folder = watch.desk.add(str(watch.root))
    watch.write("a.md", b"one", age=-1_000_000)
    assert watch.look(folder, 5).left == 1
    assert watch.look(folder, 5).taken == 1


def test_links_hidden_files_and_unfinished_ones_are_left(
    watch: Watch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("secret")
    (watch.root / "link.md").symlink_to(outside / "secret.md")
    (watch.root / "folder").symlink_to(outside)
    for name in (".hidden/a.md", ".b.md", "~$c.docx", "d.pdf.part", "e.TMP"):
        watch.write(name, b"x")
    folder = watch.desk.add(str(watch.root))
    assert watch.look(folder) == FolderTally() and watch.names == []


def test_only_folders_below_a_root_can_be_watched(watch: Watch, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (watch.root / "link").symlink_to(outside)
    for path in (outside, watch.root.parent, watch.root / ".." / outside.name, watch.root / "link"):
        with pytest.raises(BadRequest, match="outside the folders that may be watched"):
            watch.desk.add(str(path))
    with pytest.raises(BadRequest, match="does not exist"):
        watch.desk.add(str(watch.root / "nowhere"))
    with pytest.raises(BadRequest, match="not a whole path"):
        watch.desk.add("share")
    nowhere = FolderService(FakeFolderStore(), watch.library.keep, watch.jobs, [], LocalFolderScanner(), lambda: START)
    with pytest.raises(BadRequest, match="FIVEFOLD_WATCH_FOLDERS"):
        nowhere.add(str(watch.root))


def test_a_watched_folder_that_becomes_a_link_is_not_followed(
    watch: Watch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.md").write_text("secret")
    inner = watch.root / "inner"
    inner.mkdir()
    folder = watch.desk.add(str(inner))
    inner.rmdir()
    inner.symlink_to(outside)
    watch.look(folder)
    ((known, _),) = watch.desk.folders()
    assert "outside the folders" in known.failure and watch.names == []


def test_an_unmounted_folder_says_so_and_goes_on_when_it_is_back(watch: Watch) -> None:
    watch.write("share/a.md", b"one")
    folder = watch.desk.add(str(watch.root / "share"))
    (watch.root / "share").rename(watch.root / "away")
    watch.look(folder)
    ((known, tally),) = watch.desk.folders()
    assert "does not exist" in known.failure and tally.taken == 1
    (watch.root / "away").rename(watch.root / "share")
    watch.write("share/b.md", b"two")
    watch.look(folder)
    assert watch.desk.folders()[0][0].failure == "" and watch.names == ["a.md", "b.md"]


def test_a_file_that_cannot_be_taken_in_is_listed_with_its_reason_until_it_can(watch: Watch) -> None:
    watch.write("empty.md", b"")
    folder = watch.desk.add(str(watch.root))
    assert [each.failure for each in watch.desk.failures(folder.id)] == ["'empty.md' is empty (0 bytes)."]
    watch.write("empty.md", b"full")
    assert watch.look(folder) == FolderTally(taken=1) and list(watch.desk.failures(folder.id)) == []


def test_folders_are_due_after_five_minutes_and_sooner_while_files_move(watch: Watch) -> None:
    queued: list[int] = []
    watch.desk.add(str(watch.root))
    watch.jobs.work = lambda kind, number: queued.append(number) if kind is JobKind.FOLDER else None
    watch.now += timedelta(minutes=4)
    watch.desk.scan_due()
    assert queued == []
    watch.now += timedelta(minutes=1)
    watch.desk.scan_due()
    assert len(queued) == 1


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["write", "delete", "move", "look"]),
        st.sampled_from(["a.md", "b.md", "sub/c.md"]),
        st.sampled_from([b"one", b"two", b"three"]),
        st.booleans(),
    ),
    max_size=14,
)


@settings(max_examples=60, deadline=None)
@given(changes=CHANGES)
def test_whatever_happens_every_content_that_stood_still_is_taken_in_once(
    changes: list[tuple[str, str, bytes, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as place:
        watch = Watch(Path(place).resolve())
        folder = watch.desk.add(str(watch.root))
        for kind, name, data, fresh in changes:
            path = watch.root / name
            if kind == "write":
                watch.write(name, data, age=0.0 if fresh else 3600.0)
            elif kind == "delete":
                path.unlink(missing_ok=True)
            elif kind == "move" and path.exists():
                path.rename(watch.root / "moved.md")
            elif kind == "look":
                watch.look(folder, 5)
        watch.look(folder, 5)
        watch.look(folder, 60)
        there = {path.read_bytes() for path in watch.root.rglob("*.md")}
        taken = [data for _, data in watch.library.kept]
        assert len(taken) == len(set(taken)) and there <= set(taken)
        assert watch.desk.folders()[0][1].left == 0
