"""Vocabulary versions and relabelling runs in PostgreSQL."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import datetime

from sqlalchemy import ColumnElement, Integer, Row, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Mapped, mapped_column

from core.domain.sanitize import storable_text
from core.library.vocabulary.store import VocabularyRun, VocabularyVersion, no_application, outdated_vocabulary
from storage.postgres.database import Database
from storage.postgres.json_records import JsonRecords, next_id
from storage.postgres.tables import Base, JsonValue, allow, id_column, of_tenant, table_of

__all__ = ["APPLICATIONS", "VOCABULARIES", "ApplicationRow", "SqlVocabularyStore", "VocabularyRow"]


class VocabularyRow(Base):
    """One version. Rows are only added; `data` is the whole value as JSON."""

    __tablename__ = "vocabularies"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT"))

    number: Mapped[int] = mapped_column(Integer(), primary_key=True)
    at: Mapped[datetime]
    data: Mapped[JsonValue]


class ApplicationRow(Base):
    """One relabelling run over the library, with its progress."""

    __tablename__ = "vocabulary_applications"
    __table_args__ = (of_tenant(), allow("SELECT, INSERT, UPDATE (done, changed, reached, stopped, ended)"))

    id: Mapped[int] = id_column("vocabulary_applications_id_seq")
    version: Mapped[int] = mapped_column(Integer())
    who: Mapped[str]
    at: Mapped[datetime]
    total: Mapped[int] = mapped_column(Integer())
    until: Mapped[int]
    done: Mapped[int] = mapped_column(Integer())
    changed: Mapped[int] = mapped_column(Integer())
    reached: Mapped[int]
    stopped: Mapped[bool]
    ended: Mapped[datetime | None]


VOCABULARIES = table_of(VocabularyRow)
APPLICATIONS = table_of(ApplicationRow)


class SqlVocabularyStore:
    """Implements core.library.vocabulary.store.VocabularyStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant
        self._vocabularies = JsonRecords(VOCABULARIES, VocabularyVersion, database.tenant)

    def newest(self) -> VocabularyVersion | None:
        """The current version; None without any."""
        with self._database.transaction("reading the vocabulary") as connection:
            return self._vocabularies.first(connection, order=VOCABULARIES.c.number.desc())

    def versions(self) -> Sequence[VocabularyVersion]:
        """All versions, newest first."""
        with self._database.transaction("reading the versions of the vocabulary") as connection:
            return self._vocabularies.all(connection, order=VOCABULARIES.c.number.desc())

    def add(self, version: VocabularyVersion) -> None:
        """Store a new version. Raises Outdated when its number is not the next one."""
        own = VOCABULARIES.c.tenant_id == self._tenant
        row = {"number": version.number, "at": version.at}
        with self._database.transaction("storing the vocabulary") as connection:
            newest = connection.scalar(select(func.max(VOCABULARIES.c.number)).where(own)) or 0
            if version.number != newest + 1 or not self._vocabularies.add(connection, row, version):
                raise outdated_vocabulary(max(newest, version.number))

    def begin(self, application: VocabularyRun) -> VocabularyRun:
        """Store a new run; returns it with its id."""
        with self._database.transaction("beginning to relabel") as connection:
            new = replace(application, id=next_id(connection, APPLICATIONS), who=storable_text(application.who))
            connection.execute(insert(APPLICATIONS).values(tenant_id=self._tenant, **asdict(new)))
        return new

    def advance(self, application: VocabularyRun) -> VocabularyRun:
        """Store a run's progress; returns its current state. Raises NotFound."""
        progress = {name: getattr(application, name) for name in ("done", "changed", "reached", "ended")}
        with self._database.transaction("noting how far the labels are") as connection:
            statement = update(APPLICATIONS).where(*self._own(application.id)).values(progress).returning(APPLICATIONS)
            row = connection.execute(statement).one_or_none()
        if row is None:
            raise no_application(application.id)
        return _application(row)

    def stop(self, application_id: int) -> None:
        """Ask a run to stop. Raises NotFound."""
        with self._database.transaction("stopping to relabel") as connection:
            statement = update(APPLICATIONS).where(*self._own(application_id)).values(stopped=True)
            if not connection.execute(statement).rowcount:
                raise no_application(application_id)

    def application(self, application_id: int) -> VocabularyRun:
        """One run. Raises NotFound."""
        with self._database.transaction("reading how far the labels are") as connection:
            row = connection.execute(select(APPLICATIONS).where(*self._own(application_id))).one_or_none()
        if row is None:
            raise no_application(application_id)
        return _application(row)

    def latest_application(self) -> VocabularyRun | None:
        """The run started last; None without any."""
        own = select(APPLICATIONS).where(APPLICATIONS.c.tenant_id == self._tenant)
        with self._database.transaction("reading how far the labels are") as connection:
            row = connection.execute(own.order_by(APPLICATIONS.c.id.desc()).limit(1)).one_or_none()
        return None if row is None else _application(row)

    def _own(self, application_id: int) -> tuple[ColumnElement[bool], ...]:
        return APPLICATIONS.c.tenant_id == self._tenant, APPLICATIONS.c.id == application_id


def _application(row: Row[tuple[object, ...]]) -> VocabularyRun:
    return VocabularyRun(**{name: value for name, value in row._mapping.items() if name != "tenant_id"})
