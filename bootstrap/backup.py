"""Backups of a library: made while it is used, restored into an empty data folder or database, rehearsed, scheduled."""

import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bootstrap.environment import (
    Settings,
    database_url,
    migration_database_url,
    original_files,
    session_database_url,
    utc_now,
)
from bootstrap.workbench import open_workbench
from core.domain.errors import BadRequest, StoreFailed
from core.library.check import CheckedStore, CheckReport
from storage.backup.archive import Manifest, open_backup, write_backup
from storage.backup.database import dump_database, restore_database
from storage.datasets.access import TableAccess
from storage.embedded_postgres.server import start_embedded
from storage.migrations import is_known, migrate
from storage.postgres.database import engine_for, psycopg_url
from storage.scratch_folders import scratch_folder

__all__ = ["BackupFolder", "BackupRunning", "Rehearsal", "back_up", "rehearse", "restore"]

_SUFFIX = ".fivefold"
_REBUILT = ("bm25", "mirror")
"""Folders that are made again from the database; those of another library must not stay."""
_log = logging.getLogger(__name__)


def back_up(settings: Settings, file: Path, recipients: Sequence[str] = ()) -> Manifest:
    """Write a backup of every tenant's library; the app may run. Raises BadRequest, StoreFailed."""
    if settings.vector_index == "chroma":
        _log.warning("Vectors in Chroma are not in the backup; a restore has the documents read again for them.")
    with _database_url(settings) as url, scratch_folder("backup") as folder:
        dump = folder / "database.dump"
        manifest = dump_database(url, dump, utc_now().isoformat(timespec="seconds"))
        return write_backup(file, dump, original_files(settings), manifest, recipients)


def restore(settings: Settings, file: Path, identity: Path | None = None) -> Manifest:
    """Restore a backup into an empty data folder, or into the empty database that DATABASE_URL names.

    Vectors in Chroma are in no backup: those of another library go, and the documents are queued to be read again.

    Raises BadRequest when it is in use, not empty, or made by a newer version; StoreFailed for a damaged backup: then
    nothing was changed but originals added.
    """
    manifest = _restored(settings, file, identity)
    if settings.vector_index == "chroma":
        opened = open_workbench(replace(settings, worker=False))
        with opened as workbench:
            opened.stores.vectors.discard(opened.stores.vectors.passage_ids())
            workbench.check.run(repair=True)
    return manifest


def _restored(settings: Settings, file: Path, identity: Path | None) -> Manifest:
    """The database and the originals of a backup. Raises as `restore` does."""
    with open_backup(file, identity) as backup, _database_url(settings) as url:
        if not is_known(backup.manifest.revision):
            raise BadRequest("This backup was made by a newer version of Fivefold.", "Restore it with that version.")
        originals = original_files(settings)
        for name, data in backup.originals():
            if originals.put(data) != name:
                raise StoreFailed(f"The original {name[:12]}… was not stored as it is.", "Check the data folder.")
        restore_database(url, backup.dump, backup.manifest)
        for each in _REBUILT:
            shutil.rmtree(settings.data_folder / each, ignore_errors=True)
        engine = engine_for(url)
        try:
            migrate(engine)
            TableAccess.renew_passwords(engine, psycopg_url(database_url(settings) or url))
        finally:
            engine.dispose()
        return backup.manifest


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A backup restored into a temporary library. manifest: what it says it holds; report: what was found there."""

    manifest: Manifest
    report: CheckReport

    @property
    def ok(self) -> bool:
        """Whether all that the backup says is there and agrees."""
        return self.report.ok and not self.manifest.missing


def rehearse(settings: Settings, file: Path, identity: Path | None = None) -> Rehearsal:
    """Restore a backup into a temporary folder and check the library there. Raises as `restore` does."""
    with scratch_folder("rehearsal") as folder:
        folder.chmod(0o711)  # as root, the database runs as another user, who must pass
        aside = replace(settings, data_folder=folder / "data", database_url="", migration_database_url="", worker=False)
        aside = replace(
            aside, session_database_url="", originals_url="", chroma_url=""
        )  # nothing of the library in use is touched
        aside.data_folder.mkdir()
        if (models := settings.data_folder / "models").exists():
            (aside.data_folder / "models").symlink_to(models.resolve(), target_is_directory=True)
        manifest = _restored(aside, file, identity)
        with open_workbench(aside) as workbench:
            workbench.check.refresh()  # makes the keyword index, which is in no backup
            report = workbench.check.run()
            if aside.vector_index == "chroma":
                others = (each for each in report.differences if each.store is not CheckedStore.VECTORS)
                report = replace(report, differences=tuple(others))  # those vectors are made again, too
            return Rehearsal(manifest, report)


@contextmanager
def _database_url(settings: Settings) -> Iterator[str]:
    if settings.database_url:
        yield migration_database_url(settings) or session_database_url(settings) or database_url(settings)
        return
    with ExitStack() as closing:
        server = start_embedded(settings.data_folder)
        closing.callback(server.close)
        yield server.url()


class BackupFolder:
    """The folder of scheduled backups; `backups` in the data folder where none is set.

    Several programs may back up at the same time: the one that makes the folder's lock file does it.
    """

    def __init__(self, settings: Settings, now: Callable[[], datetime] = utc_now) -> None:
        self._settings, self._now = settings, now
        self.path = Path(settings.backup_folder or settings.data_folder / "backups").expanduser()

    def files(self) -> list[Path]:
        """Backups made here, oldest first; other files in the folder are left alone."""
        return sorted(self.path.glob(f"{'[0-9]' * 4}-[0-9][0-9]-[0-9][0-9]T{'[0-9]' * 6}{_SUFFIX}"))

    def look(self) -> Path | None:
        """Back up when the newest backup is older than the setting says; returns the file. Raises as `make` does."""
        files = self.files()
        if files:
            newest = datetime.strptime(files[-1].stem, _NAMED).replace(tzinfo=UTC)
            if self._now() - newest < timedelta(hours=self._settings.backup_hours):
                return None
        with suppress(BackupRunning):
            return self.make()
        return None

    def make(self) -> Path:
        """Back up now, and delete the oldest backups beyond those that stay. Raises BackupRunning, BadRequest for a
        folder that cannot be used, StoreFailed."""
        lock = self.path / ".making"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
        except FileExistsError as error:
            if lock.exists() and self._now().timestamp() - lock.stat().st_mtime > _GIVEN_UP.total_seconds():
                lock.unlink(missing_ok=True)  # whoever made it has died; the next one tries
            raise BackupRunning("A backup is being made.", "Try again when it is done.") from error
        except OSError as error:
            hint = "Correct FIVEFOLD_BACKUP_FOLDER."
            raise BadRequest(f"The backup folder cannot be used: {error}.", hint) from error
        try:
            file = self.path / f"{self._now().astimezone(UTC):{_NAMED}}{_SUFFIX}"
            back_up(self._settings, file, [each for each in self._settings.backup_recipients.split(",") if each])
            for old in self.files()[: -self._settings.backup_keep]:
                old.unlink(missing_ok=True)
            return file
        finally:
            lock.unlink(missing_ok=True)


class BackupRunning(BadRequest):
    """Another program is making a backup."""


_NAMED = "%Y-%m-%dT%H%M%S"  # the time of a backup, UTC, is its name
_GIVEN_UP = timedelta(hours=6)  # longer than any backup takes
