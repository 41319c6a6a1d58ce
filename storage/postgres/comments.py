"""Comments and assignments in PostgreSQL. Both belong to a document, which they are deleted with, or to a project."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from sqlalchemy import Date, Index, Integer, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from core.collaboration.assignments import Assignment, no_assignment, outdated_assignment
from core.collaboration.comments import Comment, no_comment, outdated_comment
from core.collaboration.target import Target
from core.domain.errors import NotFound
from core.domain.sanitize import storable_text
from storage.postgres.database import Database
from storage.postgres.json_records import JsonRecords, next_id, storable
from storage.postgres.tables import (
    BY_DOCUMENT,
    BY_OWN_PROJECT,
    Base,
    JsonValue,
    allow,
    id_column,
    of_document,
    of_tenant,
    table_of,
)

__all__ = [
    "ASSIGNMENTS",
    "BY_TARGET",
    "COMMENTS",
    "AssignmentRow",
    "CommentRow",
    "SqlAssignmentStore",
    "SqlCommentStore",
    "target_values",
]


BY_TARGET = f"{BY_DOCUMENT} OR (document_id IS NULL AND {BY_OWN_PROJECT})"
"""Rows about documents the person sees, and about cells of the boards of their projects."""


class CommentRow(Base):
    """One comment. project: of a cell's board; a document's own project counts where it is about a document."""

    __tablename__ = "comments"
    __table_args__ = (
        of_tenant(),
        of_document(),
        Index("comments_about", "tenant_id", "about"),
        allow("SELECT, INSERT, UPDATE (deleted_at, version, data)", seen=BY_TARGET),
    )

    id: Mapped[int] = id_column("comments_id_seq")
    document_id: Mapped[int | None]
    project: Mapped[str | None]
    about: Mapped[str]
    author: Mapped[str]
    at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]


class AssignmentRow(Base):
    """One assignment. given_to: a login."""

    __tablename__ = "assignments"
    __table_args__ = (
        of_tenant(),
        of_document(),
        Index("assignments_about", "tenant_id", "about"),
        Index("assignments_open", "tenant_id", "given_to", postgresql_where=text("done_at IS NULL")),
        allow("SELECT, INSERT, UPDATE (due, done_at, version, data)", seen=BY_TARGET),
    )

    id: Mapped[int] = id_column("assignments_id_seq")
    document_id: Mapped[int | None]
    project: Mapped[str | None]
    about: Mapped[str]
    given_to: Mapped[str]
    due: Mapped[date | None] = mapped_column(Date())
    done_at: Mapped[datetime | None]
    version: Mapped[int] = mapped_column(Integer())
    data: Mapped[JsonValue]


COMMENTS, ASSIGNMENTS = table_of(CommentRow), table_of(AssignmentRow)


def target_values(on: Target | None) -> dict[str, Any]:
    """The columns that say who may see a row: a document's own project counts, so none is stored beside it."""
    document_id = None if on is None else on.document_id
    project = None if on is None or document_id is not None else storable(on.project)
    return {"document_id": document_id, "project": project}


def _no_target(on: Target) -> NotFound:
    return NotFound(f"'{on.name}' is not (or no longer) in the library.", "Open something else.")


class SqlCommentStore:
    """Implements core.collaboration.comments.CommentStore."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = JsonRecords(COMMENTS, Comment, database.tenant)

    def comments(self, key: str) -> Sequence[Comment]:
        """The comments on everything with this key, oldest first."""
        with self._database.transaction("reading comments") as connection:
            own = (COMMENTS.c.about == key, COMMENTS.c.deleted_at.is_(None))
            return self._records.all(connection, *own, order=COMMENTS.c.id)

    def comment(self, comment_id: int) -> Comment:
        """One comment. Raises NotFound."""
        with self._database.transaction("reading a comment") as connection:
            found = self._records.first(connection, COMMENTS.c.id == comment_id)
        if found is None:
            raise no_comment(comment_id)
        return found

    def add_comment(self, comment: Comment) -> Comment:
        """Store a new comment. Raises NotFound when its document is not there."""
        with self._database.transaction("storing a comment") as connection:
            new = replace(comment, id=next_id(connection, COMMENTS), version=1)
            row = target_values(new.on) | {"about": new.on.key, "author": storable_text(new.author), "at": new.at}
            try:
                self._records.add(connection, {"id": new.id, **row, **_comment_row(new)}, new)
            except IntegrityError as error:
                raise _no_target(new.on) from error
        return new

    def change_comment(self, comment: Comment) -> Comment:
        """Store a changed comment; returns it with its new version. Raises Outdated, NotFound."""
        new = replace(comment, version=comment.version + 1)
        own = COMMENTS.c.id == new.id
        with self._database.transaction("storing a comment") as connection:
            if self._records.change(connection, _comment_row(new), new, own, COMMENTS.c.version == comment.version):
                return new
            raise no_comment(new.id) if self._records.first(connection, own) is None else outdated_comment()


def _comment_row(comment: Comment) -> dict[str, Any]:
    return {"deleted_at": comment.deleted_at, "version": comment.version}


class SqlAssignmentStore:
    """Implements core.collaboration.assignments.AssignmentStore."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = JsonRecords(ASSIGNMENTS, Assignment, database.tenant)

    def assignments(
        self, *, key: str | None = None, to: str | None = None, due_by: date | None = None, done: bool | None = None
    ) -> Sequence[Assignment]:
        """Assignments, by due date (undated last), then oldest first."""
        column = ASSIGNMENTS.c
        conditions = [] if key is None else [column.about == key]
        conditions += [] if to is None else [column.given_to == storable_text(to)]
        conditions += [] if due_by is None else [column.due <= due_by]
        conditions += [] if done is None else [column.done_at.is_not(None) if done else column.done_at.is_(None)]
        with self._database.transaction("reading assignments") as connection:
            return self._records.all(connection, *conditions, order=(column.due.asc().nulls_last(), column.id))

    def assignment(self, assignment_id: int) -> Assignment:
        """One assignment. Raises NotFound."""
        with self._database.transaction("reading an assignment") as connection:
            found = self._records.first(connection, ASSIGNMENTS.c.id == assignment_id)
        if found is None:
            raise no_assignment(assignment_id)
        return found

    def add_assignment(self, assignment: Assignment) -> Assignment:
        """Store a new assignment. Raises NotFound when its document is not there."""
        with self._database.transaction("storing an assignment") as connection:
            new = replace(assignment, id=next_id(connection, ASSIGNMENTS), version=1)
            row = target_values(new.on) | {"about": new.on.key, "given_to": storable_text(new.to)}
            try:
                self._records.add(connection, {"id": new.id, **row, **_assignment_row(new)}, new)
            except IntegrityError as error:
                raise _no_target(new.on) from error
        return new

    def change_assignment(self, assignment: Assignment) -> Assignment:
        """Store a changed assignment; returns it with its new version. Raises Outdated, NotFound."""
        new = replace(assignment, version=assignment.version + 1)
        own, version = ASSIGNMENTS.c.id == new.id, ASSIGNMENTS.c.version == assignment.version
        with self._database.transaction("storing an assignment") as connection:
            if self._records.change(connection, _assignment_row(new), new, own, version):
                return new
            raise no_assignment(new.id) if self._records.first(connection, own) is None else outdated_assignment()


def _assignment_row(assignment: Assignment) -> dict[str, Any]:
    return {"due": assignment.due, "done_at": assignment.done_at, "version": assignment.version}
