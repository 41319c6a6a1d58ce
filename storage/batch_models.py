"""The tables of background work: work given up, when files were read, and the folders that are watched."""

from datetime import datetime
from typing import cast

from sqlalchemy import ForeignKeyConstraint, Index, Sequence, Table
from sqlalchemy.orm import Mapped, mapped_column

from storage.models import Base

__all__ = ["FAILED_WORK", "READINGS", "WATCHED_FILES", "WATCHED_FOLDERS", "Base"]


class FailedWorkRow(Base):
    """Work that nobody tries again by itself; the row goes when it is done after all."""

    __tablename__ = "failed_work"
    __table_args__ = (ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),)

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    reason: Mapped[str]
    remedy: Mapped[str]


class ReadingRow(Base):
    """When a document was last read to its end, well or not: what the pace of a batch is known by."""

    __tablename__ = "readings"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id", "document_id"], ["documents.tenant_id", "documents.id"], ondelete="CASCADE"),
        Index("readings_newest", "tenant_id", "ended"),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(primary_key=True)
    ended: Mapped[datetime]


class WatchedFolderRow(Base):
    """A folder on the server whose new and changed files are taken in; `tags` and `project` are what they get."""

    __tablename__ = "watched_folders"
    __table_args__ = (
        ForeignKeyConstraint(["tenant_id"], ["tenants.tenant_id"], ondelete="CASCADE"),
        Index("watched_folders_once", "tenant_id", "path", unique=True),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    id: Mapped[int] = mapped_column(Sequence("watched_folders_id_seq"), primary_key=True)
    path: Mapped[str]
    project: Mapped[str | None]
    tags: Mapped[list[str]]
    looked: Mapped[datetime | None]
    failure: Mapped[str]
    remedy: Mapped[str]


class WatchedFileRow(Base):
    """A file as it was when its folder was last looked through. `path` is relative to the folder; `modified` counts
    nanoseconds since 1970; `moving` says that it may have been written just then; `sha256` is "" until its contents
    were taken in."""

    __tablename__ = "watched_files"
    __table_args__ = (
        ForeignKeyConstraint(
            ["tenant_id", "folder_id"], ["watched_folders.tenant_id", "watched_folders.id"], ondelete="CASCADE"
        ),
    )

    tenant_id: Mapped[str] = mapped_column(primary_key=True)
    folder_id: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str] = mapped_column(primary_key=True)
    size: Mapped[int]
    modified: Mapped[int]
    moving: Mapped[bool]
    sha256: Mapped[str]
    document_id: Mapped[int | None]
    failure: Mapped[str]
    remedy: Mapped[str]


FAILED_WORK = cast(Table, FailedWorkRow.__table__)
READINGS = cast(Table, ReadingRow.__table__)
WATCHED_FOLDERS = cast(Table, WatchedFolderRow.__table__)
WATCHED_FILES = cast(Table, WatchedFileRow.__table__)
