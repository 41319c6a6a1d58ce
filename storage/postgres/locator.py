"""Finds the project of what a call is about, for the guard."""

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Table, select

from core.domain.errors import NotFound
from core.insights.store import Insight, InsightOrEpisode
from storage.datasets.loading import REALITY
from storage.postgres.changes import CHANGES
from storage.postgres.coverage_boards import DECISIONS, RUNS, TOPIC_REVISIONS, TOPICS
from storage.postgres.database import Database
from storage.postgres.documents import DOCUMENTS
from storage.postgres.evaluation import EXPERIMENTS, QUESTIONS, SETS
from storage.postgres.insights import EPISODES, INSIGHTS
from storage.postgres.json_records import any_of
from storage.postgres.meetings import MEETINGS
from storage.postgres.sources import FEEDS, WATCHED_FOLDERS
from storage.postgres.trash import TRASH

__all__ = ["SqlLocator"]


class SqlLocator:
    """Implements core.access.rights.Locator. database: with the person's scope, so that what is hidden is not found."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def documents(self, document_ids: Iterable[int]) -> Iterable[str | None]:
        """Raises NotFound when one is missing or hidden."""
        return self._projects(DOCUMENTS, "document", document_ids)

    def trashed(self, document_ids: Iterable[int]) -> Iterable[str | None]:
        """Raises NotFound when one is not in the trash, or hidden."""
        return self._projects(TRASH, "document in the trash", document_ids, TRASH.c.document_id)

    def table(self, name: str) -> str | None:
        """Raises NotFound."""
        query = select(REALITY.c.document_id).where(self._own(REALITY), REALITY.c.name == name, REALITY.c.current)
        return self._first(self.documents(self._found(query, f"There is no table '{name}'.")))

    def coverage_run(self, run_id: int) -> str | None:
        """Raises NotFound."""
        return self._first(self._projects(RUNS, "coverage run", [run_id]))

    def topics(self, topic_ids: Iterable[int]) -> Iterable[str | None]:
        """Raises NotFound."""
        return self._projects(TOPICS, "topic", topic_ids)

    def topic_edit(self, edit: int) -> Iterable[str | None]:
        """The projects of all topics of an edit. Raises NotFound for a hidden edit."""
        changed = select(TOPIC_REVISIONS.c.topic_id).where(self._own(TOPIC_REVISIONS), TOPIC_REVISIONS.c.edit == edit)
        return self.topics(self._found(changed, f"There is no edit {edit} of topics."))

    def decision(self, decision_id: int) -> str | None:
        """Raises NotFound."""
        return self._first(self._projects(DECISIONS, "decision", [decision_id]))

    def meeting(self, meeting_id: int) -> str | None:
        """Raises NotFound."""
        return self._first(self._projects(MEETINGS, "meeting", [meeting_id]))

    def change_set(self, set_id: int) -> Iterable[str | None]:
        """The projects of the documents of a change, also of those in the trash. Raises NotFound for a hidden one."""
        changed = select(CHANGES.c.document_id).where(self._own(CHANGES), CHANGES.c.set_id == set_id)
        ids = self._found(changed, f"There is no change {set_id}.")
        living = select(DOCUMENTS.c.project).where(self._own(DOCUMENTS), DOCUMENTS.c.id == any_of(ids))
        deleted = select(TRASH.c.project).where(self._own(TRASH), TRASH.c.document_id == any_of(ids))
        with self._database.transaction("checking rights") as connection:
            found = connection.scalars(living.union(deleted)).all()
        # What was deleted for good has no project any more.
        return found or (None,)

    def question_set(self, set_id: int) -> str | None:
        """Raises NotFound."""
        return self._first(self._projects(SETS, "question set", [set_id]))

    def questions(self, question_ids: Iterable[int]) -> Iterable[str | None]:
        """Raises NotFound."""
        return self._of_sets(QUESTIONS, "question", list(question_ids))

    def experiment(self, experiment_id: int) -> str | None:
        """Raises NotFound."""
        return self._first(self._of_sets(EXPERIMENTS, "experiment", [experiment_id]))

    def insight(self, item: InsightOrEpisode) -> Iterable[str | None]:
        """The project it has, and the one it is given."""
        table = INSIGHTS if isinstance(item, Insight) else EPISODES
        return {item.project, *self._projects(table, "insight", [item.id])}

    def feed(self, feed_id: int) -> str | None:
        """Raises NotFound."""
        return self._first(self._projects(FEEDS, "feed", [feed_id]))

    def folder(self, folder_id: int) -> str | None:
        """Raises NotFound."""
        return self._first(self._projects(WATCHED_FOLDERS, "watched folder", [folder_id]))

    def _projects(self, table: Table, noun: str, ids: Iterable[int], key: Any = None) -> list[str | None]:
        """key: the column of the ids, `id` where it has one."""
        document_ids = sorted({int(each) for each in ids})
        key = table.c.id if key is None else key
        query = select(key.label("id"), table.c.project).where(self._own(table), key == any_of(document_ids))
        with self._database.transaction("checking rights") as connection:
            found: dict[int, str | None] = {row.id: row.project for row in connection.execute(query)}
        for each in document_ids:
            if each not in found:
                raise NotFound(f"There is no {noun} {each}.", "It may have been deleted; look at the list again.")
        return list(dict.fromkeys(found.values()))

    def _of_sets(self, table: Table, noun: str, ids: Sequence[int]) -> list[str | None]:
        query = select(table.c.set_id).where(self._own(table), table.c.id == any_of(ids)).distinct()
        return self._projects(SETS, "question set", self._found(query, f"There is no such {noun}."))

    def _found(self, query: Any, message: str) -> Sequence[int]:
        with self._database.transaction("checking rights") as connection:
            found = connection.scalars(query).all()
        if not found:
            raise NotFound(message, "It may have been deleted; look at the list again.")
        return found

    def _own(self, table: Table) -> Any:
        return table.c.tenant_id == self._database.tenant

    def _first(self, projects: Iterable[str | None]) -> str | None:
        return next(iter(projects))
