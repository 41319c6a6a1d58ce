"""Who sees the history of a document does not depend on whether the document was deleted."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.domain.errors import NotFound
from core.library.bulk_edit.store import ChangeSet, LabelEdit
from storage.postgres.catalogue import SqlCatalogue
from storage.postgres.changes import SqlChangeLog
from storage.postgres.database import Database, Scope
from storage.postgres.trash import SqlTrash
from tests.stores.libraries import MOMENT, document


def _trash(database: Database, document_id: int) -> None:
    SqlTrash(database).put(document_id, "Ann", MOMENT)


def _restore(database: Database, document_id: int) -> None:
    _trash(database, document_id)
    SqlTrash(database).take_back(document_id)


def _purge(database: Database, document_id: int) -> None:
    _trash(database, document_id)
    trash = SqlTrash(database)
    trash.begin_purge(document_id)
    trash.forget([document_id])
    trash.finish(document_id)


FATES: dict[str, Callable[[Database, int], None]] = {
    "in the library": lambda database, document_id: None,
    "in the trash": _trash,
    "restored": _restore,
    "deleted for good": _purge,
}


def _add(database: Database, project: str | None, name: str = "a.pdf") -> int:
    return SqlCatalogue(database).add_document(document(name, project=project)).id


def _move(database: Database, document_id: int, project: str) -> None:
    SqlCatalogue(database).edit_labels(document_id, lambda found, passages: (replace(found, project=project), passages))


def _edit(database: Database, *document_ids: int) -> ChangeSet:
    edits = tuple(LabelEdit(each, f"{each}.pdf", "owner", "", "Ann") for each in document_ids)
    return SqlChangeLog(database).add(ChangeSet(MOMENT, "Ann", "Owner", edits))


def _history(database: Database, *projects: str, login: str = "eve") -> SqlChangeLog:
    """What somebody with a role in these projects sees."""
    return SqlChangeLog(replace(database, scope=Scope(projects, login)))


@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize(("project", "alpha_sees"), [("Alpha", True), (None, True), ("Beta", False)])
def test_a_change_is_seen_where_the_document_was(
    database: Database, fate: str, project: str | None, alpha_sees: bool
) -> None:
    document_id = _add(database, project)
    made = _edit(database, document_id)
    FATES[fate](database, document_id)
    seen = [made] if alpha_sees else []
    assert (
        list(_history(database, "Alpha").newest(9)) == list(_history(database, "Alpha").newest(9, document_id)) == seen
    )
    assert list(_history(database, "Alpha", "Beta").newest(9)) == [made]
    if not alpha_sees:
        with pytest.raises(NotFound):
            _history(database, "Alpha").find(made.id)


@pytest.mark.parametrize("fate", FATES)
def test_the_last_project_of_a_document_counts(database: Database, fate: str) -> None:
    document_id = _add(database, "Alpha")
    made = _edit(database, document_id)
    _move(database, document_id, "Beta")
    FATES[fate](database, document_id)
    assert list(_history(database, "Alpha").newest(9)) == []
    assert list(_history(database, "Beta").newest(9)) == [made]


@pytest.mark.parametrize("fate", FATES)
def test_of_changes_made_at_once_each_is_seen_with_its_document(database: Database, fate: str) -> None:
    ours, theirs = _add(database, "Alpha"), _add(database, "Beta", "b.pdf")
    made = _edit(database, ours, theirs)
    for each in (ours, theirs):
        FATES[fate](database, each)
    (seen,) = _history(database, "Alpha").newest(9)
    assert seen.changes == made.changes[:1]


def test_a_person_records_that_they_deleted_a_document_and_colleagues_see_it(database: Database) -> None:
    document_id = _add(database, "Alpha")
    _trash(database, document_id)
    made = _edit(replace(database, scope=Scope(("Alpha",), "ann")), document_id)
    assert list(_history(database, "Alpha").newest(9)) == [made]
    _history(database, "Alpha").mark_undone(made.id, "Eve", MOMENT)
    assert _history(database, "Alpha").find(made.id).undone_by == "Eve"


def test_changes_of_an_unknown_document_are_seen_by_their_author_and_people_of_all_projects(database: Database) -> None:
    made = _edit(replace(database, scope=Scope(("Alpha",), "ann")), 10**9)
    assert list(_history(database, "Alpha").newest(9)) == []
    assert list(_history(database, login="ann").newest(9)) == [made] == list(SqlChangeLog(database).newest(9))
