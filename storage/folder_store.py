"""Watched folders and their files in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Sequence as Ids
from sqlalchemy import and_, delete, func, not_, select, update
from sqlalchemy.dialects.postgresql import insert

from core.errors import NotFound
from core.library.folders import FolderTally, WatchedFile, WatchedFolder, watched_already
from storage.batch_models import WATCHED_FILES, WATCHED_FOLDERS
from storage.database import Database
from storage.rows import storable_text

__all__ = ["SqlFolderStore"]

_OF_FOLDER = ("id", "path", "project", "looked", "failure", "remedy")
_OF_FILE = ("path", "size", "modified", "moving", "sha256", "document_id", "failure", "remedy")


class SqlFolderStore:
    """core.library.folders.FolderStore of one tenant."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def folders(self) -> Sequence[WatchedFolder]:
        """All of them, in order of age."""
        query = select(WATCHED_FOLDERS).where(WATCHED_FOLDERS.c.tenant_id == self._tenant)
        with self._database.transaction("reading watched folders") as connection:
            return [_folder(row) for row in connection.execute(query.order_by(WATCHED_FOLDERS.c.id)).mappings()]

    def folder(self, folder_id: int) -> WatchedFolder:
        """Raises NotFound."""
        query = select(WATCHED_FOLDERS).where(*self._one(folder_id))
        with self._database.transaction("reading a watched folder") as connection:
            row = connection.execute(query).mappings().first()
        if row is None:
            raise NotFound(f"Folder {folder_id} is watched no more.", "Add it again on Upload.")
        return _folder(row)

    def add(self, folder: WatchedFolder) -> WatchedFolder:
        """Store a new one. Raises BadRequest when its path is watched already."""
        with self._database.transaction("storing a watched folder") as connection:
            new = replace(folder, id=connection.scalar(Ids("watched_folders_id_seq").next_value()))
            row = insert(WATCHED_FOLDERS).values(tenant_id=self._tenant, **_folder_values(new))
            if connection.scalar(row.on_conflict_do_nothing().returning(WATCHED_FOLDERS.c.id)) is None:
                raise watched_already(folder)
        return new

    def change(self, folder: WatchedFolder) -> None:
        """Store what may change of a folder; one removed meanwhile is left."""
        values = {name: value for name, value in _folder_values(folder).items() if name not in ("id", "path")}
        with self._database.transaction("storing a watched folder") as connection:
            connection.execute(update(WATCHED_FOLDERS).where(*self._one(folder.id)).values(values))

    def remove(self, folder_id: int) -> None:
        """Forget a folder and its files."""
        with self._database.transaction("forgetting a watched folder") as connection:
            connection.execute(delete(WATCHED_FOLDERS).where(*self._one(folder_id)))

    def files(self, folder_id: int) -> Mapping[str, WatchedFile]:
        """Path → what is known of the file."""
        query = select(*(WATCHED_FILES.c[name] for name in _OF_FILE)).where(*self._of(folder_id))
        with self._database.transaction("reading watched files") as connection:
            return {row.path: WatchedFile(**row._asdict()) for row in connection.execute(query)}

    def save_files(self, folder_id: int, files: Sequence[WatchedFile]) -> None:
        """Store what is known of files; those of a folder removed meanwhile are dropped."""
        if not files:
            return
        rows = [
            {"tenant_id": self._tenant, "folder_id": folder_id} | {name: _storable(file, name) for name in _OF_FILE}
            for file in {file.path: file for file in files}.values()
        ]
        row = insert(WATCHED_FILES)
        changed = {name: row.excluded[name] for name in _OF_FILE if name != "path"}
        row = row.on_conflict_do_update(index_elements=["tenant_id", "folder_id", "path"], set_=changed)
        there = select(WATCHED_FOLDERS.c.id).where(*self._one(folder_id)).with_for_update(key_share=True)
        with self._database.transaction("storing watched files") as connection:
            if connection.scalar(there) is not None:
                connection.execute(row, rows)

    def tallies(self) -> Mapping[int, FolderTally]:
        """Folder → how its files fare."""
        moving, failed = WATCHED_FILES.c.moving, WATCHED_FILES.c.failure != ""
        query = (
            select(
                WATCHED_FILES.c.folder_id,
                func.count().filter(and_(not_(moving), not_(failed), WATCHED_FILES.c.sha256 != "")).label("taken"),
                func.count().filter(moving).label("left"),
                func.count().filter(and_(not_(moving), failed)).label("failed"),
            )
            .where(WATCHED_FILES.c.tenant_id == self._tenant)
            .group_by(WATCHED_FILES.c.folder_id)
        )
        with self._database.transaction("counting watched files") as connection:
            return {row.folder_id: FolderTally(row.taken, row.left, row.failed) for row in connection.execute(query)}

    def failures(self, folder_id: int, limit: int) -> Sequence[WatchedFile]:
        """Files that could not be taken in, by path."""
        query = select(*(WATCHED_FILES.c[name] for name in _OF_FILE)).where(
            *self._of(folder_id), WATCHED_FILES.c.failure != "", not_(WATCHED_FILES.c.moving)
        )
        with self._database.transaction("reading watched files") as connection:
            found = connection.execute(query.order_by(WATCHED_FILES.c.path.collate("C")).limit(limit))
            return [WatchedFile(**row._asdict()) for row in found]

    def _one(self, folder_id: int) -> tuple[Any, Any]:
        return WATCHED_FOLDERS.c.tenant_id == self._tenant, WATCHED_FOLDERS.c.id == folder_id

    def _of(self, folder_id: int) -> tuple[Any, Any]:
        return WATCHED_FILES.c.tenant_id == self._tenant, WATCHED_FILES.c.folder_id == folder_id


def _folder(row: Mapping[Any, Any]) -> WatchedFolder:
    return WatchedFolder(**{name: row[name] for name in _OF_FOLDER}, tags=tuple(row["tags"]))


def _folder_values(folder: WatchedFolder) -> dict[str, Any]:
    return {name: getattr(folder, name) for name in _OF_FOLDER} | {"tags": list(folder.tags)}


def _storable(file: WatchedFile, name: str) -> Any:
    value = getattr(file, name)
    return storable_text(value) if isinstance(value, str) else value
