"""Backups: made while the library is used, restored elsewhere, rehearsed, encrypted, scheduled; never half there."""

import json
import shutil
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, cast

import pyrage
import pytest

from bootstrap.backup import BackupFolder, BackupRunning, back_up, rehearse, restore
from bootstrap.environment import Settings
from bootstrap.workbench import open_workbench
from core.domain.errors import BadRequest, StoreFailed
from core.domain.queries import SearchRequest
from core.workbench import Workbench

RULES = b"# Berths\n\nThe keeper must write every berth into the green book.\n"
WAGES = b"name,pay\nAnn,10\nBo,20\n"


def _folder() -> "TemporaryDirectory[str]":
    return TemporaryDirectory(prefix="fivefold-", ignore_cleanup_errors=True)


def _settings(place: str, models: Path, prepared: Path | None = None) -> Settings:
    """Settings on a data folder; prepared: an empty library's database, without which there is no library."""
    Path(place).chmod(0o711)  # as root, the database runs as another user, who must pass
    folder = Path(place) / "data"
    folder.mkdir()
    if prepared is not None:
        shutil.copytree(prepared, folder / "postgres")
    (folder / "models").symlink_to(models.resolve(), target_is_directory=True)
    return Settings(folder, worker=False)


@pytest.fixture(scope="module")
def library(models: Path, prepared: Path) -> Iterator[tuple[Settings, Workbench]]:
    """An open library with a document, a table and a note."""
    with _folder() as place:
        settings = _settings(place, models, prepared)
        with open_workbench(settings) as workbench:
            for name, data in (("rules.md", RULES), ("wages.csv", WAGES)):
                workbench.ingestion.ingest(workbench.documents.upload(name, data).document_id)
            workbench.insights.save("Ask for the green book.")
            yield settings, workbench


@pytest.fixture(scope="module")
def made(library: tuple[Settings, Workbench], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A backup, made while the library is open."""
    file = tmp_path_factory.mktemp("backups") / "one.fivefold"
    manifest = back_up(library[0], file)
    assert (manifest.documents, len(manifest.originals), manifest.missing) == (2, 2, ())
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]
    return file


@pytest.fixture
def empty(models: Path) -> Iterator[Settings]:
    """A data folder without a library."""
    with _folder() as place:
        yield _settings(place, models)


def test_what_is_restored_elsewhere_answers_the_same(
    library: tuple[Settings, Workbench], made: Path, empty: Settings
) -> None:
    restore(empty, made)
    with pytest.raises(BadRequest, match="holds a library already"):
        restore(empty, made)
    request = SearchRequest("Where are berths written?")
    with open_workbench(empty) as there:
        assert {each.name for each in there.documents.list()} == {"rules.md", "wages.csv"}
        there.check.refresh()
        assert there.check.run().ok
        assert (
            there.tables.run_sql("select sum(pay) from wages").rows
            == library[1].tables.run_sql("select sum(pay) from wages").rows
        )
        ours, theirs = (each.search.run(request, remember=False) for each in (library[1], there))
        assert [hit.score.total for hit in ours.hits] == [hit.score.total for hit in theirs.hits] != []
        rules = next(each for each in there.documents.list() if each.name == "rules.md")
        assert there.documents.original(rules.id) == RULES
    with open_workbench(empty), pytest.raises(BadRequest, match="in use"):
        restore(empty, made)


def test_a_rehearsal_finds_all_that_the_backup_says(library: tuple[Settings, Workbench], made: Path) -> None:
    rehearsal = rehearse(library[0], made)
    assert rehearsal.ok and rehearsal.report.documents == rehearsal.manifest.documents == 2


def test_a_library_with_chroma_answers_the_same_once_its_documents_were_read_again(
    models: Path, prepared: Path, tmp_path: Path
) -> None:
    asked, file = SearchRequest("Where are berths written?"), tmp_path / "one.fivefold"
    with _folder() as first, _folder() as second:
        here, there = (replace(_settings(each, models, prepared), vector_index="chroma") for each in (first, second))
        with open_workbench(here) as workbench:
            for name, data in (("rules.md", RULES), ("wages.csv", WAGES)):
                workbench.ingestion.ingest(workbench.documents.upload(name, data).document_id)
            before = workbench.search.run(asked)
            back_up(here, file)
        with open_workbench(there) as other:  # vectors of another library stay in Chroma, under the same numbers
            other.ingestion.ingest(
                other.documents.upload("other.md", b"# Lamps\n\nEvery lamp is lit at six.\n").document_id
            )
        shutil.rmtree(there.data_folder / "postgres")
        shutil.rmtree(there.data_folder / "originals")
        assert rehearse(there, file).ok
        restore(there, file)
        with open_workbench(there) as workbench:
            for each in workbench.documents.list():
                workbench.ingestion.ingest(each.id)
            after = workbench.search.run(asked)
            assert workbench.check.run().ok
        texts = [[hit.candidate.passage.text for hit in each.hits] for each in (before, after)]
        assert texts[0] and texts[0] == texts[1]
        scores = [[hit.score.total for hit in each.hits] for each in (before, after)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-6)


def _damaged(made: Path, part: str, folder: Path) -> Path:
    """A copy of a backup with one byte changed in the middle of a part."""
    with tarfile.open(made) as archive:
        entry = next(each for each in archive.getmembers() if each.name.startswith(part))
    data = bytearray(made.read_bytes())
    data[entry.offset_data + entry.size // 2] ^= 0xFF
    file = folder / "damaged.fivefold"
    file.write_bytes(data)
    return file


@pytest.mark.parametrize("part", ["database.dump", "originals/"])
def test_a_damaged_backup_is_refused_and_nothing_is_restored(
    made: Path, empty: Settings, tmp_path: Path, part: str
) -> None:
    with pytest.raises(StoreFailed, match="damaged"):
        restore(empty, _damaged(made, part, tmp_path))
    restore(empty, made)


def test_a_backup_of_a_newer_version_is_refused_and_nothing_is_restored(
    made: Path, empty: Settings, tmp_path: Path
) -> None:
    newer = tmp_path / "newer.fivefold"
    with tarfile.open(made) as archive, tarfile.open(newer, "w") as changed:
        for entry in archive.getmembers():
            data = cast("IO[bytes]", archive.extractfile(entry)).read()
            if entry.name == "manifest.json":
                data = json.dumps(json.loads(data) | {"revision": "9999"}).encode()
            entry.size = len(data)
            changed.addfile(entry, BytesIO(data))
    with pytest.raises(BadRequest, match="newer version"):
        restore(empty, newer)
    restore(empty, made)


def test_what_is_no_backup_is_said(made: Path, empty: Settings, tmp_path: Path) -> None:
    cut, words = tmp_path / "cut.fivefold", tmp_path / "words.fivefold"
    cut.write_bytes(made.read_bytes()[:5000])
    words.write_bytes(b"Only words.")
    for file in (cut, words, tmp_path / "nothing.fivefold", tmp_path):
        with pytest.raises((BadRequest, StoreFailed)) as raised:
            restore(empty, file)
        assert raised.value.hint


def test_an_encrypted_backup_opens_with_its_key_only(
    library: tuple[Settings, Workbench], empty: Settings, tmp_path: Path
) -> None:
    key, other = pyrage.x25519.Identity.generate(), pyrage.x25519.Identity.generate()
    mine, theirs, file = tmp_path / "key.txt", tmp_path / "other.txt", tmp_path / "sealed.fivefold"
    mine.write_text(f"# created today\n{key}\n", "utf-8")
    theirs.write_text(f"{other}\n", "utf-8")
    back_up(library[0], file, [str(key.to_public())])
    assert RULES not in file.read_bytes()
    for identity, expected in (
        (None, "encrypted"),
        (theirs, "cannot be opened"),
        (tmp_path / "no", "no cannot be read"),
    ):
        with pytest.raises(BadRequest, match=expected):
            restore(empty, file, identity)
    assert restore(empty, file, mine).documents == 2
    with pytest.raises(BadRequest, match="not a public age key"):
        back_up(library[0], tmp_path / "none.fivefold", ["age1nonsense"])
    assert not (tmp_path / "none.fivefold").exists()


def test_a_lost_original_is_named_and_the_rest_is_saved(library: tuple[Settings, Workbench], tmp_path: Path) -> None:
    settings, workbench = library
    sha = next(each for each in workbench.documents.list() if each.name == "rules.md").sha256
    original = settings.data_folder / "originals" / sha[:2] / sha[2:]
    away = original.rename(tmp_path / "away")
    try:
        file = tmp_path / "part.fivefold"
        assert back_up(settings, file).missing == (sha,)
        assert not rehearse(settings, file).ok
    finally:
        away.rename(original)


def test_backups_are_made_when_due_and_the_newest_stay(library: tuple[Settings, Workbench], tmp_path: Path) -> None:
    now = datetime.now(UTC)
    settings = replace(library[0], backup_folder=str(tmp_path / "kept"), backup_hours=24, backup_keep=2)
    by_hand = tmp_path / "kept" / "before the audit.fivefold"
    by_hand.parent.mkdir()
    by_hand.touch()
    made = []
    for day in range(4):
        schedule = BackupFolder(settings, partial(now.__add__, timedelta(days=day, seconds=day)))
        file = schedule.look()
        assert file is not None and schedule.look() is None, "once a day"
        made.append(file)
    assert sorted((tmp_path / "kept").iterdir()) == [*made[2:], by_hand]
    (tmp_path / "kept" / ".making").touch()
    late = BackupFolder(settings, lambda: now + timedelta(days=9))
    assert late.look() is None, "one that another program makes, or has left behind"
    assert late.look() is not None


def test_a_backup_folder_that_cannot_be_is_said(library: tuple[Settings, Workbench], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadRequest, match="backup folder"):
        BackupFolder(replace(library[0], backup_folder=str(tmp_path / "file" / "below"))).look()


def test_two_backups_are_not_made_at_the_same_time(library: tuple[Settings, Workbench], tmp_path: Path) -> None:
    folder = BackupFolder(replace(library[0], backup_folder=str(tmp_path)))
    (tmp_path / ".making").touch()
    with pytest.raises(BackupRunning):
        folder.make()
    assert folder.look() is None and folder.files() == []
