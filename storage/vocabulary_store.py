"""Vocabularies in PostgreSQL. Versions travel as JSON, written and read by their own type."""

from collections.abc import Sequence
from dataclasses import asdict, replace

from sqlalchemy import ColumnElement, Row, Select, func, select, update
from sqlalchemy import Sequence as Ids
from sqlalchemy.dialects.postgresql import insert

from core.vocabulary import Application, VocabularyVersion, no_application, outdated_vocabulary
from storage.database import Database
from storage.json_values import read, written
from storage.rows import storable_text
from storage.vocabulary_models import APPLICATIONS, VOCABULARIES

__all__ = ["SqlVocabularyStore"]


class SqlVocabularyStore:
    """core.vocabulary.VocabularyStore."""

    def __init__(self, database: Database) -> None:
        self._database, self._tenant = database, database.tenant

    def newest(self) -> VocabularyVersion | None:
        """The version that holds; None while there is none."""
        query = self._versions().limit(1)
        with self._database.transaction("reading the vocabulary") as connection:
            data = connection.scalar(query)
        return None if data is None else read(VocabularyVersion, data)

    def versions(self) -> Sequence[VocabularyVersion]:
        """All of them, newest first."""
        with self._database.transaction("reading the versions of the vocabulary") as connection:
            return [read(VocabularyVersion, data) for data in connection.scalars(self._versions())]

    def _versions(self) -> Select[tuple[object]]:
        own = VOCABULARIES.c.tenant_id == self._tenant
        return select(VOCABULARIES.c.data).where(own).order_by(VOCABULARIES.c.number.desc())

    def add(self, version: VocabularyVersion) -> None:
        """Keep a new version. Raises Outdated when its number is not the next one."""
        own = VOCABULARIES.c.tenant_id == self._tenant
        row = {"tenant_id": self._tenant, "number": version.number, "at": version.at, "data": written(version)}
        add = insert(VOCABULARIES).values(row).on_conflict_do_nothing().returning(VOCABULARIES.c.number)
        with self._database.transaction("storing the vocabulary") as connection:
            newest = connection.scalar(select(func.max(VOCABULARIES.c.number)).where(own)) or 0
            if version.number != newest + 1 or connection.scalar(add) is None:
                raise outdated_vocabulary(max(newest, version.number))

    def begin(self, application: Application) -> Application:
        """Keep a new application; gives it with its id."""
        with self._database.transaction("beginning to label anew") as connection:
            ids = Ids("vocabulary_applications_id_seq")
            new = replace(application, id=connection.scalar(ids.next_value()), who=storable_text(application.who))
            connection.execute(insert(APPLICATIONS).values(tenant_id=self._tenant, **asdict(new)))
        return new

    def advance(self, application: Application) -> Application:
        """Keep how far one has come; gives it as it is now. Raises NotFound."""
        told = {name: getattr(application, name) for name in ("done", "changed", "reached", "ended")}
        with self._database.transaction("noting how far the labels are") as connection:
            moved = update(APPLICATIONS).where(*self._own(application.id)).values(told).returning(APPLICATIONS)
            row = connection.execute(moved).one_or_none()
        if row is None:
            raise no_application(application.id)
        return _application(row)

    def stop(self, application_id: int) -> None:
        """Ask one to end. Raises NotFound."""
        with self._database.transaction("stopping to label anew") as connection:
            asked = update(APPLICATIONS).where(*self._own(application_id)).values(stopped=True)
            if not connection.execute(asked).rowcount:
                raise no_application(application_id)

    def application(self, application_id: int) -> Application:
        """Raises NotFound."""
        with self._database.transaction("reading how far the labels are") as connection:
            row = connection.execute(select(APPLICATIONS).where(*self._own(application_id))).one_or_none()
        if row is None:
            raise no_application(application_id)
        return _application(row)

    def latest_application(self) -> Application | None:
        """The one begun last; None when there is none."""
        own = select(APPLICATIONS).where(APPLICATIONS.c.tenant_id == self._tenant)
        with self._database.transaction("reading how far the labels are") as connection:
            row = connection.execute(own.order_by(APPLICATIONS.c.id.desc()).limit(1)).one_or_none()
        return None if row is None else _application(row)

    def _own(self, application_id: int) -> tuple[ColumnElement[bool], ...]:
        return APPLICATIONS.c.tenant_id == self._tenant, APPLICATIONS.c.id == application_id


def _application(row: Row[tuple[object, ...]]) -> Application:
    return Application(**{name: value for name, value in row._mapping.items() if name != "tenant_id"})
